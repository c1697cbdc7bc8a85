"""Operators that join arrays and cut them into parts: Concat, stack, split."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.attributes import Count, Shape
from ..core.infer import UNKNOWN, UnknownShape
from ..core.op import op
from ..kernels import csr
from ._shared import axis_of

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
    axis = axis_of(dim, rank, "Concat")
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


def _cut(data, axis, squeeze_axis, begins):
    """Copies of the parts of an axis that begin there; a single one bare."""
    before = (slice(None),) * axis
    ends = (*begins[1:], data.shape[axis])
    if squeeze_axis:
        if any(end - begin != 1 for begin, end in zip(begins, ends, strict=True)):
            raise ValueError("only parts of length 1 can lose their axis")
        parts = [data[(*before, begin)] for begin in begins]
    else:
        parts = [data[(*before, slice(*ends))] for ends in zip(begins, ends, strict=True)]
    copies = tuple([part.copy() for part in parts])
    return copies if len(copies) > 1 else copies[0]


def _joined(F, g, data, axis, squeeze_axis):
    """The gradient of cutting: its parts joined. Those of a vector, squeezed, are numbers."""
    parts = g if isinstance(g, tuple) else (g,)
    if squeeze_axis:
        return F.reshape_like(F.stack(*parts, axis=axis), data)
    return F.Concat(*parts, dim=axis)


@op(
    aliases=("split",),
    outputs=lambda num_outputs, **_: num_outputs,
    output_names=lambda num_outputs, **_: [f"output{k}" for k in range(num_outputs)],
)
def SliceChannel(data, *, num_outputs: Count, axis: int = 1, squeeze_axis: bool = False):
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
    k = axis_of(axis, data.ndim, "SliceChannel")
    length, rest = divmod(data.shape[k], num_outputs)
    if rest:
        raise ValueError("the parts would not be equal")
    return _cut(data, k, squeeze_axis, [part * length for part in range(num_outputs)])


@SliceChannel.shape
def _(s, *, num_outputs, axis, squeeze_axis):
    data = s.data
    if isinstance(data, UnknownShape):
        part = next((x for x in s.outs if not isinstance(x, UnknownShape)), None)
        if part is None:
            return
        if squeeze_axis:
            k = axis_of(axis, len(part) + 1, "SliceChannel")
            s.data = (*part[:k], num_outputs, *part[k:])
        else:
            k = axis_of(axis, len(part), "SliceChannel")
            s.data = (*part[:k], part[k] * num_outputs, *part[k + 1 :])
        return
    k = axis_of(axis, len(data), "SliceChannel")
    length = num_outputs if squeeze_axis and data[k] is UNKNOWN else data[k]
    s.data = (*data[:k], length, *data[k + 1 :])
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
    return _joined(F, g, data, axis, squeeze_axis)


@op(aliases=("_npi_split",), outputs=lambda indices, sections, **_: sections or len(indices))
def _split_v2(
    data, *, indices: Shape, axis: int = 1, squeeze_axis: bool = False, sections: int = 0
):
    """Parts along an axis that begin at ``indices``, or ``sections`` equal ones.

    Where ``sections`` does not divide the axis, the first parts are one longer.
    """
    k = axis_of(axis, data.ndim, "_split_v2")
    begins = _beginnings(data.shape[k], indices, sections)
    return _cut(data, k, squeeze_axis, begins)


def _beginnings(length, indices, sections):
    """Where the parts of an axis begin; raises ``ShapeError`` if that is not inside or descends."""
    if sections:
        short, longer = divmod(length, sections)
        return [k * short + min(k, longer) for k in range(sections)]
    ordered = all(a <= b for a, b in zip(indices, (*indices[1:], length), strict=True))
    if indices[:1] != (0,) or not ordered:
        raise ShapeError(
            f"_split_v2: the parts do not follow each other inside the axis.\n"
            f"  received  indices={indices} for an axis of length {length}\n"
            f"  expected  0 and ascending indices up to {length}\n  fix       choose such indices"
        )
    return list(indices)


@_split_v2.shape
def _(s, *, indices, axis, squeeze_axis, sections):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    k = axis_of(axis, len(data), "_split_v2")
    lengths = [UNKNOWN] * (sections or len(indices))
    if data[k] is not UNKNOWN:
        begins = _beginnings(data[k], indices, sections)
        lengths = [b - a for a, b in zip(begins, [*begins[1:], data[k]], strict=True)]
    if squeeze_axis:
        s.outs = [(*data[:k], *data[k + 1 :])] * len(lengths)
    else:
        s.outs = [(*data[:k], n, *data[k + 1 :]) for n in lengths]


@_split_v2.grad
def _(F, g, data, *, out, axis, squeeze_axis, **_):
    return _joined(F, g, data, axis, squeeze_axis)


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
    k = axis_of(axis, len(first) + 1, "stack")
    s.out = (*first[:k], len(s.ins), *first[k:])


@stack.grad
def _(F, g, *data, out, axis):
    parts = F.SliceChannel(g, num_outputs=len(data), axis=axis, squeeze_axis=True)
    return parts if isinstance(parts, tuple) else (parts,)


stack.grad(stype="default")
