"""The error of a module that is used out of turn or against how it was bound."""

from __future__ import annotations

from ..base import MXNetError


class ModuleError(MXNetError, AssertionError):
    """A module cannot do this: not yet, or not as it was made or bound.

    MXNet asserts in these places, so it is an ``AssertionError`` too.
    """
