"""HybridBlock: one definition that runs eagerly, composes symbols, and runs as one graph."""

import copy
import json
import pickle

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym
from minigluon.gluon import nn


class Function(gluon.HybridBlock):
    """A hybrid block around a function."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def hybrid_forward(self, F, *args, **kwargs):
        """What the function returns."""
        return self.function(F, *args, **kwargs)


class Affine(gluon.HybridBlock):
    """A block with parameters of its own and a child."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(1, 2), init="ones")
            self.inner = nn.Dense(2, weight_initializer="ones")

    def hybrid_forward(self, F, x, scale):
        """scale * (x + inner(x))."""
        return F.broadcast_mul(F.broadcast_add(self.inner(x), x), scale)


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


def one(value=1.0, n=1):
    """A vector of n times the value."""
    return nd.full((n,), value)


def make(hybridize=None):
    """A two-layer network of ones."""
    net = nn.HybridSequential(prefix="k_")
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.initialize("ones")
    if hybridize is not None:
        net.hybridize(**hybridize)
    return net


def values(nested):
    """Nested lists of numbers."""
    if isinstance(nested, list | tuple):
        return [values(x) for x in nested]
    return nested if nested is None else nested.asnumpy().tolist()


FLAGS = [
    {},
    {"static_alloc": True},
    {"static_alloc": True, "static_shape": True},
    {"static_shape": True},
    {"inline_limit": 0},
    {"inline_limit": 10},
    {"forward_bulk_size": 2, "backward_bulk_size": 1},
]


@pytest.mark.parametrize("flags", FLAGS)
def test_hybridized_equals_eager_with_gradients(flags):
    x = nd.array([[1.0, -2.0], [0.5, 3.0]])
    results = []
    for hybridize in (None, flags):
        block = Affine()
        block.initialize("ones")
        if hybridize is not None:
            block.hybridize(**hybridize)
        inputs = x.copy()
        inputs.attach_grad()
        with autograd.record():
            out = block(inputs)
            loss = (out * out).sum()
        loss.backward()
        grads = [p.grad().asnumpy() for p in block.collect_params().values()]
        results.append([out.asnumpy(), inputs.grad.asnumpy(), *grads])
    for eager, compiled in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-6)


def test_hybridized_block_copes_with_other_shapes_and_with_training_and_inference_in_turn():
    net = make({"static_alloc": True, "static_shape": True})
    for rows in (1, 4, 2):
        x = nd.ones((rows, 2))
        assert net(x).shape == (rows, 2)
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
        assert net[1].bias.grad().asnumpy().tolist() == [rows, rows]


def test_whole_graph_is_called_once_only():
    calls = []

    def count(F, x):
        calls.append(F)
        return x + 1

    block = Function(count)
    block.hybridize()
    for _ in range(3):
        block(one())
    assert calls == [sym]


@pytest.mark.parametrize("hybridize", [None, {}])
def test_parameters_are_not_fetched_again_for_every_call(monkeypatch, hybridize):
    net = make(hybridize)
    net(nd.ones((1, 2)))
    fetched = []
    real = gluon.Parameter.data
    monkeypatch.setattr(
        gluon.Parameter, "data", lambda self, ctx=None: fetched.append(self) or real(self, ctx)
    )
    net(nd.ones((1, 2)))
    assert not fetched


def test_new_arrays_of_a_parameter_are_noticed():
    for hybridize in (None, {}):
        net = make(hybridize)
        net(nd.ones((1, 2)))
        net[1].initialize("zeros", force_reinit=True)
        assert values(net(nd.ones((1, 2)))) == [[0, 0]]
        net[1].weight.set_data(nd.ones((2, 3)))
        assert values(net(nd.ones((1, 2)))) == [[6, 6]]


def test_other_context_takes_the_parameters_there():
    for hybridize in (None, {}):
        layer = nn.Dense(2, in_units=2)
        layer.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
        if hybridize is not None:
            layer.hybridize()
        for ctx in (mx.cpu(0), mx.cpu(1), mx.cpu(0)):
            assert layer(nd.ones((1, 2), ctx=ctx)).context == ctx


