"""``mx.io``: batches for modules, from arrays, files and other iterators."""

from __future__ import annotations

import importlib

from .._paths import answer_for_old_modules
from .csv import CSVIter
from .desc import DataBatch, DataDesc, DataIter
from .files import MXDataIter
from .iterators import NDArrayIter, ResizeIter
from .libsvm import LibSVMIter
from .mnist import MNISTIter
from .prefetch import PrefetchingIter

_OF_PICTURES = {
    "ImageDetRecordIter": "det_records",
    "ImageRecordInt8Iter": "records",
    "ImageRecordIter": "records",
    "ImageRecordIter_v1": "records",
    "ImageRecordUInt8Iter": "records",
    "ImageRecordUInt8Iter_v1": "records",
}
"""Iterators that live with the pictures, which need this package themselves."""


def __getattr__(name):
    """Import an iterator over pictures at its first use."""
    if name in _OF_PICTURES:
        module = importlib.import_module(f"..image.{_OF_PICTURES[name]}", __name__)
        found = globals()[name] = getattr(module, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

answer_for_old_modules(__name__)
