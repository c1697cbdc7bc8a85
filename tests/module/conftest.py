"""A small classifier with fixed parameters, and data for it, that the module tests share."""

from types import SimpleNamespace

import numpy as np
import pytest

import minigluon as mx


def wave(*shape):
    """Values that need no random generator: a sine sampled at whole numbers."""
    return np.sin(np.arange(1, np.prod(shape) + 1)).reshape(shape).astype(np.float32)


def classifier():
    data = mx.sym.Variable("data")
    hidden = mx.sym.FullyConnected(data, name="fc1", num_hidden=4)
    hidden = mx.sym.Activation(hidden, act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(hidden, name="fc2", num_hidden=3), name="softmax"
    )


@pytest.fixture
def small():
    """What a test needs to train: symbol, params, data, label, an iterator, batches, a module."""
    shapes = {"fc1_weight": (4, 5), "fc1_bias": (4,), "fc2_weight": (3, 4), "fc2_bias": (3,)}
    data, label = wave(10, 5), (np.arange(10) % 3).astype(np.float32)

    def params():
        return {name: mx.nd.array(wave(*shape)) for name, shape in shapes.items()}

    def iterator(batch_size=4):
        return mx.io.NDArrayIter(data, label, batch_size)

    def batch(size=4, **options):
        return mx.io.DataBatch([mx.nd.array(data[:size])], [mx.nd.array(label[:size])], **options)

    def bound(size=4, symbol=None, bind=None, **options):
        module = mx.mod.Module(symbol or classifier(), **options)
        labels = [("softmax_label", (size,))]
        module.bind([("data", (size, 5))], labels, **(bind or {}))
        module.set_params(params(), {})
        return module

    return SimpleNamespace(
        symbol=classifier(),
        data=data,
        label=label,
        params=params,
        iterator=iterator,
        batch=batch,
        bound=bound,
        wave=wave,
    )
