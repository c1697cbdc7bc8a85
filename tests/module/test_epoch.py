"""Rows of an epoch that are run in one compiled call give what batches one by one give."""

import gc
import logging
import pickle
import weakref

import numpy as np
import pytest

import minigluon as mx
from minigluon.core.plan import cache
from minigluon.module import epoch, epoch_metric
from minigluon.storage import Csr

ROWS, FEATURES = 40, 12
COMPILED = "fit runs the rows between the first and the last in compiled code"
LOSSES = {
    "linear": mx.sym.LinearRegressionOutput,
    "logistic": mx.sym.LogisticRegressionOutput,
    "softmax": mx.sym.SoftmaxOutput,
}

needs_compiler = pytest.mark.skipif(not cache.available(), reason="plans cannot be compiled here")


def samples(kind="linear", entries=4, columns=1, dtype=np.float32):
    """Rows with up to so many entries, some rows empty, and labels that fit the loss."""
    draw = np.random.RandomState(7)
    x = np.zeros((ROWS, FEATURES), dtype)
    for i in range(ROWS):
        if i % 7 != 3:
            chosen = draw.choice(FEATURES, draw.randint(1, entries + 1), replace=False)
            x[i, chosen] = draw.randn(chosen.size)
    score = x @ draw.randn(FEATURES, columns)
    labels = {"linear": score, "logistic": score > 0, "softmax": score.argmax(1)}[kind]
    return x, labels.astype(dtype)


def iterator(x, y, **options):
    csr = mx.nd.array(x, dtype=x.dtype).tostype("csr")
    options = {"last_batch_handle": "discard", "label_name": "label", **options}
    return mx.io.NDArrayIter(csr, mx.nd.array(y, dtype=y.dtype), **{"batch_size": 1, **options})


def network(kind="linear", stype="row_sparse", columns=1):
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype=stype, shape=(FEATURES, columns))
    bias = mx.sym.Variable("bias", shape=(columns,))
    score = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return LOSSES[kind](data=score, label=mx.sym.Variable("label"), name="out")


def start(stype="row_sparse", columns=1):
    weight = np.sin(np.arange(1, FEATURES * columns + 1, dtype=np.float32))
    weight = mx.nd.array(weight.reshape(FEATURES, columns)).tostype(stype)
    return {"weight": weight, "bias": mx.nd.zeros((columns,))}


@pytest.fixture
def train(monkeypatch):
    """``train(at_once, ...)``: a fitted module and its metric."""

    def run(
        at_once, kind="linear", stype="row_sparse", entries=4, metric="mse", epochs=2,
        optimizer="sgd", optimizer_params=(("learning_rate", 0.05),), scheduler=None, **options
    ):  # fmt: skip
        monkeypatch.setattr(epoch, "FEWEST", 1 if at_once else ROWS)
        columns = 3 if kind == "softmax" else 1
        np.random.seed(5)
        batches = iterator(*samples(kind, entries, columns), **options)
        settings = dict(optimizer_params)
        if scheduler:
            settings["lr_scheduler"] = scheduler()
        module = mx.mod.Module(network(kind, stype, columns), label_names=["label"])
        metric = mx.metric.create(metric)
        module.fit(
            batches, num_epoch=epochs, eval_metric=metric, arg_params=start(stype, columns),
            optimizer=optimizer, optimizer_params=settings,
        )  # fmt: skip
        assert (module.describe_fit() == COMPILED) == at_once, module.describe_fit()
        return module, metric

    return run


def everything(module, metric):
    """All that a loop leaves behind, as arrays and numbers."""
    executor = module._exec_group.execs[0]
    args, _ = module.get_params()
    return {
        "parameters": {n: x.asnumpy() for n, x in args.items()},
        "gradients": {n: g.asnumpy() for n, g in executor.grad_dict.items() if g is not None},
        "inputs": {n: x.asnumpy() for n, x in executor.arg_dict.items()},
        "outputs": dict(enumerate(x.asnumpy() for x in module.get_outputs())),
        "metric": dict(enumerate([*np.ravel(metric.get()[1]), *np.ravel(metric.get_global()[1])])),
        "counts": dict(module._optimizer._index_update_count),
        "updates": {"": module._optimizer.num_update},
        "states": {"": np.frombuffer(module._updater.get_states(), np.uint8)},
    }


