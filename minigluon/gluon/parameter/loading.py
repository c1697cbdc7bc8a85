"""Arrays from a file into parameters: all of them, or none and everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...base import ArgumentError
from ..utils import _brief_print_list
from .parameter import Parameter, _contexts

_SHOWN = 40
"""How many names of a kind are listed."""


class Options(NamedTuple):
    """What callers of ``load`` accept."""

    ctx: Any = None
    allow_missing: bool = False
    ignore_extra: bool = False
    cast_dtype: bool = False
    dtype_source: str = "current"


class Misfit(NamedTuple):
    """Why an array cannot be loaded: MXNet's sentence, what came, what was expected, what helps."""

    sentence: str
    received: str
    expected: str
    fix: str = ""


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
    misfits = [(name, misfit(param, array, options)) for name, param, array in pairs]
    wrong = [(name, found) for name, found in misfits if found is not None]
    if missing or extra or wrong:
        first = words("missing", missing[0]) if missing else ""
        first = first or (words("extra", extra[0]) if extra else wrong[0][1].sentence)
        raise ArgumentError(_described(first, params, missing, extra, wrong))
    for _, param, array in pairs:
        param._load_init(array, options.ctx, options.cast_dtype, options.dtype_source)


def misfit(param: Parameter, data: Any, options: Options) -> Misfit | None:
    """Why ``data`` cannot be loaded into a parameter; None if it can."""
    source = options.dtype_source
    if options.cast_dtype and source not in ("current", "saved"):
        raise ArgumentError(
            "dtype_source must be in ['current', 'saved']\n"
            f"  received  dtype_source={source!r}\n  expected  'current' or 'saved'\n"
            "  fix       leave it out to keep the dtype the block has"
        )
    failed = f"Failed loading Parameter '{param.name}' from saved params:"
    if not param._admits(data.shape):
        sentence = f"shape incompatible expected {param.shape} vs saved {data.shape}"
        return Misfit(f"{failed} {sentence}", f"of shape {data.shape}", f"of shape {param.shape}")
    if not options.cast_dtype and np.dtype(param.dtype) != np.dtype(data.dtype):
        return Misfit(
            f"{failed} dtype incompatible expected {param.dtype} vs saved {data.dtype}. Set "
            "cast_dtype=True to cast the dtype of saved params.",
            f"of dtype {np.dtype(data.dtype)}",
            f"of dtype {np.dtype(param.dtype)}",
            "cast_dtype=True",
        )
    held = param.list_ctx() if param._data is not None or param._deferred_init else None
    wanted = None if options.ctx is None else _contexts(options.ctx)
    if wanted is not None and held is not None and set(wanted) != set(held):
        return Misfit(
            f"Failed to load Parameter '{param.name}' on {wanted} because it was previous "
            f"initialized on {held}.",
            f"on {wanted}",
            f"on {held}, or reset_ctx() first",
            "no ctx",
        )
    return None


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
