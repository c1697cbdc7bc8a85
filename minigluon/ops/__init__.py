"""The operator table: importing a module here declares its operators."""

from . import (
    binary,
    broadcast,
    create,
    elementwise,
    gradient,
    index,
    matmul,
    nn,
    random,
    reduce,
    scalar,
    shape,
    sparse,
    updates,
)

__all__ = [
    "binary", "broadcast", "create", "elementwise", "gradient", "index", "matmul", "nn", "random",
    "reduce", "scalar", "shape", "sparse", "updates",
]  # fmt: skip
