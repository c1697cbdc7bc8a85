"""Losses: what a network is trained to make small, one value for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, numeric_types
from ..core.graphop import CompiledCall
from ..core.state import state
from ..core.traced import Traced
from ..ndarray import NDArray
from .block import HybridBlock

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]


class Loss(HybridBlock):
    """Base of the losses.

    Parameters
    ----------
    weight : factor on the loss, or None.
    batch_axis : axis of the samples; the mean is taken over all others.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any):
        super().__init__(**kwargs)
        self._weight, self._batch_axis = weight, batch_axis
        self._forget_traced()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute: what was traced with another value of it no longer holds."""
        super().__setattr__(name, value)
        self._forget_traced()

    def _forget_traced(self) -> None:
        self.__dict__["_ready"], self.__dict__["_made_ready"] = {}, {}
        self.__dict__["_traced"] = {} if type(self).__module__ == __name__ else None

    def __getstate__(self) -> dict:
        """What copying and pickling keep: losses are traced again at the next call."""
        return {**super().__getstate__(), "_traced": None if self._traced is None else {}}

    def forward(self, x: Any, *args: Any) -> Any:
        """The loss of every sample, for arrays in one call of what was traced."""
        traced = self._traced
        if traced is not None and not self._active and type(x) is NDArray:
            kinds = tuple([type(a) for a in args])
            found = traced[kinds] if kinds in traced else self._trace(kinds)
            if found is not None:
                given = [a for a in args if a is not None] if NoneType in kinds else args
                inputs = (x, *given)
                result = found.run(inputs)
                if result is not None:
                    if len(given) == len(args):
                        first = inputs[0]._entry
                        compiled = first is not None and type(first[0].call) is CompiledCall
                        self._get_ready(
                            len(inputs), found.recent, inputs, range(len(inputs)), (),
                            (compiled and state.recording,), first_compiled=compiled,
                        )  # fmt: skip
                    return result
        return super().forward(x, *args)

    def _trace(self, kinds: tuple) -> Traced | None:
        """What runs this loss for arguments of these types, shared by all losses like it."""
        settings = {k: v for k, v in self.__dict__.items() if k not in _NO_SETTING}
        found = None
        if {NDArray, NoneType}.issuperset(kinds) and all(map(_is_plain, settings.values())):
            # 0.0 == -0.0 == False, so by what they look like
            key = (type(self), kinds, *[(k, repr(v)) for k, v in settings.items()])
            found = _TRACED.get(key)
            if found is None:
                if len(_TRACED) >= _MOST:
                    _TRACED.clear()
                found = _TRACED[key] = Traced(self._alias(), _Unbound(type(self), settings, kinds))
        self._traced[kinds] = found
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The loss of every sample; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it computes")

    def _mean(self, F: Any, loss: Any, sample_weight: Any) -> Any:
        """The weighted loss, averaged over all axes but the batch's."""
        loss = _apply_weighting(F, loss, self._weight, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


NoneType = type(None)
#: attributes that do not say what a loss computes
_NO_SETTING = frozenset(HybridBlock(prefix="").__dict__) | {"_traced"}
#: what has been traced, by class, settings and kinds of arguments; at most so many
_TRACED: dict[Any, Traced] = {}
_MOST = 256


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | np.generic)


class _Unbound:
    """The computation of a loss with these settings, without the loss."""

    def __init__(self, kind: type, settings: dict, kinds: tuple):
        self.loss = object.__new__(kind)
        self.loss.__dict__.update(settings)
        self.kinds = kinds

    def __call__(self, x: Any, *given: Any) -> Any:
        rest = iter(given)
        args = [None if kind is NoneType else next(rest) for kind in self.kinds]
        return self.loss.hybrid_forward(nd, x, *args)


