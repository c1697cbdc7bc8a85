"""Sequences as symbols: one that holds all steps, or a list with one for each step."""

from __future__ import annotations

from .. import symbol
from ..base import ArgumentError, ArgumentTypeError, four_lines


def time_axis(layout: str) -> int:
    """The axis along which steps follow each other: 1 for NTC, 0 for TNC and TNCHW."""
    axis = layout.find("T")
    if axis < 0:
        raise ArgumentError(
            four_lines(
                "rnn: unknown layout of a sequence.", repr(layout), "NTC or TNC", "layout='NTC'"
            )
        )
    return axis


def as_steps(length: int, inputs, layout: str) -> list:
    """A list with the symbol of each step."""
    axis = time_axis(layout)
    if isinstance(inputs, symbol.Symbol):
        if len(inputs) != 1:
            raise ArgumentError(
                "unroll doesn't allow grouped symbol as input. Please convert to list with "
                "list(inputs) first or let unroll handle splitting."
            )
        return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))
    _check_length(length, inputs)
    return list(inputs)


def as_one(length: int | None, inputs, layout: str):
    """One symbol that holds every step."""
    axis = time_axis(layout)
    if isinstance(inputs, symbol.Symbol):
        return inputs
    _check_length(length, inputs)
    return symbol.Concat(*[symbol.expand_dims(step, axis=axis) for step in inputs], dim=axis)


def arranged(length: int, inputs, layout: str, merge: bool | None):
    """Steps as one symbol, as a list, or as they are when ``merge`` is None."""
    if merge is None:
        time_axis(layout)
        return inputs
    return as_one(length, inputs, layout) if merge else as_steps(length, inputs, layout)


def _check_length(length: int | None, inputs) -> None:
    if not isinstance(inputs, list | tuple):
        raise ArgumentTypeError(
            four_lines(
                "rnn: this is no sequence.",
                type(inputs).__name__,
                "a Symbol, or a list with one for each step",
                "inputs=mx.sym.Variable('data')",
            )
        )
    if length is not None and len(inputs) != length:
        raise ArgumentError(
            four_lines(
                "unroll: wrong number of inputs.",
                f"{len(inputs)} inputs for length={length}",
                "one for each step",
                "make them agree",
            )
        )
