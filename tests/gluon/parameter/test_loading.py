"""A file that does not fit is described whole, and changes nothing."""

import numpy as np
import pytest

from minigluon import gluon, nd
from minigluon.gluon import nn


def network(prefix="a_"):
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.Dense(4, in_units=3), nn.Dense(5, in_units=4))
    net.initialize()
    return net


def other(prefix="b_"):
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Dense(3, in_units=3), nn.Dense(4, in_units=3, use_bias=False))
        net.register_child(nn.Dense(9, in_units=9), "extra")
    net.initialize()
    return net


def values(net):
    return {name: p.data().asnumpy().copy() for name, p in net.collect_params().items()}


def assert_unchanged(net, before):
    for name, value in values(net).items():
        np.testing.assert_array_equal(value, before[name])


def test_all_that_is_wrong_with_a_file_is_listed(tmp_path):
    network().save_parameters(str(tmp_path / "net"))
    net = other()
    before = values(net)
    with pytest.raises(ValueError, match="is missing in file") as caught:
        net.load_parameters(str(tmp_path / "net"))
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("Parameter 'extra.weight' is missing in file")
    assert lines[1:] == [
        "  received  nothing for 'extra.weight', 'extra.bias'",
        "            unknown '1.bias', '2.weight', '2.bias'",
        "            '0.weight' of shape (3, 2)",
        "  expected  '0.weight', '0.bias', '1.weight', 'extra.weight', 'extra.bias'",
        "            '0.weight' of shape (3, 3)",
        "  fix       pass allow_missing=True, ignore_extra=True, or load the file of such a "
        "network",
    ]
    assert_unchanged(net, before)


def test_shapes_and_types_are_listed_where_names_may_differ(tmp_path):
    network().save_parameters(str(tmp_path / "net"))
    net = other()
    net[1].cast("float64")
    before = values(net)
    with pytest.raises(AssertionError, match="shape incompatible expected") as caught:
        net.load_parameters(str(tmp_path / "net"), allow_missing=True, ignore_extra=True)
    text = str(caught.value)
    assert "'0.weight' of shape (3, 2)\n            '1.weight' of dtype float32" in text
    assert "'0.weight' of shape (3, 3)\n            '1.weight' of dtype float64" in text
    assert "pass cast_dtype=True" in text
    assert_unchanged(net, before)


def test_a_dictionary_lists_by_full_name(tmp_path):
    network("p_").collect_params().save(str(tmp_path / "net"))
    net = other("p_")
    before = values(net)
    with pytest.raises(AssertionError, match="'p_dense1_bias' loaded from file") as caught:
        net.collect_params().load(str(tmp_path / "net"))
    assert "'p_dense0_weight' of shape (3, 2)\n            'p_dense2_weight'" in str(caught.value)
    assert_unchanged(net, before)


def test_a_parameter_with_two_names_needs_one_of_them(tmp_path):
    class Tied(gluon.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.a = nn.Dense(2, in_units=2)
            self.b = nn.Dense(2, in_units=2, params=self.a.params)

    net = Tied()
    net.initialize()
    net.save_parameters(str(tmp_path / "net"), deduplicate=True)
    assert set(nd.load(str(tmp_path / "net"))) == {"b.weight", "b.bias"}
    net.load_parameters(str(tmp_path / "net"))


def test_a_context_that_differs_is_named(tmp_path):
    from minigluon import cpu

    network().save_parameters(str(tmp_path / "net"))
    with pytest.raises(AssertionError, match=r"'0\.weight' on \[cpu\(1\)\](.|\n)*ctx"):
        network().load_parameters(str(tmp_path / "net"), ctx=cpu(1))