def _apply_weighting(
    F: Any, loss: Any, weight: float | None = None, sample_weight: Any = None
) -> Any:
    """``loss`` times the weight of every sample (which broadcasts) times a number."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, numeric_types):
            raise ArgumentError(
                f"weight must be a number\n  received  weight={weight!r}\n"
                "  expected  a number or None\n"
                "  fix       pass weights of single samples as sample_weight when calling the loss"
            )
        loss = loss * weight
    return loss


def _reshape_like(F: Any, x: Any, y: Any) -> Any:
    """``x`` in the shape of ``y``."""
    if F is nd:
        return x if x.shape == y.shape else x.reshape(y.shape)
    return F.reshape_like(x, y)


def _product(F: Any, factor: Any, value: Any) -> Any:
    """``factor * value`` where ``0 * inf`` is 0, as is the gradient of ``value`` there.

    The bound is the largest float16; it only touches what a factor of 0 is multiplied with.
    """
    if F is nd and factor.shape != value.shape:
        factor = factor.broadcast_like(value)
    return factor * F.where(factor, value, F.clip(value, a_min=-65504.0, a_max=65504.0))


def _softplus(F: Any, x: Any) -> Any:
    """``log(1 + exp(x))`` for x <= 0, where it cannot overflow."""
    return F.Activation(x, act_type="softrelu")


def _sigmoid_cross_entropy(F: Any, pred: Any, label: Any) -> Any:
    """``softplus(pred) - pred * label``, right for infinite ``pred`` as well."""
    return _product(F, (pred > 0) - label, pred) + _softplus(F, -F.abs(pred))


class L2Loss(Loss):
    """Half the mean squared difference.

    Examples
    --------
    >>> from minigluon import nd
    >>> L2Loss()(nd.array([[1.0, 3.0]]), nd.array([[0.0, 1.0]])).asnumpy()
    array([1.25], dtype=float32)
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Any):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        loss = F.square(_reshape_like(F, label, pred) - pred)
        loss = _apply_weighting(F, loss, self._weight / 2, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


class L1Loss(Loss):
    """The mean absolute difference.

    Examples
    --------
    >>> from minigluon import nd
    >>> L1Loss()(nd.array([[1.0, 3.0]]), nd.array([[0.0, 1.0]])).asnumpy()
    array([1.5], dtype=float32)
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        loss = F.abs(_reshape_like(F, label, pred) - pred)
        return self._mean(F, loss, sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent yes/no labels.

    Parameters
    ----------
    from_sigmoid : the predictions are probabilities already. Leaving the sigmoid to the loss is
        more accurate.
    """

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
    ) -> Any:
        """The loss of every sample; ``pos_weight`` is a factor on what positive labels cost."""
        label = _reshape_like(F, label, pred)
        if self._from_sigmoid:
            tiny = 1e-12
            yes = F.log(pred + tiny) * label
            if pos_weight is not None:
                yes = F.broadcast_mul(yes, pos_weight)
            loss = -(yes + F.log(1.0 - pred + tiny) * (1.0 - label))
        elif pos_weight is None:
            loss = _sigmoid_cross_entropy(F, pred, label)
        else:
            rest = _softplus(F, -F.abs(pred))
            yes = _product(F, F.broadcast_mul(label, pos_weight), F.relu(-pred) + rest)
            loss = yes + _product(F, 1.0 - label, F.relu(pred) + rest)
        return self._mean(F, loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of one label out of many.

    Parameters
    ----------
    axis : axis of the classes.
    sparse_label : labels are class numbers; otherwise they are probabilities.
    from_logits : the predictions are log probabilities already.

    Examples
    --------
    >>> from minigluon import nd
    >>> SoftmaxCrossEntropyLoss()(nd.array([[0.0, 0.0]]), nd.array([1])).asnumpy()
    array([0.6931472], dtype=float32)
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._sparse_label, self._from_logits = axis, sparse_label, from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            label = _reshape_like(F, label, pred)
            loss = -F.sum(_product(F, label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The sum of ``label * (log(label) - pred)``, the divergence of predicted log probabilities.

    Parameters
    ----------
    from_logits : the predictions are log probabilities already; otherwise log_softmax is applied.
    axis : axis of the classes.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._axis = from_logits, axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        loss = _product(F, label, F.log(label + 1e-12) - pred)
        loss = _apply_weighting(F, loss, self._weight, sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class HuberLoss(Loss):
    """Squared for differences up to ``rho``, absolute beyond: less moved by outliers.

    Parameters
    ----------
    rho : where one becomes the other.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        loss = F.abs(_reshape_like(F, label, pred) - pred)
        # small (loss - small / 2) / rho is the square below rho and the line above, where it
        # neither squares what is large nor multiplies infinity with the zero of a mask
        small = F.minimum(loss, self._rho)
        loss = small * (loss - 0.5 * small) * (1.0 / self._rho)
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """``max(0, margin - pred * label)`` for labels -1 and 1, as in support vector machines."""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        loss = F.relu(self._margin - pred * _reshape_like(F, label, pred))
        return self._mean(F, loss, sample_weight)


class SquaredHingeLoss(Loss):
    """``max(0, margin - pred * label)²`` for labels -1 and 1."""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        loss = F.square(F.relu(self._margin - pred * _reshape_like(F, label, pred)))
        return self._mean(F, loss, sample_weight)


class LogisticLoss(Loss):
    """``log(1 + exp(-pred * label))``, logistic regression.

    Parameters
    ----------
    label_format : ``"signed"`` labels are -1 and 1, ``"binary"`` ones 0 and 1.
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ArgumentError(
                f"label_format can only be signed or binary, recieved {label_format}.\n"
                f"  received  label_format={label_format!r}\n  expected  'signed' or 'binary'\n"
                "  fix       say whether the labels are -1 and 1 or 0 and 1"
            )
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of every sample."""
        label = _reshape_like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = _sigmoid_cross_entropy(F, pred, label)
        return self._mean(F, loss, sample_weight)


class CTCLoss(Loss):
    """Connectionist temporal classification (Graves et al., 2006): sequences without alignment.

    The last class is the blank. Labels are padded with -1, unless their lengths are given.

    Parameters
    ----------
    layout, label_layout : of ``pred``, "NTC" or "TNC", and of ``label``, "NT" or "TN".

    Examples
    --------
    >>> CTCLoss()(nd.zeros((2, 5, 4)), nd.array([[0, 1], [2, -1]])).shape
    (2,)
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        for name, given, one, other in (
            ("pred", layout, "NTC", "TNC"),
            ("label", label_layout, "NT", "TN"),
        ):
            if given not in (one, other):
                raise ArgumentError(
                    f"Only '{one}' and '{other}' layouts for {name} are supported. Got: {given}\n"
                    f"  received  {given!r}\n  expected  {one!r} or {other!r}\n"
                    "  fix       name the axes: N batch, T time, C classes"
                )
        self._layout = layout
        super().__init__(weight, label_layout.index("N"), **kwargs)

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, pred_lengths: Any = None, label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> Any:  # fmt: skip
        """The loss of every sequence."""
        pred = F.swapaxes(pred, 0, 1) if self._layout == "NTC" else pred
        label = F.swapaxes(label, 0, 1) if self._batch_axis == 1 else label
        lengths = {"data_lengths": pred_lengths, "label_lengths": label_lengths}
        given = {name: value for name, value in lengths.items() if value is not None}
        used = {f"use_{name}": name in given for name in lengths}
        loss = F.CTCLoss(pred, label, blank_label="last", **used, **given)
        return _apply_weighting(F, loss, self._weight, sample_weight)


class TripletLoss(Loss):
    """``max(0, margin + |pred - positive|² - |pred - negative|²)``: be nearer to the positive."""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        """The loss of every sample."""
        positive = _reshape_like(F, positive, pred)
        negative = _reshape_like(F, negative, pred)
        # |a - p|² - |b - p|² = (a - b) (a + b - 2 p): equal inputs give 0, however large they are
        difference = (positive - negative) * ((positive - pred) + (negative - pred))
        loss = F.sum(difference, axis=self._batch_axis, exclude=True)
        return _apply_weighting(F, F.relu(loss + self._margin), self._weight, None)


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts, averaged over everything.

    Parameters
    ----------
    from_logits : the prediction is the logarithm of the rate; otherwise the rate itself.
    compute_full : add Stirling's approximation of ``log(target!)`` for targets above 1.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._compute_full = from_logits, compute_full

    def hybrid_forward(
        self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-08
    ) -> Any:
        """The loss of the whole batch; ``epsilon`` keeps the logarithm of a rate finite."""
        target = _reshape_like(F, target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            large = target > 1
            safe = F.where(large, target, F.ones_like(target))
            factor = safe * F.log(safe) - safe + 0.5 * F.log(2 * np.pi * safe)
            loss = loss + large * factor
        return F.mean(_apply_weighting(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """``1 - cos(a, b)`` for label 1 and ``max(0, cos(a, b) - margin)`` for label -1."""

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(
        self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None
    ) -> Any:
        """The loss of every pair of rows."""
        input1 = _reshape_like(F, input1, input2)
        label = label.reshape((-1, 1))
        similarity = _cosine(F, input1, input2)
        loss = F.where(label == 1, 1 - similarity, F.relu(similarity - self._margin))
        return _apply_weighting(F, loss, self._weight, sample_weight)


def _cosine(F: Any, x: Any, y: Any) -> Any:
    """The cosine of the angle between rows, 0 where a row is 0."""
    x, y = _scaled(F, x), _scaled(F, y)
    product = F.sum(x * y, axis=-1).reshape((-1, 1))
    lengths = F.sqrt(F.sum(x * x, axis=-1) * F.sum(y * y, axis=-1)).reshape((-1, 1))
    return product / F.broadcast_maximum(lengths, F.ones_like(lengths) * 1e-12)


def _scaled(F: Any, x: Any) -> Any:
    """Rows divided by their largest element, so that squares neither overflow nor vanish.

    The cosine does not depend on the length of a row, so the divisor needs no gradient.
    """
    largest = F.BlockGrad(F.max(F.abs(x), axis=-1, keepdims=True))
    return F.broadcast_div(x, largest + (largest == 0))


class SDMLLoss(Loss):
    """Smoothed deep metric learning (Bonadiman et al. 2019): rows of equal number belong together.

    Parameters
    ----------
    smoothing_parameter : probability spread over the rows that do not belong together.
    """

    def __init__(
        self,
        smoothing_parameter: float = 0.3,
        weight: float | None = 1.0,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        """The loss of every row of ``x1``."""
        difference = F.broadcast_sub(F.expand_dims(x1, 1), F.expand_dims(x2, 0))
        distances = F.sum(F.square(difference), axis=-1)
        same = _identity_like(F, distances)
        count = F.sum(F.ones_like(distances), axis=1, keepdims=True)
        others = F.broadcast_div((1 - same) * self.smoothing_parameter, count - 1)
        labels = same * (1 - self.smoothing_parameter) + others
        return self.kl_loss(F.log_softmax(-distances, axis=1), labels)


def _identity_like(F: Any, square: Any) -> Any:
    """The identity matrix of the size of ``square``."""
    if F is nd:
        rows = nd.arange(square.shape[0], ctx=square.context, dtype=square.dtype)
        return nd.one_hot(rows, square.shape[0], dtype=square.dtype)
    position = F.BlockGrad(F.contrib.arange_like(square, axis=0))
    return F.broadcast_equal(F.expand_dims(position, 1), F.expand_dims(position, 0))