def same(found, expected):
    for what, values in expected.items():
        for name, value in values.items():
            np.testing.assert_array_equal(found[what][name], value, f"{what} {name}")


OPTIMIZERS = [
    ("sgd", {"learning_rate": 0.05, "momentum": 0.9, "wd": 0.01, "clip_gradient": 0.5}),
    ("adagrad", {"learning_rate": 0.1, "wd": 0.01}),
    ("adam", {"learning_rate": 0.02, "wd": 0.01}),
    ("ftrl", {}),
]


@needs_compiler
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize(("optimizer", "settings"), OPTIMIZERS)
def test_where_sums_have_one_term_everything_is_equal_to_the_bit(train, stype, optimizer, settings):
    options = {
        "stype": stype, "entries": 1, "optimizer": optimizer, "optimizer_params": settings,
        "shuffle": True, "metric": ["mse", "mae", "rmse"],
    }  # fmt: skip
    same(everything(*train(True, **options)), everything(*train(False, **options)))


@needs_compiler
@pytest.mark.parametrize(
    ("optimizer", "settings"),
    [
        ("rmsprop", {"wd": 0.01}),
        ("adadelta", {"wd": 0.01}),
        ("nag", {"momentum": 0.5, "wd": 0.01}),
        ("sgd", {"lazy_update": False, "momentum": 0.9, "wd": 0.01}),
        ("adam", {"lazy_update": False, "wd": 0.01}),
    ],
)
def test_optimizers_that_are_not_lazy_change_all_rows_of_a_dense_weight(train, optimizer, settings):
    options = {
        "stype": "default", "entries": 1, "optimizer": optimizer, "optimizer_params": settings,
    }  # fmt: skip
    same(everything(*train(True, **options)), everything(*train(False, **options)))


@needs_compiler
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_learning_rate_schedule_is_followed_step_by_step(train, optimizer):
    options = {
        "entries": 1, "optimizer": optimizer,
        "scheduler": lambda: mx.lr_scheduler.FactorScheduler(7, 0.9),
    }  # fmt: skip
    same(everything(*train(True, **options)), everything(*train(False, **options)))


@needs_compiler
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize(
    ("kind", "metric"), [("linear", "mse"), ("logistic", "mae"), ("softmax", ["acc", "ce"])]
)
def test_sums_of_several_terms_are_equal_to_some_ulp(train, kind, metric, stype):
    options = {"kind": kind, "stype": stype, "metric": metric, "optimizer_params": OPTIMIZERS[0][1]}
    found = everything(*train(True, **options))
    expected = everything(*train(False, **options))
    for what in ("parameters", "gradients", "outputs", "metric"):
        for name, value in expected[what].items():
            np.testing.assert_allclose(found[what][name], value, rtol=3e-6, atol=3e-6)
    assert found["counts"] == expected["counts"]
    assert found["updates"] == expected["updates"]


@needs_compiler
def test_a_linear_regression_follows_the_rule_in_float64(train):
    module, metric = train(True, epochs=1)
    x, y = (a.astype(np.float64) for a in samples())
    w, b, losses = start()["weight"].asnumpy().astype(np.float64), 0.0, []
    for row, target in zip(x, y, strict=True):
        error = row @ w + b - target
        losses.append(float(error[0]) ** 2)
        w = w - 0.05 * row[:, None] * error
        b = b - 0.05 * error
    found, _ = module.get_params()
    np.testing.assert_allclose(found["weight"].asnumpy(), w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["bias"].asnumpy(), b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(metric.get()[1], np.mean(losses), rtol=1e-5)


@needs_compiler
def test_many_short_calls_give_what_one_gives(train, monkeypatch):
    options = {"optimizer": "adam", "optimizer_params": {}, "metric": ["mse", "mae"]}
    expected = everything(*train(True, **options))
    monkeypatch.setattr(epoch, "_AT_ONCE", 1)
    same(everything(*train(True, **options)), expected)


@needs_compiler
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
def test_training_resumed_from_a_checkpoint_goes_on_as_if_it_had_not_stopped(
    train, tmp_path, stype
):
    options = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.01}, "stype": stype}
    expected = everything(*train(True, epochs=4, **options))
    module, _ = train(True, epochs=2, **options)
    module.save_checkpoint(str(tmp_path / "half"), 2, save_optimizer_states=True)
    resumed = mx.mod.Module.load(
        str(tmp_path / "half"), 2, load_optimizer_states=True, label_names=["label"]
    )
    count = 2 * ROWS  # as in MXNet, files of states do not have counts
    adam = mx.optimizer.Adam(
        learning_rate=0.01, begin_num_update=count, rescale_grad=1.0,
        param_idx2name={0: "weight", 1: "bias"},
    )  # fmt: skip
    metric = mx.metric.create("mse")
    resumed.fit(
        iterator(*samples()), num_epoch=4, begin_epoch=2, eval_metric=metric, optimizer=adam
    )
    assert resumed.describe_fit() == COMPILED
    same(everything(resumed, metric), expected)


