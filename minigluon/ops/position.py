"""Where the extremes are: argmax, argmin, argmax_channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..core.op import op
from ..kernels import extremes
from .reduce import axes_of, put, reduced_shape

_POSITIONS = {"argmax": np.argmax, "argmin": np.argmin}


def _declare_position(name: str) -> None:
    function = _POSITIONS[name]
    what = "largest" if name == "argmax" else "smallest"

    def kernel(data, *, axis: int | None = None, keepdims: bool = False, out=None):
        if axis is not None:
            (axis,) = axes_of(data.ndim, (axis,))
        position = function(data, axis=axis, keepdims=keepdims)
        return put(position, _position_dtype(data.dtype), out)

    kernel.__name__ = name
    kernel.__doc__ = f"""The position of the {what} element along ``axis``, the first of equal ones.

    Without ``axis`` the position is that in the flattened array. It is given in the dtype of
    ``data``, as in MXNet. NaN counts as the {what}.
    """
    declared = op(kernel, scalar=True, grad="zero")
    declared.shape(_position_shape)
    declared.dtype(_position_dtypes)

    @declared.kernel("csr -> default", when=lambda axis, keepdims: axis is not None)
    def _(data, *, axis, keepdims, out=None):
        (axis,) = axes_of(2, (axis,))
        if not data.shape[axis]:
            return kernel(storage.densify(data), axis=axis, keepdims=keepdims, out=out)
        position = extremes.positions(data, axis, name == "argmax")
        position = np.expand_dims(position, axis) if keepdims else position
        return put(position, _position_dtype(data.dtype), out)


def _position_dtype(dtype: Any) -> Any:
    return dtype if dtype.kind != "b" else np.dtype(np.float32)


def _position_shape(s: Any, *, axis: int | None, keepdims: bool) -> None:
    reduced_shape(s, axis=None if axis is None else (axis,), keepdims=keepdims)


def _position_dtypes(t: Any, **_: Any) -> None:
    if t.data is not None:
        t.out = _position_dtype(t.data)
    else:
        t.data = t.out


for _name in _POSITIONS:
    _declare_position(_name)


@op(grad="zero")
def argmax_channel(data, *, out=None):
    """The position of the largest element along axis 1, the first of equal ones."""
    return put(np.argmax(data, axis=1), _position_dtype(data.dtype), out)


@argmax_channel.shape
def _(s):
    s.out = (*s.data[:1], *s.data[2:])


argmax_channel.dtype(_position_dtypes)
