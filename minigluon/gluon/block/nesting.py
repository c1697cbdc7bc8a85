"""Nested lists of arrays or symbols, flattened and put together again.

A format is 0 for one array, -1 for None, n > 1 for a symbol with n outputs, and a list of formats
for a list.
"""

from __future__ import annotations

from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError

NDArray, Symbol = nd.NDArray, sym.Symbol


def flatten(value: Any, what: str) -> tuple[list, Any]:
    """The arrays, symbols and Nones inside ``value`` as a flat list, and its format."""
    if isinstance(value, NDArray):
        return [value], 0
    if isinstance(value, Symbol):
        outputs = len(value.list_outputs())
        return [value], outputs if outputs > 1 else 0
    if value is None:
        return [None], -1
    if not isinstance(value, list | tuple):
        raise ArgumentError(
            f"When hybridized, the input of HybridBlock {what} must be (nested) list of Symbol or "
            f"NDArray, but got {value} of type {type(value)}\n"
            f"  received  {type(value).__name__} {value!r:.60}\n"
            "  expected  NDArray, Symbol, None, or nested lists of them\n"
            "  fix       pass an array (mx.nd.array([...])), or make the value an attribute"
        )
    flat: list = []
    formats = []
    for inner in value:
        values, form = flatten(inner, what)
        flat.extend(values)
        formats.append(form)
    return flat, formats


def regroup(flat: list, form: Any) -> Any:
    """What ``flatten`` took apart; ``flat`` holds the values without the Nones."""
    value, rest = _take(list(flat), form)
    assert not rest, "a format takes up all values"
    return value


def _take(flat: list, form: Any) -> tuple[Any, list]:
    if isinstance(form, int):
        if form == -1:
            return None, flat
        if form == 0:
            return flat[0], flat[1:]
        return flat[:form], flat[form:]
    values = []
    for inner in form:
        value, flat = _take(flat, inner)
        values.append(value)
    return values, flat


def tensors(value: Any) -> list:
    """The arrays and symbols in nested lists, whatever else may be there."""
    if isinstance(value, NDArray | Symbol):
        return [value]
    if isinstance(value, list | tuple):
        return [x for inner in value for x in tensors(inner)]
    return []
