"""Sparse rows in the text form of LibSVM: ``label index:value index:value ...``."""

from __future__ import annotations

import numpy as np

from ..base import ArgumentError, IndexOutOfRange, ShapeError
from ..context import current_context
from ..core.invoke import wrap
from ..dtypes import as_dtype
from ..kernels import csr as csr_kernels
from ..kernels import libsvm
from ..storage import Csr, zeros
from .files import MXDataIter, check_lengths, part_of, read_each


class LibSVMIter(MXDataIter):
    """Batches of csr rows; indices in the file count from 0, or as ``indexing_mode`` says.

    The last batch is filled with rows from the start, which the next epoch leaves out.

    Parameters
    ----------
    data_libsvm : file, several as ``"a;b"``, or a directory. After ``?indexing_mode=1`` the first
        column has the number 1, and after ``?indexing_mode=-1`` so it has in files without a 0.
    data_shape : ``(width,)``, the number of columns.
    label_libsvm, label_shape : a second file whose features are the labels, and their number;
        labels are then csr. Without it the labels are the first number of each line.
    num_parts, part_index : read one of several even parts.
    """

    def __init__(
        self,
        data_libsvm,
        data_shape,
        batch_size,
        label_libsvm="NULL",
        label_shape=(1,),
        num_parts=1,
        part_index=0,
        round_batch=True,
        dtype="float32",
        data_name="data",
        label_name="softmax_label",
        **settings,
    ):
        super().__init__(batch_size, round_batch, data_name, label_name, settings)
        if not round_batch:
            raise ArgumentError(
                "sparse batch loader doesn't support round_batch == false yet\n"
                "  received  round_batch=False\n  expected  True\n"
                "  fix       leave it out, and pass over the last batch.pad rows"
            )
        dtype = as_dtype(None if dtype == "None" else dtype)
        width, classes = _width("data_shape", data_shape), _width("label_shape", label_shape)
        separate = label_libsvm not in (None, "NULL")
        if separate is (classes == 1):
            raise ShapeError(
                f"label_shape is {'not ' if separate else ''}expected to be (1,) when "
                f"label_libsvm is {'set' if separate else 'NULL'}\n"
                f"  received  label_shape={label_shape}, label_libsvm={label_libsvm!r}\n"
                "  expected  (1,) for one number before the features, more for features as labels\n"
                "  fix       pass both label_libsvm and its number of columns, or neither"
            )
        labels, self._data = _read(data_libsvm, width, dtype)
        self._label = _read(label_libsvm, classes, dtype)[1] if separate else labels
        count = self._data.shape[0]
        check_lengths("LibSVMIter", (data_libsvm, count), (label_libsvm, self._label.shape[0]))
        self._first, stop = part_of(count, num_parts, part_index)
        self._ctx = current_context()
        self._begin(stop - self._first, data_libsvm)

    def _slice(self, start, stop):
        start, stop = start + self._first, stop + self._first
        data = csr_kernels.slice_rows(self._data, start, stop)
        if type(self._label) is Csr:
            label = csr_kernels.slice_rows(self._label, start, stop)
        else:
            label = self._label[start:stop].copy()
        return wrap(data, self._ctx), wrap(label, self._ctx)

    def _take(self, ids):
        ids = ids + self._first
        data = csr_kernels.take_rows(self._data, ids)
        if type(self._label) is Csr:
            label = csr_kernels.take_rows(self._label, ids)
        else:
            label = self._label[ids]
        return wrap(data, self._ctx), wrap(label, self._ctx)


def _width(name, shape):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if len(shape) != 1:
        raise ShapeError(
            f"dimension of {name} is expected to be 1\n  received  {name}={shape}\n"
            "  expected  (columns,)\n  fix       rows of a csr matrix cannot be reshaped"
        )
    return shape[0]


def _read(paths, width, dtype):
    """First label of each line, and the features as a csr matrix with ascending columns."""
    paths, _, options = str(paths).partition("?")
    first = _first_index(options)
    labels, parts = [np.zeros(0, np.float32)], []
    for file, text in read_each(paths):
        parsed = libsvm.parse(text, str(file))
        indices = parsed.indices
        least = int(indices.min()) if indices.size else 0
        start = first if first >= 0 else int(least > 0)
        if indices.size and (least < start or int(indices.max()) >= width + start):
            raise _beyond(file, text, parsed, start, width)
        indices = indices - start if start else indices
        shape = (parsed.indptr.size - 1, width)
        parts.append(Csr(parsed.values.astype(dtype, copy=False), indices, parsed.indptr, shape))
        labels.append(parsed.labels[parsed.label_indptr[:-1]])
    parts = parts or [zeros("csr", (0, width), dtype)]
    csr = parts[0] if len(parts) == 1 else csr_kernels.concat_rows(parts)
    return np.concatenate(labels).astype(dtype, copy=False), csr_kernels.canonical(csr)


def _first_index(options):
    """The number of the first column in a file, -1 to find out: what ``indexing_mode=`` says."""
    settings = dict(part.partition("=")[::2] for part in options.split("&") if part)
    mode = settings.pop("indexing_mode", "0")
    settings.pop("format", None)
    if settings or mode not in ("-1", "0", "1"):
        raise ArgumentError(
            f"LibSVMIter: what follows the path cannot be used.\n  received  {options!r}\n"
            "  expected  indexing_mode=0 (columns count from 0), 1 (from 1) or -1 (find out)\n"
            "  fix       data.libsvm?indexing_mode=1"
        )
    return int(mode)


def _beyond(file, text, parsed, start, width):
    """The error for a column that the matrix does not have."""
    wrong = (parsed.indices < start) | (parsed.indices >= width + start)
    at = int(wrong.argmax())
    row = int(np.searchsorted(parsed.indptr, at, side="right")) - 1
    return IndexOutOfRange(
        f"LibSVMIter: a feature is {'before the first' if parsed.indices[at] < start else 'beyond'}"
        f" column.\n  received  index {parsed.indices[at]} in {file}, line "
        f"{libsvm.line_of_row(text, row)}\n"
        f"  expected  indices from {start} to {width - 1 + start}\n"
        "  fix       pass a larger data_shape, or data_libsvm='...?indexing_mode=1' for files that "
        "count from 1"
    )
