"""Update rules MXNet keeps under ``mx.optimizer.contrib``."""

from __future__ import annotations

from .. import ndarray as nd
from ..base import ArgumentError
from .base import Optimizer, assign, dense, each, register


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one step size a row: ``h += mean(g * g, row); w -= lr * g / sqrt(h + eps)``.

    Rows are embeddings, mostly; a ``row_sparse`` gradient changes only the rows it has. There is no
    weight decay. Weights have two dimensions.
    """

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        """One sum of mean squares a row."""
        if len(weight.shape) != 2:
            raise ArgumentError(
                "GroupAdaGrad: the weight is not a matrix.\n"
                f"  received  a weight of shape {weight.shape}\n"
                "  expected  two dimensions: one step size a row\n"
                "  fix       use AdaGrad for other shapes"
            )
        shape = (weight.shape[0], 1)
        return nd.zeros(shape, weight.context, dtype=weight.dtype, stype=weight.stype)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, history in each(index, weight, grad, state):
            self._update_count(i)
            if self._get_wd(i) != 0:
                raise ArgumentError(
                    "Weight decay is not supported for GroupAdaGrad.\n"
                    f"  received  wd={self._get_wd(i)} for parameter {i!r}\n"
                    "  expected  wd=0\n"
                    "  fix       leave wd out"
                )
            if g.stype == "row_sparse" and w.stype == history.stype:
                nd.contrib.group_adagrad_update(
                    w,
                    g,
                    history,
                    out=w,
                    lr=self._get_lr(i),
                    epsilon=self.float_stable_eps,
                    **self._operator_options(),
                )
                continue
            g = self._prepared(g)
            total = dense(history) + nd.mean(g * g, axis=1, keepdims=True)
            assign(history, total)
            step = nd.broadcast_div(g, nd.sqrt(total + self.float_stable_eps))
            assign(w, dense(w) - self._get_lr(i) * step)
