"""Constants made for a batch of any size, such as ``sym.zeros(shape=(0, 3))``, fit the batch."""

import numpy as np
import pytest

from minigluon import autograd, cpu, nd, sym


def graph():
    x = sym.Variable("x")
    return x * 2 + sym.elemwise_add(x, sym.ones(shape=(0, 3)))


@pytest.mark.parametrize("rows", [2, 5])
def test_an_executor_sizes_them(rows):
    bound = graph().simple_bind(cpu(), x=(rows, 3))
    bound.arg_dict["x"][:] = 1
    (output,) = bound.forward(is_train=True)
    assert (output.asnumpy() == np.full((rows, 3), 4)).all()
    bound.backward(nd.ones((rows, 3)))
    assert (bound.grad_dict["x"].asnumpy() == 3).all()


def test_one_cached_graph_sizes_them_for_every_batch():
    cached = nd.CachedOp(graph())
    for rows in (2, 5, 2):
        x = nd.ones((rows, 3))
        x.attach_grad()
        with autograd.record():
            y = cached(x)
        y.backward()
        assert (y.asnumpy() == np.full((rows, 3), 4)).all()
        assert (x.grad.asnumpy() == 3).all()
        assert cached(x).shape == (rows, 3)
