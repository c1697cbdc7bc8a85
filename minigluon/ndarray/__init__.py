"""``mx.nd``: arrays, and every operator of the table as a function on them."""

from __future__ import annotations

import sys

from .. import ops as _table  # noqa: F401  (fills the operator table)
from .._paths import answer_for_old_modules
from ..core.graphop import CachedOp
from ..core.namespace import operator_namespace
from . import _internal, arithmetic, contrib, image, linalg, methods, op, random, sparse
from . import sparse_ndarray as _sparse_ndarray
from .creation import (
    arange,
    array,
    concatenate,
    empty,
    eye,
    from_dlpack,
    from_numpy,
    full,
    histogram,
    linspace,
    load,
    load_frombuffer,
    moveaxis,
    onehot_encode,
    ones,
    save,
    split_v2,
    to_dlpack_for_read,
    to_dlpack_for_write,
    waitall,
    zeros,
)
from .ndarray import NDArray
from .sparse_ndarray import BaseSparseNDArray, CSRNDArray, RowSparseNDArray

add, subtract, multiply, divide, true_divide, modulo, power = (
    arithmetic.FUNCTIONS[n]
    for n in ("add", "subtract", "multiply", "divide", "true_divide", "modulo", "power")
)
equal, not_equal, greater, greater_equal, lesser, lesser_equal = (
    arithmetic.FUNCTIONS[n]
    for n in ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal")
)
maximum, minimum, logical_and, logical_or, logical_xor = (
    arithmetic.FUNCTIONS[n]
    for n in ("maximum", "minimum", "logical_and", "logical_or", "logical_xor")
)

__getattr__, __dir__ = operator_namespace(globals(), kind="nd")

methods.install(
    NDArray, sys.modules[__name__], binary=arithmetic.binary, inplace=arithmetic.inplace
)
methods.install_arithmetic(BaseSparseNDArray, _sparse_ndarray.binary, _sparse_ndarray.inplace)

__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "CachedOp", "NDArray", "RowSparseNDArray", "_internal",
    "add", "arange", "array",
    "concatenate", "contrib", "divide", "empty", "equal", "eye", "from_dlpack", "from_numpy",
    "full", "greater", "greater_equal", "histogram", "image", "lesser", "lesser_equal", "linalg",
    "linspace", "load", "load_frombuffer", "logical_and", "logical_or", "logical_xor", "maximum",
    "minimum", "modulo", "moveaxis", "multiply", "not_equal", "onehot_encode", "ones", "op",
    "power", "random", "save", "sparse", "split_v2", "subtract", "to_dlpack_for_read",
    "to_dlpack_for_write", "true_divide", "waitall", "zeros",
]  # fmt: skip

answer_for_old_modules(__name__)
