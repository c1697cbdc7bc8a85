"""The names that public programs use most resolve, and do what they say.

Of 300 names counted in 2,675 files of 58 public repositories those are here that belong to arrays,
symbols, random numbers, initializers, optimizers, metrics, schedulers and autograd.
"""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym

A = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
B = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
SOFT = np.exp(A) / np.exp(A).sum(-1, keepdims=True)
EYE = np.eye(2, dtype=np.float32)


def a():
    return nd.array(A)


def b():
    return nd.array(B)


def run(symbol, **inputs):
    """The first output of a symbol for numpy arrays."""
    return symbol.eval(mx.cpu(), **{k: nd.array(v) for k, v in inputs.items()})[0]


x, y = sym.Variable("x"), sym.Variable("y")

#: name -> a use of it, and what that gives
ARRAYS = {
    "nd.array": (lambda: nd.array([[1, 2], [3, 4]]), A),
    "nd.zeros": (lambda: nd.zeros((2, 2)), 0 * A),
    "nd.ones": (lambda: nd.ones((2, 2)), 0 * A + 1),
    "nd.full": (lambda: nd.full((2,), 7), [7, 7]),
    "nd.empty": (lambda: nd.empty((2, 2)).shape, (2, 2)),
    "nd.arange": (lambda: nd.arange(1, 4), [1, 2, 3]),
    "nd.eye": (lambda: nd.eye(2), EYE),
    "nd.zeros_like": (lambda: nd.zeros_like(a()), 0 * A),
    "nd.ones_like": (lambda: nd.ones_like(a()), 0 * A + 1),
    "nd.NDArray": (lambda: isinstance(a(), nd.NDArray), True),
    "nd.waitall": (nd.waitall, None),
    "nd.concat": (lambda: nd.concat(a(), b(), dim=1), np.concatenate([A, B], 1)),
    "nd.concatenate": (lambda: nd.concatenate([a(), b()]), np.concatenate([A, B])),
    "nd.stack": (lambda: nd.stack(a(), b(), axis=1), np.stack([A, B], 1)),
    "nd.split": (lambda: nd.split(a(), num_outputs=2, axis=1)[1], A[:, 1:]),
    "nd.add_n": (lambda: nd.add_n(a(), b(), b()), A + 2 * B),
    "nd.sum": (lambda: nd.sum(a(), axis=1), A.sum(1)),
    "nd.mean": (lambda: nd.mean(a()), [2.5]),
    "nd.prod": (lambda: nd.prod(a(), axis=0), A.prod(0)),
    "nd.max": (lambda: nd.max(a(), axis=0), A.max(0)),
    "nd.min": (lambda: nd.min(a(), axis=1), A.min(1)),
    "nd.nansum": (lambda: nd.nansum(nd.array([1, np.nan, 2])), [3]),
    "nd.norm": (lambda: nd.norm(a()), [np.sqrt(30)]),
    "nd.argmax": (lambda: nd.argmax(b(), axis=1), [0, 0]),
    "nd.argmax_channel": (lambda: nd.argmax_channel(b()), [0, 0]),
    "nd.argsort": (lambda: nd.argsort(b(), axis=0), [[0, 0], [1, 1]]),
    "nd.topk": (lambda: nd.topk(b(), k=1, ret_typ="value"), [[0.5], [2.0]]),
    "nd.transpose": (lambda: nd.transpose(a()), A.T),
    "nd.reshape": (lambda: nd.reshape(a(), (4,)), A.ravel()),
    "nd.flatten": (lambda: nd.flatten(nd.array(IMAGE)), IMAGE.reshape(1, 16)),
    "nd.expand_dims": (lambda: nd.expand_dims(a(), axis=1), A[:, None]),
    "nd.squeeze": (lambda: nd.squeeze(a().expand_dims(0)), A),
    "nd.moveaxis": (lambda: nd.moveaxis(nd.array(IMAGE), 1, 3).shape, (1, 4, 4, 1)),
    "nd.flip": (lambda: nd.flip(a(), axis=0), A[::-1]),
    "nd.tile": (lambda: nd.tile(a(), reps=(2, 1)), np.tile(A, (2, 1))),
    "nd.repeat": (lambda: nd.repeat(a(), repeats=2, axis=1), A.repeat(2, 1)),
    "nd.broadcast_to": (lambda: nd.broadcast_to(a()[:1], shape=(3, 2)), A[[0, 0, 0]]),
    "nd.slice_axis": (lambda: nd.slice_axis(a(), axis=0, begin=1, end=2), A[1:]),
    "nd.take": (lambda: nd.take(a(), nd.array([1, 0])), A[[1, 0]]),
    "nd.pick": (lambda: nd.pick(a(), nd.array([1, 0])), [2, 3]),
    "nd.where": (lambda: nd.where(b() > 0, a(), b()), np.where(B > 0, A, B)),
    "nd.one_hot": (lambda: nd.one_hot(nd.array([1, 0]), 2), EYE[[1, 0]]),
    "nd.dot": (lambda: nd.dot(a(), b()), A @ B),
    "nd.batch_dot": (lambda: nd.batch_dot(a().expand_dims(0), b().expand_dims(0))[0], A @ B),
    "nd.exp": (lambda: nd.exp(a()), np.exp(A)),
    "nd.log": (lambda: nd.log(a()), np.log(A)),
    "nd.sqrt": (lambda: nd.sqrt(a()), np.sqrt(A)),
    "nd.square": (lambda: nd.square(a()), A**2),
    "nd.abs": (lambda: nd.abs(b()), abs(B)),
    "nd.sign": (lambda: nd.sign(b()), np.sign(B)),
    "nd.round": (lambda: nd.round(b()), [[1, -1], [2, 0]]),
    "nd.sin": (lambda: nd.sin(a()), np.sin(A)),
    "nd.tanh": (lambda: nd.tanh(a()), np.tanh(A)),
    "nd.sigmoid": (lambda: nd.sigmoid(a()), 1 / (1 + np.exp(-A))),
    "nd.relu": (lambda: nd.relu(b()), np.maximum(B, 0)),
    "nd.clip": (lambda: nd.clip(b(), 0, 1), B.clip(0, 1)),
    "nd.cast": (lambda: nd.cast(b(), dtype="int32").dtype, np.int32),
    "nd.maximum": (lambda: nd.maximum(b(), 0.25), np.maximum(B, 0.25)),
    "nd.power": (lambda: nd.power(a(), 2), A**2),
    "nd.multiply": (lambda: nd.multiply(a(), b()), A * B),
    "nd.divide": (lambda: nd.divide(a(), b()), A / B),
    "nd.broadcast_div": (lambda: nd.broadcast_div(a(), b()[:1]), A / B[:1]),
    "nd.broadcast_mul": (lambda: nd.broadcast_mul(a(), b()[:1]), A * B[:1]),
    "nd.softmax": (lambda: nd.softmax(a()), SOFT),
    "nd.log_softmax": (lambda: nd.log_softmax(a()), np.log(SOFT)),
    "nd.SoftmaxActivation": (lambda: nd.SoftmaxActivation(a()), SOFT),
    "nd.smooth_l1": (lambda: nd.smooth_l1(a()), A - 0.5),
    "nd.L2Normalization": (
        lambda: nd.L2Normalization(a()),
        A / np.sqrt((A**2).sum(1, keepdims=True)),
    ),
    "nd.Pooling": (
        lambda: nd.Pooling(nd.array(IMAGE), kernel=(2, 2), stride=(2, 2), pool_type="max"),
        [[[[5, 7], [13, 15]]]],
    ),
    "nd.Convolution": (
        lambda: nd.Convolution(
            nd.array(IMAGE), nd.ones((1, 1, 4, 4)), no_bias=True, kernel=(4, 4), num_filter=1
        ),
        [[[[120]]]],
    ),
    "nd.FullyConnected": (
        lambda: nd.FullyConnected(a(), b(), nd.array([1, 2]), num_hidden=2),
        A @ B.T + [1, 2],
    ),
    "nd.Dropout": (lambda: nd.Dropout(a(), p=0.5), A),
    "nd.sparse.csr_matrix": (lambda: nd.sparse.csr_matrix(EYE).stype, "csr"),
    "nd.random.uniform": (
        lambda: nd.random.uniform(2, 3, shape=(2, 3)).floor(),
        np.full((2, 3), 2),
    ),
    "nd.random_uniform": (lambda: nd.random_uniform(2, 3, shape=(2,)).floor(), [2, 2]),
    "nd.random.normal": (lambda: nd.random.normal(5, 1e-9, shape=(2,)), [5, 5]),
    "nd.random_normal": (lambda: nd.random_normal(5, 1e-9, shape=(2,)), [5, 5]),
    "nd.random.randn": (lambda: nd.random.randn(2, 3).shape, (2, 3)),
    "nd.random.randint": (lambda: nd.random.randint(3, 4, shape=(2,)), [3, 3]),
    "random.seed": (lambda: mx.random.seed(1), None),
    "random.normal": (lambda: mx.random.normal(5, 1e-9, shape=(2,)), [5, 5]),
    "random.uniform": (lambda: mx.random.uniform(2, 3, shape=(2,)).floor(), [2, 2]),
    "contrib.ndarray.MultiBoxPrior": (
        lambda: mx.contrib.ndarray.MultiBoxPrior(nd.ones((1, 1, 1, 1)), sizes=[0.5]),
        [[[0.25, 0.25, 0.75, 0.75]]],
    ),
    "contrib.ndarray.MultiBoxTarget": (
        lambda: mx.contrib.ndarray.MultiBoxTarget(
            nd.array([[[0, 0, 0.5, 0.5]]]), nd.array([[[0, 0, 0, 0.5, 0.5]]]), nd.zeros((1, 2, 1))
        )[2],
        [[1]],
    ),
    "contrib.ndarray.MultiBoxDetection": (
        lambda: mx.contrib.ndarray.MultiBoxDetection(
            nd.array([[[0.25], [0.75]]]), nd.zeros((1, 4)), nd.array([[[0, 0, 0.5, 0.5]]])
        ),
        [[[0, 0.75, 0, 0, 0.5, 0.5]]],
    ),
}

