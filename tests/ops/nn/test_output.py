"""SoftmaxOutput in all its ways, the regression outputs, MakeLoss: their gradients are losses'."""

import itertools

import numpy as np
import pytest
from scipy import special

from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, DTypeError, MXNetError, ShapeError
from minigluon.storage import to_csr

RNG = np.random.default_rng(8)


# ---- SoftmaxOutput


def expected(data, label, *, multi=False, preserve=False, scale=1.0):
    """Softmax less one-hot labels over the axis the attributes say, times ``scale``."""
    axis = 1 if multi else -1
    flat = data if multi or preserve else data.reshape(len(data), -1)
    p = special.softmax(flat, axis)
    hot = np.moveaxis(np.eye(flat.shape[axis])[label.astype(int)], -1, axis)
    return ((p - hot) * scale).reshape(data.shape)


WAYS = [((4, 3), {}), ((2, 3, 4), {"multi_output": True}), ((2, 3, 2, 2), {"multi_output": True}),
        ((2, 3, 4), {"preserve_shape": True}), ((4, 3), {"preserve_shape": True})]  # fmt: skip


def labels_for(shape, how):
    if how.get("multi_output"):
        return RNG.integers(0, shape[1], (shape[0], *shape[2:])).astype(float)
    return RNG.integers(0, shape[-1], shape[:-1]).astype(float)


@pytest.mark.parametrize("grad_scale", [1.0, 0.5])
@pytest.mark.parametrize("normalization", ["null", "batch", "valid"])
@pytest.mark.parametrize("ignore", [False, True])
@pytest.mark.parametrize("shape, how", WAYS)
def test_the_gradient_is_softmax_less_one_hot(
    shape, how, ignore, normalization, grad_scale, evaluate, differentiate, assert_close
):
    data, label = RNG.normal(size=shape), labels_for(shape, how)
    multi, preserve = how.get("multi_output", False), how.get("preserve_shape", False)
    attrs = {
        **how, "use_ignore": ignore, "ignore_label": 1, "normalization": normalization,
        "grad_scale": grad_scale,
    }  # fmt: skip
    kept = label != 1
    scale = grad_scale
    if normalization == "valid":
        scale /= max(kept.sum(), 1)
    elif multi:  # MXNet divides by the positions of a sample, whatever the normalization
        scale /= label[0].size * (shape[0] if normalization == "batch" else 1)
    elif normalization == "batch":
        scale /= label.size
    wanted = expected(data, label, multi=multi, preserve=preserve, scale=scale)
    if ignore:
        wanted *= np.expand_dims(kept, 1 if multi else -1)
    got, none = differentiate("SoftmaxOutput", data, label, head=RNG.normal(size=shape), **attrs)
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
    assert not none.any()
    assert_close(
        evaluate("SoftmaxOutput", data, label, **attrs),
        special.softmax(data, 1 if multi else -1),
        32,
    )


def test_all_trailing_axes_are_classes_by_default(evaluate, differentiate):
    data = RNG.normal(size=(2, 3, 4))
    wanted = special.softmax(data.reshape(2, -1), -1).reshape(data.shape)
    for label in (
        np.array([1.0, 11.0]),
        np.array([[1.0, 11, 9], [9, 9, 9]]),
    ):  # the first two count
        np.testing.assert_allclose(evaluate("SoftmaxOutput", data, label), wanted, rtol=1e-9)
        got = (wanted - differentiate("SoftmaxOutput", data, label)[0]).reshape(2, -1)
        assert np.argwhere(got > 1e-9).tolist() == [[0, 1], [1, 11]]


@pytest.mark.parametrize("how", [h for _, h in WAYS[:4]])
def test_labels_in_the_shape_of_the_data_are_probabilities(how, differentiate, evaluate):
    data, label = RNG.normal(size=(2, 3, 4)), RNG.random((2, 3, 4))
    p = evaluate("SoftmaxOutput", data, label, **how)
    attrs = {"normalization": "batch", "smooth_alpha": 0.2, "grad_scale": 0.5, **how}
    got, _ = differentiate("SoftmaxOutput", data, label, **attrs)
    np.testing.assert_allclose(got, (p - label) * 0.5, rtol=1e-9)


