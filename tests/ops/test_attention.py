"""Interleaved attention products against einsum, and their faults in MXNet."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd, sym

LENGTH, BATCH, HEADS, WIDTH = 3, 2, 2, 4
R = np.random.default_rng(0)
WIDE = R.normal(size=(LENGTH, BATCH, HEADS, 3, WIDTH))
FLAT = nd.array(WIDE.reshape(LENGTH, BATCH, -1))


def test_scores_and_values_are_those_of_every_head():
    queries, keys, values = np.moveaxis(WIDE, 3, 0)
    scores = np.einsum("ibhw,jbhw->bhij", queries, keys) / np.sqrt(WIDTH)
    got = nd.contrib.interleaved_matmul_selfatt_qk(FLAT, heads=HEADS)
    np.testing.assert_allclose(got.asnumpy(), scores.reshape(-1, LENGTH, LENGTH), rtol=1e-4)
    weights = R.random((BATCH * HEADS, LENGTH, LENGTH))
    got = nd.contrib.interleaved_matmul_selfatt_valatt(FLAT, nd.array(weights), heads=HEADS)
    whole = np.einsum("bhij,jbhw->ibhw", weights.reshape(BATCH, HEADS, LENGTH, LENGTH), values)
    np.testing.assert_allclose(got.asnumpy(), whole.reshape(LENGTH, BATCH, -1), rtol=1e-4)


@pytest.mark.parametrize("heads", [0, -1, 5])
def test_heads_that_do_not_fit_are_refused(heads):
    # known bug 46: heads=0 ends MXNet's process
    with pytest.raises(MXNetError, match="heads"):
        nd.contrib.interleaved_matmul_selfatt_qk(nd.ones((2, 1, 3)), heads=heads)


def test_an_input_without_gradient_does_not_silence_the_others():
    # known bug 48: MXNet gives zeros in both cases
    a = sym.contrib.interleaved_matmul_selfatt_valatt(sym.Variable("q"), sym.Variable("a"), heads=1)
    values = {"q": nd.array([[[1, 2, 10]], [[3, 4, 20]]]), "a": nd.array([np.eye(2)])}
    grads = {"a": nd.zeros((1, 2, 2))}
    executor = a.bind(mx.cpu(), values, grads, {"q": "null", "a": "write"})
    executor.forward(is_train=True)
    executor.backward(nd.ones((2, 1, 1)))
    assert grads["a"].asnumpy().tolist() == [[[10, 20], [10, 20]]]

    a = sym.contrib.interleaved_matmul_encdec_qk(sym.Variable("q"), sym.Variable("kv"), heads=1)
    values = {"q": nd.array([[[3]], [[5]]]), "kv": nd.array([[[7, 100]], [[11, 200]]])}
    grads = {"kv": nd.zeros((2, 1, 2))}
    executor = a.bind(mx.cpu(), values, grads, {"q": "null", "kv": "write"})
    executor.forward(is_train=True)
    executor.backward(nd.ones((1, 2, 2)))
    assert grads["kv"].asnumpy().tolist() == [[[8, 0]], [[8, 0]]]
