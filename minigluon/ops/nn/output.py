"""Output layers: operators whose gradient is that of a loss, whatever gradient comes from above."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ...core.infer import UnknownShape, known, prod, same_as
from ...core.op import op, registry
from ...kernels import csr_arithmetic
from .._shared import filled, floating
from .softmax import softmax_of


def _share(s):
    """The rule that data and output have one shape."""
    s.data = s.out
    s.out = s.data


# ---- SoftmaxOutput


@op(aliases=("Softmax",))
def SoftmaxOutput(
    data,
    label,
    *,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["batch", "null", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    out=None,
):
    """Softmax whose gradient is that of the cross entropy with ``label``.

    The gradient with respect to ``data`` is ``softmax(data) - one_hot(label)``, scaled; head
    gradients are ignored unless ``out_grad``.

    Parameters
    ----------
    data : ``(batch, classes)``; all trailing axes are classes unless one of the next two is set.
    label : class numbers ``(batch,)``, or probabilities in the shape of ``data``. Class numbers
        outside belong to no class.
    multi_output : classes lie on axis 1 and there is a label for every other position; the gradient
        is divided by the number of these positions.
    preserve_shape : classes lie on the last axis.
    use_ignore, ignore_label : positions with this label get no gradient.
    normalization : divide by the number of labels ("batch"), or of those that are not
        ``ignore_label``, with ``use_ignore`` or without ("valid"), or by nothing.
    out_grad : multiply by the head gradient (MXNet 1.9.1 multiplies by the output instead).
    smooth_alpha : label smoothing: this share goes to the other classes; not with ``multi_output``.

    Examples
    --------
    >>> nd.SoftmaxOutput(nd.array([[0, 0]]), nd.array([1])).asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    shape = label.shape
    if shape != data.shape[:-1] and shape not in _label_shapes(
        data.shape, multi_output, preserve_shape
    ):
        raise ValueError("there are not as many labels as samples")
    floating(data, "SoftmaxOutput")
    return filled(_probabilities(data, multi_output, preserve_shape), out)


def _probabilities(data, multi_output, preserve_shape):
    if multi_output:
        return softmax_of(data, 1)
    if preserve_shape or data.ndim == 2:
        return softmax_of(data, -1)
    return softmax_of(data.reshape(data.shape[0], -1), -1).reshape(data.shape)


def _label_shapes(data, multi_output, preserve_shape):
    """The shapes that labels may have for data of this one; the first is the usual one."""
    if multi_output:
        n, _, *rest = data
        return (n, prod(rest)), (n, *rest), (n, 1, *rest), data
    return (data[:-1], data) if preserve_shape else (data[:-1], data[:1], data)


@SoftmaxOutput.shape
def _(s, *, multi_output, preserve_shape, **_):
    _share(s)
    data, label = s.data, s.label
    if isinstance(data, UnknownShape):
        return
    accepted = _label_shapes(data, multi_output, preserve_shape)
    if isinstance(label, UnknownShape) or label not in accepted:
        s.label = accepted[0]


@SoftmaxOutput.grad
def _(F, g, data, label, *, out, **attrs):
    grad = F._softmax_output_grad(out, label, **attrs)
    return (grad * g if attrs["out_grad"] else grad), F._dense_zeros(label)


SoftmaxOutput.grad(stype="default")
SoftmaxOutput.runs_dense("default default -> default")


@op(shape_only=("like",), grad="zero")
def _dense_zeros(like):
    """Dense zeros in the shape of labels, which are not made dense for it."""
    return np.zeros(like.shape, like.dtype)


_dense_zeros.shape(same_as("like"))
_dense_zeros.kernel("csr|row_sparse -> default")(_dense_zeros.dense)


