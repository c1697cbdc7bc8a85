"""Iterators over arrays in memory, and over other iterators."""

from __future__ import annotations

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError
from ..ndarray import NDArray
from .desc import DataBatch, DataDesc, DataIter
from .sources import named_arrays, rows_of


class NDArrayIter(DataIter):
    """Batches of rows of arrays.

    Parameters
    ----------
    data, label : an array (NDArray, csr too, numpy, scipy csr, h5py Dataset), a list or a dict of
        such. Names are ``data_name``, ``_0_data``, ``_1_data``, ..., or the sorted keys.
    shuffle : put the rows in a new order now and at each ``reset``, with ``numpy.random``.
    last_batch_handle : what to do with rows that do not fill a batch: ``"pad"`` fills it with rows
        from the start, ``"discard"`` drops them, ``"roll_over"`` puts them before the next epoch.

    Examples
    --------
    >>> batches = NDArrayIter(nd.arange(5), batch_size=2)
    >>> [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]
    [([0.0, 1.0], 0), ([2.0, 3.0], 0), ([4.0, 0.0], 1)]
    """

    def __init__(
        self,
        data,
        label=None,
        batch_size=1,
        shuffle=False,
        last_batch_handle="pad",
        data_name="data",
        label_name="softmax_label",
        layout="NCHW",
    ):
        super().__init__(batch_size)
        self.data = named_arrays(data, False, data_name)
        self.label = named_arrays(label, True, label_name)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.data_list = [array for _, array in (*self.data, *self.label)]
        self.num_source = len(self.data_list)
        self.num_data = self.data[0][1].shape[0]
        self._check()
        self._rows = [rows_of(array) for array in self.data_list]
        self._check_sparse()
        self.idx = np.arange(self.num_data)
        self._order = self.idx
        self._tail = None
        self.cursor = -batch_size
        if shuffle:
            self._shuffle_data()

    def _check(self):
        if not isinstance(self.batch_size, int | np.integer) or self.batch_size < 1:
            raise _refused("batch_size", self.batch_size, "a positive integer")
        if self.last_batch_handle not in ("pad", "discard", "roll_over"):
            expected = "'pad', 'discard' or 'roll_over'"
            raise _refused("last_batch_handle", self.last_batch_handle, expected)
        lengths = {name: array.shape[0] for name, array in (*self.data, *self.label)}
        if len(set(lengths.values())) > 1:
            raise ArgumentError(
                "NDArrayIter: the arrays differ in length.\n"
                f"  received  {', '.join(f'{name} {count}' for name, count in lengths.items())}\n"
                "  expected  as many rows in each\n  fix       cut them to the same samples"
            )

    def _check_sparse(self):
        if self.last_batch_handle != "discard" and any(rows.slices_only for rows in self._rows):
            raise NotImplementedError(
                "`NDArrayIter` only supports ``CSRNDArray`` with `last_batch_handle` set to "
                f"`discard`.\n  received  last_batch_handle={self.last_batch_handle!r}\n"
                "  expected  'discard'\n  fix       pass last_batch_handle='discard'"
            )

    @property
    def provide_data(self):
        """Descriptions of the data of a batch."""
        return self._descriptions(self.data)

    @property
    def provide_label(self):
        """Descriptions of the labels of a batch."""
        return self._descriptions(self.label)

    def _descriptions(self, named):
        batch, layout = self.batch_size, self.layout
        return [
            DataDesc(
                name,
                (batch, *array.shape[1:]),
                array.dtype if isinstance(array, NDArray) else np.float32,
                layout,
            )
            for name, array in named
        ]

    def hard_reset(self):
        """Start again, forgetting rows that were to roll over."""
        self._tail = None
        self.cursor = -self.batch_size
        if self.shuffle:
            self._shuffle_data()

    def reset(self):
        """Start again; rows that roll over come first."""
        left = self.num_data - self.cursor
        if self.last_batch_handle != "roll_over" or not 0 < left < self.batch_size:
            self.hard_reset()
            return
        self._tail = self._gather(self.cursor, self.num_data)
        self.cursor = -left - self.batch_size
        if self.shuffle:
            self._shuffle_data()

    def _shuffle_data(self):
        """Permute the rows as they lie; ``idx`` says where each came from."""
        self._order = self._order.copy()
        np.random.shuffle(self._order)
        self.idx = self.idx[self._order]
        self._rows = [rows.reordered(self._order) for rows in self._rows]
        self.data_list = [rows.array for rows in self._rows]
        arrays = iter(self.data_list)
        self.data = [(name, next(arrays)) for name, _ in self.data]
        self.label = [(name, next(arrays)) for name, _ in self.label]

    def next(self):
        """The next batch; ``StopIteration`` after the last."""
        start = self.cursor + self.batch_size
        stop = start + self.batch_size
        if start < 0 or stop > self.num_data or type(self) is not NDArrayIter:
            return super().next()
        self.cursor = start  # a whole batch: 2.8 us against 5.7 us through the methods below
        arrays = [rows.slice(start, stop) for rows in self._rows]
        count = len(self.data)
        return DataBatch(arrays[:count], arrays[count:], 0)

    def iter_next(self):
        """Go on to the next batch; False if there is none."""
        if self.last_batch_handle == "pad":
            if self.cursor < self.num_data:
                self.cursor += self.batch_size
            return self.cursor < self.num_data
        if self.cursor + self.batch_size > self.num_data:
            return False
        self.cursor += self.batch_size
        return self.cursor + self.batch_size <= self.num_data

    def _gather(self, start, stop):
        """Rows ``start`` to ``stop`` of all arrays: negative are left over, beyond the end wrap."""
        if start >= 0 and stop <= self.num_data:
            return [rows.slice(start, stop) for rows in self._rows]
        if start < 0:
            heads = [tail[len(tail) + start :] for tail in self._tail]
            pieces = self._gather(0, stop)
            return [nd.concat(*pair, dim=0) for pair in zip(heads, pieces, strict=True)]
        wrapped = np.arange(start, stop) % self.num_data
        return [rows.take(wrapped) for rows in self._rows]

    def getdata(self):
        """The data of the current batch."""
        return self._gather(self.cursor, self.cursor + self.batch_size)[: len(self.data)]

    def getlabel(self):
        """The labels of the current batch."""
        return self._gather(self.cursor, self.cursor + self.batch_size)[len(self.data) :]

    def getpad(self):
        """How many samples at the end fill the batch up; at the start, if they rolled over."""
        if self.cursor < 0:
            return -self.cursor
        return max(0, self.cursor + self.batch_size - self.num_data)


def _refused(name, value, expected):
    return ArgumentError(
        f"NDArrayIter: {name} cannot be used.\n  received  {name}={value!r}\n"
        f"  expected  {expected}\n  fix       leave {name} out, or pass such a value"
    )


class ResizeIter(DataIter):
    """Another iterator, cut or repeated to ``size`` batches an epoch.

    Parameters
    ----------
    reset_internal : ``reset`` restarts the other iterator too; otherwise the next epoch goes on
        where this one stopped.
    """

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__()
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch = None
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        self.batch_size = data_iter.batch_size
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self):
        """Start a new epoch."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self):
        """Go on to the next batch; False after ``size`` batches."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True

    def next(self):
        """The next batch; ``StopIteration`` after the last."""
        if not self.iter_next():
            raise StopIteration
        return self.current_batch

    def getdata(self):
        """The data of the current batch."""
        return self.current_batch.data

    def getlabel(self):
        """The labels of the current batch."""
        return self.current_batch.label

    def getindex(self):
        """The numbers of the samples of the current batch, or None."""
        return self.current_batch.index

    def getpad(self):
        """How many samples at the end of the current batch only fill it up."""
        return self.current_batch.pad