@needs_compiler
def test_a_module_does_not_keep_the_data_it_was_trained_on(monkeypatch):
    monkeypatch.setattr(epoch, "FEWEST", 1)
    batches = iterator(*samples())
    values = weakref.ref(batches.data[0][1]._data.values)
    module = mx.mod.Module(network(), label_names=["label"])
    module.fit(batches, num_epoch=2, arg_params=start(), eval_metric="mse")
    assert module.describe_fit() == COMPILED
    del batches
    gc.collect()
    assert values() is None


@needs_compiler
def test_compiled_epochs_are_not_pickled(monkeypatch):
    monkeypatch.setattr(epoch, "FEWEST", 1)
    module = mx.mod.Module(network(), label_names=["label"])
    module.fit(iterator(*samples()), num_epoch=1, arg_params=start(), eval_metric="mse")
    assert pickle.loads(pickle.dumps(module._epoch_kernel)) is None


@needs_compiler
@pytest.mark.slow
def test_graphs_of_several_sparse_and_dense_inputs_are_run_so_too(monkeypatch):
    """Wide and deep in small: products of two csr rows, a relu, a dense layer."""
    x, y = samples("softmax", columns=3)
    dense = np.cos(np.arange(ROWS * 5, dtype=np.float32)).reshape(ROWS, 5)
    wide, deep = (mx.sym.Variable(n, shape=(FEATURES, 3)) for n in ("wide", "deep"))
    score = mx.sym.sparse.dot(mx.sym.Variable("a", stype="csr"), wide)
    hidden = mx.sym.sparse.dot(mx.sym.Variable("b", stype="csr"), deep)
    hidden = mx.sym.Activation(hidden, act_type="relu")
    hidden = mx.sym.Concat(hidden, mx.sym.Variable("c"), dim=1)
    hidden = mx.sym.FullyConnected(hidden, num_hidden=3, name="fc")
    out = mx.sym.SoftmaxOutput(score + hidden, mx.sym.Variable("label"), name="out")
    found = []
    for least in (1, ROWS):
        monkeypatch.setattr(epoch, "FEWEST", least)
        data = {"a": mx.nd.array(x).tostype("csr"), "b": mx.nd.array(x * x).tostype("csr")}
        batches = mx.io.NDArrayIter(
            {**data, "c": dense}, {"label": y}, 1, last_batch_handle="discard"
        )
        module = mx.mod.Module(out, data_names=["a", "b", "c"], label_names=["label"])
        shapes = {"wide": (FEATURES, 3), "deep": (FEATURES, 3), "fc_weight": (3, 8), "fc_bias": 3}
        values = {
            n: mx.nd.array(np.sin(np.arange(np.prod(s)))).reshape(s) for n, s in shapes.items()
        }
        module.fit(
            batches, num_epoch=2, arg_params=values, eval_metric=["acc", "nll_loss"],
            optimizer_params={"learning_rate": 0.1, "momentum": 0.5},
        )  # fmt: skip
        assert (module.describe_fit() == COMPILED) == (least == 1), module.describe_fit()
        found.append({n: p.asnumpy() for n, p in module.get_params()[0].items()})
    for name, value in found[1].items():
        np.testing.assert_allclose(found[0][name], value, rtol=1e-5, atol=1e-6)


