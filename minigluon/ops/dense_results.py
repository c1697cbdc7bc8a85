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
from ..kernels import filled
from . import binary, cast, elementwise, scalar, shape  # noqa: F401  (declare Cast, transpose)
from .nn import activation  # noqa: F401  (declares Activation)

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
for _name in (*scalar._FUNCTIONS, "Activation", "Cast"):
    if _name not in ("_mul_scalar", "_div_scalar"):  # these keep zero whatever the number
        _fill_unary(registry[_name])
for _name, (_key, _) in binary._EQUAL_SHAPES.items():
    _fill_binary(registry[_name], binary.FUNCTIONS[_key][0], True)
for _key, (_function, _) in binary.FUNCTIONS.items():
    _fill_binary(registry[f"broadcast_{_key}"], _function, False)


@registry["ones_like"].kernel("csr|row_sparse -> default")
def _(data, *, out=None):
    return np.ones(data.shape, data.dtype)


@registry["transpose"].kernel("csr|row_sparse -> default")
def _(data, *, axes, out=None):
    if data.ndim == 2 and tuple(axes or (1, 0)) == (1, 0):
        return filled.transposed(data)
    return registry["transpose"].dense(storage.densify(data), axes=axes)