def test_smoothing_shares_out_among_the_other_classes(differentiate, evaluate):
    data, label = RNG.normal(size=(2, 4)), np.array([1.0, 3.0])
    got, _ = differentiate("SoftmaxOutput", data, label, smooth_alpha=0.3)
    target = np.full((2, 4), 0.1)
    target[[0, 1], [1, 3]] = 0.7
    np.testing.assert_allclose(got, evaluate("SoftmaxOutput", data, label) - target, rtol=1e-9)


def test_labels_outside_belong_to_no_class_and_fractions_are_cut_off(differentiate, evaluate):
    data, label = RNG.normal(size=(3, 4)), np.array([-1.0, 7.0, 2.7])
    got = evaluate("SoftmaxOutput", data, label) - differentiate("SoftmaxOutput", data, label)[0]
    np.testing.assert_allclose(got, [[0] * 4, [0] * 4, [0, 0, 1, 0]], atol=1e-12)


def test_head_gradients_count_only_when_asked_for(differentiate):
    data, label, head = RNG.normal(size=(2, 3)), np.array([0.0, 2.0]), RNG.normal(size=(2, 3))
    plain, _ = differentiate("SoftmaxOutput", data, label, head=head)
    weighed, _ = differentiate("SoftmaxOutput", data, label, head=head, out_grad=True)
    np.testing.assert_allclose(weighed, plain * head, rtol=1e-12)


def test_all_labels_ignored_give_no_gradient(differentiate):
    how = {"use_ignore": True, "normalization": "valid"}
    got, _ = differentiate("SoftmaxOutput", RNG.normal(size=(3, 3)), np.full(3, -1.0), **how)
    assert not got.any()


def test_backward_needs_no_head_gradient():
    x = nd.array([[0.0, 0.0]])
    x.attach_grad()
    with autograd.record():
        y = nd.SoftmaxOutput(x, nd.array([1]))
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0.5, -0.5]]


