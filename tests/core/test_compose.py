import pytest

import minigluon as mx
from minigluon import sym
from minigluon.base import AttributeValueError, MXNetError
from minigluon.core.explain import ArgumentTypeError


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def test_inputs_that_are_not_given_become_variables():
    layer = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc")
    assert layer.list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert sym.FullyConnected(num_hidden=3, name="f").list_arguments() == [
        "f_data", "f_weight", "f_bias",
    ]  # fmt: skip


def test_attributes_decide_which_inputs_there_are():
    layer = sym.FullyConnected(sym.var("x"), num_hidden=3, no_bias=True, name="fc")
    assert layer.list_arguments() == ["x", "fc_weight"]
    assert sym.LeakyReLU(sym.var("x"), name="l").list_arguments() == ["x"]
    prelu = sym.LeakyReLU(sym.var("x"), act_type="prelu", name="l")
    assert prelu.list_arguments() == ["x", "l_gamma"]


def test_attributes_are_kept_as_given_and_defaults_are_not():
    x = sym.var("x")
    assert sym.dot(x, x, transpose_a=1).list_attr() == {"transpose_a": "1"}
    assert sym.sum(x, axis=None).list_attr() == {"axis": "None"}
    assert (x * 2.0).list_attr() == {"scalar": "2.0"}
    assert sym.transpose(x, axes=[1, 0]).list_attr() == {"axes": "[1, 0]"}


def test_variables_made_for_an_operator_carry_its_attributes():
    layer = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc", wd_mult=2, __mood__="calm")
    expected = {"num_hidden": "3", "__wd_mult__": "2", "wd_mult": "2", "__mood__": "calm"}
    assert layer.attr_dict() == dict.fromkeys(("fc", "fc_weight", "fc_bias"), expected)


def test_a_scope_reaches_operators_and_their_variables():
    with mx.AttrScope(ctx_group="dev1", __stage__="1"):
        layer = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc")
    for attrs in layer.attr_dict().values():
        assert (attrs["ctx_group"], attrs["__ctx_group__"], attrs["__stage__"]) == (
            "dev1", "dev1", "1",
        )  # fmt: skip


def test_a_scope_may_set_what_an_operator_computes():
    # as in MXNet, where scopes are merged into the operator's own attributes
    with mx.AttrScope(no_bias="True"):
        layer = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc")
    assert layer.list_arguments() == ["x", "fc_weight"]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: sym.FullyConnected(x, num_hidden=3, foo=1),
        lambda x: sym.FullyConnected(x, num_hidden=3, attr={"mood": "calm"}),
        lambda x: sym.FullyConnected(x, num_hidden=3, bais=sym.var("b")),
    ],
)
def test_an_operator_with_attributes_takes_no_unknown_ones(make):
    with pytest.raises(AttributeValueError, match="FullyConnected: Cannot find argument"):
        make(sym.var("x"))


def test_an_operator_without_attributes_carries_what_it_is_given():
    assert sym.relu(sym.var("x"), foo=3).list_attr() == {"foo": "3"}


def test_a_required_attribute_is_asked_for():
    with pytest.raises(MXNetError, match="Required parameter num_hidden"):
        sym.FullyConnected(sym.var("x"))


def test_symbols_can_be_given_by_name():
    x, w = sym.var("x"), sym.var("w")
    layer = sym.FullyConnected(weight=w, data=x, num_hidden=2, no_bias=True)
    assert layer.list_arguments() == ["x", "w"]


def test_variadic_operators_take_symbols_one_by_one_as_a_list_or_by_name():
    a, b = sym.var("a"), sym.var("b")
    for made in (
        sym.concat(a, b, dim=0),
        sym.concat([a, b], dim=0),
        sym.concat(*sym.Group([a, b]), dim=0),
        sym.concat(data=[a, b], dim=0),
    ):
        assert made.list_arguments() == ["a", "b"]
        assert made.list_attr() == {"dim": "0", "num_args": "2"}
    assert sym.concat(data=a, dim=0).list_arguments() == ["a"]


def test_a_group_is_not_one_input():
    parts = sym.SliceChannel(sym.var("x"), num_outputs=3, name="s")
    for make in (sym.relu, sym.concat, lambda s: s + 1):
        with pytest.raises(MXNetError, match="s_output0, s_output1, s_output2"):
            make(parts)


def test_something_that_is_no_symbol_is_refused_by_argument():
    with pytest.raises(ArgumentTypeError, match="data is not a symbol") as caught:
        sym.FullyConnected(3, num_hidden=2)
    assert isinstance(caught.value, TypeError)


def test_names_count_up_by_operator_and_follow_prefixes():
    x = sym.var("x")
    assert [sym.relu(x).name, sym.relu(x).name, (x + 1).name, (x * x).name] == [
        "relu0", "relu1", "_plusscalar0", "_mul0",
    ]  # fmt: skip
    with mx.name.Prefix("p_"):
        layer = sym.FullyConnected(x, num_hidden=1, name="fc")
    assert layer.list_arguments() == ["x", "p_fc_weight", "p_fc_bias"]


def test_an_input_in_the_middle_may_be_left_out():
    # a symbol that was given for label_lengths used to be dropped
    names = ["x", "y", "n"]
    x, y, n = map(sym.var, names)
    layer = sym.CTCLoss(x, y, label_lengths=n, use_label_lengths=True)
    assert layer.list_arguments() == names
    assert sym.CTCLoss(x, y, None, n, use_label_lengths=True).list_arguments() == names


def test_inputs_that_attributes_do_not_ask_for_are_refused():
    x, n = sym.var("x"), sym.var("n")
    with pytest.raises(MXNetError, match="SequenceMask: too many arrays"):
        sym.SequenceMask(x, n)
    with pytest.raises(MXNetError, match="too many arrays"):
        sym.FullyConnected(x, n, n, num_hidden=1, no_bias=True)