@pytest.mark.parametrize("hybridize", [False, True])
def test_context_without_parameters_is_named(hybridize):
    layer = nn.Dense(2, in_units=2)
    layer.initialize()
    if hybridize:
        layer.hybridize()
    with pytest.raises(RuntimeError, match=r"not initialized on context cpu\(1\)"):
        layer(nd.ones((1, 2), ctx=mx.cpu(1)))


def test_none_is_part_of_the_signature():
    block = Function(lambda F, a, b: a + 1 if b is None else a + b)
    assert values(block(one(), None)) == [2]
    block.hybridize()
    assert values(block(one(), None)) == [2]
    with pytest.raises(ValueError) as caught:
        block(one(), one())
    # recorded from MXNet 1.9.1
    assert str(caught.value).startswith(
        "The argument structure of HybridBlock does not match the cached version. "
        "Stored format = [0, 0], input format = [0, -1]"
    )


def test_first_input_may_be_none():
    block = Function(lambda F, a, b: b + 1)
    assert values(block(None, one())) == [2]
    block.hybridize()
    assert values(block(None, one())) == [2]


def test_nested_inputs_and_outputs_keep_their_structure():
    block = Function(lambda F, a, b: [a + b[0], [b[1] * 2, a]])
    eager = values(block(one(), [one(2), one(3)]))
    block.hybridize()
    assert values(block(one(), [one(2), one(3)])) == eager == [[3], [[6], [1]]]
    assert values(block(one(), (one(2), one(3)))) == eager


@pytest.mark.parametrize("args", [(1, [1, [1]]), (1, 1, 1), (1, [1, 1, 1])])
def test_another_nesting_is_a_value_error(args):
    block = Function(lambda F, a, b: a + b[0] + b[1])
    block.hybridize()
    block(one(), [one(), one()])

    def arrays(value):
        return [arrays(v) for v in value] if isinstance(value, list) else one()

    with pytest.raises(ValueError, match="argument structure"):
        block(*[arrays(a) for a in args])


def test_none_among_the_outputs_comes_back():
    block = Function(lambda F, a: (a + 1, None))
    block.hybridize()
    assert values(block(one())) == [[2], None]


def test_operator_with_several_outputs_gives_a_list():
    block = Function(lambda F, a: F.split(a, num_outputs=2))
    block.hybridize()
    assert values(block(nd.array([[1, 2]]))) == [[[1]], [[2]]]


def test_input_can_be_the_output():
    block = Function(lambda F, a: a)
    block.hybridize()
    assert values(block(one())) == [1]


@pytest.mark.parametrize("value", [3, "s", True])
def test_hybridized_block_refuses_inputs_that_are_no_arrays(value):
    block = Function(lambda F, a, b: a + 1)
    block.hybridize()
    with pytest.raises(
        ValueError, match=r"input must be .nested. list of Symbol or NDArray, but got"
    ):
        block(one(), value)


def test_eager_block_takes_other_inputs():
    assert values(Function(lambda F, a, b: a + b)(3, one())) == [4]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("value", [[[1, 2]], np.ones((1, 2)), 3])
def test_without_any_array_the_error_says_what_is_needed(hybridize, value):
    layer = nn.Dense(2)
    layer.initialize()
    layer.hybridize(hybridize)
    with pytest.raises(ValueError, match="there must be one NDArray or one Symbol in the input"):
        layer(value)


@pytest.mark.parametrize("hybridize", [False, True])
def test_arrays_and_symbols_do_not_mix(hybridize):
    block = Function(lambda F, a, b: a + b)
    block.hybridize(hybridize)
    for args in ((one(), sym.var("a")), (sym.var("a"), one())):
        with pytest.raises(ValueError, match="do not support mixed NDArrays and Symbols"):
            block(*args)


def test_hybridized_inputs_share_one_context():
    block = Function(lambda F, a, b: a + b)
    block.hybridize()
    with pytest.raises(ValueError, match="Find multiple contexts in the input"):
        block(one(), nd.ones((1,), ctx=mx.cpu(1)))


def test_unused_input_warns_and_is_ignored():
    block = Function(lambda F, a, b: a * 2)
    block.hybridize()
    with pytest.warns(
        UserWarning, match="The 1-th input to HybridBlock is not used by any computation"
    ):
        out = block(one(), nd.ones((3, 1)))
    assert values(out) == [2]
    assert values(block(one(2), nd.ones((3, 1)))) == [4]


