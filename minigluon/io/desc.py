"""What batches are: descriptions of their arrays, the batches, and the iterators' common shape."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..base import ArgumentError


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name, shape, dtype and layout of one array of a batch; as a tuple it is name and shape.

    Parameters
    ----------
    layout : a letter for each axis; ``N`` is the axis along which devices share a batch.

    Examples
    --------
    >>> desc = DataDesc("data", (32, 3))
    >>> name, shape = desc
    >>> DataDesc.get_batch_axis("TNC")
    1
    """

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        desc = super().__new__(cls, name, shape)
        desc.dtype = dtype
        desc.layout = layout
        return desc

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout):
        """The axis of the samples: 0 if the layout is None, -1 if it has no ``N``."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions from ``(name, shape)`` pairs and, if given, ``(name, dtype)`` pairs."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        known = dict(types)
        return [DataDesc(name, shape, known[name]) for name, shape in shapes]


class DataBatch:
    """The arrays of one step.

    Parameters
    ----------
    data, label : lists of arrays.
    pad : how many samples at the end only fill the batch up.
    index : the numbers of the samples, if known.
    bucket_key : which bucket the batch belongs to, for ``BucketingModule``.
    provide_data, provide_label : descriptions, where they differ from the iterator's.
    """

    def __init__(
        self,
        data,
        label=None,
        pad=None,
        index=None,
        bucket_key=None,
        provide_data=None,
        provide_label=None,
    ):
        if data is not None and not isinstance(data, list | tuple):
            raise _not_a_list("Data", data)
        if label is not None and not isinstance(label, list | tuple):
            raise _not_a_list("Label", label)
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        data = None if self.data is None else [x.shape for x in self.data]
        label = [x.shape for x in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"


def _not_a_list(what, value):
    return ArgumentError(
        f"{what} must be list of NDArrays\n  received  {type(value).__name__}\n"
        "  expected  a list or tuple of NDArrays\n  fix       put the array into a list"
    )


class DataIter:
    """Batches one after the other, again after ``reset``.

    An iterator of your own has ``provide_data``, ``provide_label`` and ``reset``, and either
    ``next``, or ``iter_next``, ``getdata``, ``getlabel`` and ``getpad``.
    """

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def reset(self):
        """Start again."""

    def next(self):
        """The next batch; ``StopIteration`` after the last."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def __next__(self):
        return self.next()

    def iter_next(self):
        """Go on to the next batch; False if there is none."""

    def getdata(self):
        """The data of the current batch."""

    def getlabel(self):
        """The labels of the current batch."""

    def getindex(self):
        """The numbers of the samples of the current batch, or None."""

    def getpad(self):
        """How many samples at the end of the current batch only fill it up."""