class Counted(mx.io.NDArrayIter):
    pass


class Forwarding(mx.mod.Module):
    def forward(self, data_batch, is_train=None):
        super().forward(data_batch, is_train)


def own_schedule(count):
    return 0.1


def patched():
    """An optimizer with an update of its own."""
    sgd = mx.optimizer.SGD(learning_rate=0.05, rescale_grad=1.0)
    sgd.update = type(sgd).update.__get__(sgd)
    return sgd


def described(monkeypatch, symbol=None, batches=None, module=mx.mod.Module, stype="row_sparse",
              args=None, **options):  # fmt: skip
    monkeypatch.setattr(epoch, "FEWEST", 1)
    made = module(network(stype=stype) if symbol is None else symbol, label_names=["label"])
    made.fit(
        batches or iterator(*samples()), num_epoch=1, arg_params=args or start(stype),
        **{"eval_metric": "mse", **options},
    )  # fmt: skip
    return made.describe_fit()


@needs_compiler
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"batch_end_callback": lambda param: None}, "a callback"),
        ({"monitor": mx.mon.Monitor(1, lambda x: mx.nd.zeros((1,)))}, "a monitor"),
        ({"module": Forwarding}, "the module has its own forward"),
        (
            {"optimizer": "nag", "optimizer_params": {"momentum": 0.5}},
            "states are stored otherwise",
        ),
        ({"optimizer": "signum"}, "Signum has no compiled rule"),
        ({"optimizer": patched()}, "SGD has no compiled rule"),
        ({"optimizer_params": {"lr_scheduler": own_schedule}}, "by code of its own"),
        ({"eval_metric": mx.metric.PearsonCorrelation()}, "PearsonCorrelation sees every batch"),
        ({"eval_metric": mx.metric.np(lambda label, pred: 0.0)}, "CustomMetric sees every batch"),
        ({"kvstore": mx.kv.create("local")}, "a kvstore takes part"),
    ],
)
def test_what_is_not_run_at_once_says_why(monkeypatch, options, reason):
    logging.disable(logging.CRITICAL)
    try:
        assert reason in described(monkeypatch, **options)
    finally:
        logging.disable(logging.NOTSET)


@needs_compiler
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x, y: iterator(x, y, batch_size=2), "a batch has more than one row"),
        (lambda x, y: mx.io.ResizeIter(iterator(x, y), 10), "a ResizeIter is no NDArrayIter"),
        (lambda x, y: Counted(mx.nd.array(x).tostype("csr"), y, 1, label_name="label",
                              last_batch_handle="discard"), "a Counted is no NDArrayIter"),
        (lambda x, y: iterator(x[:2], y[:2]), "0 rows are too few"),
    ],
)  # fmt: skip
def test_other_iterators_are_read_batch_by_batch(monkeypatch, make, reason):
    assert reason in described(monkeypatch, batches=make(*samples()))


@needs_compiler
def test_other_graphs_are_run_batch_by_batch(monkeypatch):
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(FEATURES, 1))
    score = mx.sym.sparse.dot(mx.sym.square(data), weight) + mx.sym.Variable("bias", shape=(1, 1))
    symbol = mx.sym.LinearRegressionOutput(score, mx.sym.Variable("label"))
    args = {**start(), "bias": mx.nd.zeros((1, 1))}
    assert "square has a sparse input" in described(monkeypatch, symbol, args=args)


@needs_compiler
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda updater: setattr(updater.optimizer, "momentum", 0.0), "stored otherwise"),
        (lambda updater: updater.states.update({0: mx.nd.zeros((1, FEATURES))}), "another shape"),
        (lambda updater: updater.states.update({1: None}), "stored otherwise"),
        (lambda updater: updater.states.update({0: updater.weight}), "share memory"),
        (lambda updater: None, ""),
    ],
)
def test_states_that_do_not_fit_are_left_to_the_optimizer(monkeypatch, change, reason):
    monkeypatch.setattr(epoch, "FEWEST", 1)
    module = mx.mod.Module(network(stype="default"), label_names=["label"])
    batches, metric = iterator(*samples()), mx.metric.create("mse")
    settings = {"momentum": 0.5}
    module.fit(
        batches, num_epoch=1, eval_metric=metric, optimizer_params=settings,
        arg_params=start("default"),
    )  # fmt: skip
    next(batches)
    module._updater.weight = module._exec_group.execs[0].arg_dict["weight"]
    change(module._updater)
    found = epoch.run_ahead(module, mx.mod.Module, batches, metric)
    assert reason in found
    assert bool(reason) == bool(found)
    assert batches.cursor == (0 if reason else ROWS - 2)


