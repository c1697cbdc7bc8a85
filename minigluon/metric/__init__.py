"""``mx.metric``: how good predictions are, accumulated over batches."""

from __future__ import annotations

from .. import ndarray  # noqa: F401  (metrics of other libraries take it here)
from .base import CompositeEvalMetric, EvalMetric, alias, check_label_shapes, create, register
from .classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    TopKAccuracy,
)
from .custom import Caffe, CustomMetric, Loss, Torch, np
from .regression import MAE, MSE, RMSE, PearsonCorrelation
from .text import Perplexity

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "RMSE",
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]
