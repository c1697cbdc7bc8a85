"""FeedForward trains, predicts and saves as MXNet's does; numbers are recorded from MXNet 1.9.1."""

import pickle

import numpy as np
import pytest

import minigluon as mx
from minigluon import executor_manager, model, nd, sym

pytestmark = pytest.mark.filterwarnings("ignore:mxnet.model.FeedForward:DeprecationWarning")


def network():
    hidden = sym.FullyConnected(sym.Variable("data"), num_hidden=8, name="fc1")
    hidden = sym.Activation(hidden, act_type="relu")
    return sym.SoftmaxOutput(sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def problem():
    """Data, labels and first parameters, the same as those recorded with."""
    rng = np.random.RandomState(0)
    data = rng.randn(50, 4).astype(np.float32)
    labels = (data[:, 0] > 0).astype(np.float32) + (data[:, 1] > 0)
    params = {
        "fc1_weight": nd.array(rng.randn(8, 4) * 0.3),
        "fc1_bias": nd.zeros(8),
        "fc2_weight": nd.array(rng.randn(3, 8) * 0.3),
        "fc2_bias": nd.zeros(3),
    }
    return data, labels, params


def made(**kwargs):
    _, _, params = problem()
    options = {
        "num_epoch": 3, "numpy_batch_size": 16, "learning_rate": 0.5, "momentum": 0.9,
        "arg_params": params,
    }  # fmt: skip
    return model.FeedForward(network(), **{**options, **kwargs})


def sums(net):
    return {name: float(value.asnumpy().sum()) for name, value in net.arg_params.items()}


@pytest.fixture
def fitted():
    """A network after three epochs, what its callbacks saw, and the data."""
    data, labels, _ = problem()
    np.random.seed(3)
    net, batches, epochs = made(), [], []
    net.fit(
        data,
        labels,
        eval_data=(data, labels),
        batch_end_callback=lambda p: batches.append((p.epoch, p.nbatch, p.eval_metric.get()[1])),
        epoch_end_callback=[lambda *args: epochs.append(args)],
    )
    return net, batches, epochs, data, labels


def test_training_on_arrays_goes_as_in_mxnet(fitted):
    net, batches, epochs, _, _ = fitted
    assert batches == [
        (0, 1, 0.1875), (0, 2, 0.21875), (0, 3, 13 / 48),
        (1, 1, 0.625), (1, 2, 0.59375), (1, 3, 29 / 48),
        (2, 1, 0.8125), (2, 2, 0.6875), (2, 3, 35 / 48),
    ]  # fmt: skip
    assert [(e[0], sorted(e[2])) for e in epochs] == [(k, sorted(net.arg_params)) for k in range(3)]
    wanted = {"fc1_weight": 0.41018391, "fc1_bias": 0.7674585, "fc2_weight": -0.69545263}
    got = sums(net)
    for name, value in wanted.items():
        assert got[name] == pytest.approx(value, abs=2e-6)


def test_predictions_are_one_array_without_the_padding(fitted):
    net, _, _, data, labels = fitted
    assert float(net.predict(data)[:, 0].sum()) == pytest.approx(16.79361, abs=1e-4)
    batches = mx.io.NDArrayIter(data, labels, 16)
    outputs, seen, seen_labels = net.predict(batches, return_data=True)
    assert outputs.shape == (50, 3)
    np.testing.assert_array_equal(seen, data)
    np.testing.assert_array_equal(seen_labels, labels)
    assert net.predict(batches, num_batch=2).shape == (32, 3)


def test_score_counts_the_padding_as_mxnet_does(fitted):
    net, _, _, data, labels = fitted
    batches = mx.io.NDArrayIter(data, labels, 16)
    assert net.score(batches) == 0.796875
    assert net.score(data) == 0.34375
    assert net.score(batches, eval_metric="ce", num_batch=2) == pytest.approx(0.4993267, abs=1e-6)


def test_a_saved_model_goes_on_where_it_stopped(fitted, tmp_path):
    net, _, _, data, labels = fitted
    prefix = str(tmp_path / "net")
    net.save(prefix)
    loaded = model.FeedForward.load(prefix, 3, num_epoch=4, numpy_batch_size=16)
    np.testing.assert_array_equal(loaded.predict(data), net.predict(data))
    loaded.fit(mx.io.NDArrayIter(data, labels, 16))
    got = sums(loaded)
    assert got["fc1_weight"] == pytest.approx(0.4132092, abs=2e-6)
    assert got["fc1_bias"] == pytest.approx(0.76663232, abs=2e-6)


def test_a_model_can_be_pickled(fitted):
    net, _, _, data, _ = fitted
    again = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(again.predict(data), net.predict(data))


def test_an_epoch_may_have_fewer_batches_than_the_data():
    data, labels, _ = problem()
    seen = []
    net = made(epoch_size=2, num_epoch=2)
    net.fit(
        mx.io.NDArrayIter(data, labels, 16),
        batch_end_callback=lambda p: seen.append((p.epoch, p.nbatch, p.eval_metric.get()[1])),
    )
    assert seen == [(0, 1, 0.125), (0, 2, 0.15625), (1, 1, 0.5625), (1, 2, 0.4375)]


def test_two_contexts_train_together():
    data, labels, _ = problem()
    net = made(ctx=[mx.cpu(0), mx.cpu(1)], num_epoch=1)
    net.fit(mx.io.NDArrayIter(data, labels, 16))
    assert sums(net)["fc1_weight"] == pytest.approx(-0.950526, abs=2e-6)


def test_create_trains_what_it_returns():
    data, labels, _ = problem()
    net = model.FeedForward.create(network(), data, labels, num_epoch=1, learning_rate=0.1)
    assert sorted(net.arg_params) == ["fc1_bias", "fc1_weight", "fc2_bias", "fc2_weight"]


def test_a_function_of_the_bucket_key_makes_the_symbols():

    batches = mx.rnn.BucketSentenceIter([[1, 2], [2, 1], [1, 1, 1], [2, 2, 1]], 2, invalid_label=0)
    seen = []
    net = model.FeedForward(
        lambda key: sym.SoftmaxOutput(
            sym.reshape(
                sym.FullyConnected(
                    sym.expand_dims(sym.var("data"), -1), flatten=False, num_hidden=3, name="fc"
                ),
                shape=(-1, 3),
            ),
            sym.reshape(sym.var("softmax_label"), shape=(-1,)),
            name="softmax",
        ),
        num_epoch=1,
        learning_rate=0.1,
    )
    net.fit(
        batches,
        eval_metric=mx.metric.Perplexity(None),
        batch_end_callback=lambda p: seen.append(p.nbatch),
    )
    assert seen == [1, 2]
    assert set(net.arg_params) == {"fc_weight", "fc_bias"}


DATA, LABELS, _ = problem()


@pytest.mark.parametrize(
    ("kwargs", "args", "error", "words"),
    [
        ({}, (DATA,), ValueError, "y must be specified"),
        ({}, (DATA, LABELS[:3]), ValueError, "points and labels not equal"),
        ({}, ([1, 2], LABELS), TypeError, "X must be DataIter, NDArray or numpy.ndarray"),
        ({}, (DATA, LABELS, (1, 2, 3)), TypeError, "Eval data must be DataIter"),
        ({"num_epoch": None}, (DATA, LABELS), TypeError, "how many epochs"),
    ],
)
def test_data_it_cannot_use_is_refused_in_words(kwargs, args, error, words):
    with pytest.raises(error, match=words):
        made(**kwargs).fit(*args)


def test_variables_of_one_name_are_refused():
    with pytest.raises(ValueError, match='duplicated argument name "a"'):
        model.FeedForward(sym.Variable("a") + sym.Variable("a"))


def test_predicting_before_fitting_says_what_to_do():
    with pytest.raises(TypeError, match="call fit first"):
        made(arg_params=None).predict(DATA)


def test_feed_forward_tells_that_it_is_old():
    with pytest.warns(DeprecationWarning, match="mx.mod.Module|mxnet.mod.Module"):
        model.FeedForward(network())


def test_the_executor_manager_runs_a_batch_on_every_context():
    data, labels, params = problem()
    batches = mx.io.NDArrayIter(data, labels, 16)
    manager = executor_manager.DataParallelExecutorManager(
        network(), [mx.cpu(0), mx.cpu(1)], batches
    )
    assert manager.slices == [slice(0, 8), slice(8, 16)]
    manager.set_params(params, {})
    batch = next(iter(batches))
    manager.load_data_batch(batch)
    manager.forward(is_train=True)
    manager.backward()
    first = [float(g.asnumpy().sum()) for g in manager.grad_arrays[0]]
    assert first == pytest.approx([0.98860085, 0.20225596], abs=2e-6)
    accuracy = mx.metric.create("acc")
    manager.update_metric(accuracy, batch.label)
    assert accuracy.get() == ("accuracy", 0.125)
    copies = {name: nd.zeros(value.shape) for name, value in params.items()}
    manager.copy_to(copies, {})
    np.testing.assert_array_equal(copies["fc1_weight"].asnumpy(), params["fc1_weight"].asnumpy())


def test_parameters_are_there_after_no_epochs_at_all():
    net = mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), name="softmax"
    )
    model = mx.model.FeedForward(
        net, begin_epoch=2, num_epoch=2, initializer=mx.init.Constant(0.5), numpy_batch_size=2
    )
    model.fit(np.ones((4, 2), "float32"), np.zeros(4, "float32"))
    assert (model.arg_params["fc_weight"].asnumpy() == 0.5).all()
