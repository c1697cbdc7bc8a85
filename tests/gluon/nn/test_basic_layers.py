"""Containers and basic layers; texts and names recorded from MXNet 1.9.1, values from numpy."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym
from minigluon.gluon import nn


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


def fixed(layer, x):
    """A layer with known, varied weights, and its weights as numpy arrays."""
    layer.initialize()
    layer(x)
    rng = np.random.default_rng(3)
    arrays = []
    for param in layer.collect_params().values():
        arrays.append(rng.standard_normal(param.shape).astype("float32"))
        param.set_data(nd.array(arrays[-1]))
    return arrays


@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
def test_containers_run_their_blocks_in_order(kind):
    net = kind()
    net.add(nn.HybridLambda(lambda F, x: x + 1), nn.HybridLambda(lambda F, x: x * 3))
    assert net(nd.array([1.0])).asnumpy().tolist() == [6]


@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
def test_containers_are_indexed_sliced_counted_and_iterated(kind):
    net = kind(prefix="s_")
    net.add(nn.Dense(2, prefix="a_"), nn.Dense(3, prefix="b_"))
    part = net[0:1]
    assert type(part) is kind
    assert part.prefix == "s_"
    assert part[0] is net[0]
    assert len(net) == 2
    assert net[-1].name == "b"
    assert [block.name for block in net] == ["a", "b"]
    with pytest.raises(IndexError):
        net[2]


def test_containers_show_their_blocks():
    net = nn.HybridSequential()
    assert repr(net) == "HybridSequential(\n\n)"
    net.add(nn.Dense(2, activation="relu"))
    assert repr(net) == "HybridSequential(\n  (0): Dense(None -> 2, Activation(relu))\n)"


def test_sequential_of_hybrid_blocks_advises_when_hybridized():
    net = nn.Sequential()
    net.add(nn.Dense(2))
    with pytest.warns(
        UserWarning, match="All children of this Sequential layer 'sequential0_' are"
    ):
        net.hybridize()
    assert net[0]._active


def test_sequential_with_a_plain_block_hybridizes_the_others():
    net = nn.Sequential()
    net.add(nn.Dense(2), nn.Lambda("relu"))
    net.hybridize()
    assert net[0]._active


@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize("use_bias", [True, False])
def test_dense_is_an_affine_map(flatten, use_bias):
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("float32")
    layer = nn.Dense(5, flatten=flatten, use_bias=use_bias)
    weight, *bias = fixed(layer, nd.array(x))
    rows = x.reshape(2, -1) if flatten else x
    expected = rows @ weight.T + (bias[0] if use_bias else 0)
    np.testing.assert_allclose(layer(nd.array(x)).asnumpy(), expected, rtol=1e-5, atol=1e-5)
    layer.hybridize()
    np.testing.assert_allclose(layer(nd.array(x)).asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_dense_says_its_sizes():
    layer = nn.Dense(3, activation="sigmoid")
    assert repr(layer) == "Dense(None -> 3, Activation(sigmoid))"
    layer.initialize()
    layer(nd.ones((1, 4)))
    assert repr(layer) == "Dense(4 -> 3, Activation(sigmoid))"


def test_dense_bias_starts_at_zero_whatever_the_initializer():
    layer = nn.Dense(3, in_units=2)
    layer.initialize("ones")
    assert layer.bias.data().asnumpy().tolist() == [0, 0, 0]


def test_dense_has_the_dtype_asked_for():
    layer = nn.Dense(2, dtype="float64")
    layer.initialize()
    assert layer(nd.ones((1, 2), dtype="float64")).dtype == np.float64


def test_dense_deferred_asks_for_a_batch():
    layer = nn.Dense(2)
    layer.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match="pass one batch of data"):
        layer.weight.data()


def test_dense_accumulates_gradients_when_told_to():
    layer = nn.Dense(2, in_units=3)
    layer.initialize("ones")
    layer.weight.grad_req = "add"
    for _ in range(3):
        with autograd.record():
            loss = layer(nd.ones((1, 3))).sum()
        loss.backward()
    assert layer.weight.grad().asnumpy().tolist() == [[3] * 3] * 2
    layer.collect_params().zero_grad()
    assert layer.weight.grad().asnumpy().tolist() == [[0] * 3] * 2


def test_dropout_acts_in_training_only():
    layer = nn.Dropout(0.5)
    x = nd.ones((100,))
    assert layer(x).asnumpy().tolist() == [1] * 100
    with autograd.train_mode():
        kept = layer(x).asnumpy()
    assert set(np.unique(kept)) == {0, 2}
    assert repr(layer) == "Dropout(p = 0.5, axes=())"


def test_dropout_of_nothing_is_the_identity():
    with autograd.train_mode():
        assert nn.Dropout(0)(nd.ones((3,))).asnumpy().tolist() == [1, 1, 1]


def test_embedding_looks_up_rows():
    layer = nn.Embedding(4, 2)
    (weight,) = fixed(layer, nd.array([0]))
    ids = np.array([[1, 3], [0, 1]])
    np.testing.assert_array_equal(layer(nd.array(ids)).asnumpy(), weight[ids])
    assert repr(layer) == "Embedding(4 -> 2, float32)"


def test_embedding_with_sparse_gradient_touches_the_rows_that_occur():
    layer = nn.Embedding(7, 2, sparse_grad=True)
    layer.initialize("ones")
    with autograd.record():
        loss = (layer(nd.array([[1, 3], [3, 3]])) ** 2).sum()
    loss.backward()
    grad = layer.weight.grad()
    assert grad.stype == "row_sparse"
    assert grad.indices.asnumpy().tolist() == [1, 3]
    # recorded from MXNet 1.9.1
    assert grad.data.asnumpy().tolist() == [[2, 2], [6, 6]]


def test_embedding_accumulates_gradients():
    layer = nn.Embedding(4, 1)
    layer.initialize("ones")
    layer.weight.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            loss = layer(nd.array([1, 1, 3])).sum()
        loss.backward()
    assert layer.weight.grad().asnumpy().ravel().tolist() == [0, 4, 0, 2]


def test_embedding_follows_a_cast():
    layer = nn.Embedding(3, 2)
    layer.initialize()
    layer.cast("float16")
    assert layer(nd.array([1])).dtype == np.float16


def test_flatten_keeps_the_first_axis():
    assert nn.Flatten()(nd.ones((2, 3, 4))).shape == (2, 12)
    assert repr(nn.Flatten()) == "Flatten"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.Lambda("relu"), "Lambda(relu)"),
        (lambda: nn.Lambda(lambda x: nd.relu(x)), "Lambda(<lambda>)"),
        (lambda: nn.Lambda(nd.relu), "Lambda(relu)"),
        (lambda: nn.HybridLambda("relu"), "HybridLambda(relu)"),
        (lambda: nn.HybridLambda(lambda F, x: F.relu(x)), "HybridLambda(<lambda>)"),
    ],
)
def test_functions_are_layers(make, text):
    layer = make()
    assert layer(nd.array([-1.0, 2.0])).asnumpy().tolist() == [0, 2]
    assert repr(layer) == text


def test_hybrid_function_takes_symbols():
    out = nn.HybridLambda("relu", prefix="h_")(sym.var("data"))
    assert out.list_outputs() == ["h_relu0_output"]


def test_functions_of_several_inputs():
    total = nn.HybridLambda(lambda F, a, b: a + b)
    assert total(nd.ones(1), nd.ones(1)).asnumpy().tolist() == [2]
    assert nn.Lambda(lambda a, b: a + b)(nd.ones(1), nd.ones(1)).asnumpy().tolist() == [2]


@pytest.mark.parametrize("kind", [nn.Lambda, nn.HybridLambda])
def test_unknown_function_name_is_an_assertion_error(kind):
    with pytest.raises(AssertionError, match="Function name nonsense_op is not found in"):
        kind("nonsense_op")
    with pytest.raises(ValueError, match="Unrecognized function in lambda: 5"):
        kind(5)


def test_names_of_a_graph_are_the_original_ones():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.Activation("relu"), nn.Dropout(0.2), nn.Flatten(), nn.LeakyReLU(0.1))
    # recorded from MXNet 1.9.1
    assert net(sym.var("data")).get_internals().list_outputs() == [
        "data",
        "dense0_weight",
        "dense0_bias",
        "dense0_fwd_output",
        "relu0_fwd_output",
        "dropout0_fwd_output",
        "flatten0_flatten0_output",
        "leakyrelu0_fwd_output",
    ]


def test_embedding_of_a_row_sparse_parameter_trains_the_rows_it_reads():
    class Lookup(gluon.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")

        def forward(self, ids):
            rows = self.w.row_sparse_data(ids)
            return nd.Embedding(ids, rows, input_dim=4, output_dim=2, sparse_grad=True)

    net = Lookup()
    net.initialize("ones")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with autograd.record():
        loss = net(nd.array([1, 3])).sum()
    loss.backward()
    trainer.step(1)
    # recorded from MXNet 1.9.1
    assert net.w._reduce().asnumpy().tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]
