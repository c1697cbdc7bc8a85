"""``mx.engine``: the bulk size of MXNet's scheduler, kept so that scripts that set it run."""

from __future__ import annotations

_size = [0]


def set_bulk_size(size: int) -> int:
    """Remember ``size`` and return what was set before.

    MXNet's engine runs that many operators as one task. Here every operator has run when its call
    returns, so the number changes nothing; graphs are made fast by ``hybridize`` and ``bind``.

    Examples
    --------
    >>> before = set_bulk_size(10)
    >>> set_bulk_size(before)
    10
    """
    before, _size[0] = _size[0], int(size)
    return before


class _BulkScope:
    """The bulk size inside a ``with`` block; the one before comes back after it."""

    def __init__(self, size: int):
        self._size, self._before = size, 0

    def __enter__(self) -> _BulkScope:
        self._before = set_bulk_size(self._size)
        return self

    def __exit__(self, *exception: object) -> None:
        set_bulk_size(self._before)


def bulk(size: int) -> _BulkScope:
    """A ``with`` block in which the bulk size is ``size``; `set_bulk_size` says what it means."""
    return _BulkScope(size)
