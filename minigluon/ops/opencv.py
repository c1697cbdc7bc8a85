"""What ``mx.image`` is made of: resizing and borders, as OpenCV does them."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Floats
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op
from ..kernels import image as kernels
from ._shared import at_least
from .image import checked_interp

#: OpenCV's numbers of ways to fill a border -> numpy's names
BORDERS = ("constant", "edge", "symmetric", "wrap", "reflect")


def _check(name, src):
    if src.ndim != 3:
        raise ShapeError(
            f"{name}: src is not an image.\n  received  src {src.shape}\n"
            "  expected  (height, width, channels)\n  fix       add the axis of channels"
        )


@op(grad="zero")
def _cvimresize(src, *, w: int, h: int, interp: int = 1):
    """An image ``(height, width, channels)`` in another size, as `_image_resize` does it."""
    _check("_cvimresize", src)
    at_least("_cvimresize", "w", w, 1)
    at_least("_cvimresize", "h", h, 1)
    return kernels.resize(src, h, w, checked_interp(interp, "_cvimresize"))


@_cvimresize.shape
def _(s, *, w, h, interp):
    if s.src is not UNKNOWN_SHAPE:
        s.out = (h, w, s.src[2])


@op(grad="zero")
def _cvcopyMakeBorder(
    src, *, top: int, bot: int, left: int, right: int, type: int = 0, value: float = 0.0,
    values: Floats = (),
):  # fmt: skip
    """An image with a border around it.

    Parameters
    ----------
    type : 0 for one value, 1 the edge, 2 mirrored with the edge, 3 the other side, 4 mirrored.
    value, values : what a border of type 0 is filled with, the latter for each channel.
    """
    _check("_cvcopyMakeBorder", src)
    for name, width in (("top", top), ("bot", bot), ("left", left), ("right", right)):
        at_least("_cvcopyMakeBorder", name, width, 0)
    if not 0 <= type < len(BORDERS):
        raise AttributeValueError(
            f"_cvcopyMakeBorder: type is not valid.\n  received  type={type}\n"
            f"  expected  0 to {len(BORDERS) - 1}\n  fix       pass one of these"
        )
    widths = ((top, bot), (left, right), (0, 0))
    if type:
        return np.pad(src, widths, BORDERS[type])
    if len(values) not in (0, 1, src.shape[2]):
        raise AttributeValueError(
            f"_cvcopyMakeBorder: values is not valid.\n  received  values={values}\n"
            f"  expected  a number for each of {src.shape[2]} channels\n  fix       pass as many"
        )
    height, width, channels = src.shape
    out = np.empty((height + top + bot, width + left + right, channels), src.dtype)
    out[:] = np.array(values or (value,)).astype(src.dtype)
    out[top : top + height, left : left + width] = src
    return out


@_cvcopyMakeBorder.shape
def _(s, *, top, bot, left, right, **_):
    if s.src is not UNKNOWN_SHAPE:
        s.out = (s.src[0] + top + bot, s.src[1] + left + right, s.src[2])
