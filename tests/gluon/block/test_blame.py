"""Errors of hybridized networks say which layer they came from, and by what path."""

import pytest

from minigluon import gluon, nd
from minigluon.gluon import nn


class Net(gluon.HybridBlock):
    """A network whose layers stand two levels deep."""

    def __init__(self, *layers, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            with self.body.name_scope():
                self.body.add(*[layer() for layer in layers])

    def hybrid_forward(self, F, x):
        return self.body(x)


def message(net, x):
    with pytest.raises(ValueError, match="Error in operator") as caught:
        net(x)
    return str(caught.value)


def test_node_layer_path_parameters_and_shapes_are_named():
    net = Net(lambda: nn.Dense(8, in_units=5), lambda: nn.Dense(3, in_units=9), prefix="net_")
    net.initialize()
    net.hybridize()
    text = message(net, nd.ones((2, 5)))
    assert text.startswith("Error in operator net_hybridsequential0_dense1_fwd: FullyConnected")
    assert "data (2, 8), weight (3, 9)" in text
    assert "\n  layer     body.1 (net_hybridsequential0_dense1) = Dense with Parameter" in text


def test_a_later_call_with_another_shape_is_explained_too():
    net = Net(lambda: nn.Dense(8, in_units=5), prefix="net_")
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(nd.ones((2, 5)))
    text = message(net, nd.ones((2, 4)))
    assert "data (2, 4)" in text
    assert "layer     body.0 (net_hybridsequential0_dense0) = Dense" in text


@pytest.mark.parametrize("hybrid", [False, True])
def test_what_hinders_deferred_initialization_is_named(hybrid):
    net = Net(lambda: nn.Conv2D(4, 3, in_channels=3), lambda: nn.Conv2D(4, 9), prefix="net_")
    net.initialize()
    net.hybridize(hybrid)
    text = message(net, nd.ones((1, 3, 6, 6)))
    assert text.startswith("Deferred initialization failed because shape cannot be inferred.")
    assert "Error in operator net_hybridsequential0_conv1_fwd" in text
    assert "= Conv2D with Parameter net_hybridsequential0_conv1_weight (shape=(4, 0, 9, 9)" in text


def test_a_block_that_computes_by_itself_is_named():
    class Product(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a * b

    block = Product(prefix="product_")
    block.hybridize()
    with pytest.raises(ValueError, match=r"layer     product = Product with no parameters") as e:
        block(nd.ones((3, 4)), nd.ones((3, 1)))
    assert "Error in operator product__mul0: elemwise_mul" in str(e.value)
    assert "lhs (3, 4), rhs (3, 1)" in str(e.value)


@pytest.mark.parametrize("container", [nn.Sequential, nn.HybridSequential])
def test_running_as_python_the_path_is_named_too(container):
    inner = container(prefix="inner_")
    inner.add(nn.Dense(8, in_units=5, prefix="a_"), nn.Dense(3, in_units=9, prefix="b_"))
    outer = container(prefix="outer_")
    outer.add(nn.Flatten(), inner)
    outer.initialize()
    with pytest.raises(ValueError, match="FullyConnected: weight has the wrong shape") as caught:
        outer(nd.ones((2, 5)))
    text = str(caught.value)
    assert "received  data (2, 8) float32 default, weight (3, 9)" in text
    assert "\n  layer     1.1 (b) = Dense with Parameter b_weight (shape=(3, 9)" in text
    assert text.count("layer") == 1


def test_a_layer_by_itself_has_no_path():
    layer = nn.Dense(2, in_units=4, prefix="d_")
    layer.initialize()
    with pytest.raises(ValueError, match=r"\n  layer     d = Dense with Parameter d_weight"):
        layer(nd.ones((1, 3)))