SYMBOLS = {
    "sym.Variable": (lambda: x.list_arguments(), ["x"]),
    "sym.var": (lambda: sym.var("z").name, "z"),
    "sym.Symbol": (lambda: isinstance(x, sym.Symbol), True),
    "sym.Group": (lambda: len(sym.Group([x, y]).list_outputs()), 2),
    "sym.zeros": (lambda: run(x + sym.zeros((2, 2)), x=A), A),
    "sym.identity": (lambda: run(sym.identity(x), x=A), A),
    "sym.BlockGrad": (lambda: run(sym.BlockGrad(x), x=A), A),
    "sym.MakeLoss": (lambda: run(sym.MakeLoss(x), x=A), A),
    "sym.sum": (lambda: run(sym.sum(x, axis=1), x=A), A.sum(1)),
    "sym.mean": (lambda: run(sym.mean(x), x=A), [2.5]),
    "sym.exp": (lambda: run(sym.exp(x), x=A), np.exp(A)),
    "sym.log": (lambda: run(sym.log(x), x=A), np.log(A)),
    "sym.square": (lambda: run(sym.square(x), x=A), A**2),
    "sym.smooth_l1": (lambda: run(sym.smooth_l1(x, scalar=1), x=A), A - 0.5),
    "sym.Cast": (lambda: run(sym.Cast(x, dtype="int32"), x=A).dtype, np.int32),
    "sym.softmax": (lambda: run(sym.softmax(x), x=A), SOFT),
    "sym.SoftmaxActivation": (lambda: run(sym.SoftmaxActivation(x), x=A), SOFT),
    "sym.Activation": (lambda: run(sym.Activation(x, act_type="tanh"), x=A), np.tanh(A)),
    "sym.LeakyReLU": (lambda: run(sym.LeakyReLU(x, slope=0.5), x=B), np.where(B > 0, B, B / 2)),
    "sym.Dropout": (lambda: run(sym.Dropout(x, p=0.5), x=A), A),
    "sym.dot": (lambda: run(sym.dot(x, y), x=A, y=B), A @ B),
    "sym.broadcast_add": (lambda: run(sym.broadcast_add(x, y), x=A, y=B[:1]), A + B[:1]),
    "sym.broadcast_mul": (lambda: run(sym.broadcast_mul(x, y), x=A, y=B[:1]), A * B[:1]),
    "sym.ElementWiseSum": (lambda: run(sym.ElementWiseSum(x, y), x=A, y=B), A + B),
    "sym.Concat": (lambda: run(sym.Concat(x, y, dim=0), x=A, y=B), np.concatenate([A, B])),
    "sym.concat": (lambda: run(sym.concat(x, y, dim=1), x=A, y=B), np.concatenate([A, B], 1)),
    "sym.split": (lambda: run(sym.split(x, num_outputs=2, axis=0)[1], x=A), A[1:]),
    "sym.slice_axis": (lambda: run(sym.slice_axis(x, axis=1, begin=0, end=1), x=A), A[:, :1]),
    "sym.transpose": (lambda: run(sym.transpose(x), x=A), A.T),
    "sym.Reshape": (lambda: run(sym.Reshape(x, shape=(4,)), x=A), A.ravel()),
    "sym.reshape": (lambda: run(sym.reshape(x, shape=(1, -1)), x=A), A.reshape(1, 4)),
    "sym.expand_dims": (lambda: run(sym.expand_dims(x, axis=0), x=A), A[None]),
    "sym.Flatten": (lambda: run(sym.Flatten(x), x=IMAGE), IMAGE.reshape(1, 16)),
    "sym.flatten": (lambda: run(sym.flatten(x), x=IMAGE), IMAGE.reshape(1, 16)),
    "sym.one_hot": (lambda: run(sym.one_hot(x, depth=2), x=[1, 0]), EYE[[1, 0]]),
    "sym.Embedding": (
        lambda: run(sym.Embedding(x, weight=y, input_dim=2, output_dim=2), x=[1, 0], y=A),
        A[[1, 0]],
    ),
    "sym.FullyConnected": (
        lambda: run(sym.FullyConnected(x, weight=y, num_hidden=2, no_bias=True), x=A, y=B),
        A @ B.T,
    ),
    "sym.Convolution": (
        lambda: run(
            sym.Convolution(x, weight=y, kernel=(4, 4), num_filter=1, no_bias=True),
            x=IMAGE, y=np.ones((1, 1, 4, 4)),
        ),
        [[[[120]]]],
    ),
    "sym.Deconvolution": (
        lambda: run(
            sym.Deconvolution(x, weight=y, kernel=(2, 2), num_filter=1),
            x=[[[[3]]]], y=np.ones((1, 1, 2, 2)),
        ),
        [[[[3, 3], [3, 3]]]],
    ),
    "sym.Pooling": (
        lambda: run(sym.Pooling(x, pool_type="avg", global_pool=True), x=IMAGE),
        [[[[7.5]]]],
    ),
    "sym.UpSampling": (
        lambda: run(sym.UpSampling(x, scale=2, sample_type="nearest"), x=[[[[1, 2]]]]),
        [[[[1, 1, 2, 2], [1, 1, 2, 2]]]],
    ),
    "sym.Crop": (lambda: run(sym.Crop(x, h_w=(1, 2), num_args=1), x=IMAGE), [[[[0, 1]]]]),
    "sym.BatchNorm": (
        lambda: sym.BatchNorm(x, name="bn").list_auxiliary_states(),
        ["bn_moving_mean", "bn_moving_var"],
    ),
    "sym.SoftmaxOutput": (lambda: run(sym.SoftmaxOutput(x, y), x=A, y=[0, 1]), SOFT),
    "sym.LinearRegressionOutput": (
        lambda: run(sym.LinearRegressionOutput(x, y), x=A, y=B), A,
    ),
    "sym.LogisticRegressionOutput": (
        lambda: run(sym.LogisticRegressionOutput(x, y), x=A, y=B), 1 / (1 + np.exp(-A)),
    ),
    "sym.load": (lambda: callable(sym.load), True),
}  # fmt: skip