def test_unused_parameter_warns():
    class Careless(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(2,))

        def hybrid_forward(self, F, x, w):
            return x + 1

    block = Careless(prefix="c_")
    block.initialize()
    block.hybridize()
    with pytest.warns(UserWarning, match="Parameter c_w is not used by any computation"):
        block(one())


def test_elementwise_product_of_unequal_shapes_names_node_and_shapes_when_hybridized():
    block = Function(lambda F, a, b: a * b, prefix="f_")
    assert block(nd.ones((3, 4)), nd.ones((3, 1))).shape == (3, 4)
    block.hybridize()
    with pytest.raises(mx.MXNetError) as caught:
        block(nd.ones((3, 4)), nd.ones((3, 1)))
    for part in ("f__mul0", "(3, 4)", "(3, 1)"):
        assert part in str(caught.value)


@pytest.mark.parametrize("hybridize", [False, True])
def test_contradicting_input_names_parameter_or_node_and_both_shapes(hybridize):
    layer = nn.Dense(2, in_units=5, prefix="d_")
    layer.initialize()
    layer.hybridize(hybridize)
    with pytest.raises(mx.MXNetError) as caught:
        layer(nd.ones((1, 2)))
    for part in ("d_fwd" if hybridize else "d_weight", "(2, 5)", "(2, 2)"):
        assert part in str(caught.value)


def test_shapes_that_cannot_be_inferred_are_named():
    class Vague(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(0, 0), allow_deferred_init=True)

        def hybrid_forward(self, F, x, w):
            return F.broadcast_add(F.sum(x), F.sum(w))

    block = Vague(prefix="c_")
    block.initialize()
    with pytest.raises(ValueError, match=r"shape cannot be inferred(.|\n)*c_w: \(0, 0\)"):
        block(nd.ones((1, 2)))


def test_own_infer_shape_is_used():
    class Projection(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(0, 2), allow_deferred_init=True)

        def infer_shape(self, x):
            self.w.shape = (x.shape[1], 2)

        def hybrid_forward(self, F, x, w):
            return F.dot(x, w)

    block = Projection()
    block.initialize()
    assert block(nd.ones((1, 3))).shape == (1, 2)


def test_infer_shape_makes_no_arrays():
    net = make()
    net.infer_shape(nd.ones((1, 4)))
    assert net[0].weight.shape == (3, 4)
    assert net[1].weight.shape == (2, 3)
    assert net[0].weight._data is None


def test_adding_or_replacing_a_child_drops_the_graph():
    net = make({})
    assert net(nd.ones((1, 2))).shape == (1, 2)
    net.add(nn.Dense(1))
    net[2].initialize("ones")
    assert values(net(nd.ones((1, 2)))) == [[12]]

    block = Affine()
    block.initialize("ones")
    block.hybridize()
    block(nd.ones((1, 2)))
    block.inner = nn.Dense(2, weight_initializer="zeros")
    block.inner.initialize()
    assert values(block(nd.ones((1, 2)))) == [[1, 1]]


def test_cast_drops_the_graph_and_stays_hybridized():
    net = make({})
    net(nd.ones((1, 2)))
    net.cast("float64")
    assert net(nd.ones((1, 2), dtype="float64")).dtype == np.float64
    assert net._active


def test_children_must_be_hybrid():
    with pytest.raises(ValueError, match="Children of HybridBlock must also be HybridBlock, but"):
        nn.HybridSequential().add(nn.Sequential())
    block = gluon.HybridBlock()
    with pytest.raises(ValueError, match="please try HybridSequential instead"):
        block.x = nn.Sequential()


def test_hybridize_reaches_children_and_can_be_taken_back():
    net = make({"static_alloc": True})
    net(nd.ones((1, 2)))
    assert net[0]._active
    assert ("static_alloc", True) in net[0]._flags
    net.hybridize(False)
    assert not net._active
    assert not net[0]._active
    assert net._cached_op is None


