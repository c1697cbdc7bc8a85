"""Loops and branches on symbols do what those on arrays do."""

import json

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym


def run(symbol, arrays, head_grads=True):
    """Outputs and gradients of a symbol on arrays."""
    values = {k: nd.array(v) for k, v in arrays.items()}
    executor = symbol.simple_bind(mx.cpu(), **{k: v.shape for k, v in values.items()})
    executor.copy_params_from(values)
    outputs = executor.forward(is_train=True)
    if head_grads:
        executor.backward([nd.array(np.arange(1, o.size + 1).reshape(o.shape)) for o in outputs])
    return [o.asnumpy() for o in outputs], {k: v.asnumpy() for k, v in executor.grad_dict.items()}


def run_eagerly(function, arrays):
    """The same for a function of named arrays, recorded."""
    values = {k: nd.array(v) for k, v in arrays.items()}
    for x in values.values():
        x.attach_grad()
    with autograd.record():
        outputs = function(nd, **values)
    autograd.backward(
        outputs, [nd.array(np.arange(1, o.size + 1).reshape(o.shape)) for o in outputs]
    )
    return [o.asnumpy() for o in outputs], {k: v.grad.asnumpy() for k, v in values.items()}


def assert_symbols_agree_with_arrays(function, arrays):
    symbol = sym.Group(function(sym, **{k: sym.var(k) for k in arrays}))
    for program in (symbol, sym.load_json(symbol.tojson())):
        outputs, gradients = run(program, arrays)
        expected, expected_gradients = run_eagerly(function, arrays)
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
        for name, wanted in expected_gradients.items():
            np.testing.assert_allclose(gradients[name], wanted, rtol=1e-4, atol=1e-5, err_msg=name)


def recurrence(F, x, h, w):
    def step(x, states):
        h = F.tanh(F.FullyConnected(x, w, no_bias=True, num_hidden=3) + states[0])
        return [h, h * 2], [h]

    (first, second), states = F.contrib.foreach(step, x, [h])
    return [first, second, *states]


def two_sequences(F, x, y, h, w):
    out, (h, again) = F.contrib.foreach(
        lambda xs, s: (xs[0] * xs[1] + s[0] * w, [s[1] + xs[0], s[0]]), [x, y], [h, h * 2]
    )
    return [out, h, again]


def nested(F, x, h, w):
    def outer(row, h):
        return F.contrib.foreach(lambda e, h: (e * h + w, h + e * w), row, h)

    return list(F.contrib.foreach(outer, x, h))


def countdown(F, x, y):
    outputs, variables = F.contrib.while_loop(
        lambda x, y: F.sum(x) < 20, lambda x, y: ([x * y, x + y], [x * 2, y + x]), [x, y], 6
    )
    return [*outputs, *variables]


def values(**shapes):
    """Numbers for arrays of these shapes."""
    numbers = np.random.default_rng(3)
    return {name: numbers.normal(0, 0.5, size=shape) for name, shape in shapes.items()}


def test_a_recurrence():
    assert_symbols_agree_with_arrays(recurrence, values(x=(4, 2, 5), h=(2, 3), w=(3, 5)))


def test_several_sequences_and_states():
    arrays = values(x=(3, 2), y=(3, 2), h=(2,), w=(2,))
    assert_symbols_agree_with_arrays(two_sequences, arrays)


def test_loops_in_loops():
    assert_symbols_agree_with_arrays(nested, values(x=(2, 3, 2), h=(2,), w=(2,)))


def test_a_loop_with_a_condition():
    assert_symbols_agree_with_arrays(countdown, {"x": [1.0, 2.0], "y": [3.0, 0.5]})


def test_a_loop_whose_condition_never_holds_gives_zeros_and_what_it_was_given():
    symbol = sym.Group(countdown(sym, x=sym.var("x"), y=sym.var("y")))
    outputs, gradients = run(symbol, {"x": [50.0, 2.0], "y": [3.0, 0.5]})
    assert [o.shape for o in outputs] == [(6, 2), (6, 2), (2,), (2,)]
    np.testing.assert_array_equal(outputs[0], 0)
    np.testing.assert_array_equal(outputs[2], [50, 2])
    np.testing.assert_array_equal(gradients["x"], [1, 2])


