"""Sparse rows of operators whose results are dense, because zero does not stay zero.

MXNet makes dense copies of sparse operands for all of these. Here the result is filled with the
function of zero, and computed only where something is stored.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import storage
from ..core.op import Op, registry
from ..kernels import csr, csr_arithmetic, filled, row_sparse
from . import binary, elementwise, scalar, slicing
from ._places import within
from ._shared import axis_of
from .cast import Cast
from .index import take
from .join import Concat, stack
from .nn.activation import Activation
from .shape import transpose

SPARSE = "csr", "row_sparse"


def _fill_unary(declared: Op) -> None:
    dense = declared.dense

    def kernel(data, *, out=None, **attrs):
        return filled.unary(lambda x: dense(x, **attrs), data)

    for kind in SPARSE:
        _attach(declared, (kind,), kernel)


def _fill_binary(declared: Op, function: Any, equal: bool) -> None:
    def kernel(lhs, rhs, *, out=None):
        if equal and lhs.shape != rhs.shape:
            raise binary._unequal(declared.name, lhs, rhs)
        return filled.binary(function, lhs, rhs)

    for left, right in itertools.product(("default", *SPARSE), repeat=2):
        if (left, right) != ("default", "default"):
            _attach(declared, (left, right), kernel)


def _attach(declared: Op, stypes: tuple[str, ...], kernel: Any) -> None:
    """Attach a kernel for inputs stored so, unless every call on such has one already."""
    if any(row.matches(stypes) and row.when is None for row in declared.rows):
        return
    plain = declared.name in ("elemwise_div", "_power") and "default" in stypes  # as in MXNet
    mode = "fcompute" if plain else "fcompute_ex"
    declared.kernel(f"{' '.join(stypes)} -> default", mode=mode)(kernel)


for _name, _row in elementwise._TABLE.items():
    if not _row.keeps and _name != "zeros_like":
        _fill_unary(registry[_name])
for _name in scalar._FUNCTIONS:
    if _name not in ("_mul_scalar", "_div_scalar"):  # these keep zero whatever the number
        _fill_unary(registry[_name])
for _declared in (Activation, Cast):
    _fill_unary(_declared)
for _name, (_key, _) in binary._EQUAL_SHAPES.items():
    if _key != "hypot":  # its gradient is 0 / 0 where neither has an entry: not for csr / dense
        _fill_binary(registry[_name], binary.FUNCTIONS[_key][0], True)
for _key, (_function, _) in binary.FUNCTIONS.items():
    if _key != "hypot":
        _fill_binary(registry[f"broadcast_{_key}"], _function, False)


@elementwise.ones_like.kernel("csr|row_sparse -> default")
def _(data, *, out=None):
    return np.ones(data.shape, data.dtype)


@transpose.kernel("csr|row_sparse -> default")
def _(data, *, axes, out=None):
    if data.ndim == 2 and tuple(axes or (1, 0)) == (1, 0):
        return filled.transposed(data)
    return transpose.dense(storage.densify(data), axes=axes)


@take.kernel("row_sparse default -> default", when=lambda axis, mode: axis == 0 and mode != "raise")
def _(a, indices, *, axis, mode, out=None):
    return row_sparse.lookup(a, within(indices, a.shape[0], mode, "take"))


@slicing.slice_.kernel("row_sparse -> default", when=slicing._without_steps)
def _(data, *, begin, end, step, out=None):
    rows, *others = slicing._slices(begin, end, step)
    return _cut_rows(data, *rows.indices(data.shape[0])[:2])[(slice(None), *others)]


def _cut_rows(data: Any, start: int, stop: int) -> np.ndarray:
    """Some neighbouring rows of a row_sparse array, dense."""
    stop = max(start, stop)
    first, last = data.indices.searchsorted((start, stop))
    shape = (stop - start, *data.shape[1:])
    part = storage.RowSparse(data.values[first:last], data.indices[first:last] - start, shape)
    return row_sparse.densify(part)


@slicing.slice_axis.kernel("csr|row_sparse -> default")
def _(data, *, axis, begin, end, out=None):
    k = axis_of(axis, data.ndim, "slice_axis")
    start, stop = slicing._bounds(data.shape[k], axis, begin, end)
    if type(data) is storage.RowSparse:
        if k == 0:
            return _cut_rows(data, start, stop)
        return row_sparse.densify(
            storage.RowSparse(
                data.values[(slice(None),) * k + (slice(start, stop),)],
                data.indices,
                (*data.shape[:k], stop - start, *data.shape[k + 1 :]),
            )
        )
    ranges = [(0, data.shape[0]), (0, data.shape[1])]
    ranges[k] = (start, stop)
    return csr.densify(csr.slice_block(data, *ranges))


@binary.add_n.kernel("default|csr|row_sparse* -> default")
def _(*args, out=None):
    total = storage.densify(args[0])
    total = total.copy() if total is args[0] else total
    for x in args[1:]:
        if x.shape != total.shape:
            raise binary._unequal("add_n", args[0], x)
        if type(x) is np.ndarray:
            total += x
        elif type(x) is storage.Csr:
            csr_arithmetic.add_dense(x, total, out=total)
        else:
            row_sparse.add_dense(x, total, out=total)
    return total


@Concat.kernel("default|csr|row_sparse* -> default")
def _(*data, dim, out=None):
    axis = axis_of(dim, data[0].ndim, "Concat")
    lengths = [x.shape[axis] for x in data]
    shape = (*data[0].shape[:axis], sum(lengths), *data[0].shape[axis + 1 :])
    if any(
        x.shape != (*shape[:axis], n, *shape[axis + 1 :])
        for x, n in zip(data, lengths, strict=True)
    ):
        raise ValueError("shapes differ in other axes")
    result = np.empty(shape, data[0].dtype)
    for x, end, n in zip(data, itertools.accumulate(lengths), lengths, strict=True):
        filled.put(x, result[(slice(None),) * axis + (slice(end - n, end),)])
    return result


@stack.kernel("csr|row_sparse default|csr|row_sparse* -> default")
@stack.kernel("default csr|row_sparse default|csr|row_sparse* -> default")
def _(*data, axis, out=None):
    shape = data[0].shape
    if any(x.shape != shape for x in data):
        raise ValueError("shapes differ")
    k = axis_of(axis, len(shape) + 1, "stack")
    result = np.empty((*shape[:k], len(data), *shape[k:]), data[0].dtype)
    for number, x in enumerate(data):
        filled.put(x, result[(slice(None),) * k + (number,)])
    return result
