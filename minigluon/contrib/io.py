"""A gluon DataLoader where a module wants a DataIter."""

from __future__ import annotations

from itertools import chain

from .. import ndarray as nd
from ..base import ArgumentError
from ..io import DataDesc, DataIter


class DataLoaderIter(DataIter):
    """Batches of a loader of ``(data, label)`` pairs, for ``Module.fit`` and the like.

    A last batch with fewer samples is filled up with zeros, and ``pad`` says with how many.

    Parameters
    ----------
    loader : a ``gluon.data.DataLoader``, or anything else that can be iterated again and again.
    dtype : what data and labels are cast to.
    """

    def __init__(self, loader, data_name="data", label_name="softmax_label", dtype="float32"):
        self._loader = loader
        self.dtype = dtype
        batches = iter(loader)
        try:
            first = next(batches)
        except StopIteration as error:
            raise ArgumentError(
                "DataLoaderIter: the loader is empty.\n  received  no batch\n"
                "  expected  at least one, to learn its shape\n  fix       check the data set"
            ) from error
        data, label = first
        super().__init__(data.shape[0])
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._iter = chain([first], batches)
        self._current_batch = None

    def reset(self):
        """Start again."""
        self._iter = iter(self._loader)

    def iter_next(self):
        """Go on to the next batch; False if there is none."""
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def getdata(self):
        """The data of the current batch."""
        return [self._filled(self._current_batch[0])]

    def getlabel(self):
        """The labels of the current batch."""
        return [self._filled(self._current_batch[1])]

    def _filled(self, array):
        array = array.astype(self.dtype)
        missing = self.batch_size - array.shape[0]
        if missing <= 0:
            return array
        rest = nd.zeros((missing, *array.shape[1:]), dtype=self.dtype)
        return nd.concat(array, rest, dim=0)

    def getpad(self):
        """How many samples at the end of the current batch only fill it up."""
        return self.batch_size - self._current_batch[0].shape[0]
