import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import (
    DTypeError,
    IndexOutOfRange,
    MXNetError,
    ShapeError,
    StorageFallbackWarning,
)


def told(function):
    """The message a call fails with, as lines."""
    with pytest.raises(MXNetError) as caught:
        function()
    return str(caught.value).splitlines()


def test_a_wrong_weight_is_explained_from_its_operator():
    lines = told(
        lambda: nd.FullyConnected(
            nd.ones((32, 64)), nd.ones((128, 60)), num_hidden=128, no_bias=True
        )
    )
    assert lines == [
        "FullyConnected: weight has the wrong shape.",
        "  received  data (32, 64) float32 default, weight (128, 60) float32 default, "
        "num_hidden=128, no_bias=True",
        "  expected  weight (128, 64), as follows from data (32, 64), num_hidden=128, no_bias=True",
        "  fix       give weight that shape, or change num_hidden",
    ]


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (lambda: nd.elemwise_add(nd.ones((2, 3)), nd.ones((3, 2))), (ShapeError, ValueError)),
        (lambda: nd.ones((2, 3)) + nd.ones((4, 5)), (ShapeError, ValueError)),
        (lambda: nd.dot(nd.ones((2, 3)), nd.ones((2, 3))), (ShapeError, ValueError)),
        (lambda: nd.ones((2,)) + nd.ones((2,), dtype="int32"), (DTypeError, TypeError)),
        (lambda: nd.relu(), (MXNetError, TypeError)),
        (lambda: nd.relu(3), (MXNetError, TypeError, AssertionError)),
        (lambda: nd.relu(np.ones(2)), (MXNetError, TypeError)),
        (lambda: nd.dot(nd.ones((2, 3))), (MXNetError,)),
        (
            lambda: nd.take(nd.ones((3,)), nd.array([7]), mode="raise"),
            (IndexOutOfRange, IndexError),
        ),
        (lambda: nd.concat(nd.ones((2, 3)), nd.ones((3, 3)), dim=1), (ShapeError, ValueError)),
        (lambda: nd.broadcast_to(nd.ones((2, 3)), shape=(3, 3)), (ShapeError,)),
        (lambda: nd.reshape(nd.ones((2, 3)), shape=(4,)), (ShapeError, ValueError)),
    ],
)
def test_errors_have_four_lines_and_the_class_scripts_catch(call, kinds):
    with pytest.raises(MXNetError) as caught:
        call()
    for kind in kinds:
        assert isinstance(caught.value, kind)
    words = [line.split()[0] for line in str(caught.value).splitlines()[-3:]]
    assert words == ["received", "expected", "fix"]


@pytest.mark.parametrize(
    "run",
    [
        nd.softmax,
        lambda x: sym.softmax(sym.var("x")).bind(mx.cpu(), {"x": x}).forward(),
    ],
    ids=["eager", "bound"],
)
def test_a_warning_that_is_made_an_error_comes_as_it_is(run, monkeypatch):
    monkeypatch.setattr("minigluon.core.call._warned", set())
    with pytest.raises(StorageFallbackWarning, match="operator = softmax"):
        run(nd.ones((2, 2)).tostype("csr"))


def test_a_failure_of_an_operator_keeps_its_cause():
    with pytest.raises(ShapeError) as caught:
        nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))
    assert caught.value.__cause__ is not None


def bound(symbol, **arrays):
    return symbol.bind(mx.cpu(), arrays)


def test_a_node_that_fails_while_a_bound_graph_runs_is_named():
    x, i = sym.var("x"), sym.var("i")
    executor = bound(
        sym.relu(sym.take(x, i, mode="raise", name="pick")), x=nd.ones((3,)), i=nd.array([7])
    )
    with pytest.raises(IndexError, match="Error in operator pick: take: index 7"):
        executor.forward()


def test_a_node_that_fails_inside_a_hybridised_block_is_named():
    class Picks(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, i):
            return F.relu(F.take(x * 2, i, mode="raise", name="pick") + 1) * 3

    block = Picks()
    block.hybridize()
    assert block(nd.ones((3,)), nd.array([1])).asscalar() == 9
    with pytest.raises(IndexError, match=r"Error in operator .*pick: take: index 7"):
        block(nd.ones((3,)), nd.array([7]))


def test_the_product_of_unequal_shapes_names_node_and_both_shapes_when_hybridised():
    # MXNet multiplies elementwise in graphs, where arrays broadcast
    class Product(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a * b

    block = Product(prefix="product_")
    assert block(nd.ones((3, 4)), nd.ones((3, 1))).shape == (3, 4)
    block.hybridize()
    first, received = told(lambda: block(nd.ones((3, 4)), nd.ones((3, 1))))[:2]
    assert first.startswith("Error in operator product__mul0: elemwise_mul: ")
    assert received == "  received  lhs (3, 4), rhs (3, 1)"


def test_a_layer_of_the_wrong_size_names_its_parameter():
    layer = mx.gluon.nn.Dense(2, in_units=4, prefix="d_")
    layer.initialize()
    assert "d_weight" in "\n".join(told(lambda: layer(nd.ones((2, 3)))))
    layer.hybridize()
    assert told(lambda: layer(nd.ones((2, 3))))[0] == (
        "Error in operator d_fwd: FullyConnected: weight (d_weight) has the wrong shape."
    )


def test_a_node_with_mixed_dtypes_is_named_when_bound():
    x, y = sym.var("x"), sym.var("y")
    with pytest.raises(DTypeError, match=r"Error in operator _plus\d+: elemwise_add"):
        bound(x + y, x=nd.ones((2,)), y=nd.ones((2,), dtype="float64"))


def test_the_path_that_succeeds_never_comes_here(monkeypatch):
    from minigluon.core import explain

    for name in ("explain", "received", "describe"):
        monkeypatch.setattr(explain, name, lambda *args: pytest.fail("explained a success"))
    x = nd.ones((2, 2))
    x.attach_grad()
    with mx.autograd.record():
        y = nd.dot(x, x) + x
    y.backward()