@needs_compiler
def test_plans_that_are_not_to_be_compiled_are_not(monkeypatch):
    monkeypatch.setenv("MINIGLUON_FUSE", "never")
    assert "its plan is not compiled" in described(monkeypatch)


@needs_compiler
@pytest.mark.parametrize(
    "spoil",
    [
        lambda csr: Csr(csr.values, csr.indices[::-1].copy(), csr.indptr, csr.shape),
        lambda csr: Csr(csr.values, csr.indices + (1 << 40), csr.indptr, csr.shape),
        lambda csr: Csr(csr.values, csr.indices - 3, csr.indptr, csr.shape),
        lambda csr: Csr(csr.values, csr.indices, csr.indptr[::-1].copy(), csr.shape),
        lambda csr: Csr(csr.values, csr.indices, csr.indptr + 1, csr.shape),
        lambda csr: Csr(csr.values[:3], csr.indices, csr.indptr, csr.shape),
    ],
)
def test_columns_out_of_order_or_range_do_not_reach_compiled_code(spoil):
    csr = mx.nd.array(samples()[0]).tostype("csr")._data
    assert epoch._sound("data", csr, np.float32) is not None
    with pytest.raises(epoch.NotAtOnce, match="ascending order"):
        epoch._sound("data", spoil(csr), np.float32)


def test_columns_may_fall_from_one_row_to_the_next_and_rows_may_be_empty():
    csr = Csr(np.ones(3, np.float32), np.array([4, 0, 2]), np.array([0, 0, 1, 1, 3, 3]), (5, 5))
    assert epoch._sound("data", csr, np.dtype(np.float32)).indices.tolist() == [4, 0, 2]
    twice = Csr(np.ones(3, np.float32), np.array([4, 2, 2]), np.array([0, 0, 1, 1, 3, 3]), (5, 5))
    with pytest.raises(epoch.NotAtOnce):
        epoch._sound("data", twice, np.dtype(np.float32))


@pytest.mark.parametrize(
    ("name", "shape"),
    [("mse", (1, 1)), ("mae", (1,)), ("rmse", (1, 1)), ("acc", (1, 4)), ("acc", (1, 1)),
     ("ce", (1, 4)), ("nll_loss", (1, 4)), (["acc", "ce"], (1, 4))],
)  # fmt: skip
def test_metrics_of_many_rows_are_those_of_rows_one_by_one(name, shape):
    draw = np.random.RandomState(11)
    outputs = draw.rand(3000, *shape).astype(np.float32)
    labels = (4 * draw.rand(3000)).astype(np.float32)
    labels = np.floor(labels) if shape == (1, 4) else labels.reshape(3000, *shape[1:])
    together, apart = mx.metric.create(name), mx.metric.create(name)
    assert not epoch_metric.refusal(together, {"label": labels}, {"out": shape})
    for begin, end in ((0, 1000), (1000, 3000)):
        epoch_metric.update(together, {"label": labels[begin:end]}, {"out": outputs[begin:end]})
    for label, output in zip(labels, outputs, strict=True):
        apart.update_dict({"label": mx.nd.array(label[None])}, {"out": mx.nd.array(output)})
    assert together.get() == apart.get()
    assert together.get_global() == apart.get_global()


def test_labels_that_are_no_classes_are_left_to_the_metric():
    labels = {"label": np.array([0, 1, 4], np.float32)}
    assert "CrossEntropy" in epoch_metric.refusal(mx.metric.create("ce"), labels, {"out": (1, 4)})


def test_before_fit_there_is_nothing_to_describe():
    assert mx.mod.Module(network(), label_names=["label"]).describe_fit() == "fit was not called"