#: data, attributes -> label (MXNet 1.9.1)
LABELS = [
    ((4, 3), {}, (4,)), ((2, 3, 4), {}, (2, 3)), ((2, 3, 4), {"multi_output": True}, (2, 4)),
    ((2, 3, 2, 2), {"multi_output": True}, (2, 4)), ((2, 3, 4), {"preserve_shape": True}, (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("shape, how, label", LABELS)
def test_the_labels_shape_follows_from_the_data(shape, how, label, inferred):
    assert inferred("SoftmaxOutput", "shape", [shape, None], **how) == ([shape, label], [shape])


@pytest.mark.parametrize("label", [(2, 2, 2), (2, 1, 2, 2), (2, 4), (2, 3, 2, 2)])
def test_labels_of_several_positions_come_in_several_shapes(label, inferred, evaluate):
    how = {"multi_output": True}
    assert inferred("SoftmaxOutput", "shape", [(2, 3, 2, 2), label], **how)[0][1] == label
    assert evaluate("SoftmaxOutput", np.zeros((2, 3, 2, 2)), np.zeros(label), **how).shape == (
        2,
        3,
        2,
        2,
    )


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"(?s)SoftmaxOutput: label has the wrong shape.*\(4,\)"):
        nd.SoftmaxOutput(nd.ones((4, 3)), nd.zeros(3))
    with pytest.raises(ShapeError, match="SoftmaxOutput"):
        sym.SoftmaxOutput(sym.var("x"), sym.var("y")).infer_shape(x=(4, 3), y=(3,))


@pytest.mark.parametrize("name", ["SoftmaxOutput", "MakeLoss"])
def test_an_unknown_normalization_is_refused(name):
    arrays = [nd.ones((2, 2)), nd.ones(2)][: 2 if name == "SoftmaxOutput" else 1]
    with pytest.raises(AttributeValueError, match="'batch', 'null', 'valid'"):
        getattr(nd, name)(*arrays, normalization="all")


# ---- regression

LINKS = {
    "LinearRegressionOutput": (lambda x: x, lambda d: d),
    "LogisticRegressionOutput": (special.expit, lambda d: d),
    "MAERegressionOutput": (lambda x: x, lambda d: np.where(d > 0, 1, -1)),
}
TARGETS = [((4, 1), (4, 1)), ((4, 1), (4,)), ((4,), (4,)), ((4, 3), (4, 3)), ((2, 3, 4), (2, 12))]


@pytest.mark.parametrize("grad_scale", [1.0, 0.5])
@pytest.mark.parametrize("shape, label_shape", TARGETS)
@pytest.mark.parametrize("name", LINKS)
def test_regression_gradients_are_those_of_the_loss(
    name, shape, label_shape, grad_scale, evaluate, differentiate, assert_close
):
    link, slope = LINKS[name]
    data, label = RNG.normal(size=shape), RNG.normal(size=label_shape)
    assert_close(evaluate(name, data, label), link(data))
    got, none = differentiate(name, data, label, head=RNG.normal(size=shape), grad_scale=grad_scale)
    outputs = data[0].size
    wanted = slope(link(data) - label.reshape(shape)) * grad_scale / outputs
    assert_close(got, wanted, ulps=32)
    assert not none.any()


def test_no_error_counts_as_below_in_the_absolute_error(differentiate):
    got, _ = differentiate("MAERegressionOutput", np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert got.tolist() == [-1, 1]  # as MXNet 1.9.1


@pytest.mark.parametrize("name", ["LinearRegressionOutput", "LogisticRegressionOutput"])
def test_csr_targets_give_the_dense_gradient(name, differentiate):
    data, label = RNG.normal(size=(3, 3)), np.eye(3)
    got, _ = differentiate(name, data, to_csr(label))
    np.testing.assert_allclose(got, differentiate(name, data, label)[0], rtol=1e-12)


@pytest.mark.parametrize("name", LINKS)
def test_targets_are_inferred_and_checked(name, inferred):
    assert inferred(name, "shape", [(4, 3), None])[0] == [(4, 3), (4, 3)]
    assert inferred(name, "shape", [(4, 1), None])[0] == [(4, 1), (4,)]
    out = getattr(sym, name)(sym.var("x"), sym.var("y"))
    assert out.infer_shape_partial(x=(0, 1), y=(4,))[0] == [(0, 1), (4,)]
    for wrong in ((12,), (3, 4), (4,)):
        with pytest.raises(ShapeError, match=name):
            getattr(nd, name)(nd.ones((4, 3)), nd.ones(wrong))
        with pytest.raises(ShapeError, match=name):
            out.infer_shape(x=(4, 3), y=wrong)


def test_the_result_does_not_share_memory_with_the_data():
    for name, count in itertools.product(("LinearRegressionOutput", "MakeLoss"), [1]):
        x = nd.ones((2, count))
        arrays = [x, nd.ones((2, count))] if name != "MakeLoss" else [x]
        getattr(nd, name)(*arrays)[:] = 5
        assert x.asnumpy().tolist() == [[1], [1]]


# ---- MakeLoss


@pytest.mark.parametrize(
    "how, wanted",
    [
        ({}, 1),
        ({"grad_scale": 0.5}, 0.5),
        ({"normalization": "batch"}, 1 / 3),
        ({"normalization": "valid"}, 1 / 4),
        ({"normalization": "valid", "valid_thresh": 2}, 1 / 2),
        ({"normalization": "valid", "valid_thresh": 9}, 1),
    ],
)
def test_make_loss_has_a_constant_gradient(how, wanted, evaluate, differentiate):
    data = np.array([[1.0, -1], [2, 3], [4, -2]])
    assert evaluate("MakeLoss", data, **how).tolist() == data.tolist()
    got = differentiate("MakeLoss", data, head=RNG.normal(size=data.shape), **how)[0]
    np.testing.assert_allclose(got, np.full(data.shape, wanted), rtol=1e-12)


def test_what_is_no_array_is_refused_by_name():
    with pytest.raises(MXNetError, match="label"):
        nd.SoftmaxOutput(nd.ones((2, 2)), 3)


@pytest.mark.parametrize("name", ["SoftmaxOutput", *LINKS])
def test_whole_numbers_are_refused_as_in_mxnet(name):
    data = nd.ones((2, 1), dtype="int32")
    with pytest.raises(DTypeError, match=name):
        getattr(nd, name)(data, data.reshape(2) if name == "SoftmaxOutput" else data)