def initialized(initializer, name="fc_weight"):
    weight = nd.zeros((2, 2))
    initializer(mx.init.InitDesc(name), weight)
    return weight


def measured(metric):
    metric.update([nd.array([0, 1])], [nd.array([[0.75, 0.25], [0.5, 0.5]])])
    return round(float(metric.get()[1]), 4)


def regressed(metric):
    metric.update([nd.array([1, 2])], [nd.array([1, 4])])
    return round(float(metric.get()[1]), 4)


def stepped(optimizer):
    weight, grad = nd.ones((1,)), nd.ones((1,))
    optimizer.update(0, weight, grad, optimizer.create_state(0, weight))
    return weight


def updated(updater):
    weight = nd.ones((1,))
    updater(0, nd.ones((1,)), weight)
    return weight


def scheduled(scheduler, steps):
    return [round(scheduler(step), 6) for step in steps]


OTHERS = {
    "init.Constant": (lambda: initialized(mx.init.Constant(3)), 0 * A + 3),
    "init.Zero": (lambda: initialized(mx.init.Zero()), 0 * A),
    "init.One": (lambda: initialized(mx.init.One()), 0 * A + 1),
    "init.Uniform": (lambda: abs(initialized(mx.init.Uniform(0.1))) <= 0.1, 0 * A + 1),
    "init.Normal": (lambda: abs(initialized(mx.init.Normal(1e-6))) < 1e-4, 0 * A + 1),
    "init.Xavier": (lambda: abs(initialized(mx.init.Xavier())) <= np.sqrt(1.5), 0 * A + 1),
    "init.MSRAPrelu": (lambda: abs(initialized(mx.init.MSRAPrelu())) < 9, 0 * A + 1),
    "init.Orthogonal": (
        lambda: (lambda w: nd.dot(w, w.T))(initialized(mx.init.Orthogonal(scale=1))), EYE,
    ),
    "init.Initializer": (lambda: issubclass(mx.init.Xavier, mx.init.Initializer), True),
    "metric.Accuracy": (lambda: measured(mx.metric.Accuracy()), 0.5),
    "metric.TopKAccuracy": (lambda: measured(mx.metric.TopKAccuracy(top_k=2)), 1),
    "metric.CompositeEvalMetric": (
        lambda: len(mx.metric.CompositeEvalMetric(["acc", "mse"]).get()[0]), 2,
    ),
    "metric.EvalMetric": (lambda: mx.metric.EvalMetric("mine").name, "mine"),
    "metric.create": (lambda: type(mx.metric.create("acc")), mx.metric.Accuracy),
    "metric.MAE": (lambda: regressed(mx.metric.MAE()), 1),
    "metric.MSE": (lambda: regressed(mx.metric.MSE()), 2),
    "metric.RMSE": (lambda: regressed(mx.metric.RMSE()), 1.4142),
    "metric.Loss": (lambda: regressed(mx.metric.Loss()), 2.5),
    "optimizer.SGD": (lambda: stepped(mx.optimizer.SGD(learning_rate=0.25)), [0.75]),
    "optimizer.Adam": (lambda: stepped(mx.optimizer.Adam(learning_rate=0.25)), [0.75]),
    "optimizer.create": (lambda: stepped(mx.optimizer.create("sgd", learning_rate=0.5)), [0.5]),
    "optimizer.Optimizer": (lambda: issubclass(mx.optimizer.SGD, mx.optimizer.Optimizer), True),
    "optimizer.get_updater": (
        lambda: updated(mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1))), [0],
    ),
    "lr_scheduler.FactorScheduler": (
        lambda: scheduled(mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1), [1, 2, 3, 5]),
        [1, 1, 0.5, 0.25],
    ),
    "lr_scheduler.MultiFactorScheduler": (
        lambda: scheduled(mx.lr_scheduler.MultiFactorScheduler([2, 4], 0.5, base_lr=1), [2, 3, 5]),
        [1, 0.5, 0.25],
    ),
    "lr_scheduler.CosineScheduler": (
        lambda: scheduled(mx.lr_scheduler.CosineScheduler(4, base_lr=1), [0, 2, 4]), [1, 0.5, 0],
    ),
    "lr_scheduler.LRScheduler": (lambda: mx.lr_scheduler.LRScheduler(base_lr=0.5).base_lr, 0.5),
}  # fmt: skip
USES = {**ARRAYS, **SYMBOLS, **OTHERS}


