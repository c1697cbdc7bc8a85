"""How operators that move, repeat, join and cut arrays are compiled."""

from __future__ import annotations

from ..core.plan.fuse import lowers
from ..core.plan.loops import (
    contiguous,
    copied,
    elements,
    joined,
    mapped,
    padded,
    reduced,
    reshaped,
    sliced,
    transposed,
    viewed,
)
from ..kernels.scalar import (
    Unsupported,
)
from .slicing import _slices, thaw


@lowers("Reshape", "Flatten", "expand_dims", "squeeze", "reshape_like", gives_shape=True)
def _(x, *others, shape, **attrs):
    return reshaped(x, shape)


@lowers("transpose")
def _(x, *, axes):
    return transposed(x, axes or range(len(x.shape))[::-1])


@lowers("SwapAxis")
def _(x, *, dim1, dim2):
    axes = list(range(len(x.shape)))
    axes[dim1], axes[dim2] = axes[dim2], axes[dim1]
    return transposed(x, axes)


@lowers("slice_axis")
def _(x, *, axis, begin, end):
    axis %= len(x.shape)
    length = x.shape[axis]
    begin = max(begin + length, 0) if begin < 0 else begin
    end = length if end is None else end + length if end < 0 else end
    return sliced(x, axis, begin, min(end, length))


@lowers("SliceChannel")
def _(x, *, num_outputs, axis, squeeze_axis):
    axis %= len(x.shape)
    width = x.shape[axis] // num_outputs
    parts = [sliced(x, axis, k * width, (k + 1) * width) for k in range(num_outputs)]
    if squeeze_axis:
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        strides = [p.strides() for p in parts]
        parts = [
            viewed(p, shape, (*s[:axis], *s[axis + 1 :]))
            for p, s in zip(parts, strides, strict=True)
        ]
    return tuple(parts)


@lowers("broadcast_like", "broadcast_to", "broadcast_axis", "_spread_like", gives_shape=True)
def _(x, *others, shape, **attrs):
    if x.shape == shape:
        return x
    if len(x.shape) > len(shape):
        raise Unsupported("fewer axes than before")
    return mapped(lambda v: v, x, shape=shape)


@lowers("slice")
def _(x, *, begin, end, step):
    return _indexed(x, _slices(begin, end, step))


@lowers("_basic_index", gives_shape=True)
def _(x, *, shape, key):
    return reshaped(_indexed(x, _plain_key(key)), shape)


def _plain_key(key):
    key = thaw(key)
    if not all(type(k) in (slice, int) for k in key):
        raise Unsupported("an index with new axes or an ellipsis")
    return [slice(k, k + 1 or None) if type(k) is int else k for k in key]


def _indexed(x, keys):
    for axis, key in enumerate(keys):
        begin, end, step = key.indices(x.shape[axis])
        if step != 1:
            raise Unsupported("a slice with steps")
        x = sliced(x, axis, begin, end)
    return x


@lowers("_basic_index_grad")
def _(g, like, *, key):
    keys = _plain_key(key)
    keys += [slice(None)] * (len(like.shape) - len(keys))
    places = [k.indices(d) for k, d in zip(keys, like.shape, strict=True)]
    if any(step != 1 for _, _, step in places):
        raise Unsupported("a slice with steps")
    wide = reshaped(g, tuple([end - begin for begin, end, _ in places]))
    return padded(wide, like.shape, [begin for begin, _, _ in places])


@lowers("_slice_axis_grad")
def _(g, like, *, axis, begin, end):
    begins = [0] * len(like.shape)
    begins[axis % len(begins)] = begin % like.shape[axis] if begin < 0 else begin
    return padded(g, like.shape, begins)


@lowers("Concat")
def _(*parts, dim):
    return joined(parts, dim % len(parts[0].shape))


@lowers("_concat_grad")
def _(g, *likes, dim, count):
    axis, stop, parts = dim % len(g.shape), 0, []
    for like in likes:
        parts.append(sliced(g, axis, stop, stop + like.shape[axis]))
        stop += like.shape[axis]
    return tuple(parts)


@lowers("stack")
def _(*parts, axis):
    axis %= len(parts[0].shape) + 1
    wide = (*parts[0].shape[:axis], 1, *parts[0].shape[axis:])
    return joined([reshaped(p, wide) for p in parts], axis)


@lowers("tile", gives_shape=True)
def _(x, *, shape, reps):
    times = (*[1] * (len(shape) - len(reps)), *reps)
    lengths = (*[1] * (len(shape) - len(x.shape)), *x.shape)
    return _repeated(x, lengths, times, shape, before=True)


@lowers("repeat", gives_shape=True)
def _(x, *, shape, repeats, axis):
    if axis is None:
        x, axis = reshaped(x, (elements(x.shape),)), 0
    times = [repeats if k == axis % len(shape) else 1 for k in range(len(shape))]
    return _repeated(x, x.shape, times, shape, before=False)


def _repeated(x, lengths, times, shape, before):
    """Every axis read several times: as a whole, or (``before=False``) each element."""
    strides = contiguous(tuple(lengths))
    if x.strides() != contiguous(x.shape):
        x = copied(x)
    pairs = [(t, n) if before else (n, t) for t, n in zip(times, lengths, strict=True)]
    steps = [(0, s) if before else (s, 0) for s in strides]
    flat = [d for pair in pairs for d in pair], [d for pair in steps for d in pair]
    return reshaped(viewed(x, tuple(flat[0]), tuple(flat[1])), shape)


@lowers("_tile_grad")
def _(g, like, *, reps):
    n = len(g.shape)
    lengths = (*[1] * (n - len(like.shape)), *like.shape)
    folded = [
        d for whole, part in zip(g.shape, lengths, strict=True) for d in (whole // part, part)
    ]
    return reshaped(reduced(reshaped(g, tuple(folded)), range(0, 2 * n, 2)), like.shape)


@lowers("_repeat_grad")
def _(g, like, *, repeats, axis):
    axis = len(like.shape) - 1 if axis is None else axis % len(like.shape)
    folded = (*like.shape[: axis + 1], repeats, *like.shape[axis + 1 :])
    return reduced(reshaped(g, folded), (axis + 1,))
