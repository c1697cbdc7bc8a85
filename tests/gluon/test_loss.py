"""Losses against values and gradients recorded from MXNet 1.9.1, and where MXNet overflows."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.gluon import loss as losses

NEEDS_ARANGE_LIKE = pytest.mark.skipif(
    not hasattr(sym.contrib, "arange_like"), reason="there is no contrib.arange_like yet"
)

PRED = [[1.0, -2, 0.5], [0.2, 3, -1]]
LABEL = [[1.0, 0, 1], [0, 1, 0]]
SIGNED = [[1.0, -1, 1], [-1, 1, -1]]
CLASSES = [2.0, 0]
WEIGHT = [[2.0], [0.5]]
COUNTS = [[1.0, 0, 3], [5, 1, 0]]


def sigmoid(x):
    """The logistic function of nested lists."""
    return (1 / (1 + np.exp(-np.array(x)))).tolist()


def log_softmax(x, axis=-1):
    """Logarithms of probabilities."""
    x = np.array(x)
    return (x - np.log(np.exp(x).sum(axis, keepdims=True))).tolist()


def softmax(x):
    """Probabilities."""
    return np.exp(log_softmax(x)).tolist()


# loss, inputs, recorded values, recorded gradient of the first input
RECORDED = [
    (
        losses.L2Loss(),
        (PRED, LABEL),
        [0.70833331, 0.83999997],
        [[0, -0.66666669, -0.16666667], [0.06666667, 0.66666669, -0.33333334]],
    ),
    (
        losses.L2Loss(weight=0.3),
        (PRED, LABEL, WEIGHT),
        [0.42500004, 0.126],
        [[0, -0.40000004, -0.10000001], [0.010000001, 0.10000001, -0.050000004]],
    ),
    (
        losses.L1Loss(),
        (PRED, LABEL),
        [0.83333331, 1.0666667],
        [[0, -0.33333334, -0.33333334], [0.33333334, 0.33333334, -0.33333334]],
    ),
    (
        losses.L1Loss(batch_axis=1),
        (PRED, LABEL),
        [0.1, 2.0, 0.75],
        [[0, -0.5, -0.5], [0.5, 0.5, -0.5]],
    ),
    (
        losses.SigmoidBCELoss(),
        (PRED, LABEL),
        [0.3047556, 0.38666263],
        [[-0.089647144, 0.039734308, -0.12584689], [0.18327801, -0.015808625, 0.089647144]],
    ),
    (
        losses.SigmoidBCELoss(weight=2),
        (PRED, LABEL, WEIGHT),
        [1.2190224, 0.38666263],
        [[-0.35858858, 0.15893723, -0.50338757], [0.18327801, -0.015808625, 0.089647144]],
    ),
    (
        losses.SigmoidBCELoss(),
        (PRED, LABEL, WEIGHT, [3.0, 1, 0.5]),
        [0.86916786, 0.19333132],
        [[-0.53788286, 0.079468608, -0.12584689], [0.091639005, -0.0079043126, 0.044823572]],
    ),
    (
        losses.SigmoidBCELoss(from_sigmoid=True),
        (sigmoid(PRED), LABEL),
        [0.30475554, 0.3866626],
        [[-0.4559598, 0.37844512, -0.53551018], [0.74046755, -0.34992903, 0.4559598]],
    ),
    (
        losses.SigmoidBCELoss(from_sigmoid=True),
        (sigmoid(PRED), LABEL, WEIGHT, [3.0, 1, 0.5]),
        [0.86916763, 0.1933313],
        [[-2.7357588, 0.75689024, -0.53551018], [0.37023377, -0.17496452, 0.2279799]],
    ),
    (
        losses.SoftmaxCELoss(),
        (PRED, CLASSES),
        [1.0045936, 2.8761482],
        [[0.60375082, 0.030058987, -0.63380659], [-0.94364858, 0.92667884, 0.016972717]],
    ),
    (
        losses.SoftmaxCELoss(),
        (PRED, CLASSES, WEIGHT),
        [2.0091872, 1.4380741],
        [[1.2075016, 0.060117975, -1.2676132], [-0.47182429, 0.46333942, 0.0084863584]],
    ),
    (
        losses.SoftmaxCELoss(sparse_label=False),
        (PRED, LABEL),
        [1.5091872, 0.076148219],
        [[0.20750165, 0.060117975, -0.26761311], [0.056351397, -0.073321164, 0.016972717]],
    ),
    (
        losses.SoftmaxCELoss(from_logits=True),
        (log_softmax(PRED), CLASSES),
        [1.0045936, 2.8761482],
        [[0, 0, -1], [-1, 0, 0]],
    ),
    (
        losses.SoftmaxCELoss(axis=0, batch_axis=1),
        (PRED, [0.0, 1, 1]),
        [0.37110063, 0.0067153489, 1.7014134],
        [[-0.31002551, 0.0066928514, 0.81757444], [0.31002554, -0.0066928267, -0.8175745]],
    ),
    (
        losses.KLDivLoss(),
        (log_softmax(PRED), softmax(LABEL)),
        [0.1644831, 0.542023],
        [[-0.42231882, -0.15536243, -0.42231882], [-0.21194157, -0.57611686, -0.21194157]],
    ),
    (
        losses.KLDivLoss(from_logits=False),
        (PRED, softmax(LABEL)),
        [0.1644831, 0.542023],
        [[0.18143201, -0.12530345, -0.056125373], [-0.15559018, 0.35056198, -0.19496885]],
    ),
    (
        losses.KLDivLoss(from_logits=False, axis=0),
        (PRED, LABEL),
        [0.57251394, 0.0067153489],
        [[-0.31002551, 0.0066928514, -0.18242556], [0.31002554, -0.0066928267, 0.1824255]],
    ),
    (
        losses.HuberLoss(),
        (PRED, LABEL),
        [0.54166669, 0.67333335],
        [[0, -0.33333334, -0.16666667], [0.06666667, 0.33333334, -0.33333334]],
    ),
    (
        losses.HuberLoss(rho=0.5, weight=2),
        (PRED, LABEL, WEIGHT),
        [2.6666667, 0.84666663],
        [[0, -1.3333334, -1.3333334], [0.13333334, 0.33333334, -0.33333334]],
    ),
    (
        losses.HingeLoss(),
        (PRED, SIGNED),
        [0.16666667, 0.40000001],
        [[0, 0, -0.33333334], [0.33333334, 0, 0]],
    ),
    (
        losses.SquaredHingeLoss(margin=2),
        (PRED, SIGNED),
        [1.0833334, 1.9466667],
        [[-0.66666669, 0, -1.0], [1.4666667, 0, 0.66666669]],
    ),
    (
        losses.LogisticLoss(),
        (PRED, SIGNED),
        [0.3047556, 0.38666263],
        [[-0.089647144, 0.039734308, -0.12584689], [0.18327801, -0.015808625, 0.089647144]],
    ),
    (
        losses.LogisticLoss(label_format="binary"),
        (PRED, LABEL),
        [0.3047556, 0.38666263],
        [[-0.089647144, 0.039734308, -0.12584689], [0.18327801, -0.015808625, 0.089647144]],
    ),
    (
        losses.TripletLoss(),
        (PRED, LABEL, SIGNED),
        [4.0, 0.5999999],
        [[0, -2, 0], [-2, 0, -2]],
    ),
    (
        losses.PoissonNLLLoss(),
        (PRED, COUNTS),
        [3.2795265],
        [[0.28638029, 0.02255588, -0.22521311], [-0.62976623, 3.1809227, 0.061313242]],
    ),
    (
        losses.PoissonNLLLoss(from_logits=False),
        (np.abs(PRED).tolist(), COUNTS),
        [2.788003],
        [[0, 0.16666667, -0.83333331], [-3.9999998, 0.11111111, 0.16666667]],
    ),
    (
        losses.CosineEmbeddingLoss(),
        (PRED, LABEL, [1.0, -1]),
        [[0.53708994], [0.94679147]],
        [[-0.22043338, -0.17634667, -0.26452005], [-0.018860385, 0.032691419, 0.094301932]],
    ),
    (
        losses.CosineEmbeddingLoss(weight=0.5, margin=0),
        (PRED, LABEL, [1.0, -1], WEIGHT),
        [[0.53708994], [0.23669787]],
        [[-0.22043338, -0.17634667, -0.26452005], [-0.0047150962, 0.0081728548, 0.023575483]],
    ),
]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("loss", "inputs", "values", "gradient"), RECORDED)
def test_loss_and_gradient_are_the_recorded_ones(loss, inputs, values, gradient, hybridize):
    loss.hybridize(hybridize)
    arrays = [nd.array(x) for x in inputs]
    arrays[0].attach_grad()
    with autograd.record():
        out = loss(*arrays)
    out.backward()
    np.testing.assert_allclose(out.asnumpy(), values, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(arrays[0].grad.asnumpy(), gradient, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("hybridize", [False, pytest.param(True, marks=NEEDS_ARANGE_LIKE)])
def test_smoothed_metric_learning_is_the_recorded_one(hybridize):
    test_loss_and_gradient_are_the_recorded_ones(
        losses.SDMLLoss(),
        (PRED, LABEL),
        [1.19161, 1.9693184],
        [
            [0.59505475, -0.59504879, 0.59505624],
            [-0.5996325, 0.59962595, -0.59962893],
        ],
        hybridize,
    )


def test_gradient_of_soft_labels_is_the_recorded_one():
    label = nd.array(LABEL)
    label.attach_grad()
    with autograd.record():
        out = losses.SoftmaxCELoss(sparse_label=False)(nd.array(PRED), label)
    out.backward()
    expected = [
        [0.50459361, 3.5045936, 1.0045936],
        [2.8761482, 0.076148219, 4.076148],
    ]
    np.testing.assert_allclose(label.grad.asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_stirling_term_counts_for_targets_above_one():
    loss = losses.PoissonNLLLoss(compute_full=True)(nd.array(PRED), nd.array(COUNTS))
    pred, target = np.array(PRED), np.array(COUNTS)
    full = np.exp(pred) - target * pred
    large = target > 1
    t = target[large]
    full[large] += t * np.log(t) - t + 0.5 * np.log(2 * np.pi * t)
    np.testing.assert_allclose(loss.asnumpy(), [full.mean()], rtol=1e-5)


def test_label_is_reshaped_to_the_prediction():
    flat = nd.array(LABEL).reshape((6,))
    np.testing.assert_array_equal(
        losses.L2Loss()(nd.array(PRED), flat).asnumpy(),
        losses.L2Loss()(nd.array(PRED), nd.array(LABEL)).asnumpy(),
    )


def test_label_of_another_size_is_a_value_error():
    with pytest.raises(ValueError, match="reshape"):
        losses.L2Loss()(nd.array(PRED), nd.ones((2, 4)))


def test_huge_inputs_do_not_overflow():
    far, zero = nd.array([[1e20, -1e20]]), nd.zeros((1, 2))
    unit = nd.array([[1e20, 0.0], [0.0, 1e20]])
    same = nd.array([[1e20, 1e20]])
    assert losses.HuberLoss()(nd.array([1e20]), nd.array([0.0])).asscalar() == np.float32(1e20)
    assert losses.TripletLoss()(zero, far, far).asscalar() == 1
    cosine = losses.CosineEmbeddingLoss()(same, same, nd.array([1.0])).asscalar()
    assert cosine == pytest.approx(0, abs=1e-6)
    with np.errstate(over="ignore"):  # the distance is infinite, and may be
        smooth = losses.SDMLLoss(smoothing_parameter=0)(unit, unit).asnumpy()
    np.testing.assert_allclose(smooth, [0, 0], atol=2e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_zero_times_infinity_counts_as_zero(hybridize):
    inf = np.inf
    label = nd.array([[1.0, 0.0]])
    soft = losses.SoftmaxCELoss(sparse_label=False, from_logits=True)
    binary = losses.LogisticLoss(label_format="binary")
    sigmoid_loss = losses.SigmoidBCELoss()
    for loss, pred, more in [
        (soft, [[0.0, -inf]], ()),
        (binary, [[inf, -inf]], ()),
        (sigmoid_loss, [[inf, -inf]], ()),
        (losses.SigmoidBCELoss(), [[inf, -inf]], (nd.ones((1, 1)), nd.array([2.0, 3.0]))),
    ]:
        loss.hybridize(hybridize)
        x = nd.array(pred)
        x.attach_grad()
        with autograd.record():
            out = loss(x, label, *more)
        out.backward()
        assert out.asscalar() == 0
        assert np.isfinite(x.grad.asnumpy()).all()


def test_wrong_certainty_costs_infinitely_much():
    loss = losses.SigmoidBCELoss()(nd.array([[np.inf]]), nd.array([[0.0]]))
    assert loss.asscalar() == np.inf


def test_cosine_of_nothing_is_zero():
    zero = nd.zeros((1, 2))
    assert losses.CosineEmbeddingLoss()(zero, zero, nd.array([1.0])).asscalar() == 1


def test_half_precision_works():
    pred, label = nd.array([[1.0, 0.0]], dtype="float16"), nd.array([[0.0, 1.0]], dtype="float16")
    loss = losses.SigmoidBCELoss()(pred, label)
    assert loss.dtype == np.float16
    assert loss.asscalar() == pytest.approx(1.004, abs=2e-3)


def test_loss_says_axis_and_weight():
    assert repr(losses.L2Loss()) == "L2Loss(batch_axis=0, w=1.0)"
    assert repr(losses.SoftmaxCELoss()) == "SoftmaxCrossEntropyLoss(batch_axis=0, w=None)"


def test_losses_are_named_like_blocks():
    with mx.name.NameManager():
        assert losses.L2Loss().name == "l2loss0"
        assert losses.SoftmaxCELoss().prefix == "softmaxcrossentropyloss0_"


def test_short_names_are_the_same_classes():
    assert losses.SoftmaxCELoss is losses.SoftmaxCrossEntropyLoss
    assert losses.SigmoidBCELoss is losses.SigmoidBinaryCrossEntropyLoss


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        (losses.L2Loss(), 2),
        (losses.L2Loss(), 3),
        (losses.SigmoidBCELoss(), 4),
        (losses.SoftmaxCELoss(), 2),
        (losses.TripletLoss(), 3),
        (losses.CosineEmbeddingLoss(), 3),
        (losses.PoissonNLLLoss(compute_full=True), 2),
        pytest.param(losses.SDMLLoss(), 2, marks=NEEDS_ARANGE_LIKE),
    ],
)
def test_losses_compose_symbols(loss, count):
    names = [f"v{k}" for k in range(count)]
    assert set(loss(*map(sym.var, names)).list_arguments()) == set(names)


def test_unknown_label_format_is_a_value_error():
    with pytest.raises(ValueError, match="label_format can only be signed or binary, recieved x"):
        losses.LogisticLoss(label_format="x")


def test_weight_must_be_a_number():
    with pytest.raises(AssertionError, match="weight must be a number"):
        losses.L1Loss(weight=nd.ones(1))(nd.array(PRED), nd.array(LABEL))


def test_loss_trains_through_a_module():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((32, 4)).astype("float32")
    label = (data @ rng.standard_normal((4, 3))).argmax(1).astype("float32")
    out = mx.gluon.nn.Dense(3, prefix="fc_")(sym.var("data"))
    loss = losses.SoftmaxCELoss()(out, sym.var("softmax_label"))
    module = mx.mod.Module(sym.Group([sym.BlockGrad(out), sym.make_loss(loss)]))
    batches = mx.io.NDArrayIter(data, label, 8)
    module.fit(
        batches,
        eval_metric=mx.metric.Loss(),
        num_epoch=10,
        optimizer="adam",
        optimizer_params={"learning_rate": 0.2},
        initializer=mx.init.Zero(),
    )
    predicted = module.predict(batches)[0].asnumpy().argmax(1)
    assert (predicted == label).mean() > 0.95