@pytest.mark.parametrize(
    ("p", "value", "gx", "gy"), [(3, [2, 4], [2, 4], [0, 0]), (1, [6, 7], [0, 0], [1, 2])]
)
def test_a_branch_runs_alone_and_alone_has_gradients(p, value, gx, gy):
    x, y = sym.var("x"), sym.var("y")
    symbol = sym.contrib.cond(sym.var("p") > 2, lambda: x * 2, lambda: y + 1)
    outputs, gradients = run(symbol, {"p": [p], "x": [1, 2], "y": [5, 6]})
    np.testing.assert_array_equal(outputs[0], value)
    np.testing.assert_array_equal(gradients["x"], gx)
    np.testing.assert_array_equal(gradients["y"], gy)


def test_loops_in_hybridised_blocks():  # known on MXNet 1.9.1 to fail shape inference
    class Doubling(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            def body(row, states):
                _, row = F.contrib.while_loop(
                    lambda v: F.sum(v) < 10, lambda v: ([], [v * 2]), [row], max_iterations=8
                )
                return row[0], states

            return F.contrib.foreach(body, x, [])[0]

    for hybrid in (False, True):
        net = Doubling()
        net.hybridize(hybrid)
        x = nd.array([[1], [3]])
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        np.testing.assert_array_equal(y.asnumpy(), [[16], [12]])
        np.testing.assert_array_equal(x.grad.asnumpy(), [[16], [4]])


def test_parameters_used_in_a_body_are_trained():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.dense = gluon.nn.Dense(2, flatten=False)

        def hybrid_forward(self, F, x):
            return F.contrib.foreach(lambda x, s: (self.dense(x), s), x, [])[0]

    results = []
    for hybrid in (False, True):
        mx.random.seed(2)
        net = Net()
        net.initialize(mx.init.Xavier())
        net.hybridize(hybrid)
        x = nd.array(np.arange(24).reshape(2, 3, 4) % 7)
        with autograd.record():
            y = (net(x) * nd.arange(12).reshape((2, 3, 2))).sum()
        y.backward()
        names = [*net.collect_params()]
        params = [net.collect_params()[n] for n in names]
        results.append([y.asnumpy(), *[p.grad().asnumpy() for p in params]])
    for plain, planned in zip(*results, strict=True):
        np.testing.assert_allclose(planned, plain, rtol=1e-4, atol=1e-5)


class _CountsRuns(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] * aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[0])


@mx.operator.register("t_counts_runs")
class _CountsRunsProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["runs"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, in_shape

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _CountsRuns()


def test_auxiliary_states_of_a_body_are_written_in_every_step():
    def body(x, s):
        return sym.Custom(x, op_type="t_counts_runs", name="c"), s

    symbol = sym.contrib.foreach(body, sym.var("x"), [])[0]
    assert symbol.list_auxiliary_states() == ["c_runs"]
    executor = symbol.simple_bind(mx.cpu(), x=(3, 1))
    executor.arg_dict["x"][:] = 2
    outputs = executor.forward(is_train=True)
    np.testing.assert_array_equal(outputs[0].asnumpy(), [[2], [4], [6]])
    np.testing.assert_array_equal(executor.aux_dict["c_runs"].asnumpy(), [3])
    executor.backward(nd.ones((3, 1)))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [[2], [2], [2]])


def test_bodies_may_ignore_their_data():
    symbol = sym.contrib.foreach(lambda x, s: (s, s * 2), sym.var("x"), sym.var("s"))[0]
    outputs, gradients = run(symbol, {"x": [[1], [2]], "s": [3]})
    np.testing.assert_array_equal(outputs[0], [[3], [6]])
    np.testing.assert_array_equal(gradients["x"], [[0], [0]])


def test_shapes_and_types_follow_both_ways():
    x, h, w = sym.var("x"), sym.var("h"), sym.var("w")
    symbol = sym.Group(recurrence(sym, x, h, w))
    arguments, outputs, _ = symbol.infer_shape(x=(4, 2, 5), h=(2, 3))
    assert dict(zip(symbol.list_arguments(), arguments, strict=True))["w"] == (3, 5)
    assert outputs == [(4, 2, 3), (4, 2, 3), (2, 3)]
    assert symbol.infer_type(x="float64")[1] == [np.float64] * 3


