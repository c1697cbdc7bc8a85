"""Batches made by other threads while this one computes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ..base import ArgumentError
from .desc import DataBatch, DataDesc, DataIter


class PrefetchingIter(DataIter):
    """One or several iterators, each a batch ahead in a thread of its own, joined side by side.

    Parameters
    ----------
    iters : an iterator or a list of such, all with as many batches.
    rename_data, rename_label : a dict ``{old name: new name}`` for each iterator.
    """

    def __init__(self, iters, rename_data=None, rename_label=None):
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        if not self.n_iter:
            raise ArgumentError(
                "PrefetchingIter: there is no iterator.\n  received  iters=[]\n"
                "  expected  one or more iterators\n  fix       pass at least one"
            )
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0][1][0]
        self.current_batch = None
        self._pool = ThreadPoolExecutor(self.n_iter, thread_name_prefix="prefetch")
        self._fetch()

    @property
    def provide_data(self):
        """Descriptions of the data of all iterators, under their new names."""
        return _renamed([it.provide_data for it in self.iters], self.rename_data)

    @property
    def provide_label(self):
        """Descriptions of the labels of all iterators, under their new names."""
        return _renamed([it.provide_label for it in self.iters], self.rename_label)

    def _fetch(self):
        self._coming = [self._pool.submit(_next_or_none, it) for it in self.iters]

    def reset(self):
        """Start all iterators again."""
        for future in self._coming:
            future.exception()  # wait; what went wrong belongs to the epoch that is given up
        for iterator in self.iters:
            iterator.reset()
        self._fetch()

    def iter_next(self):
        """Go on to the next batch; False if there is none."""
        batches = [future.result() for future in self._coming]
        if None in batches:
            if batches.count(None) != self.n_iter:
                raise _uneven("iterators", [batch is not None for batch in batches])
            return False
        pads = [batch.pad for batch in batches]
        if any(pad != pads[0] for pad in pads):
            raise _uneven("batches", pads)
        self.current_batch = DataBatch(
            [x for batch in batches for x in batch.data],
            [x for batch in batches for x in batch.label or ()],
            pads[0],
            batches[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        self._fetch()
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

    def __del__(self):
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.shutdown(wait=False)


def _next_or_none(iterator):
    try:
        return iterator.next()
    except StopIteration:
        return None


def _renamed(descriptions, renaming):
    if renaming is None:
        return [desc for described in descriptions for desc in described]
    return [
        DataDesc(names[desc.name], desc.shape, desc.dtype) if isinstance(desc, DataDesc)
        else DataDesc(names[desc[0]], *desc[1:])
        for names, described in zip(renaming, descriptions, strict=True)
        for desc in described
    ]  # fmt: skip


def _uneven(what, received):
    return ArgumentError(
        f"Number of entry mismatches between {what}\n  received  {received}\n"
        "  expected  the same from every iterator\n"
        "  fix       give the iterators as many samples and the same batch size"
    )