def test_block_with_its_own_forward_runs_hybridized_children():
    class Outer(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = nn.Dense(2, in_units=2)

        def forward(self, x):
            return self.inner(x) * 2

    block = Outer()
    block.initialize("ones")
    block.hybridize()
    assert values(block(nd.ones((1, 2)))) == [[4, 4]]
    assert block.inner._cached_op is not None


def test_hooks_of_a_hybridized_block_are_warned_of():
    layer = nn.Dense(2, in_units=2)
    layer.register_forward_hook(lambda *args: None)
    with pytest.warns(UserWarning, match="is being hybridized while still having forward hook"):
        layer.hybridize()


def test_a_backend_to_optimise_for_is_noticed_once_and_changes_nothing(monkeypatch):
    monkeypatch.setattr("minigluon.symbol.symbol._noticed", [])
    layer = nn.Dense(2, in_units=2)
    layer.initialize()
    x = nd.ones((1, 2))
    expected = layer(x).asnumpy()
    with pytest.raises(ValueError, match='Must specify "backend"'):
        layer.optimize_for(x)
    with pytest.warns(UserWarning, match="backend='foo' changes nothing"):
        layer.optimize_for(x, backend="foo")
    layer.hybridize(backend="foo")
    np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-6)


def test_export_needs_a_graph(tmp_path):
    layer = nn.Dense(2)
    layer.initialize()
    layer.hybridize()
    with pytest.raises(RuntimeError, match="Please first call block"):
        layer.export(str(tmp_path / "z"))


def test_export_writes_graph_and_tagged_parameters(tmp_path):
    net = make({})
    net(nd.ones((1, 2)))
    net.export(str(tmp_path / "m"), epoch=3)
    names = ["k_dense0_weight", "k_dense0_bias", "k_dense1_weight", "k_dense1_bias"]
    assert sym.load(str(tmp_path / "m-symbol.json")).list_arguments() == ["data", *names]
    assert list(nd.load(str(tmp_path / "m-0003.params"))) == [f"arg:{name}" for name in names]


def test_export_of_a_multi_input_block_names_inputs_by_number(tmp_path):
    block = Function(lambda F, a, b: a + b)
    block.hybridize()
    block(one(), one())
    block.export(str(tmp_path / "m"))
    assert sym.load(str(tmp_path / "m-symbol.json")).list_arguments() == ["data0", "data1"]


