"""Operators that users write in Python."""

import gc
import weakref

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym
from minigluon.operator import CustomOp, CustomOpProp, register


class Square(CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.root = in_data[0].copy()
        self.assign(out_data[0], req[0], nd.square(in_data[0]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.root * out_grad[0])


@register("t_square")
class SquareProp(CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Square()


class Softmax(CustomOp):
    """MXNet's example of an output layer, on numpy."""

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        label = in_data[1].asnumpy().astype(int)
        y = out_data[0].asnumpy()
        y[np.arange(len(label)), label] -= 1
        self.assign(in_grad[0], req[0], nd.array(y))


@register("t_softmax")
class SoftmaxProp(CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Softmax()


class Counting(CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        if is_train:
            aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] + aux[0])
        self.assign(out_data[1], req[1], in_data[1] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 3)
        self.assign(in_grad[1], req[1], out_grad[1] * 5)


@register("t_counting")
class CountingProp(CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def list_outputs(self):
        return ["p", "q"]

    def list_auxiliary_states(self):
        return ["m"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, [in_shape[0]]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Counting()


def test_forward_and_gradient_are_what_the_user_wrote():
    x = nd.array([1, -2, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="t_square") * 10
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), [10, 40, 90])
    np.testing.assert_array_equal(x.grad.asnumpy(), [20, -40, 60])


def test_every_recorded_call_has_an_operator_of_its_own():
    x = nd.array([3])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(nd.Custom(x, op_type="t_square"), op_type="t_square")
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [4 * 27])  # of x ** 4


def test_keywords_reach_the_prop_as_text():
    seen = {}

    @register("t_keywords")
    class Prop(SquareProp):
        def __init__(self, **keywords):
            super().__init__()
            seen.update(keywords)

    nd.Custom(nd.ones(2), op_type="t_keywords", a=1, b=(1, 2), c=None, e=True, f=[1, 2])
    assert seen == {"a": "1", "b": "(1, 2)", "c": "None", "e": "True", "f": "[1, 2]"}


def test_outputs_without_gradient_get_zeros_and_states_are_written():
    a, b, m = nd.ones(2), nd.ones(3), nd.zeros(2)
    a.attach_grad()
    b.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            _, q = nd.Custom(a, b, m, op_type="t_counting")
        q.backward()
    np.testing.assert_array_equal(a.grad.asnumpy(), [0, 0])
    np.testing.assert_array_equal(b.grad.asnumpy(), [10, 10, 10])
    np.testing.assert_array_equal(m.asnumpy(), [2, 2])


def test_symbols_have_arguments_states_and_outputs():
    symbol = sym.Custom(a=sym.var("a"), b=sym.var("b"), op_type="t_counting", name="n")
    assert symbol.list_arguments() == ["a", "b"]
    assert symbol.list_auxiliary_states() == ["n_m"]
    assert symbol.list_outputs() == ["n_p", "n_q"]
    assert symbol.infer_shape(a=(2,), b=(3,)) == ([(2,), (3,)], [(2,), (3,)], [(2,)])


def test_an_executor_runs_both_ways_and_keeps_states():
    symbol = sym.Custom(a=sym.var("a"), b=sym.var("b"), op_type="t_counting", name="n")
    executor = symbol.simple_bind(mx.cpu(), a=(2,), b=(3,), grad_req={"a": "null", "b": "add"})
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward([nd.ones(2), nd.ones(3)])
    np.testing.assert_array_equal(executor.grad_dict["b"].asnumpy(), [10, 10, 10])
    np.testing.assert_array_equal(executor.aux_dict["n_m"].asnumpy(), [2, 2])
    executor.forward(is_train=False)
    np.testing.assert_array_equal(executor.aux_dict["n_m"].asnumpy(), [2, 2])


def test_the_shape_of_a_label_follows_from_the_data():
    symbol = sym.Custom(sym.var("x"), op_type="t_softmax", name="softmax")
    assert symbol.infer_shape(x=(4, 3)) == ([(4, 3), (4,)], [(4, 3)], [])


def test_module_trains_through_an_output_layer_of_the_user():
    mx.random.seed(1)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    label = (x[:, 0] > 0).astype("float32")
    net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    net = sym.Custom(net, sym.var("softmax_label"), op_type="t_softmax", name="softmax")
    module = mx.mod.Module(net)
    data = mx.io.NDArrayIter(x, label, batch_size=16)
    module.fit(data, num_epoch=8, optimizer_params={"learning_rate": 0.5})
    assert module.score(data, "acc")[0][1] > 0.9


def test_a_hybridised_block_gives_what_the_plain_one_gives():
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.Custom(F.exp(x), op_type="t_square") + F.Custom(x, op_type="t_square")

    grads = []
    for hybrid in (False, True):
        net = Net()
        if hybrid:
            net.hybridize()
        x = nd.array([[0.5, -1]])
        x.attach_grad()
        with autograd.record():
            net(x).backward()
        grads.append(x.grad.asnumpy())
    at = np.array([[0.5, -1]])
    np.testing.assert_allclose(grads[0], 2 * np.exp(2 * at) + 2 * at, rtol=1e-5)
    np.testing.assert_array_equal(grads[0], grads[1])


def test_a_symbol_file_brings_the_operator_back():
    symbol = sym.Custom(sym.var("x"), sym.var("y"), op_type="t_counting", name="n")
    again = sym.load_json(symbol.tojson())
    assert again.tojson() == symbol.tojson()
    assert again.list_auxiliary_states() == ["n_m"]


class Rows(CustomOp):
    """data (csr) times weight, with a row_sparse gradient."""

    def forward(self, is_train, req, in_data, out_data, aux):
        assert in_data[0].stype == "csr"
        self.assign(out_data[0], req[0], nd.dot(in_data[0], in_data[1]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert in_grad[1].stype == "row_sparse"
        self.assign(in_grad[1], req[1], nd.dot(in_data[0], out_grad[0], transpose_a=True))


@register("t_rows")
class RowsProp(CustomOpProp):
    def list_arguments(self):
        return ["data", "weight"]

    def infer_shape(self, in_shape):
        return in_shape, [(in_shape[0][0], in_shape[1][1])], []

    def infer_storage_type(self, in_stype):
        return in_stype, ["default"], []

    def infer_storage_type_backward(self, ograd, inputs, outputs, igrad, aux):
        return ograd, inputs, outputs, ["default", "row_sparse"], aux

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Rows()


def test_sparse_arguments_arrive_as_they_are_and_gradients_have_the_storage_asked_for():
    data = nd.array([[0, 2, 0], [1, 0, 0]]).tostype("csr")
    weight = nd.ones((3, 2))
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        y = nd.Custom(data, weight, op_type="t_rows")
    y.backward()
    assert weight.grad.stype == "row_sparse"
    np.testing.assert_array_equal(weight.grad.asnumpy(), [[1, 1], [2, 2], [0, 0]])


def test_dense_arrays_are_filled_from_csr_ones():  # MXNet 1.9.1 raises TypeError
    d = nd.zeros((2, 2))
    d[:] = nd.array([[0, 1], [2, 0]]).tostype("csr")
    np.testing.assert_array_equal(d.asnumpy(), [[0, 1], [2, 0]])


@pytest.mark.parametrize("word", ["out", "name", "attr"])
def test_arguments_may_have_the_names_of_keywords(word):  # MXNet 1.9.1 drops or refuses them
    @register(f"t_{word}")
    class Prop(SquareProp):
        def list_arguments(self):
            return [word]

    symbol = sym.Custom(op_type=f"t_{word}", **{word: sym.var("x")})
    assert symbol.list_arguments() == ["x"]
    got = nd.Custom(op_type=f"t_{word}", **{word: nd.array([3])})
    assert got.asscalar() == 9


def test_operators_inside_may_record_and_differentiate():
    class Inner(CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0].copy()
            x.attach_grad()
            with autograd.record():
                y = nd.Custom(x, op_type="t_square")
            y.backward()
            self.assign(out_data[0], req[0], x.grad)

    @register("t_inner")
    class Prop(CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Inner()

    np.testing.assert_array_equal(nd.Custom(nd.array([3]), op_type="t_inner").asnumpy(), [6])


def test_numpy_warnings_reach_the_user():
    class Warns(CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], nd.array(np.log(in_data[0].asnumpy())))

    @register("t_warns")
    class Prop(CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Warns()

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        nd.Custom(nd.zeros(1), op_type="t_warns")


def test_errors_name_the_method_and_keep_the_cause():
    class Fails(CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise KeyError("lost")

    @register("t_fails")
    class Prop(CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Fails()

    with pytest.raises(mx.MXNetError, match=r"CustomOp.forward of t_fails: KeyError") as caught:
        nd.Custom(nd.ones(1), op_type="t_fails")
    assert isinstance(caught.value.__cause__, KeyError)
    nd.square(nd.ones(1))  # and the library still runs


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nd.Custom(nd.ones(1)), "op_type"),
        (lambda: nd.Custom(nd.ones(1), op_type="t_none"), "Cannot find custom operator t_none"),
        (lambda: nd.Custom(nd.ones(1), nd.ones(1), op_type="t_square"), "expects 1 inputs"),
        (lambda: nd.Custom(nd.ones(1), op_type="t_square", foo=1), "foo"),
        (lambda: sym.Custom(sym.var("x"), op_type="t_square", foo=1), "foo"),
        (lambda: nd.Custom(nd.ones(1), op_type="t_square", other=nd.ones(1)), "other"),
    ],
)
def test_wrong_calls_are_refused(call, words):
    with pytest.raises(mx.MXNetError, match=words):
        call()


def test_wrong_numbers_of_shapes_are_named():
    @register("t_shapes")
    class Prop(SquareProp):
        def infer_shape(self, in_shape):
            return in_shape, [in_shape[0], in_shape[0]], []

    with pytest.raises(mx.MXNetError, match="expecting 1 entries for output arrays, got 2"):
        nd.Custom(nd.ones(1), op_type="t_shapes")


def test_arrays_of_a_run_go_when_the_tape_goes():
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x * 2, op_type="t_square")
    y.backward()
    held = weakref.ref(y)
    del y
    gc.collect()
    assert held() is None


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
@pytest.mark.parametrize("kind", [mx.operator.NumpyOp, mx.operator.NDArrayOp])
def test_the_old_forms_run_on_symbols(kind):
    class Cube(kind):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] ** 3

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = 3 * in_data[0] ** 2 * out_grad[0]

    executor = Cube()(data=sym.var("x"), name="cube").simple_bind(mx.cpu(), x=(1,))
    executor.forward(is_train=True, x=nd.array([2]))
    executor.backward(nd.ones(1))
    assert executor.outputs[0].asscalar() == 8
    assert executor.grad_dict["x"].asscalar() == 12


def test_the_table_tells_what_operators_take():
    assert "FullyConnected" in mx.operator.get_all_registered_operators()
    told = mx.operator.get_operator_arguments("Activation")
    assert told.names == ["data", "act_type"]
    assert told.narg == len(told.types) == 2


class Remembers(CustomOp):
    def __init__(self):
        self.runs = 0

    def forward(self, is_train, req, in_data, out_data, aux):
        self.runs += 1
        self.assign(out_data[0], req[0], in_data[0] * self.runs)


@register("t_remembers")
class RemembersProp(CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Remembers()


def test_an_executor_has_one_operator_for_all_its_runs():
    symbol = sym.Custom(sym.Custom(sym.var("x"), op_type="t_remembers"), op_type="t_remembers")
    for _ in range(2):
        executor = symbol.bind(mx.cpu(), {"x": nd.ones(1)})
        got = [executor.forward()[0].asscalar() for _ in range(3)]
        assert got == [1, 4, 9]


def test_other_calls_have_one_of_their_own():
    x = nd.ones(1)
    assert [nd.Custom(x, op_type="t_remembers").asscalar() for _ in range(2)] == [1, 1]
    cached = nd.CachedOp(sym.Custom(sym.var("x"), op_type="t_remembers"))
    assert [cached(x).asscalar() for _ in range(2)] == [1, 1]
