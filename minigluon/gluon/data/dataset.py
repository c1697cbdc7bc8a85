"""Data sets: anything with ``len`` and ``[index]``, and what can be made of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...base import ArgumentError, ArgumentTypeError, IndexOutOfRange, four_lines
from ...ndarray import NDArray
from .sampler import FilterSampler, Sampler, SequentialSampler


class Dataset:
    """A set of samples; subclasses define ``__getitem__`` and ``__len__``.

    Examples
    --------
    >>> data = SimpleDataset(list(range(10)))
    >>> list(data.filter(lambda x: x % 2).take(3).transform(lambda x: x * 100))
    [100, 300, 500]
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def filter(self, fn: Callable) -> Dataset:
        """The samples for which ``fn`` is true; it is asked now, once for each."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """One of several even parts; the first of them have a sample more if need be."""
        if not 0 <= index < num_shards:
            raise ArgumentError(
                four_lines(
                    f"shard: Shard index of out bound: {index} out of {num_shards}",
                    f"num_shards={num_shards}, index={index}",
                    "0 <= index < num_shards",
                    "count shards from 0",
                )
            )
        length, longer = divmod(len(self), num_shards)
        start = length * index + min(index, longer)
        return _SampledDataset(self, SequentialSampler(length + (index < longer), start))

    def take(self, count: int | None) -> Dataset:
        """The first ``count`` samples; all if there are fewer, or with None."""
        if count is not None and count < 0:
            raise ArgumentError(
                four_lines(
                    "take: count is negative.", f"count={count}", "0 or more, or None",
                    "leave it out for all samples",
                )
            )  # fmt: skip
        length = len(self)
        return _SampledDataset(
            self, SequentialSampler(length if count is None else min(count, length))
        )

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples that a sampler names, in its order."""
        if not isinstance(sampler, Sampler):
            raise ArgumentTypeError(
                f"Invalid sampler type: {type(sampler)}. Expected gluon.data.Sampler instead."
            )
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable, lazy: bool = True) -> Dataset:
        """``fn`` of every sample; of the parts of a sample if that is a tuple.

        ``lazy``: call it whenever a sample is asked for, as random augmentation needs; otherwise
        once, now.
        """
        changed = _LazyTransformDataset(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn: Callable, lazy: bool = True) -> Dataset:
        """``fn`` of the first part of every sample, such as the image; labels stay."""
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """A list, or anything with ``len`` and ``[index]``, as a data set."""

    def __init__(self, data: Any):
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class _LazyTransformDataset(Dataset):
    """A data set with a function applied to each sample when it is asked for."""

    def __init__(self, data: Any, fn: Callable):
        self._data, self._fn = data, fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirstClosure:
    """A function on the first of several values; a class, so that it can be sent to workers."""

    def __init__(self, fn: Callable):
        self._fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self._fn(first), *others) if others else self._fn(first)


class _SampledDataset(Dataset):
    """Some samples of a data set."""

    def __init__(self, dataset: Any, sampler: Sampler):
        self._dataset, self._sampler, self._indices = dataset, sampler, list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._indices[idx]]


class ArrayDataset(Dataset):
    """Tuples of what several arrays, lists or data sets have at the same place.

    With one array, its elements. As in MXNet, elements of a 1-D NDArray are numpy numbers.

    Examples
    --------
    >>> ArrayDataset([1, 2, 3], ["a", "b", "c"])[1]
    (2, 'b')
    """

    def __init__(self, *args: Any):
        if not args:
            raise ArgumentError(
                four_lines(
                    "ArrayDataset: Needs at least 1 arrays.", "none", "arrays of one length",
                    "pass at least one array",
                )
            )  # fmt: skip
        self._length = len(args[0])
        for position, array in enumerate(args):
            if len(array) != self._length:
                raise ArgumentError(
                    four_lines(
                        "ArrayDataset: All arrays must have the same length; array[0] has length "
                        f"{self._length} while array[{position}] has {len(array)}.",
                        f"lengths {', '.join(str(len(array)) for array in args)}",
                        "the same length for all",
                        "cut or complete the arrays",
                    )
                )
        self._data = [
            array.asnumpy() if isinstance(array, NDArray) and array.ndim == 1 else array
            for array in args
        ]

    def __getitem__(self, idx: Any) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(array[idx] for array in self._data)

    def __len__(self) -> int:
        return self._length


class RecordFileDataset(Dataset):
    """The records, as bytes, of a ``.rec`` file that has its ``.idx`` file beside it."""

    def __init__(self, filename: str):
        self.filename = str(filename)
        self.idx_file = str(Path(self.filename).with_suffix(".idx"))
        missing = [name for name in (self.filename, self.idx_file) if not Path(name).is_file()]
        if missing:
            raise FileNotFoundError(
                four_lines(
                    f"{type(self).__name__}: {' and '.join(missing)} not found.",
                    f"filename={self.filename!r}",
                    "a .rec file and the .idx file of the same name",
                    "make both with recordio.MXIndexedRecordIO or im2rec",
                )
            )
        from ... import recordio

        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> bytes:
        if not -len(self) <= idx < len(self):
            raise IndexOutOfRange(
                f"RecordFileDataset: record {idx} of {self.filename}, which has {len(self)}"
            )
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)
