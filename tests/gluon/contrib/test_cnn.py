"""Deformable layers; MXNet's results are compared by ``oracle/test_frozen_nets.py``."""

import numpy as np
import pytest

from minigluon import autograd, gluon, nd
from minigluon.gluon.contrib import cnn


@pytest.mark.parametrize("kind", [cnn.DeformableConvolution, cnn.ModulatedDeformableConvolution])
def test_without_offsets_it_is_a_convolution(kind):
    layer = kind(4, (3, 3), padding=(1, 1), activation="relu", in_channels=2)
    plain = gluon.nn.Conv2D(4, 3, padding=1, activation="relu", in_channels=2)
    for block in (layer, plain):
        block.initialize()
    plain.weight.set_data(layer.deformable_conv_weight.data())
    x = nd.array(np.random.RandomState(0).normal(size=(2, 2, 5, 5)))
    np.testing.assert_allclose(layer(x).asnumpy(), plain(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_offsets_are_learned():
    layer = cnn.DeformableConvolution(3, (3, 3), padding=(1, 1))
    layer.initialize()
    with autograd.record():
        layer(nd.array(np.random.RandomState(0).normal(size=(1, 2, 5, 5)))).sum().backward()
    assert (layer.offset_weight.grad().asnumpy() != 0).any()


def test_names_and_shapes_are_those_of_mxnet():
    layer = cnn.DeformableConvolution(4, (3, 3), groups=2, num_deformable_group=2, prefix="d_")
    shapes = {name: param.shape for name, param in layer.collect_params().items()}
    assert shapes == {
        "d_offset_weight": (36, 0, 3, 3),
        "d_offset_bias": (36,),
        "d_deformable_conv_weight": (4, 0, 3, 3),
        "d_deformable_conv_bias": (4,),
    }
    modulated = cnn.ModulatedDeformableConvolution(4, (3, 3), use_bias=False, prefix="m_")
    names = ["m_deformable_conv_weight", "m_offset_weight", "m_offset_bias"]
    assert list(modulated.collect_params()) == names
    assert modulated.offset_weight.shape == (27, 0, 3, 3)


def test_repr_shows_shapes_and_settings():
    layer = cnn.DeformableConvolution(4, (3, 3), padding=(1, 1), use_bias=False, activation="relu")
    assert repr(layer) == (
        "DeformableConvolution(None -> 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), "
        "bias=False, Activation(relu))"
    )


def test_other_layouts_are_refused():
    with pytest.raises(AssertionError, match="supports NCHW only"):
        cnn.DeformableConvolution(4, layout="NHWC")
