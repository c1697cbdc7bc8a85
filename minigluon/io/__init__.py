"""``mx.io``: batches for modules, from arrays, files and other iterators."""

from __future__ import annotations

from .._paths import answer_for_old_modules
from .csv import CSVIter
from .desc import DataBatch, DataDesc, DataIter
from .files import MXDataIter
from .iterators import NDArrayIter, ResizeIter
from .libsvm import LibSVMIter
from .mnist import MNISTIter
from .prefetch import PrefetchingIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

answer_for_old_modules(__name__)
