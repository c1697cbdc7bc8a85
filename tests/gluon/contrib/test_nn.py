"""Layers of contrib; how they compute is compared with MXNet by ``oracle/test_frozen_nets.py``."""

import numpy as np
import pytest

from minigluon import autograd, gluon, nd
from minigluon.gluon import nn
from minigluon.gluon.contrib import nn as contrib


@pytest.mark.parametrize("kind", [contrib.Concurrent, contrib.HybridConcurrent])
def test_blocks_beside_each_other_see_the_same_input(kind):
    net = kind(axis=1)
    net.add(contrib.Identity(), nn.Lambda("negative") if kind is contrib.Concurrent else nn.ELU())
    x = nd.array([[1.0, 2.0]])
    last = -x if kind is contrib.Concurrent else x
    np.testing.assert_array_equal(net(x).asnumpy(), nd.concat(x, last, dim=1).asnumpy())


def test_pixels_of_one_axis_are_shuffled():
    x = np.arange(12.0).reshape(1, 4, 3)
    wanted = x.reshape(1, 2, 2, 3).transpose(0, 1, 3, 2).reshape(1, 2, 6)
    np.testing.assert_array_equal(contrib.PixelShuffle1D(2)(nd.array(x)).asnumpy(), wanted)


def test_pixels_of_two_axes_are_shuffled():
    x = np.arange(48.0).reshape(1, 12, 2, 2)
    wanted = x.reshape(1, 2, 2, 3, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6)
    layer = contrib.PixelShuffle2D((2, 3))
    np.testing.assert_array_equal(layer(nd.array(x)).asnumpy(), wanted)
    layer.hybridize()
    np.testing.assert_array_equal(layer(nd.array(x)).asnumpy(), wanted)


def test_pixels_of_three_axes_are_shuffled():
    x = np.arange(96.0).reshape(1, 24, 1, 2, 2)
    parts = x.reshape(1, 2, 1, 3, 4, 1, 2, 2).transpose(0, 1, 5, 2, 6, 3, 7, 4)
    layer = contrib.PixelShuffle3D((1, 3, 4))
    np.testing.assert_array_equal(layer(nd.array(x)).asnumpy(), parts.reshape(1, 2, 1, 6, 8))


def test_reprs_show_the_factors():
    made = [contrib.PixelShuffle1D(2), contrib.PixelShuffle2D(2), contrib.PixelShuffle3D((1, 2, 3))]
    shown = ["PixelShuffle1D(2)", "PixelShuffle2D((2, 2))", "PixelShuffle3D((1, 2, 3))"]
    assert [repr(layer) for layer in made] == shown


def test_a_factor_of_the_wrong_length_is_refused():
    with pytest.raises(AssertionError, match="wrong length 3"):
        contrib.PixelShuffle2D((1, 2, 3))


def test_a_sparse_embedding_changes_only_rows_that_were_asked_for():
    layer = contrib.SparseEmbedding(5, 2, weight_initializer="ones")
    assert repr(layer) == "SparseEmbedding(5 -> 2, float32)"
    layer.initialize()
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 1})
    with autograd.record():
        loss = layer(nd.array([1, 3])).sum()
    loss.backward()
    assert layer.weight.grad().stype == "row_sparse"
    trainer.step(1)
    rows = layer.weight.row_sparse_data(nd.arange(5, dtype="int64")).asnumpy()
    np.testing.assert_array_equal(rows[:, 0], [1, 0, 1, 0, 1])


def test_a_sparse_embedding_needs_a_trainer():
    layer = contrib.SparseEmbedding(5, 2)
    layer.initialize()
    with pytest.raises(RuntimeError, match="no Trainer"):
        layer(nd.array([1]))


def test_sync_batch_norm_normalizes_along_axis_one():
    x = nd.array(np.random.RandomState(0).normal(3, 2, (8, 3, 4)))
    layer = contrib.SyncBatchNorm(in_channels=3, num_devices=2)
    layer.initialize()
    with autograd.record():
        y = layer(x)
    np.testing.assert_allclose(y.asnumpy().mean((0, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(y.asnumpy().std((0, 2)), 1, atol=1e-4)
    assert "ndev=2" in repr(layer)
