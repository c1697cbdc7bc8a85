"""Dropout."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...core.attributes import Shape, Share
from ...core.infer import UnknownShape
from ...core.op import op
from .._shared import axis_of, floating


@op(aliases=("_npx_dropout",), outputs=2, hidden_outputs=1, output_names=("output", "mask"))
def Dropout(
    data,
    *,
    p: Share = 0.5,
    mode: Literal["always", "training"] = "training",
    axes: Shape = (),
    cudnn_off: bool | None = False,
    rng,
    training,
):
    """Zeros in place of a random share of the elements; the others are scaled to keep the mean.

    Outside training (``autograd.predict_mode``, ``is_train=False``) the data passes unchanged.

    Parameters
    ----------
    p : the probability of dropping an element, 0 to 1 (1 drops everything; MXNet gives NaN then).
    mode : "always" drops in prediction too.
    axes : axes along which one decision is shared (variational dropout).

    Examples
    --------
    >>> nd.Dropout(nd.ones(3), p=0.5).asnumpy()
    array([1., 1., 1.], dtype=float32)
    """
    floating(data, "Dropout")
    if p == 0 or not (training or mode == "always"):
        return data.copy(), np.ones(data.shape, data.dtype)
    shape = list(data.shape)
    for axis in axes:
        shape[axis_of(axis, data.ndim, "Dropout")] = 1
    kept = rng.random(shape, np.float32) >= np.float32(p)
    mask = kept * data.dtype.type(0 if p == 1 else 1 / (1 - p))
    mask = mask.astype(data.dtype, copy=False)
    if mask.shape != data.shape:
        mask = np.array(np.broadcast_to(mask, data.shape))
    return data * mask, mask


@Dropout.shape
def _(s, *, axes, **_):
    s.data = s.out
    s.outs = [s.data, s.data]
    if not isinstance(s.data, UnknownShape):
        for axis in axes:
            axis_of(axis, len(s.data), "Dropout")


@Dropout.grad
def _(F, g, data, *, out, **_):
    return g[0] * out[1]


Dropout.grad(stype="default")
