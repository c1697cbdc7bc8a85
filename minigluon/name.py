"""How operators and layers get their names when the script gives none."""

from __future__ import annotations

from ._current import HasCurrent, PerThread


class NameManager(metaclass=HasCurrent):
    """Counts how often a hint was used: the third ``fc`` without a name becomes ``fc2``.

    As a ``with`` block it names everything composed inside, in this thread;
    ``NameManager.current`` is the innermost one.

    Examples
    --------
    >>> with NameManager() as names:
    ...     names.get(None, "fc"), names.get(None, "fc"), names.get("output", "fc")
    ('fc0', 'fc1', 'output')
    """

    def __init__(self):
        self._counter: dict[str, int] = {}
        self._outer: list[NameManager] = []

    def get(self, name: str | None, hint: str) -> str:
        """``name`` if there is one, else ``hint`` with the number of its uses so far."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        self._outer.append(current())
        NameManager.current = self
        return self

    def __exit__(self, *exception: object) -> None:
        NameManager.current = self._outer.pop()


class Prefix(NameManager):
    """A name manager that puts ``prefix`` in front of the name of every operator.

    Variables keep the names they are given.

    Examples
    --------
    >>> with Prefix("stage1_") as names:
    ...     names.get("output", "fc"), names.get(None, "fc")
    ('stage1_output', 'stage1_fc0')
    """

    def __init__(self, prefix: str):
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The name a plain ``NameManager`` gives, with the prefix in front."""
        return self._prefix + super().get(name, hint)


_thread = NameManager._thread = PerThread(NameManager)


def current() -> NameManager:
    """The innermost name manager of this thread."""
    return _thread.value
