import numpy as np
import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.base import DTypeError, ShapeError
from minigluon.core.graph import Node, variable
from minigluon.core.infer import (
    UNKNOWN,
    UNKNOWN_SHAPE,
    broadcast,
    known,
    prod,
    solve,
    storages,
    unify_shapes,
)
from minigluon.core.op import registry


def node(name, *inputs, title="n", **attrs):
    return (Node(registry[name].call(**attrs), inputs, title), 0)


def test_an_unknown_dimension_swallows_arithmetic():
    assert prod((2, UNKNOWN)) is UNKNOWN
    assert (3 - UNKNOWN) // 2 is UNKNOWN
    assert not UNKNOWN > 3
    assert prod(UNKNOWN_SHAPE) is UNKNOWN


def test_known_wants_every_dimension():
    assert known((2, 3))
    assert not known((2, UNKNOWN))
    assert not known(None)


@pytest.mark.parametrize(
    ("shapes", "together"),
    [
        (((2, 1), (1, 3)), (2, 3)),
        (((3,), (2, 3)), (2, 3)),
        (((UNKNOWN, 1), (1, 3)), (UNKNOWN, 3)),
        (((UNKNOWN,), (4,)), (4,)),
        (((), (2,)), (2,)),
        ((UNKNOWN_SHAPE, (2,)), UNKNOWN_SHAPE),
    ],
)
def test_broadcasting_works_with_what_is_known(shapes, together):
    assert broadcast(*shapes) == together


def test_shapes_that_do_not_broadcast_are_both_shown():
    with pytest.raises(ShapeError, match=r"\(2, 2\) and \(1, 3\)"):
        broadcast((2, 2), (1, 3))


@pytest.mark.parametrize(
    ("old", "new", "together"),
    [
        (None, (2, 3), (2, 3)),
        ((2, UNKNOWN), (UNKNOWN, 3), (2, 3)),
        ((2, 3), (2, 3), (2, 3)),
        ((2, 3), (3, 2), None),
        ((2, 3), (2, 3, 1), None),
        ((1,), (), (1,)),
    ],
)
def test_two_statements_about_a_shape_are_merged_or_contradict(old, new, together):
    assert unify_shapes(old, new) == together


def test_shapes_flow_backwards_to_a_fixed_point():
    a, b, c = variable("a"), variable("b"), variable("c")
    left, right = node("elemwise_add", a, b), node("elemwise_mul", b, c)
    found = solve([left, right], {c[0]: (2, 3)}, "shape")
    assert found[a] == found[b] == found[left] == (2, 3)


def test_weights_follow_from_data_and_attributes():
    data, weight, bias = variable("x"), variable("w"), variable("b")
    head = node("FullyConnected", data, weight, bias, num_hidden=4)
    found = solve([head], {data[0]: (2, 3, 5)}, "shape")
    assert (found[weight], found[bias], found[head]) == ((4, 15), (4,), (2, 4))


def test_inference_of_a_deep_chain_ends():
    entry = first = variable("x")
    for _ in range(300):
        entry = node("relu", entry)
    assert solve([entry], {first[0]: (2,)}, "shape")[entry] == (2,)
    assert solve([node("elemwise_add", entry, variable("y"))], {first[0]: (2,)}, "shape")


def test_a_contradiction_names_node_operator_argument_and_variable():
    data, weight, bias = variable("x"), variable("fc_weight"), variable("fc_bias")
    head = node("FullyConnected", data, weight, bias, num_hidden=3, title="fc")
    with pytest.raises(ShapeError) as caught:
        solve([head], {data[0]: (2, 5), weight[0]: (9, 9)}, "shape")
    assert str(caught.value) == (
        "Error in operator fc: FullyConnected: weight (fc_weight) has the wrong shape.\n"
        "  received  data (2, 5), weight (9, 9), bias (3,), num_hidden=3\n"
        "  expected  weight (fc_weight) (3, 5), as follows from data (2, 5), bias (3,), "
        "num_hidden=3\n"
        "  fix       give weight (fc_weight) that shape, or change num_hidden"
    )


def test_a_contradiction_at_an_output_is_told_as_such():
    a, b = variable("a"), variable("b")
    flat = node("Flatten", a, title="f")
    head = node("elemwise_add", flat, b, title="sum")
    with pytest.raises(ShapeError, match="Error in operator"):
        solve([head], {a[0]: (2, 3, 4), b[0]: (2, 5)}, "shape")


def test_one_dtype_fixes_the_others_but_stops_at_a_cast():
    a, b, c = variable("a"), variable("b"), variable("c")
    cast = node("Cast", a, dtype="float16")
    head = node("elemwise_add", cast, b)
    found = solve([head, node("relu", c)], {a[0]: np.dtype("int32")}, "dtype")
    assert found[b] == found[head] == np.dtype("float16")
    assert found[a] == np.dtype("int32")
    assert found[c] is None


def test_dtypes_that_contradict_each_other_are_told():
    a, b = variable("a"), variable("b")
    head = node("elemwise_add", a, b, title="sum")
    with pytest.raises(DTypeError) as caught:
        solve([head], {a[0]: np.dtype("float32"), b[0]: np.dtype("float64")}, "dtype")
    assert "Error in operator sum: elemwise_add" in str(caught.value)
    assert "lhs float32, rhs float64" in str(caught.value)


def test_storages_follow_dispatch():
    x, w = variable("x"), variable("w")
    head = node("dot", x, w)
    root = node("log", head)
    stypes, dispatches = storages([root], {x[0]: "csr", w[0]: "row_sparse"})
    assert (stypes[head], stypes[root]) == ("default", "default")
    assert dispatches[head[0]].mode == "fcompute_ex"
