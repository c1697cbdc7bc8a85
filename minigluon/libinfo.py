"""``mx.libinfo``: which MXNet this stands for, and that there is no compiled library to find."""

from __future__ import annotations

from typing import NoReturn

from .base import API_VERSION, MXNetError

__version__ = API_VERSION


def find_lib_path(prefix: str = "libmxnet") -> NoReturn:
    """Raises ``MXNetError``: minigluon is pure Python and has no ``libmxnet.so`` to link with."""
    raise _nothing_compiled("find_lib_path", f"{prefix}.so")


def find_include_path() -> NoReturn:
    """Raises ``MXNetError``: minigluon has no C++ headers to compile against."""
    raise _nothing_compiled("find_include_path", "the C++ headers of MXNet")


def _nothing_compiled(function: str, wanted: str) -> MXNetError:
    return MXNetError(
        f"{function}: Cannot find the MXNet library.\n  received  a search for {wanted}\n"
        "  expected  nothing: minigluon is pure Python, and the mxnet of this process\n"
        "  fix       leave out what is compiled against MXNet"
    )