def test_files_are_those_of_mxnet():
    """Recorded from MXNet 1.9.1: where inputs of the graphs are found."""
    with mx.name.NameManager():
        e = sym.exp(sym.var("z"), name="ez")
        w = sym.var("w")
        outputs, variables = sym.contrib.while_loop(
            lambda a, b, c: b + e < 5,
            lambda a, b, c: ([w * c + e], [c, b + a + w, a]),
            [sym.var("a") * 2, sym.var("b"), sym.var("c")],
            max_iterations=4,
        )
        symbol = sym.Group([*outputs, *variables])
    node = json.loads(symbol.tojson())["nodes"][-1]
    assert (node["op"], node["name"]) == ("_while_loop", "_while_loop0")
    assert node["attrs"] == {
        "cond_input_locs": "[0, 1]",
        "func_input_locs": "[2, 3, 4, 0, 5]",
        "func_var_locs": "[4, 3, 1]",
        "max_iterations": "4",
        "num_args": "8",
        "num_out_data": "1",
        "num_outputs": "4",
    }
    assert [[n["name"] for n in g["nodes"]] for g in node["subgraphs"]] == [
        ["b-0", "ez_output", "_plus0", "_lesser_scalar0"],
        ["w", "c-0", "_mul0", "ez_output", "_plus1", "identity0", "b-0", "_mulscalar0-0", "_plus2",
         "_plus3", "identity1"],
    ]  # fmt: skip


@pytest.mark.parametrize("F", [nd, sym], ids=["nd", "sym"])
@pytest.mark.parametrize(
    ("loop", "words"),
    [
        (lambda F, x: F.contrib.foreach(lambda d, s: (d, [s[0]]), x, [x, x]), "1 states"),
        (lambda F, x: F.contrib.foreach(lambda d, s: d, x, [x]), "return two things"),
        (lambda F, x: F.contrib.while_loop(lambda a: (a, a), lambda a: (a, [a]), [x], 3), "tuple"),
        (lambda F, x: F.contrib.while_loop(lambda a: a, lambda a: (a, []), [x], 3), "0 from func"),
        (lambda F, x: F.contrib.while_loop(lambda a: a, lambda a: (a, [a]), [x]), "max_iterations"),
    ],
)
def test_wrong_bodies_are_named(F, loop, words):
    x = nd.ones(1) if F is nd else sym.var("x")
    with pytest.raises(ValueError, match=words):
        loop(F, x)


def test_branches_have_as_many_results():
    with pytest.raises(ValueError, match="Number of outputs differs"):
        sym.contrib.cond(sym.var("p"), lambda: [sym.var("x")] * 2, lambda: sym.var("y"))


def test_what_has_no_gradient_may_be_in_a_body_as_long_as_none_is_asked_for():
    symbol = sym.contrib.foreach(lambda x, s: (sym.BlockGrad(x) * s, s), sym.var("x"), sym.var("s"))
    outputs, gradients = run(symbol[0], {"x": [[1], [2]], "s": [3]})
    np.testing.assert_array_equal(outputs[0], [[3], [6]])
    np.testing.assert_array_equal(gradients["s"], [5])
    np.testing.assert_array_equal(gradients["x"], [[0], [0]])


def test_exported_loops_are_imported_again(tmp_path):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.dense = gluon.nn.Dense(2, flatten=False)

        def hybrid_forward(self, F, x, h):
            def step(x, states):
                h = F.tanh(self.dense(x) + states[0])
                return h, [h]

            return F.contrib.foreach(step, x, [h])[0]

    net = Net()
    net.initialize()
    net.hybridize()
    x, h = nd.array(values(x=(3, 1, 2))["x"]), nd.zeros((1, 2))
    wanted = net(x, h).asnumpy()
    net.export(str(tmp_path / "loop"), 0)
    files = [str(tmp_path / name) for name in ("loop-symbol.json", "loop-0000.params")]
    again = gluon.SymbolBlock.imports(files[0], ["data0", "data1"], files[1])
    np.testing.assert_allclose(again(x, h).asnumpy(), wanted, rtol=1e-5)


def test_shapes_that_do_not_fit_inside_a_body_are_named():
    body = lambda x, s: (sym.FullyConnected(x, s[0], num_hidden=3, no_bias=True, name="fc"), s)  # noqa: E731
    symbol = sym.contrib.foreach(body, sym.var("x"), [sym.var("w")])[0]
    with pytest.raises(mx.MXNetError, match=r"fc.*weight"):
        symbol.infer_shape(x=(4, 2, 5), w=(3, 6))
