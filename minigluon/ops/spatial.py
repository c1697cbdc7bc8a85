"""Blocks of pixels moved into channels and back: space_to_depth, depth_to_space."""

from __future__ import annotations

from ..base import ShapeError
from ..core.infer import UnknownShape
from ..core.op import op
from ._shared import filled


def _refuse(name, shape, block_size, expected):
    return ShapeError(
        f"{name}: the data cannot be cut into blocks.\n"
        f"  received  data {shape}, block_size={block_size}\n  expected  {expected}\n"
        "  fix       pad or crop the data, or choose another block_size"
    )


def _check(name, shape, block_size, into_depth):
    if len(shape) != 4:
        raise _refuse(name, shape, block_size, "four axes (batch, channel, height, width)")
    if block_size < 1:
        raise _refuse(name, shape, block_size, "a block_size of at least 1")
    divided = shape[2:] if into_depth else (shape[1],)
    by = block_size if into_depth else block_size**2
    what = "height and width" if into_depth else "the number of channels"
    if any(isinstance(d, int) and d % by for d in divided):
        raise _refuse(name, shape, block_size, f"{what} to be a multiple of {by}")


@op()
def depth_to_space(data, *, block_size: int, out=None):
    """Channels moved into blocks of pixels: ``(n, c b b, h, w)`` becomes ``(n, c, h b, w b)``.

    The inverse of ``space_to_depth``.

    Examples
    --------
    >>> nd.depth_to_space(nd.ones((1, 4, 2, 3)), block_size=2).shape
    (1, 1, 4, 6)
    """
    b = block_size
    _check("depth_to_space", data.shape, b, False)
    n, c, h, w = data.shape
    blocks = data.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return filled(blocks.copy().reshape(n, c // b**2, h * b, w * b), out)


@depth_to_space.shape
def _(s, *, block_size):
    if not isinstance(s.data, UnknownShape):
        _check("depth_to_space", s.data, block_size, False)
        n, c, h, w = s.data
        s.out = (n, c // block_size**2, h * block_size, w * block_size)


@depth_to_space.grad
def _(F, g, data, *, out, block_size):
    return F.space_to_depth(g, block_size=block_size)


@op()
def space_to_depth(data, *, block_size: int, out=None):
    """Blocks of pixels moved into channels: ``(n, c, h b, w b)`` becomes ``(n, c b b, h, w)``.

    The inverse of ``depth_to_space``.

    Examples
    --------
    >>> nd.space_to_depth(nd.ones((1, 1, 4, 6)), block_size=2).shape
    (1, 4, 2, 3)
    """
    b = block_size
    _check("space_to_depth", data.shape, b, True)
    n, c, h, w = data.shape
    blocks = data.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return filled(blocks.copy().reshape(n, c * b**2, h // b, w // b), out)


@space_to_depth.shape
def _(s, *, block_size):
    if not isinstance(s.data, UnknownShape):
        _check("space_to_depth", s.data, block_size, True)
        n, c, h, w = s.data
        s.out = (n, c * block_size**2, h // block_size, w // block_size)


@space_to_depth.grad
def _(F, g, data, *, out, block_size):
    return F.depth_to_space(g, block_size=block_size)
