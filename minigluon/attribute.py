"""Attributes that every symbol made inside a ``with`` block receives."""

from __future__ import annotations

from ._current import HasCurrent, PerThread


class AttrScope(metaclass=HasCurrent):
    """Attach the given string attributes to every symbol composed inside, in this thread.

    Inner scopes add to outer ones and win where both name an attribute; what a symbol is given
    itself (``attr={...}``) wins over both. ``AttrScope.current`` is the innermost scope.

    Raises ``ValueError`` for a value that is not a string.

    Examples
    --------
    >>> with AttrScope(group="4", stage="first"), AttrScope(stage="second") as scope:
    ...     scope.get({"mood": "fine"})
    {'group': '4', 'stage': 'second', 'mood': 'fine'}
    """

    def __init__(self, **kwargs: str):
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(
                    f"AttrScope: attribute {key} is not a string.\n"
                    f"  received  {key}={value!r} ({type(value).__name__})\n"
                    "  expected  strings only: attributes are saved as text in symbol files\n"
                    f"  fix       AttrScope({key}={str(value)!r})"
                )
        self._own = kwargs
        self._attr = kwargs
        self._outer: list[tuple[AttrScope, dict[str, str]]] = []

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """The attributes of this scope, completed and overridden by ``attr``."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> AttrScope:
        outer = current()
        self._outer.append((outer, self._attr))
        self._attr = {**outer._attr, **self._own}
        AttrScope.current = self
        return self

    def __exit__(self, *exception: object) -> None:
        AttrScope.current, self._attr = self._outer.pop()


_thread = AttrScope._thread = PerThread(AttrScope)


def current() -> AttrScope:
    """The innermost scope of this thread."""
    return _thread.value
