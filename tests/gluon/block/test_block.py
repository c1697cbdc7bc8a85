"""Block: names, parts, parameters in files, hooks; names and texts recorded from MXNet 1.9.1."""

import json

import numpy as np
import pytest

import minigluon as mx
from minigluon import gluon, nd
from minigluon.gluon import nn


class Net(gluon.Block):
    """Two dense layers."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.a = nn.Dense(3, in_units=2)
            self.b = nn.Dense(2, in_units=3)

    def forward(self, x):
        """One after the other."""
        return self.b(self.a(x))


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


def weights(net):
    """All values by structural name."""
    return {n: p.data().asnumpy() for n, p in net._collect_params_with_prefix().items()}


def same_weights(one, other):
    """Whether two nets hold the same values."""
    first, second = weights(one), weights(other)
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_blocks_are_numbered_and_children_take_the_prefix():
    net = Net()
    assert (net.prefix, net.name, net.a.prefix, net.b.name) == (
        "net0_",
        "net0",
        "net0_dense0_",
        "net0_dense1",
    )
    assert Net().prefix == "net1_"


def test_prefix_can_be_given_or_empty():
    assert Net(prefix="x_").a.prefix == "x_dense0_"
    assert Net(prefix="").a.prefix == "dense0_"
    assert Net(prefix="q").name == "q"


def test_blocks_count_with_the_names_of_operators():
    names = [
        nn.Activation("relu").name,
        mx.sym.relu(mx.sym.var("a")).name,
        nn.Activation("relu").name,
    ]
    assert names == ["relu0", "relu1", "relu2"]


def test_block_inside_a_prefix_takes_it():
    with mx.name.Prefix("pp_"):
        assert nn.Dense(2).name == "pp_dense0"


def test_name_scope_can_be_entered_again_inside_itself():
    net = gluon.Block(prefix="n_")
    with net.name_scope():
        with net.name_scope():
            first = nn.Dense(1)
        second = nn.Dense(1)
    assert (first.prefix, second.prefix, nn.Dense(1).prefix) == (
        "n_dense0_",
        "n_dense1_",
        "dense0_",
    )


def test_repr_nests():
    net = nn.Sequential()
    net.add(nn.Dense(3), Net())
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Dense(None -> 3, linear)\n"
        "  (1): Net(\n"
        "    (a): Dense(2 -> 3, linear)\n"
        "    (b): Dense(3 -> 2, linear)\n"
        "  )\n"
        ")"
    )
    assert repr(gluon.Block()) == "Block(\n\n)"


@pytest.mark.parametrize("value", [5, None])
def test_child_cannot_become_something_else(value):
    net = Net()
    with pytest.raises(TypeError, match=r"Changing attribute type for a from .*Dense'> to"):
        net.a = value


def test_parameter_cannot_become_something_else():
    layer = nn.Dense(2)
    with pytest.raises(TypeError, match="Changing attribute type for weight"):
        layer.weight = 5


def test_parameter_cannot_be_replaced():
    layer = nn.Dense(2)
    with pytest.raises(
        AssertionError, match="Overriding Parameter attribute weight is not allowed"
    ):
        layer.weight = gluon.Parameter("other", shape=(2, 2))


def test_child_can_be_replaced_by_its_like():
    net = Net()
    net.a = nn.Dense(7, prefix="zz_")
    assert next(iter(net.collect_params())) == "zz_weight"


def test_plain_attribute_can_become_a_child():
    net = Net()
    net.x = None
    net.x = nn.Dense(2)
    assert list(net._children) == ["a", "b", "x"]


@pytest.mark.parametrize("container", [list, tuple, lambda c: {"a": c[0]}, lambda c: [list(c)]])
def test_loose_blocks_in_containers_warn(container):
    class Loose(gluon.Block):
        def __init__(self):
            super().__init__()
            self.held = container([nn.Dense(2)])

    with pytest.warns(UserWarning, match='"Loose.held" is an unregistered container with Blocks'):
        found = Loose().collect_params()
    assert not list(found)


def test_registered_blocks_in_containers_do_not_warn():
    class Tidy(gluon.Block):
        def __init__(self):
            super().__init__()
            self.held = [nn.Dense(2)]
            self.register_child(self.held[0])

    assert list(Tidy().collect_params()) == ["dense0_weight", "dense0_bias"]


@pytest.mark.parametrize(
    ("select", "names"),
    [
        (None, ["0_weight", "0_bias", "1_weight", "1_bias"]),
        (".*weight", ["0_weight", "1_weight"]),
        ("m_dense0_.*|.*bias", ["0_weight", "0_bias", "1_bias"]),
        ("weight", []),
    ],
)
def test_select_matches_the_begin_of_names(select, names):
    found = Net(prefix="m_").collect_params(select)
    assert list(found) == [f"m_dense{name}" for name in names]


def test_params_are_its_own_only():
    net = Net(prefix="m_")
    assert list(net.params) == []
    assert list(net.a.params) == ["m_dense0_weight", "m_dense0_bias"]


def test_apply_visits_children_first_and_returns_the_block():
    order = []
    net = Net(prefix="m_")
    assert net.apply(lambda block: order.append(block.name)) is net
    assert order == ["m_dense0", "m_dense1", "m"]


def test_forward_must_be_defined():
    with pytest.raises(NotImplementedError):
        gluon.Block()(nd.ones(1))


def test_use_before_initialize_names_the_parameter():
    with pytest.raises(
        RuntimeError, match="Parameter 'net0_dense0_weight' has not been initialized"
    ):
        Net()(nd.ones((1, 2)))


def test_cast_reaches_all_parameters():
    net = Net()
    net.initialize()
    net.cast("float64")
    assert net(nd.ones((1, 2), dtype="float64")).dtype == np.float64


def test_hooks_run_around_forward_until_detached():
    net = Net()
    net.initialize()
    seen = []
    before = net.a.register_forward_pre_hook(lambda b, i: seen.append(("before", b, i[0].shape)))
    after = net.a.register_forward_hook(lambda b, i, o: seen.append(("after", i[0].shape, o.shape)))
    net(nd.ones((1, 2)))
    before.detach()
    after.detach()
    net(nd.ones((1, 2)))
    assert seen == [("before", net.a, (1, 2)), ("after", (1, 2), (1, 3))]


def test_hook_lasts_as_long_as_its_with_block():
    net = Net()
    net.initialize()
    seen = []
    with net.register_forward_hook(lambda *args: seen.append(args)):
        net(nd.ones((1, 2)))
    net(nd.ones((1, 2)))
    assert len(seen) == 1


def test_what_a_hook_returns_is_ignored():
    net = Net()
    net.initialize()
    net.register_forward_hook(lambda b, i, o: 5)
    assert net(nd.ones((1, 2))).shape == (1, 2)


def test_files_hold_attribute_paths_and_fit_other_instances(tmp_path):
    file = str(tmp_path / "net.params")
    net, other = Net(), Net()
    net.initialize()
    net.save_parameters(file)
    assert list(nd.load(file)) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    other.load_parameters(file)
    assert same_weights(net, other)


def test_load_into_initialized_block_keeps_its_arrays(tmp_path):
    file = str(tmp_path / "net.params")
    net, other = Net(), Net()
    net.initialize("ones")
    other.initialize("zeros")
    net.save_parameters(file)
    array = other.a.weight.data()
    other.load_parameters(file)
    assert other.a.weight.data() is array
    assert array.sum().asscalar() == 6


def test_missing_parameter_is_named_with_what_the_file_has(tmp_path):
    file = str(tmp_path / "net.params")
    net, layer = Net(), nn.Dense(2)
    net.initialize()
    net.save_parameters(file)
    with pytest.raises(AssertionError) as caught:
        layer.load_parameters(file)
    assert str(caught.value).startswith(
        f"Parameter 'weight' is missing in file '{file}', which contains parameters: 'a.weight', "
        "'a.bias', 'b.weight', 'b.bias'. Set allow_missing=True to ignore missing parameters."
    )


def test_surplus_parameter_is_named_unless_ignored(tmp_path):
    file = str(tmp_path / "net.params")
    net, layer = Net(), nn.Dense(2)
    net.initialize()
    net.save_parameters(file)
    with pytest.raises(ValueError, match=r"'a.weight' loaded from file .* is not present"):
        layer.load_parameters(file, allow_missing=True)
    layer.load_parameters(file, allow_missing=True, ignore_extra=True)
    assert layer.weight._data is None


def test_failed_load_changes_nothing(tmp_path):
    file = str(tmp_path / "net.params")
    net = Net()
    net.initialize("zeros")
    nd.save(
        file,
        {
            "a.weight": nd.ones((3, 2)),
            "a.bias": nd.ones(3),
            "b.weight": nd.ones((2, 3)),
            "b.bias": nd.ones(9),
        },
    )
    with pytest.raises(AssertionError, match="shape incompatible"):
        net.load_parameters(file)
    assert not any(value.any() for value in weights(net).values())


def test_full_names_load_with_and_without_the_prefix(tmp_path):
    file = str(tmp_path / "net.params")
    net = Net(prefix="u_")
    net.initialize()
    for strip in ("", "u_"):
        net.collect_params().save(file, strip_prefix=strip)
        other = Net(prefix="u_")
        other.load_parameters(file)
        assert same_weights(net, other)


def test_stripped_names_load_under_another_prefix(tmp_path):
    file = str(tmp_path / "net.params")
    net, other = Net(prefix="u_"), Net(prefix="v_")
    net.initialize()
    net.collect_params().save(file, strip_prefix="u_")
    other.load_parameters(file)
    assert same_weights(net, other)


def test_collect_params_of_another_instance_needs_the_same_names(tmp_path):
    file = str(tmp_path / "net.params")
    net, other = Net(prefix="u_"), Net(prefix="v_")
    net.initialize()
    net.collect_params().save(file)
    with pytest.raises(
        AssertionError, match=r"'v_dense0_weight' is missing in file.*'u_dense0_weight'"
    ):
        other.collect_params().load(file)


def test_former_names_of_save_and_load_warn_and_work(tmp_path):
    file = str(tmp_path / "net.params")
    net, other = Net(prefix="u_"), Net(prefix="v_")
    net.initialize()
    with pytest.warns(UserWarning, match="save_params is deprecated"):
        net.save_params(file)
    with pytest.warns(UserWarning, match="load_params is deprecated"):
        other.load_params(file)
    assert next(iter(nd.load(file))) == "dense0_weight"
    assert same_weights(net, other)


def test_exported_file_loads_into_the_block_it_came_from(tmp_path):
    net = nn.HybridSequential(prefix="k_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=2))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 2)))
    net.export(str(tmp_path / "m"))
    value = net[0].weight.data().asnumpy()
    net.initialize("zeros", force_reinit=True)
    net.load_parameters(str(tmp_path / "m-0000.params"))
    assert np.array_equal(net[0].weight.data().asnumpy(), value)


@pytest.mark.parametrize("made", [False, True])
def test_dtype_of_the_file_needs_permission(tmp_path, made):
    file = str(tmp_path / "net.params")
    net = Net()
    net.initialize()
    net.cast("float16")
    net.save_parameters(file)

    def load(**kwargs):
        other = Net()
        if made:
            other.initialize()
        other.load_parameters(file, **kwargs)
        return other.a.weight.data().dtype

    with pytest.raises(AssertionError, match="dtype incompatible expected float32 vs saved"):
        load()
    with pytest.raises(AssertionError, match="dtype_source must be in"):
        load(cast_dtype=True, dtype_source="x")
    assert load(cast_dtype=True) == np.float32
    assert load(cast_dtype=True, dtype_source="saved") == np.float16


def test_shared_parameters_are_written_under_every_path_or_once(tmp_path):
    file = str(tmp_path / "net.params")

    def tied():
        net = nn.Sequential()
        first = nn.Dense(2, in_units=2)
        net.add(first, nn.Dense(2, in_units=2, params=first.params))
        return net

    net = tied()
    net.initialize()
    assert len(list(net.collect_params())) == 2
    for deduplicate, names in [
        (False, ["0.weight", "0.bias", "1.weight", "1.bias"]),
        (True, ["1.weight", "1.bias"]),
    ]:
        net.save_parameters(file, deduplicate=deduplicate)
        assert list(nd.load(file)) == names
        other = tied()
        other.load_parameters(file)
        assert same_weights(net, other)


def test_load_puts_parameters_on_the_given_context(tmp_path):
    file = str(tmp_path / "net.params")
    net = Net()
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    net.save_parameters(file)
    net.load_parameters(file)
    assert net.a.weight.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    with pytest.raises(
        AssertionError, match=r"on \[cpu\(2\)\] because it was previous initialized"
    ):
        net.load_parameters(file, ctx=mx.cpu(2))
    other = Net()
    other.load_parameters(file, ctx=mx.cpu(3))
    assert other.a.weight.list_ctx() == [mx.cpu(3)]


@pytest.mark.parametrize("made", [False, True])
def test_load_tells_unknown_shapes(tmp_path, made):
    file = str(tmp_path / "net.params")
    known, unknown = nn.Dense(2, in_units=3), nn.Dense(2)
    known.initialize()
    known.save_parameters(file)
    if made:
        unknown.initialize()
    unknown.load_parameters(file)
    assert unknown.weight.shape == (2, 3)
    assert same_weights(known, unknown)


def test_block_without_parameters_saves_and_loads(tmp_path):
    file = str(tmp_path / "net.params")
    net = nn.Sequential()
    net.save_parameters(file)
    net.load_parameters(file)
    assert not list(net.collect_params())


def test_save_needs_initialized_parameters(tmp_path):
    with pytest.raises(RuntimeError, match="has not been initialized"):
        Net().save_parameters(str(tmp_path / "net.params"))


def test_model_file_restores_values_and_how_blocks_run(tmp_path):
    def make():
        net = nn.HybridSequential()
        net.add(nn.Dense(2, in_units=2))
        return net

    net, other = make(), make()
    net.initialize("ones")
    net.hybridize()
    net(nd.ones((1, 2)))
    net.save(str(tmp_path / "net"))
    described = json.loads((tmp_path / "net-model.json").read_text())
    assert described["hybridsequential0"]["hybridized"] is True
    other.load(str(tmp_path / "net"))
    assert other._active
    assert other(nd.ones((1, 2))).asnumpy().tolist() == [[2, 2]]


def test_model_file_of_the_original_loads(tmp_path):
    # the structure that MXNet 1.9.1 writes for this network; symbols and formats left out
    child = {"orig_name": "k_dense0", "hybridized": False, "children": {}}
    described = {
        "orig_name": "k",
        "hybridized": True,
        "children": {"k_dense0": "0"},
        "dense1": child,
    }
    (tmp_path / "net-model.json").write_text(json.dumps({"hybridsequential0": described}))
    nd.save(str(tmp_path / "net-model.params"), {"0.weight": nd.ones((2, 2)), "0.bias": nd.ones(2)})
    net = nn.HybridSequential()
    net.add(nn.Dense(2))
    net.load(str(tmp_path / "net"))
    assert net._active
    assert net(nd.ones((1, 2))).asnumpy().tolist() == [[3, 3]]


def test_model_file_of_another_network_is_refused(tmp_path):
    Net().initialize()
    net = Net()
    net.initialize()
    net.save(str(tmp_path / "net"))
    with pytest.raises(ValueError, match="describes another network"):
        nn.Sequential().load(str(tmp_path / "net"))
