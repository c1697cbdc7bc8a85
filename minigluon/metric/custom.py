"""Metrics that are given: a loss the network already computed, or a function of yours."""

from __future__ import annotations

import numpy

from .base import EvalMetric, check_label_shapes, register, values


@register
class Loss(EvalMetric):
    """The mean of what the network puts out, whatever it is; labels are not looked at."""

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _, preds):
        """Take in the outputs of a batch."""
        total, count = 0.0, 0
        for pred in preds if isinstance(preds, list | tuple) else [preds]:
            data = values(pred)
            total += float(data.sum(dtype=numpy.float64))
            count += data.size
        self._add(total, count)


@register
class Torch(Loss):
    """``Loss`` under the name scripts give to a torch criterion's output."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """``Loss`` under the name scripts give to a caffe layer's output."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class CustomMetric(EvalMetric):
    """The mean of ``feval(label, pred)``, a function of numpy arrays.

    Parameters
    ----------
    feval : gives a number (which counts as one), or a pair of a sum and a count.
    allow_extra_outputs : pass over outputs beyond the number of labels.
    """

    def __init__(
        self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None
    ):
        if name is None:
            name = getattr(feval, "__name__", type(feval).__name__)
            if "<" in name:
                name = f"custom({name})"
        super().__init__(
            name,
            output_names,
            label_names,
            has_global_stats=True,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        """Take in a batch."""
        labels = labels if isinstance(labels, list | tuple) else [labels]
        preds = preds if isinstance(preds, list | tuple) else [preds]
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds, strict=False):
            result = self._feval(_writable(label), _writable(pred))
            self._add(*(result if isinstance(result, tuple) else (result, 1)))

    def get_config(self):
        """Raises: a function cannot be written down."""
        raise NotImplementedError("CustomMetric cannot be serialized")


def _writable(x):
    """A copy, because the function may do to it what it wants."""
    return numpy.array(values(x))


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """A ``CustomMetric`` of a function of numpy arrays."""

    def feval(label, pred):
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
