"""Sequences as one array or as a list of steps, and those of different length in one batch."""

from __future__ import annotations

import math
from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError, four_lines
from ..parameter import tensor_types


def namespace(value: Any) -> Any:
    """``nd`` or ``sym``, whichever an array, a symbol or a list of them belongs to."""
    while not isinstance(value, tensor_types):
        value = value[0]
    return sym if isinstance(value, sym.Symbol) else nd


def time_axis(layout: str) -> int:
    """Where time is in a layout such as "NTC"."""
    if sorted(layout) != ["C", "N", "T"]:
        raise ArgumentError(
            four_lines(
                "unroll: unknown layout.", f"layout={layout!r}", "'NTC' or 'TNC'",
                "name the axes of the input: N batch, T time, C channels",
            )
        )  # fmt: skip
    return layout.index("T")


def batch_size(inputs: Any, layout: str) -> int:
    """How many sequences there are in an array or a list of steps."""
    if isinstance(inputs, tensor_types):
        return inputs.shape[layout.index("N")]
    return inputs[0].shape[layout.replace("T", "").index("N")]


def zeros_beside(step: Any) -> Any:
    """A function that makes zeros with as many rows as a symbol ``(batch, channels)`` has.

    In a graph the batch is not known; taken from the input it is right for every batch.
    """
    column = sym.zeros_like(sym.slice_axis(sym.Flatten(step), axis=1, begin=0, end=1))

    def make(name: str, shape: tuple, **_: Any) -> Any:
        rest = shape[1:]
        if len(rest) == 1:
            return sym.tile(column, reps=(1, *rest), name=name)
        return sym.reshape(sym.tile(column, reps=(1, math.prod(rest))), (-1, *rest), name=name)

    return make


def steps(inputs: Any, length: int | None, layout: str) -> list:
    """A sequence as a list of its steps."""
    axis = time_axis(layout)
    if not isinstance(inputs, tensor_types):
        _check_length(len(inputs), length)
        return list(inputs)
    if isinstance(inputs, sym.Symbol):
        if length is None:
            raise ArgumentError(
                four_lines(
                    "unroll: a symbol as input needs length=, its number of steps",
                    "length=None",
                    "a number",
                    "pass the length, or unroll arrays",
                )
            )
    else:
        _check_length(inputs.shape[axis], length)
        length = inputs.shape[axis]
    parts = namespace(inputs).split(inputs, num_outputs=length, axis=axis, squeeze_axis=True)
    return [parts] if isinstance(parts, nd.NDArray) else list(parts)


def merged(inputs: Any, layout: str) -> Any:
    """A sequence as one array."""
    if isinstance(inputs, tensor_types):
        return inputs
    return namespace(inputs).stack(*inputs, axis=time_axis(layout))


def in_form(inputs: Any, length: int | None, layout: str, merge: bool | None) -> Any:
    """A sequence merged, in steps, or (with None) as it is."""
    if merge is None:
        return inputs
    return merged(inputs, layout) if merge else steps(inputs, length, layout)


def masked(inputs: Any, valid_length: Any, layout: str) -> Any:
    """A sequence, merged, with zeros after the valid steps."""
    data = merged(inputs, layout)
    return namespace(data).SequenceMask(
        data, valid_length, use_sequence_length=True, axis=time_axis(layout)
    )


def backwards(inputs: list, valid_length: Any) -> list:
    """Steps in reverse order; with valid lengths only those are turned round."""
    if valid_length is None:
        return inputs[::-1]
    F = namespace(inputs)
    turned = F.SequenceReverse(F.stack(*inputs, axis=0), valid_length, use_sequence_length=True)
    return steps(turned, len(inputs), "TNC")


def _check_length(received: int, wanted: int | None) -> None:
    if wanted is not None and received != wanted:
        raise ArgumentError(
            four_lines(
                "unroll: the input has another number of steps.", f"{received} steps",
                f"length={wanted}", "pass the length of the input, or check its layout",
            )
        )  # fmt: skip
