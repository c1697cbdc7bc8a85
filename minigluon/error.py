"""``mx.error``: the errors of the library under the names MXNet gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import MXNetError

#: error classes by the name they were registered under
registered: dict[str, type] = {}


def register_error(func_name: Any = None, cls: type | None = None) -> Any:
    """Register an error class: as a decorator, or with the name it is to be known by.

    MXNet raises the registered class where its C++ code reports an error of that name. minigluon
    raises its own classes directly, so here registering just keeps the class in ``registered``.

    Examples
    --------
    >>> @register_error
    ... class Unstable(MXNetError):
    ...     pass
    >>> registered["Unstable"] is Unstable
    True
    """
    if isinstance(func_name, type):
        registered[func_name.__name__] = func_name
        return func_name

    def register(given: type) -> type:
        registered[func_name or given.__name__] = given
        return given

    decorate: Callable[[type], type] = register
    return decorate if cls is None else decorate(cls)


register = register_error


@register
class InternalError(MXNetError):
    """Something that should not happen whatever a program does; minigluon itself is to blame."""


__all__ = ["InternalError", "MXNetError", "register", "register_error"]
