"""An iterator for speed tests."""

from __future__ import annotations

from ..io import DataIter


class DummyIter(DataIter):
    """Gives the first batch of another iterator for ever, so that reading costs nothing."""

    def __init__(self, real_iter):
        super().__init__()
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(iter(real_iter))

    def __iter__(self):
        return self

    def next(self):
        """The batch."""
        return self.the_batch
