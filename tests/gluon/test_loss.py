"""Losses against values and gradients recorded from MXNet 1.9.1, and where MXNet overflows."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.gluon import loss as losses

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
        losses.L2Loss(), (PRED, LABEL),
        [0.7083333134651184, 0.8399999737739563],
        [[0, -0.6666666865348816, -0.1666666716337204], [0.06666667014360428, 0.6666666865348816, -0.3333333432674408]],
    ),
    (
        losses.L2Loss(weight=0.3), (PRED, LABEL, WEIGHT),
        [0.42500004172325134, 0.12600000202655792],
        [[0, -0.40000003576278687, -0.10000000894069672], [0.010000000707805157, 0.10000000894069672, -0.05000000447034836]],
    ),
    (
        losses.L1Loss(), (PRED, LABEL),
        [0.8333333134651184, 1.0666667222976685],
        [[0, -0.3333333432674408, -0.3333333432674408], [0.3333333432674408, 0.3333333432674408, -0.3333333432674408]],
    ),
    (
        losses.L1Loss(batch_axis=1), (PRED, LABEL),
        [0.10000000149011612, 2.0, 0.75],
        [[0, -0.5, -0.5], [0.5, 0.5, -0.5]],
    ),
    (
        losses.SigmoidBCELoss(), (PRED, LABEL),
        [0.3047555983066559, 0.38666263222694397],
        [[-0.08964714407920837, 0.039734307676553726, -0.12584689259529114], [0.18327800929546356, -0.015808625146746635, 0.08964714407920837]],
    ),
    (
        losses.SigmoidBCELoss(weight=2), (PRED, LABEL, WEIGHT),
        [1.2190223932266235, 0.38666263222694397],
        [[-0.3585885763168335, 0.1589372307062149, -0.5033875703811646], [0.18327800929546356, -0.015808625146746635, 0.08964714407920837]],
    ),
    (
        losses.SigmoidBCELoss(), (PRED, LABEL, WEIGHT, [3.0, 1, 0.5]),
        [0.8691678643226624, 0.19333131611347198],
        [[-0.5378828644752502, 0.07946860790252686, -0.12584689259529114], [0.09163900464773178, -0.007904312573373318, 0.04482357203960419]],
    ),
    (
        losses.SigmoidBCELoss(from_sigmoid=True), (sigmoid(PRED), LABEL),
        [0.3047555387020111, 0.3866626024246216],
        [[-0.4559597969055176, 0.3784451186656952, -0.5355101823806763], [0.7404675483703613, -0.3499290347099304, 0.4559597969055176]],
    ),
    (
        losses.SigmoidBCELoss(from_sigmoid=True), (sigmoid(PRED), LABEL, WEIGHT, [3.0, 1, 0.5]),
        [0.8691676259040833, 0.1933313012123108],
        [[-2.7357587814331055, 0.7568902373313904, -0.5355101823806763], [0.37023377418518066, -0.1749645173549652, 0.2279798984527588]],
    ),
    (
        losses.SoftmaxCELoss(), (PRED, CLASSES),
        [1.0045936107635498, 2.876148223876953],
        [[0.6037508249282837, 0.03005898743867874, -0.633806586265564], [-0.9436485767364502, 0.9266788363456726, 0.01697271689772606]],
    ),
    (
        losses.SoftmaxCELoss(), (PRED, CLASSES, WEIGHT),
        [2.0091872215270996, 1.4380741119384766],
        [[1.2075016498565674, 0.06011797487735748, -1.267613172531128], [-0.4718242883682251, 0.4633394181728363, 0.00848635844886303]],
    ),
    (
        losses.SoftmaxCELoss(sparse_label=False), (PRED, LABEL),
        [1.5091872215270996, 0.07614821940660477],
        [[0.20750164985656738, 0.06011797487735748, -0.26761311292648315], [0.056351397186517715, -0.07332116365432739, 0.01697271689772606]],
    ),
    (
        losses.SoftmaxCELoss(from_logits=True), (log_softmax(PRED), CLASSES),
        [1.0045936107635498, 2.876148223876953],
        [[0, 0, -1], [-1, 0, 0]],
    ),
    (
        losses.SoftmaxCELoss(axis=0, batch_axis=1), (PRED, [0.0, 1, 1]),
        [0.37110063433647156, 0.006715348921716213, 1.7014133930206299],
        [[-0.31002551317214966, 0.006692851427942514, 0.8175744414329529], [0.31002554297447205, -0.006692826747894287, -0.8175745010375977]],
    ),
    (
        losses.KLDivLoss(), (log_softmax(PRED), softmax(LABEL)),
        [0.16448310017585754, 0.5420230031013489],
        [[-0.42231881618499756, -0.15536242723464966, -0.42231881618499756], [-0.21194157004356384, -0.5761168599128723, -0.21194157004356384]],
    ),
    (
        losses.KLDivLoss(from_logits=False), (PRED, softmax(LABEL)),
        [0.16448310017585754, 0.5420230031013489],
        [[0.18143200874328613, -0.1253034472465515, -0.056125372648239136], [-0.15559017658233643, 0.3505619764328003, -0.19496884942054749]],
    ),
    (
        losses.KLDivLoss(from_logits=False, axis=0), (PRED, LABEL),
        [0.5725139379501343, 0.006715348921716213],
        [[-0.31002551317214966, 0.006692851427942514, -0.18242555856704712], [0.31002554297447205, -0.006692826747894287, 0.18242549896240234]],
    ),
    (
        losses.HuberLoss(), (PRED, LABEL),
        [0.5416666865348816, 0.6733333468437195],
        [[0, -0.3333333432674408, -0.1666666716337204], [0.06666667014360428, 0.3333333432674408, -0.3333333432674408]],
    ),
    (
        losses.HuberLoss(rho=0.5, weight=2), (PRED, LABEL, WEIGHT),
        [2.6666667461395264, 0.8466666340827942],
        [[0, -1.3333333730697632, -1.3333333730697632], [0.13333334028720856, 0.3333333432674408, -0.3333333432674408]],
    ),
    (
        losses.HingeLoss(), (PRED, SIGNED),
        [0.1666666716337204, 0.4000000059604645],
        [[0, 0, -0.3333333432674408], [0.3333333432674408, 0, 0]],
    ),
    (
        losses.SquaredHingeLoss(margin=2), (PRED, SIGNED),
        [1.0833333730697632, 1.9466667175292969],
        [[-0.6666666865348816, 0, -1.0], [1.4666666984558105, 0, 0.6666666865348816]],
    ),
    (
        losses.LogisticLoss(), (PRED, SIGNED),
        [0.3047555983066559, 0.38666263222694397],
        [[-0.08964714407920837, 0.039734307676553726, -0.12584689259529114], [0.18327800929546356, -0.015808625146746635, 0.08964714407920837]],
    ),
    (
        losses.LogisticLoss(label_format="binary"), (PRED, LABEL),
        [0.3047555983066559, 0.38666263222694397],
        [[-0.08964714407920837, 0.039734307676553726, -0.12584689259529114], [0.18327800929546356, -0.015808625146746635, 0.08964714407920837]],
    ),
    (
        losses.TripletLoss(), (PRED, LABEL, SIGNED),
        [4.0, 0.5999999046325684],
        [[0, -2, 0], [-2, 0, -2]],
    ),
    (
        losses.PoissonNLLLoss(), (PRED, COUNTS),
        [3.279526472091675],
        [[0.2863802909851074, 0.0225558802485466, -0.22521311044692993], [-0.6297662258148193, 3.180922746658325, 0.061313241720199585]],
    ),
    (
        losses.PoissonNLLLoss(from_logits=False), (np.abs(PRED).tolist(), COUNTS),
        [2.7880029678344727],
        [[0, 0.1666666716337204, -0.8333333134651184], [-3.999999761581421, 0.1111111119389534, 0.1666666716337204]],
    ),
    (
        losses.CosineEmbeddingLoss(), (PRED, LABEL, [1.0, -1]),
        [[0.5370899438858032], [0.9467914700508118]],
        [[-0.22043338418006897, -0.17634667456150055, -0.2645200490951538], [-0.018860384821891785, 0.03269141912460327, 0.09430193156003952]],
    ),
    (
        losses.CosineEmbeddingLoss(weight=0.5, margin=0), (PRED, LABEL, [1.0, -1], WEIGHT),
        [[0.5370899438858032], [0.23669786751270294]],
        [[-0.22043338418006897, -0.17634667456150055, -0.2645200490951538], [-0.004715096205472946, 0.008172854781150818, 0.02357548289000988]],
    ),
    (
        losses.SDMLLoss(), (PRED, LABEL),
        [1.1916099786758423, 1.9693183898925781],
        [[0.5950547456741333, -0.5950487852096558, 0.5950562357902527], [-0.5996325016021729, 0.5996259450912476, -0.5996289253234863]],
    ),
]  # fmt: skip


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


def test_gradient_of_soft_labels_is_the_recorded_one():
    label = nd.array(LABEL)
    label.attach_grad()
    with autograd.record():
        out = losses.SoftmaxCELoss(sparse_label=False)(nd.array(PRED), label)
    out.backward()
    expected = [
        [0.5045936107635498, 3.50459361076355, 1.0045936107635498],
        [2.876148223876953, 0.07614821940660477, 4.07614803314209],
    ]
    np.testing.assert_allclose(label.grad.asnumpy(), expected, rtol=1e-5)


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
        (losses.SDMLLoss(), 2),
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
