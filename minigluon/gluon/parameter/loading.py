"""Arrays from a file into parameters: all of them, or none and everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...base import ArgumentError
from ..utils import _brief_print_list
from .parameter import Misfit, Parameter

_SHOWN = 40
"""How many names of a kind are listed."""


class Options(NamedTuple):
    """What callers of ``load`` accept."""

    ctx: Any = None
    allow_missing: bool = False
    ignore_extra: bool = False
    cast_dtype: bool = False
    dtype_source: str = "current"


def load_arrays(
    params: Mapping[str, Parameter], arrays: Mapping[str, Any], options: Options, words: Any
) -> None:
    """Load ``arrays`` into the ``params`` of the same names.

    A parameter with several names needs one of them only. ``words`` makes the first line of an
    error, as MXNet has it: it is called with ``"missing"`` or ``"extra"`` and a name.

    Raises
    ------
    ArgumentError : which lists what is missing, what is unknown, and what has another shape, type
        or context; nothing is changed then.
    """
    loaded = {id(params[name]) for name in arrays if name in params}
    missing = [name for name, param in params.items() if id(param) not in loaded]
    extra = [name for name in arrays if name not in params]
    if options.allow_missing:
        missing = []
    if options.ignore_extra:
        extra = []
    pairs = [(name, params[name], array) for name, array in arrays.items() if name in params]
    rest = options.ctx, options.cast_dtype, options.dtype_source
    misfits = [(name, param._misfit(array, *rest)) for name, param, array in pairs]
    wrong = [(name, misfit) for name, misfit in misfits if misfit is not None]
    if missing or extra or wrong:
        first = words("missing", missing[0]) if missing else ""
        first = first or (words("extra", extra[0]) if extra else wrong[0][1].sentence)
        raise ArgumentError(_described(first, params, missing, extra, wrong))
    for _, param, array in pairs:
        param._load_init(array, *rest)


def _described(
    first: str, params: Iterable[str], missing: list, extra: list, wrong: list[tuple[str, Misfit]]
) -> str:
    received = [
        *([f"nothing for {_listed(missing)}"] if missing else []),
        *([f"unknown {_listed(extra)}"] if extra else []),
        *[f"'{name}' {misfit.received}" for name, misfit in wrong],
    ]
    expected = [
        *([_brief_print_list(params, _SHOWN)] if missing or extra else []),
        *[f"'{name}' {misfit.expected}" for name, misfit in wrong],
    ]
    fixes = [
        *(["allow_missing=True"] if missing else []),
        *(["ignore_extra=True"] if extra else []),
        *dict.fromkeys(misfit.fix for _, misfit in wrong if misfit.fix),
    ]
    advice = f"pass {', '.join(fixes)}, or load" if fixes else "load"
    lines = [
        first,
        "  received  " + "\n            ".join(received),
        "  expected  " + "\n            ".join(expected),
        f"  fix       {advice} the file of such a network",
    ]
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    return _brief_print_list(names, _SHOWN)
