"""``gluon.loss.CTCLoss``; the values were recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.gluon.loss import CTCLoss


@pytest.fixture
def batch():
    pred = nd.array(np.sin(np.arange(60)).reshape(2, 6, 5))
    return pred, nd.array([[1, 2, -1], [0, 3, 1]])


@pytest.mark.parametrize("hybrid", [False, True])
def test_loss_and_gradient_are_those_of_mxnet(batch, hybrid):
    pred, label = batch
    compute = CTCLoss()
    compute.hybridize(hybrid)
    pred.attach_grad()
    with autograd.record():
        loss = compute(pred, label)
    loss.backward()
    np.testing.assert_allclose(loss.asnumpy(), [6.198818, 6.35332], rtol=1e-5)
    wanted = [0.13471493, -0.41751796, 0.33444032, 0.15513273, -0.2067703]
    np.testing.assert_allclose(pred.grad.asnumpy()[0, 0], wanted, rtol=1e-4)


def test_lengths_weights_and_layouts_are_heeded(batch):
    pred, label = batch
    with_lengths = CTCLoss()(pred, label, nd.array([5, 6]), nd.array([2, 3]))
    np.testing.assert_allclose(with_lengths.asnumpy(), [5.458472, 6.35332], rtol=1e-5)
    weighted = CTCLoss(weight=0.5)(pred, label, None, None, nd.array([[1], [2]]))
    np.testing.assert_allclose(
        weighted.asnumpy(), [[3.099409, 3.17666], [6.198818, 6.35332]], rtol=1e-5
    )
    turned = CTCLoss(layout="TNC", label_layout="TN")(pred.swapaxes(0, 1), label.T)
    np.testing.assert_allclose(turned.asnumpy(), [6.198818, 6.35332], rtol=1e-5)


def test_names_of_the_graph_are_those_of_mxnet():
    graph = CTCLoss(prefix="c_")(sym.var("p"), sym.var("l"), None, sym.var("n"))
    assert graph.get_internals().list_outputs() == [
        "p", "c_swapaxes0_output", "l", "n", "c_ctcloss0_output0",
    ]  # fmt: skip


def test_unknown_layouts_are_refused():
    with pytest.raises(AssertionError, match="Only 'NTC' and 'TNC' layouts for pred"):
        CTCLoss(layout="NCT")
    with pytest.raises(AssertionError, match="Only 'NT' and 'TN' layouts for label"):
        CTCLoss(label_layout="X")
