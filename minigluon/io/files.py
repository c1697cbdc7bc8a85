"""Iterators over records of a file: all records are read at once, batches are cut of them."""

from __future__ import annotations

import gzip
import logging
import warnings
import zlib
from pathlib import Path

import numpy as np

from ..base import ArgumentError, MXNetError, ShapeError
from .desc import DataBatch, DataDesc, DataIter

_IGNORED = {"prefetch_buffer", "ctx", "verbose", "name"}


class MissingFile(MXNetError, FileNotFoundError):
    """A data file that is not there."""


class MXDataIter(DataIter):
    """What the iterators over files have in common.

    The last batch of an epoch is filled up. With ``round_batch`` the rows come from the start of
    the file, and the next epoch leaves them out; without, they are those of the batch before.
    """

    def __init__(self, batch_size, round_batch, data_name, label_name, settings):
        super().__init__(batch_size)
        if not isinstance(batch_size, int | np.integer) or batch_size < 1:
            raise ArgumentError(
                f"{type(self).__name__}: batch_size cannot be used.\n  received  {batch_size!r}\n"
                "  expected  a positive integer\n  fix       pass batch_size=32"
            )
        unknown = sorted(set(settings) - _IGNORED)
        if unknown:
            warnings.warn(
                f"{type(self).__name__} ignores unknown parameters: leave out {', '.join(unknown)}",
                UserWarning,
                stacklevel=3,
            )
        self._round_batch = round_batch
        self._names = data_name, label_name
        self._position = self._overflow = 0
        self._current, self._repeats = None, False

    def _begin(self, count, path):
        """Called once the records are read: there are ``count`` of them in ``path``."""
        if not count:
            raise ArgumentError(
                f"{type(self).__name__}: {path} holds no records.\n  received  0 records\n"
                "  expected  at least one\n  fix       check the path and part_index"
            )
        self._count = count
        data, label = self._slice(0, min(self.batch_size, count))
        data_name, label_name = self._names
        self.provide_data = [DataDesc(data_name, (self.batch_size, *data.shape[1:]), data.dtype)]
        self.provide_label = [
            DataDesc(label_name, (self.batch_size, *label.shape[1:]), label.dtype)
        ]

    def _slice(self, start, stop):
        """Data and label of neighbouring records."""
        raise NotImplementedError

    def _take(self, ids):
        """Data and label of any records; the number -1 stands for a record of zeros."""
        raise NotImplementedError

    def reset(self):
        """Start again; after a whole epoch without the rows that filled up its last batch."""
        self._position = self._overflow if self._position >= self._count else 0
        self._overflow = 0
        self._current = None

    def iter_next(self):
        """Go on to the next batch; False if there is none."""
        start, count = self._position, self._count
        if start >= count:
            return False
        stop = start + self.batch_size
        pad = max(0, stop - count)
        ids = np.arange(start, stop)
        if not pad:
            arrays = self._slice(start, stop)
        else:
            if self._round_batch:
                self._overflow = pad % count
                ids %= count
            else:
                ids[ids >= count] -= self.batch_size
                ids[ids < 0] = -1
            arrays = self._take(ids)
        self._position = stop
        self._current = *arrays, pad, ids
        return True

    def next(self):
        """The next batch; ``StopIteration`` after the last."""
        if not (self._repeats and self._current is not None) and not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())

    def debug_skip_load(self):
        """Give the same batch again and again from now on, to see how fast a network is alone."""
        self._repeats = True
        logging.info("Set debug_skip_load to be true, will simply return first batch")

    def getdata(self):
        """The data of the current batch, an array."""
        return self._current[0]

    def getlabel(self):
        """The labels of the current batch, an array."""
        return self._current[1]

    def getpad(self):
        """How many samples at the end of the current batch only fill it up."""
        return self._current[2]

    def getindex(self):
        """The numbers of the samples of the current batch."""
        return np.maximum(self._current[3], 0).astype(np.uint64)


def read_each(paths):
    """``(path, bytes)`` of a file, of several (``a;b``), or of all in a directory.

    Files packed by gzip are unpacked.
    """
    for name in str(paths).split(";"):
        path = Path(name)
        try:
            files = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
            for file in files:
                content = file.read_bytes()
                yield file, gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        except FileNotFoundError as error:
            raise MissingFile(
                f"{path}: No such file or directory\n  received  {paths!r}\n"
                "  expected  a file, several as 'a;b', or a directory\n"
                f"  fix       check the path; it was looked for in {Path.cwd()}"
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise MXNetError(
                f"{path}: the file cannot be read.\n  received  {type(error).__name__}: {error}\n"
                "  expected  a text file, or one that gzip has packed\n"
                "  fix       check its permissions, and that it was copied completely"
            ) from error


def read_all(paths):
    """The bytes of all the files that ``read_each`` gives, a line end between them."""
    return b"\n".join(content for _, content in read_each(paths) if content)


def part_of(count, num_parts, part_index):
    """The records ``(start, stop)`` of one of ``num_parts`` readers, as even as possible."""
    if not 0 <= part_index < num_parts:
        raise ArgumentError(
            f"there is no such part.\n  received  part_index={part_index}, num_parts={num_parts}\n"
            "  expected  0 <= part_index < num_parts\n  fix       pass rank and worker count"
        )
    return count * part_index // num_parts, count * (part_index + 1) // num_parts


def check_lengths(name, data, labels):
    """Raise ``ShapeError`` unless two files, each ``(path, rows)``, have as many rows."""
    (data_path, rows), (label_path, given) = data, labels
    if given != rows:
        shorter, last = min(data, labels, key=lambda file: file[1])
        raise ShapeError(
            f"{name}: {shorter} ends after row {last}, the other file goes on.\n"
            f"  received  {rows} rows of data in {data_path}, {given} of labels in {label_path}\n"
            "  expected  a label for each row\n"
            "  fix       give the label file that was made with the data"
        )
