"""What ``mx.image`` is made of: reading pictures, resizing and borders, as OpenCV does them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base import AttributeValueError, DTypeError, MXNetError, ShapeError, four_lines
from ..core.attributes import Floats
from ..core.infer import UNKNOWN, UNKNOWN_SHAPE
from ..core.op import op
from ..kernels import codec
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
def _cvimdecode(buf, *, flag: int = 1, to_rgb: bool = True):
    """The picture in the bytes of a file, uint8 ``(height, width, channels)``.

    Parameters
    ----------
    buf : the bytes, as uint8.
    flag : 1 for colours, 0 for one channel of grey.
    to_rgb : red first; False puts blue first, as OpenCV does.
    """
    if buf.dtype != np.uint8:
        raise DTypeError(
            f"_cvimdecode: buf holds no bytes.\n  received  buf {buf.shape} {buf.dtype}\n"
            "  expected  uint8\n  fix       nd.array(list(content), dtype='uint8')"
        )
    return codec.decode(buf.tobytes(), flag, to_rgb, "_cvimdecode")


@op()
def _cvimread(*, filename: str, flag: int = 1, to_rgb: bool = True):
    """The picture in a file, as by `_cvimdecode`."""
    try:
        content = Path(filename).read_bytes()
    except OSError as error:
        raise MXNetError(
            four_lines(
                f"_cvimread: {filename!r} couldn't open file.", str(error), "a picture file",
                "check the path",
            )
        ) from error  # fmt: skip
    return codec.decode(content, flag, to_rgb, f"imread {filename}")


for _reader in (_cvimdecode, _cvimread):

    @_reader.shape
    def _(s, *, flag, **_):
        s.out = (UNKNOWN, UNKNOWN, 3 if flag else 1)

    @_reader.dtype
    def _(t, **_):
        t.ins = [np.dtype(np.uint8)] * len(t.ins)
        t.out = np.uint8


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