@op()
def _softmax_output_grad(
    out,
    label,
    *,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["batch", "null", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
):
    """The gradient of the cross entropy through softmax, from its result and the labels."""
    number = out.dtype.type
    if label.shape == out.shape:  # probabilities
        return (out - label) * number(grad_scale)
    grad = np.array(_with_classes_last(out, multi_output, preserve_shape), order="C")
    classes = grad.shape[-1]
    count = grad.size // classes
    target = label.reshape(-1)[:count].astype(np.int64)
    rest = smooth_alpha / (classes - 1) if smooth_alpha and not multi_output else 0.0
    if rest:
        grad -= number(rest)
    rows = grad.reshape(count, classes)
    places = np.arange(count)
    inside = (target >= 0) & (target < classes)
    if not inside.all():
        places, hit = places[inside], target[inside]
    else:
        hit = target
    rows[places, hit] -= number(1 - smooth_alpha - rest if rest else 1)
    if use_ignore:
        rows[target == int(ignore_label)] = 0
    scale = grad_scale
    if normalization == "valid":
        scale /= max(int(np.count_nonzero(label != ignore_label)), 1)
    else:
        scale /= (count // out.shape[0]) if multi_output else 1
        if normalization == "batch":
            scale /= out.shape[0] if multi_output else label.size
    if scale != 1:
        grad *= number(scale)
    return (
        np.ascontiguousarray(np.moveaxis(grad, -1, 1)) if multi_output else grad.reshape(out.shape)
    )


def _with_classes_last(out, multi_output, preserve_shape):
    if multi_output:
        return np.moveaxis(out, 1, -1)
    return out if preserve_shape else out.reshape(out.shape[0], -1)


@_softmax_output_grad.shape
def _(s, **_):
    s.outs = [s.ins[0]]


@_softmax_output_grad.dtype
def _(t, **_):
    t.outs = [t.ins[0]]


# ---- regression outputs


def _regression(name, link, doc, formula, slope):
    """An output layer whose gradient is ``slope(out, label)`` over the outputs of a sample."""

    def forward(data, label, *, grad_scale: float = 1.0, out=None):
        if label.shape != data.shape and not _is_target_of(label.shape, data.shape):
            raise ValueError("there is not one target for each output")
        return link(floating(data, name), out)

    forward.__doc__ = f"""{doc}

    The gradient with respect to ``data`` is ``{formula} * grad_scale / m``, where m is the number
    of outputs of a sample; head gradients are ignored.

    Parameters
    ----------
    data : predictions, ``(batch, ...)``.
    label : targets in the same shape, or in another of as many elements and samples.

    Examples
    --------
    >>> nd.{name}(nd.array([[0.0]]), nd.array([[1.0]])).shape
    (1, 1)
    """
    made = op(forward, name=name, aliases=(f"_sparse_{name}",))

    @made.shape
    def _(s, **_):
        _share(s)
        data, label = s.data, s.label
        if isinstance(data, UnknownShape):
            return
        if isinstance(label, UnknownShape):
            s.label = (data[0],) if len(data) == 2 and data[1] == 1 else data
        elif known(label) and known(data) and not _is_target_of(label, data):
            s.label = data

    @made.grad
    def _(F, g, data, label, *, out, grad_scale):
        return slope(F, out, label, grad_scale), F._dense_zeros(label)

    made.grad(stype="default")
    return made


def _is_target_of(label, data):
    """Whether targets of this shape go with data of that: as many samples and as many elements."""
    return label[:1] == data[:1] and prod(label) == prod(data)


def _identity(data, out):
    if out is None:
        return data.copy()
    out[...] = data
    return out


@op()
def _regression_grad(
    out, label, *, kind: Literal["difference", "sign"] = "difference", scale: float = 1.0
):
    """``(out - label)`` or its sign, times ``scale`` over the number of outputs of a sample."""
    if label.shape != out.shape:
        label = label.reshape(out.shape)
    return _slope(out - label, kind, scale)


def _slope(difference, kind, scale):
    """The gradient from what the outputs are above the targets; MXNet's sign of 0 is -1."""
    number = difference.dtype.type
    shape = difference.shape
    if len(shape) != 1 and difference.size:
        scale /= difference.size // shape[0]
    if kind == "sign":
        return np.where(difference > 0, number(scale), number(-scale))
    if scale != 1:
        difference *= number(scale)
    return difference


@_regression_grad.kernel("default csr -> default")
def _(out, label, *, kind, scale):
    return _slope(csr_arithmetic.dense_subtract(out, label), kind, scale)


@_regression_grad.shape
def _(s, **_):
    s.outs = [s.ins[0]]


@_regression_grad.dtype
def _(t, **_):
    t.outs = [t.ins[0]]


def _difference(F, out, label, grad_scale):
    return F._regression_grad(out, label, kind="difference", scale=grad_scale)


def _sign(F, out, label, grad_scale):
    return F._regression_grad(out, label, kind="sign", scale=grad_scale)


LinearRegressionOutput = _regression(
    "LinearRegressionOutput",
    _identity,
    "The data itself, with the gradient of the squared error.",
    "(data - label)",
    _difference,
)
LogisticRegressionOutput = _regression(
    "LogisticRegressionOutput",
    lambda data, out: registry["sigmoid"].dense(data, out=out),
    "The sigmoid of the data, with the gradient of the cross entropy.",
    "(sigmoid(data) - label)",
    _difference,
)
MAERegressionOutput = _regression(
    "MAERegressionOutput",
    _identity,
    "The data itself, with the gradient of the absolute error.",
    "sign(data - label)",
    _sign,
)


@LinearRegressionOutput.kernel("default csr -> default")
def _(data, label, *, grad_scale, out=None):
    return _identity(data, out)


@LogisticRegressionOutput.kernel("default csr -> default")
def _(data, label, *, grad_scale, out=None):
    return registry["sigmoid"].dense(data, out=out)


# ---- MakeLoss


@op()
def MakeLoss(
    data,
    *,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] = "null",
    out=None,
):
    """The data itself, as something to be minimised: its gradient is ``grad_scale``.

    Parameters
    ----------
    normalization : divide the gradient by the batch size, or by the number of elements above
        ``valid_thresh``.

    Examples
    --------
    >>> nd.MakeLoss(nd.array([2.0])).asnumpy()
    array([2.], dtype=float32)
    """
    return _identity(data, out)


MakeLoss.shape(same_as("data"))


@MakeLoss.grad
def _(F, g, data, *, out, **attrs):
    return F._make_loss_grad(data, **attrs)


@op()
def _make_loss_grad(
    data,
    *,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["batch", "null", "valid"] = "null",
):
    """The constant gradient of MakeLoss."""
    scale = grad_scale
    if normalization == "batch":
        scale /= math.prod(data.shape[:-1]) or 1
    elif normalization == "valid":
        scale /= max(1, int(np.count_nonzero(data > valid_thresh)))
    return np.full(data.shape, scale, data.dtype)


_make_loss_grad.shape(same_as("data"))
