"""Numbers in comma-separated text."""

from __future__ import annotations

import warnings
from io import BytesIO
from math import prod

import numpy as np

from ..base import ArgumentError, ShapeError
from ..context import current_context
from ..core.invoke import wrap
from ..dtypes import as_dtype
from .files import MXDataIter, check_lengths, read_all

_DTYPES = ("float32", "float64", "int32", "int64")


class CSVIter(MXDataIter):
    """Batches of the rows of a CSV file without header.

    Parameters
    ----------
    data_csv : file, several as ``"a;b"``, or a directory.
    data_shape : what each row is reshaped to.
    label_csv : a file with as many rows; without it labels are 0.
    label_shape : what each row of labels is reshaped to; ``(1,)`` gives one label a row.
    round_batch : fill the last batch with rows from the start, and begin the next epoch after them;
        False fills it with rows of the batch before.
    dtype : ``"float32"``, ``"float64"``, ``"int32"`` or ``"int64"``, for data and labels.
    """

    def __init__(
        self,
        data_csv,
        data_shape,
        batch_size,
        label_csv="NULL",
        label_shape=(1,),
        round_batch=True,
        dtype="float32",
        data_name="data",
        label_name="softmax_label",
        **settings,
    ):
        super().__init__(batch_size, round_batch, data_name, label_name, settings)
        dtype = as_dtype(None if dtype == "None" else dtype).name
        if dtype not in _DTYPES:
            raise ArgumentError(
                f"{dtype} is not supported for CSVIter\n  received  dtype={dtype!r}\n"
                f"  expected  one of {', '.join(_DTYPES)}\n  fix       convert batches with astype"
            )
        self._data = _read(data_csv, _as_shape(data_shape), dtype, "data")
        if label_csv in (None, "NULL"):
            self._label = np.zeros((len(self._data), *_as_shape(label_shape)), dtype)
        else:
            self._label = _read(label_csv, _as_shape(label_shape), dtype, "label")
        if self._label.shape[1:] == (1,):
            self._label = self._label[:, 0]
        check_lengths("CSVIter", (data_csv, len(self._data)), (label_csv, len(self._label)))
        self._ctx = current_context()
        self._begin(len(self._data), data_csv)

    def _slice(self, start, stop):
        pair = self._data[start:stop], self._label[start:stop]
        return tuple(wrap(x.copy(), self._ctx) for x in pair)

    def _take(self, ids):
        pair = self._data[ids], self._label[ids]
        for x in pair:
            x[ids < 0] = 0
        return tuple(wrap(x, self._ctx) for x in pair)


def _as_shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _read(paths, shape, dtype, what):
    """The rows of CSV files, each reshaped to ``shape``."""
    text = read_all(paths)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of an empty file; it is an error below
            table = np.loadtxt(BytesIO(text), dtype, delimiter=",", ndmin=2, comments=None)
    except ValueError as error:
        raise ArgumentError(
            f"CSVIter: {paths} is not a table of numbers.\n  received  {error}\n"
            f"  expected  {prod(shape)} numbers of type {dtype} in every row\n"
            "  fix       remove headers, quotes and empty fields"
        ) from error
    if table.size and table.shape[1] != prod(shape):
        raise ShapeError(
            f"The data size in CSV do not match size of shape: specified shape={list(shape)}, "
            f"the csv row-length={table.shape[1]}\n  received  {table.shape[1]} numbers a row in "
            f"{paths}\n  expected  {prod(shape)}, from {what}_shape={shape}\n"
            f"  fix       pass {what}_shape=({table.shape[1]},)"
        )
    return table.reshape(-1, *shape)