@pytest.mark.parametrize("name", USES)
def test_what_programs_use_does_what_it_says(name):
    thing = mx
    for part in name.split("."):
        thing = getattr(thing, part)
    use, wanted = USES[name]
    got = use()
    if isinstance(got, nd.NDArray):
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
        assert got.shape == np.shape(wanted)
    else:
        assert got == wanted


def test_recording_and_modes_nest():
    # autograd.record, pause, train_mode, predict_mode, is_training, backward
    v = a()
    v.attach_grad()
    with autograd.record():
        assert autograd.is_training()
        with autograd.pause():
            aside = v * 3
        with autograd.predict_mode():
            assert not autograd.is_training()
        z = v * v + aside
    with autograd.train_mode():
        assert autograd.is_training()
    autograd.backward([z])
    np.testing.assert_array_equal(v.grad.asnumpy(), 2 * A)


def test_users_operators_run_in_arrays_and_symbols():
    # operator.CustomOp, CustomOpProp, register; sym.Custom
    class Doubled(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("usage_doubled")
    class DoubledProperty(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Doubled()

    for got in (nd.Custom(a(), op_type="usage_doubled"),
                run(sym.Custom(x, op_type="usage_doubled"), x=A)):  # fmt: skip
        np.testing.assert_array_equal(got.asnumpy(), 2 * A)


def test_arrays_come_back_from_files(tmp_path):
    # nd.save, nd.load
    nd.save(str(tmp_path / "x"), {"a": a()})
    np.testing.assert_array_equal(nd.load(str(tmp_path / "x"))["a"].asnumpy(), A)
