import pytest

import minigluon as mx
from minigluon import sym


def test_groups_are_flat():
    inner = sym.Group([sym.var("a"), sym.var("b")])
    assert sym.Group([inner, sym.var("c")]).list_outputs() == ["a", "b", "c"]


@pytest.mark.parametrize("symbols", [[], [1], ["a"]])
def test_a_group_is_made_of_symbols(symbols):
    with pytest.raises(TypeError, match="Expected a list of symbols"):
        sym.Group(symbols)


def test_a_variable_carries_what_it_is_declared_with():
    w = sym.var(
        "w", lr_mult=2.5, wd_mult=0.5, shape=(2, 3), dtype="float16", init=mx.init.One(),
        stype="row_sparse",
    )  # fmt: skip
    # recorded from MXNet 1.9.1
    assert w.list_attr() == {
        "__dtype__": "2", "__init__": '["one", {}]', "__lr_mult__": "2.5", "lr_mult": "2.5",
        "__shape__": "(2, 3)", "__storage_type__": "1", "__wd_mult__": "0.5", "wd_mult": "0.5",
    }  # fmt: skip


def test_any_attribute_between_underscores_is_carried():
    assert sym.var("w", __foo__=1).list_attr() == {"__foo__": "1"}


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: sym.var("w", foo=1), ValueError),
        (lambda: sym.var("w", attr={"a": 1}), ValueError),
        (lambda: sym.var(3), TypeError),
        (lambda: sym.var("w", dtype="float7"), TypeError),
        (lambda: sym.var("w", stype="dense"), KeyError),
    ],
)
def test_declarations_that_cannot_be(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("shape", "text"),
    [((2, 3), "(2, 3)"), (3, "3"), ([3, 4], "[3, 4]"), ((0, 3), "(0, 3)"), ((), "()")],
)
def test_a_shape_is_kept_as_given(shape, text):
    # recorded from MXNet 1.9.1
    assert sym.var("w", shape=shape).list_attr() == {"__shape__": text}


def test_a_scope_gives_way_to_what_a_variable_is_given():
    with mx.AttrScope(lr_mult="3", __mood__="calm"):
        w = sym.var("w", lr_mult=1, attr={"__mood__": "wild"})
    assert (w.attr("lr_mult"), w.attr("__mood__")) == ("1", "wild")