def test_exported_graph_equals_the_original_text(tmp_path):
    net = nn.HybridSequential(prefix="k_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=2))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 2)))
    net.export(str(tmp_path / "m"))
    nodes = json.loads((tmp_path / "m-symbol.json").read_text())["nodes"]
    # recorded from MXNet 1.9.1
    shared = {"__dtype__": "0", "__lr_mult__": "1.0", "__storage_type__": "0", "__wd_mult__": "1.0"}
    assert nodes == [
        {"op": "null", "name": "data", "inputs": []},
        {
            "op": "null",
            "name": "k_dense0_weight",
            "attrs": {"__shape__": "(2, 2)", **shared},
            "inputs": [],
        },
        {
            "op": "null",
            "name": "k_dense0_bias",
            "attrs": {"__shape__": "(2,)", "__init__": "zeros", **shared},
            "inputs": [],
        },
        {
            "op": "FullyConnected",
            "name": "k_dense0_fwd",
            "attrs": {"flatten": "True", "no_bias": "False", "num_hidden": "2"},
            "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        },
    ]


def test_call_with_a_symbol_composes_with_the_original_names():
    # names recorded from MXNet 1.9.1
    out = nn.Dense(2, prefix="d_", activation="tanh")(sym.var("data"))
    assert out.list_arguments() == ["data", "d_weight", "d_bias"]
    assert out.get_internals().list_outputs()[-2:] == ["d_fwd_output", "d_tanh_fwd_output"]


def test_operators_are_named_inside_the_scope_of_their_block():
    class Two(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.d = nn.Dense(2)

        def hybrid_forward(self, F, x):
            return F.relu(self.d(F.relu(x))) + F.relu(x)

    # recorded from MXNet 1.9.1
    assert Two(prefix="t_")(sym.var("data")).get_internals().list_outputs() == [
        "data",
        "t_relu0_output",
        "t_dense0_weight",
        "t_dense0_bias",
        "t_dense0_fwd_output",
        "t_relu1_output",
        "t_relu2_output",
        "t__plus0_output",
    ]


def watched(monitor_all, training=False):
    """Names and operators a hook sees in one call of a hybridized network."""
    net = nn.HybridSequential(prefix="k_")
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.initialize("ones")
    net.hybridize()
    net(nd.ones((1, 2)))
    seen = []
    net.register_op_hook(lambda name, op, array: seen.append((name, op, array.shape)), monitor_all)
    if training:
        with autograd.record():
            loss = net(nd.ones((1, 2))).sum()
        loss.backward()
        assert net[1].bias.grad().asnumpy().tolist() == [1, 1]
    else:
        net(nd.ones((1, 2)))
    return seen


@pytest.mark.parametrize("training", [False, True])
def test_op_hook_sees_every_output(training):
    # names recorded from MXNet 1.9.1
    assert watched(False, training) == [
        ("k_dense0_fwd_output", "FullyConnected", (1, 3)),
        ("k_dense0_relu_fwd_output", "Activation", (1, 3)),
        ("k_dense1_fwd_output", "FullyConnected", (1, 2)),
    ]


def test_op_hook_sees_inputs_too_if_asked():
    # names recorded from MXNet 1.9.1
    assert [name for name, _, _ in watched(True)] == [
        "k_dense0_fwd_data",
        "k_dense0_fwd_weight",
        "k_dense0_fwd_bias",
        "k_dense0_fwd_output",
        "k_dense0_relu_fwd_input0",
        "k_dense0_relu_fwd_output",
        "k_dense1_fwd_data",
        "k_dense1_fwd_weight",
        "k_dense1_fwd_bias",
        "k_dense1_fwd_output",
    ]


def test_inline_limit_records_small_graphs_operator_by_operator():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.Dense(2), nn.Dense(2))
    net.initialize("ones")
    lengths = []
    for limit in (3, 0):
        net.hybridize(inline_limit=limit)
        with autograd.record():
            out = net(nd.ones((1, 2)))
        lengths.append(len(json.loads(autograd.get_symbol(out).tojson())["nodes"]))
        out.backward()
        assert net[0].bias.grad().asnumpy().tolist() == [4, 4]
    # MXNet's own test asks for the same difference
    assert lengths[0] == lengths[1] + 2


def test_dense_with_row_sparse_weight_is_refused_at_the_call():
    class Sparse(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(4, 2), stype="row_sparse")

        def hybrid_forward(self, F, x, w):
            return F.dot(x, w)

    for hybridize in (False, True):
        block = Sparse()
        block.initialize("ones")
        block.hybridize(hybridize)
        with pytest.raises(RuntimeError, match="its storage type is row_sparse"):
            block(nd.ones((1, 4)))


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
@pytest.mark.parametrize("hybridize", [None, {}])
def test_copies_and_pickles_compute_and_train_on_their_own(twin_of, hybridize):
    net = make(hybridize)
    net(nd.ones((1, 2)))
    twin = twin_of(net)
    twin[1].weight.set_data(nd.zeros((2, 3)))
    assert values(net(nd.ones((1, 2)))) == [[6, 6]]
    with autograd.record():
        out = twin(nd.ones((1, 2)))
    out.backward()
    assert values(out) == [[0, 0]]
    assert values(twin[1].weight.grad()) == [[2] * 3] * 2
    assert values(net[1].weight.grad()) == [[0] * 3] * 2


def test_csr_input_gives_row_sparse_gradient_in_both_ways():
    class Linear(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = self.params.get("w", shape=(4, 2), grad_stype="row_sparse")

        def hybrid_forward(self, F, x, w):
            return F.dot(x, w)

    x = nd.array([[0, 1, 0, 2]]).tostype("csr")
    for hybridize in (False, True):
        block = Linear()
        block.initialize("ones")
        block.hybridize(hybridize)
        with autograd.record():
            out = block(x)
        out.backward()
        assert block.w.grad().stype == "row_sparse"
        assert values(block.w.grad().indices) == [1, 3]
        assert values(block.w.grad().data) == [[1, 1], [2, 2]]


def test_missing_hybrid_forward_is_not_implemented():
    with pytest.raises(NotImplementedError):
        gluon.HybridBlock()(nd.ones(1))


def test_keywords_are_a_type_error():
    with pytest.raises(TypeError):
        Function(lambda F, a: a)(a=one())
