import pytest

import minigluon as mx
from minigluon.graphview.facts import graph_of


def sparse_regression():
    data = mx.sym.var("data", stype="csr")
    weight = mx.sym.var("weight", stype="row_sparse", shape=(1000, 2))
    score = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), mx.sym.var("bias", shape=(2,)))
    return mx.sym.SoftmaxOutput(score, mx.sym.var("label"), name="softmax")


def box(graph, name):
    return next(b for b in graph.boxes if b.name == name)


def test_shapes_storages_and_dispatch_of_every_node_are_found():
    graph = graph_of(sparse_regression(), shape={"data": (8, 1000)})
    dot = next(b for b in graph.boxes if b.op == "dot")
    assert dot.mode == "fcompute_ex"
    assert dot.outputs[0].shape == (8, 2)
    assert [(v.name, v.stype) for v in dot.parameters] == [("weight", "row_sparse")]
    assert box(graph, "data").outputs[0].stype == "csr"


def test_totals_count_parameters_and_bytes():
    totals = graph_of(sparse_regression(), shape={"data": (8, 1000)}).totals()
    assert totals["operators"] == 3
    assert totals["parameters"] == 2002
    assert totals["bytes of parameters"] == 2002 * 4
    assert totals["bytes of results"] == 3 * 8 * 2 * 4


def test_a_fallback_costs_the_dense_copies_it_makes():
    data = mx.sym.var("data", stype="csr")
    graph = graph_of(mx.sym.reshape(data, shape=(-1,), name="flat"), shape={"data": (10, 20)})
    assert box(graph, "flat").mode == "fcompute_fallback"
    assert box(graph, "flat").fallback == 10 * 20 * 4


def test_an_executor_tells_shapes_and_storages_by_its_arrays():
    bound = sparse_regression().simple_bind(mx.cpu(), data=(4, 1000))
    graph = graph_of(bound)
    assert box(graph, "softmax").outputs[0].shape == (4, 2)
    assert box(graph, "data").outputs[0].stype == "csr"


def test_a_block_is_shown_by_the_graph_it_was_last_called_with():
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.Dense(1))
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((2, 5)))
    graph = graph_of(net, shape={"data": (2, 5)})
    assert [b.op for b in graph.boxes if b.op] == ["FullyConnected", "FullyConnected"]
    assert graph.totals()["parameters"] == 3 * 5 + 3 + 3 + 1


def test_shared_parameters_are_boxes_of_their_own():
    weight = mx.sym.var("weight", shape=(3, 3))
    x = mx.sym.var("data")
    for name in ("one", "two"):
        x = mx.sym.FullyConnected(x, weight, num_hidden=3, no_bias=True, name=name)
    graph = graph_of(x, shape={"data": (2, 3)})
    assert box(graph, "weight").is_parameter
    assert graph.totals()["parameters"] == 9


def test_what_is_unknown_stays_unknown():
    graph = graph_of(mx.sym.exp(mx.sym.var("data")))
    assert graph.boxes[-1].outputs[0].shape is None
    assert graph.boxes[-1].outputs[0].bytes is None


@pytest.mark.parametrize("thing", [5, mx.nd.ones((1,)), None])
def test_what_is_no_graph_is_refused(thing):
    with pytest.raises(TypeError, match="a Symbol, an Executor or a HybridBlock"):
        graph_of(thing)


def test_shapes_come_by_name():
    with pytest.raises(TypeError, match="shape is not a mapping"):
        graph_of(mx.sym.var("x"), shape=(1, 2))
