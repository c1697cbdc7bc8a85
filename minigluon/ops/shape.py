"""Operators that move elements without changing them: reshape, transpose, join, split, repeat."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.attributes import Shape
from ..core.infer import UNKNOWN, UNKNOWN_SHAPE, UnknownShape, known, prod, same_as
from ..core.op import op


def _filled(result, out):
    if out is None:
        return result
    out[...] = result
    return out


# ---- reshape


def reshaped(shape, codes, reverse=False):
    """The shape that MXNet's codes stand for on an array of this shape.

    0 keeps a dimension, -1 takes what is left, -2 copies all that follow, -3 multiplies two,
    -4 splits one into the next two codes. ``reverse`` matches from the right.
    Dimensions may be unknown; raises ``ShapeError`` if the number of elements does not fit.
    """
    if reverse:
        return tuple(reversed(reshaped(tuple(reversed(shape)), tuple(_mirrored(codes)))))
    result = []
    source = 0
    rest = None
    position = 0
    while position < len(codes):
        code = codes[position]
        position += 1
        if code > 0:
            result.append(code)
            source += 1
        elif code == 0:
            result.append(shape[source])
            source += 1
        elif code == -1:
            rest = len(result)
            result.append(1)
            source += 1
        elif code == -2:
            result.extend(shape[source:])
            source = len(shape)
        elif code == -3:
            result.append(shape[source] * shape[source + 1])
            source += 2
        elif code == -4:
            left, right = codes[position], codes[position + 1]
            position += 2
            whole = shape[source]
            source += 1
            left = whole // right if left == -1 else left
            right = whole // left if right == -1 else right
            result += [left, right]
        else:
            raise ShapeError(f"reshape: code {code} is none of 0, -1, -2, -3, -4")
    total = prod(shape)
    if rest is not None:
        others = prod(result)
        result[rest] = UNKNOWN if UNKNOWN in (total, others) else _share(total, others, shape, codes)
    elif UNKNOWN not in (total, prod(result)) and prod(result) != total:
        raise _wrong_size(shape, codes, total)
    return tuple(result)


def _mirrored(codes):
    """The codes from the right: ``-4`` stays in front of the two that belong to it."""
    mirrored = []
    k = len(codes) - 1
    while k >= 0:
        if k >= 2 and codes[k - 2] == -4:
            mirrored += [-4, codes[k], codes[k - 1]]
            k -= 3
        else:
            mirrored.append(codes[k])
            k -= 1
    return mirrored


def _share(total, others, shape, codes):
    if others == 0:
        return 0
    if total % others:
        raise _wrong_size(shape, codes, total)
    return total // others


def _wrong_size(shape, codes, total):
    return ShapeError(
        f"Reshape: the number of elements does not fit.\n  received  data {shape}, shape={codes}\n"
        f"  expected  a shape of {total} elements\n  fix       let one dimension be -1"
    )


@op(aliases=("reshape",), view=True)
def Reshape(
    data,
    *,
    shape: Shape = (),
    reverse: bool = False,
    target_shape: Shape = (),
    keep_highest: bool = False,
    out=None,
):
    """The same elements in another shape, sharing memory.

    Parameters
    ----------
    shape : the new shape; 0 keeps a dimension, -1 takes what is left, -2 copies all that follow,
        -3 multiplies two dimensions, -4 splits one into the next two numbers.
    reverse : match the codes with dimensions from the right.
    target_shape, keep_highest : the old way to say it, with 0 for what is left.

    Examples
    --------
    >>> nd.reshape(nd.zeros((2, 3, 4)), shape=(0, -1)).shape
    (2, 12)
    """
    return _filled(data.reshape(_reshape_to(data.shape, shape, reverse, target_shape, keep_highest)), out)


def _reshape_to(have, shape, reverse, target_shape, keep_highest):
    if shape:
        return reshaped(have, shape, reverse)
    if target_shape:
        target = list(target_shape)
        if keep_highest:
            target[0] = have[0]
        return reshaped(have, tuple([-1 if d == 0 else d for d in target]))
    return have


@Reshape.shape
def _(s, *, shape, reverse, target_shape, keep_highest):
    have = s.data
    if isinstance(have, UnknownShape):
        if shape and min(shape) > 0:
            s.out = shape
        return
    s.out = _reshape_to(have, shape, reverse, target_shape, keep_highest)


@Reshape.grad
def _(F, g, data, *, out, **_):
    return F.reshape_like(g, data)


@op(view=True, shape_only=("rhs",))
def reshape_like(
    lhs,
    rhs,
    *,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out=None,
):
    """``lhs`` in the shape of ``rhs``; the ranges limit which dimensions are exchanged.

    Examples
    --------
    >>> nd.reshape_like(nd.zeros(6), nd.zeros((2, 3))).shape
    (2, 3)
    """
    shape = _like_shape(lhs.shape, rhs.shape, lhs_begin, lhs_end, rhs_begin, rhs_end)
    return _filled(lhs.reshape(shape), out)


def _like_shape(lhs, rhs, lhs_begin, lhs_end, rhs_begin, rhs_end):
    begin = 0 if lhs_begin is None else lhs_begin % (len(lhs) + 1) if lhs_begin >= 0 else lhs_begin + len(lhs)
    end = len(lhs) if lhs_end is None else lhs_end if lhs_end >= 0 else lhs_end + len(lhs)
    return (*lhs[:begin], *rhs[slice(rhs_begin, rhs_end)], *lhs[end:])


@reshape_like.shape
def _(s, **attrs):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(rhs, UnknownShape) or (isinstance(lhs, UnknownShape) and attrs["lhs_begin"] is not None):
        return
    s.out = rhs if isinstance(lhs, UnknownShape) else _like_shape(lhs, rhs, **attrs)


@reshape_like.dtype
def _(t, **_):
    t.out = t.lhs
    t.lhs = t.out


@reshape_like.grad
def _(F, g, lhs, rhs, *, out, **_):
    return F.reshape_like(g, lhs), None


@op(aliases=("flatten",), copies_view=True)
def Flatten(data, *, out=None):
    """Every sample as one row: ``(n, a, b, ...)`` becomes ``(n, a*b*...)``.

    Examples
    --------
    >>> nd.flatten(nd.zeros((2, 3, 4))).shape
    (2, 12)
    """
    rows = data.shape[0] if data.ndim else 1
    return _filled(data.reshape(rows, int(prod(data.shape[1:]))), out)


@Flatten.shape
def _(s):
    data, out = s.data, s.out
    if isinstance(data, UnknownShape):
        return
    if out is not UNKNOWN_SHAPE:
        s.data = (out[0], *data[1:])
    s.out = (s.data[0], prod(data[1:]))


@Flatten.grad
def _(F, g, data, *, out):
    return F.reshape_like(g, data)


Flatten.runs_dense("default -> default")


@op(aliases=(), copies_view=True)
def expand_dims(data, *, axis: int, out=None):
    """A new axis of length one in front of ``axis``.

    Examples
    --------
    >>> nd.expand_dims(nd.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    return _filled(np.expand_dims(data, axis), out)


@expand_dims.shape
def _(s, *, axis):
    data, out = s.data, s.out
    if not isinstance(data, UnknownShape):
        k = axis if axis >= 0 else axis + len(data) + 1
        s.out = (*data[:k], 1, *data[k:])
    elif not isinstance(out, UnknownShape):
        k = axis if axis >= 0 else axis + len(out)
        s.data = (*out[:k], *out[k + 1 :])


@expand_dims.grad
def _(F, g, data, *, out, axis):
    return F.reshape_like(g, data)


expand_dims.runs_dense("default -> default")


@op(copies_view=True, scalar=True)
def squeeze(data, *, axis: Shape | None = None, out=None):
    """Without the axes of length one, or those of them that are named; at least one axis stays.

    Examples
    --------
    >>> nd.squeeze(nd.zeros((1, 3, 1))).shape
    (3,)
    """
    return _filled(np.squeeze(data, axis=axis), out)


@squeeze.shape
def _(s, *, axis):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    if axis is None:
        if known(data):
            s.out = tuple([d for d in data if d != 1])
        return
    gone = {a % len(data) for a in axis}
    s.out = tuple([d for k, d in enumerate(data) if k not in gone])


@squeeze.grad
def _(F, g, data, *, out, axis):
    return F.reshape_like(g, data)


# ---- exchange axes


def _axes_of(shape, axes):
    if not axes:
        return tuple(range(len(shape)))[::-1]
    return tuple([a % len(shape) for a in axes])


@op(copies_view=True)
def transpose(data, *, axes: Shape = (), out=None):
    """The axes in another order; in reverse if ``axes`` is not given.

    Examples
    --------
    >>> nd.transpose(nd.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
    (3, 2, 4)
    """
    return _filled(data.transpose(axes or None), out)


@transpose.shape
def _(s, *, axes):
    data, out = s.data, s.out
    if not isinstance(data, UnknownShape):
        order = _axes_of(data, axes)
        s.out = tuple([data[a] for a in order])
    if not isinstance(out, UnknownShape):
        order = _axes_of(out, axes)
        s.data = tuple([out[order.index(a)] for a in range(len(out))])


@transpose.grad
def _(F, g, data, *, out, axes):
    if not axes:
        return F.transpose(g)
    order = _axes_of(axes, axes)
    return F.transpose(g, axes=tuple([order.index(a) for a in range(len(order))]))


transpose.runs_dense("default -> default")


@op(aliases=("swapaxes",), copies_view=True)
def SwapAxis(data, *, dim1: int = 0, dim2: int = 0, out=None):
    """Two axes exchanged.

    Examples
    --------
    >>> nd.swapaxes(nd.zeros((2, 3, 4)), dim1=0, dim2=2).shape
    (4, 3, 2)
    """
    return _filled(data.swapaxes(dim1, dim2), out)


@SwapAxis.shape
def _(s, *, dim1, dim2):
    for given, other in (("data", "out"), ("out", "data")):
        shape = getattr(s, given)
        if not isinstance(shape, UnknownShape):
            swapped = list(shape)
            swapped[dim1], swapped[dim2] = swapped[dim2], swapped[dim1]
            setattr(s, other, tuple(swapped))


@SwapAxis.grad
def _(F, g, data, *, out, dim1, dim2):
    return F.SwapAxis(g, dim1=dim1, dim2=dim2)


@op(aliases=("flip",), copies_view=True)
def reverse(data, *, axis: Shape, out=None):
    """The elements in reverse order along some axes.

    Examples
    --------
    >>> nd.flip(nd.array([1, 2, 3]), axis=0).asnumpy()
    array([3., 2., 1.], dtype=float32)
    """
    return _filled(np.flip(data, axis), out)


reverse.shape(same_as("data"))


@reverse.grad
def _(F, g, data, *, out, axis):
    return F.reverse(g, axis=axis)


# ---- join


@op(aliases=("concat", "_sparse_concat"))
def Concat(*data, dim: int = 1, out=None):
    """Arrays one after the other along an axis.

    Parameters
    ----------
    data : arrays whose shapes differ in ``dim`` at most.
    dim : the axis along which they are joined.

    Examples
    --------
    >>> nd.concat(nd.ones((2, 1)), nd.zeros((2, 2)), dim=1).asnumpy()
    array([[1., 0., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    return np.concatenate(data, axis=dim, out=out)


@Concat.shape
def _(s, *, dim):
    shapes = [x for x in (*s.ins, s.out) if not isinstance(x, UnknownShape)]
    if not shapes:
        return
    rank = len(shapes[0])
    axis = dim % rank
    for k, shape in enumerate((*s.ins, s.out)):
        common = list(shapes[0])
        for other in shapes[1:]:
            if len(other) == rank:
                common = [b if a is UNKNOWN else a for a, b in zip(common, other, strict=True)]
        common[axis] = UNKNOWN if isinstance(shape, UnknownShape) else shape[axis]
        s.state(("in", k) if k < len(s.ins) else ("out", 0), tuple(common))
    lengths = [x[axis] for x in s.ins]
    out = s.out
    missing = [k for k, d in enumerate(lengths) if d is UNKNOWN]
    if not missing:
        s.out = (*out[:axis], sum(lengths), *out[axis + 1 :])
    elif len(missing) == 1 and out[axis] is not UNKNOWN:
        rest = out[axis] - sum(d for d in lengths if d is not UNKNOWN)
        s.state(("in", missing[0]), (*out[:axis], rest, *out[axis + 1 :]))


@Concat.grad
def _(F, g, *data, out, dim):
    parts = F._concat_grad(g, *data, dim=dim, count=len(data))
    return parts if isinstance(parts, tuple) else (parts,)


Concat.grad(stype="default")
Concat.runs_dense("default* -> default")


@Concat.kernel("csr* -> csr", when=lambda dim: dim == 0)
def _(*data, dim, out=None):
    from ..kernels import csr

    return csr.concat_rows(data)


@op(shape_only=("data",), outputs=lambda count, **_: count)
def _concat_grad(g, *data, dim: int = 1, count: int = 1):
    """The parts of a concatenation's gradient, in the shapes of what was joined."""
    stops = np.cumsum([x.shape[dim] for x in data])[:-1]
    parts = tuple([p.copy() for p in np.split(g, stops, axis=dim)])
    return parts if len(parts) > 1 else parts[0]


@_concat_grad.shape
def _(s, *, dim, count):
    s.outs = s.ins[1:]


@_concat_grad.grad
def _(F, h, g, *data, out, dim, count):
    return (F.Concat(*(h if isinstance(h, tuple) else (h,)), dim=dim),)


# ---- split


def _cut(data, axis, squeeze_axis, parts):
    pieces = np.split(data, parts, axis=axis)
    if squeeze_axis:
        pieces = [np.squeeze(p, axis=axis) for p in pieces]
    pieces = tuple([np.ascontiguousarray(p) if p.base is None else p.copy() for p in pieces])
    return pieces if len(pieces) > 1 else pieces[0]


@op(
    aliases=("split",),
    outputs=lambda num_outputs, **_: num_outputs,
    output_names=lambda num_outputs, **_: [f"output{k}" for k in range(num_outputs)],
)
def SliceChannel(data, *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False):
    """Equal parts along an axis, as a list (one part comes bare).

    Parameters
    ----------
    num_outputs : the number of parts; the axis must divide evenly.
    squeeze_axis : drop the axis, whose length must be ``num_outputs``.

    Examples
    --------
    >>> [x.shape for x in nd.split(nd.zeros((2, 4)), num_outputs=2)]
    [(2, 2), (2, 2)]
    """
    return _cut(data, axis, squeeze_axis, num_outputs)


@SliceChannel.shape
def _(s, *, num_outputs, axis, squeeze_axis):
    data = s.data
    if isinstance(data, UnknownShape):
        part = next((x for x in s.outs if not isinstance(x, UnknownShape)), None)
        if part is None:
            return
        if squeeze_axis:
            k = axis % (len(part) + 1)
            s.data = (*part[:k], num_outputs, *part[k:])
        else:
            k = axis % len(part)
            s.data = (*part[:k], part[k] * num_outputs, *part[k + 1 :])
        return
    k = axis % len(data)
    length = data[k]
    if length is not UNKNOWN and (length % num_outputs or (squeeze_axis and length != num_outputs)):
        raise ShapeError(
            f"SliceChannel: axis {axis} cannot be cut so.\n  received  data {data}\n"
            f"  expected  a length that {num_outputs} divides"
            f"{', and equals as squeeze_axis=True' if squeeze_axis else ''}\n"
            "  fix       choose another num_outputs"
        )
    middle = () if squeeze_axis else (length // num_outputs,)
    s.outs = [(*data[:k], *middle, *data[k + 1 :])] * num_outputs


@SliceChannel.grad
def _(F, g, data, *, out, num_outputs, axis, squeeze_axis):
    parts = g if isinstance(g, tuple) else (g,)
    joined = F.stack(*parts, axis=axis) if squeeze_axis else F.Concat(*parts, dim=axis)
    return joined


@op(outputs=lambda indices, sections, **_: sections or len(indices))
def _split_v2(data, *, indices: Shape, axis: int = 1, squeeze_axis: bool = False, sections: int = 0):
    """Parts along an axis that begin at ``indices``, or ``sections`` equal ones."""
    return _cut(data, axis, squeeze_axis, sections or list(indices[1:]))


@_split_v2.shape
def _(s, *, indices, axis, squeeze_axis, sections):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    k = axis % len(data)
    length = data[k]
    if sections:
        lengths = [length // sections] * sections
    else:
        stops = [*indices[1:], length]
        lengths = [b - a for a, b in zip(indices, stops, strict=True)]
    s.outs = [(*data[:k], *(() if squeeze_axis else (n,)), *data[k + 1 :]) for n in lengths]


@_split_v2.grad
def _(F, g, data, *, out, axis, squeeze_axis, **_):
    parts = g if isinstance(g, tuple) else (g,)
    return F.stack(*parts, axis=axis) if squeeze_axis else F.Concat(*parts, dim=axis)


@op()
def stack(*data, axis: int = 0, out=None):
    """Arrays of one shape joined along a new axis.

    Examples
    --------
    >>> nd.stack(nd.ones(2), nd.zeros(2)).asnumpy()
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    return np.stack(data, axis=axis, out=out)


@stack.shape
def _(s, *, axis):
    for shape in s.ins:
        if not isinstance(shape, UnknownShape):
            s.ins = [shape] * len(s.ins)
    first = s.ins[0]
    if isinstance(first, UnknownShape):
        return
    k = axis % (len(first) + 1)
    s.out = (*first[:k], len(s.ins), *first[k:])


@stack.grad
def _(F, g, *data, out, axis):
    parts = F.SliceChannel(g, num_outputs=len(data), axis=axis, squeeze_axis=True)
    return parts if isinstance(parts, tuple) else (parts,)


stack.grad(stype="default")


# ---- repeat


@op()
def tile(data, *, reps: Shape, out=None):
    """The whole array repeated along each axis.

    Examples
    --------
    >>> nd.tile(nd.array([1, 2]), reps=(2, 2)).asnumpy()
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    return _filled(np.tile(data, reps), out)


@tile.shape
def _(s, *, reps):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    n = max(len(data), len(reps))
    shape = (*[1] * (n - len(data)), *data)
    times = (*[1] * (n - len(reps)), *reps)
    s.out = tuple([d * t for d, t in zip(shape, times, strict=True)])


@tile.grad
def _(F, g, data, *, out, reps):
    return F._tile_grad(g, data, reps=reps)


@op(shape_only=("like",))
def _tile_grad(g, like, *, reps: Shape, out=None):
    """The sum over the copies that ``tile`` made."""
    n = max(like.ndim, len(reps))
    shape = (*[1] * (n - like.ndim), *like.shape)
    times = (*[1] * (n - len(reps)), *reps)
    folded = g.reshape([d for pair in zip(times, shape, strict=True) for d in pair])
    return _filled(np.add.reduce(folded, axis=tuple(range(0, 2 * n, 2))).reshape(like.shape), out)


_tile_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_tile_grad.grad
def _(F, h, g, like, *, out, reps):
    return F.tile(h, reps=reps), None


@op()
def repeat(data, *, repeats: int, axis: int | None = None, out=None):
    """Each element repeated, in place, along an axis or of the flat array.

    Examples
    --------
    >>> nd.repeat(nd.array([1, 2]), repeats=2).asnumpy()
    array([1., 1., 2., 2.], dtype=float32)
    """
    return _filled(np.repeat(data, repeats, axis=axis), out)


@repeat.shape
def _(s, *, repeats, axis):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    if axis is None:
        s.out = (prod(data) * repeats,)
    else:
        k = axis % len(data)
        s.out = (*data[:k], data[k] * repeats, *data[k + 1 :])


@repeat.grad
def _(F, g, data, *, out, repeats, axis):
    return F._repeat_grad(g, data, repeats=repeats, axis=axis)


@op(shape_only=("like",))
def _repeat_grad(g, like, *, repeats: int, axis: int | None = None, out=None):
    """The sum over the copies that ``repeat`` made."""
    if axis is None:
        folded = g.reshape(*like.shape, repeats)
        return _filled(np.add.reduce(folded, axis=-1), out)
    k = axis % like.ndim
    folded = g.reshape(*like.shape[: k + 1], repeats, *like.shape[k + 1 :])
    return _filled(np.add.reduce(folded, axis=k + 1), out)


_repeat_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_repeat_grad.grad
def _(F, h, g, like, *, out, repeats, axis):
    return F.repeat(h, repeats=repeats, axis=axis), None


@op()
def diag(data, *, k: int = 0, axis1: int = 0, axis2: int = 1, out=None):
    """The diagonal of a matrix, or the matrix with a vector on its diagonal.

    Examples
    --------
    >>> nd.diag(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    if data.ndim == 1:
        return _filled(np.diag(data, k), out)
    return _filled(np.diagonal(data, k, axis1, axis2).copy(), out)


@diag.shape
def _(s, *, k, axis1, axis2):
    data = s.data
    if not known(data):
        return
    if len(data) == 1:
        s.out = (data[0] + abs(k),) * 2
        return
    a, b = axis1 % len(data), axis2 % len(data)
    rows, columns = (data[a] + min(k, 0), data[b]) if k < 0 else (data[a], data[b] - k)
    kept = [d for i, d in enumerate(data) if i not in (a, b)]
    s.out = (*kept, max(0, min(rows, columns)))


@diag.grad
def _(F, g, data, *, out, k, axis1, axis2):
    return F._diag_grad(g, data, k=k, axis1=axis1, axis2=axis2)


@op(shape_only=("like",))
def _diag_grad(g, like, *, k: int = 0, axis1: int = 0, axis2: int = 1, out=None):
    """Zeros with ``g`` where ``diag`` read."""
    if like.ndim == 1:
        return _filled(np.diagonal(g, k).copy(), out)
    result = np.zeros(like.shape, g.dtype)
    np.einsum("...ii->...i", _window(result, k, axis1, axis2))[...] = g
    return _filled(result, out)


def _window(x, k, axis1, axis2):
    """The view of ``x`` whose main diagonal is diagonal ``k``, its two axes last and square."""
    moved = np.moveaxis(x, (axis1, axis2), (-2, -1))
    moved = moved[..., -k:, :] if k < 0 else moved[..., :, k:]
    n = min(moved.shape[-2:])
    return moved[..., :n, :n]


_diag_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_diag_grad.grad
def _(F, h, g, like, *, out, **attrs):
    return F.diag(h, **attrs), None


@op(grad="zero")
def shape_array(data):
    """The shape as an int64 vector.

    Examples
    --------
    >>> nd.shape_array(nd.zeros((2, 3))).asnumpy()
    array([2, 3])
    """
    return np.array(data.shape, np.int64)


@shape_array.shape
def _(s):
    s.out = (len(s.data),)


@shape_array.dtype
def _(t):
    t.out = np.int64


@op(grad="zero")
def size_array(data):
    """The number of elements as an int64 array of one.

    Examples
    --------
    >>> nd.size_array(nd.zeros((2, 3))).asnumpy()
    array([6])
    """
    return np.array([data.size], np.int64)


@size_array.shape
def _(s):
    s.out = (1,)


@size_array.dtype
def _(t):
    t.out = np.int64

