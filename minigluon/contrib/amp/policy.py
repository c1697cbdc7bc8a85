"""What is to be done with the inputs of an operator: a policy for each, made from the lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...base import ArgumentError, MXNetError, four_lines
from ...core.op import Op, registry
from .lists import symbol_fp16 as lists

LOW, FULL, WIDEST = "float16", "float32", "widest"

Policy = Callable[[Mapping[str, Any]], "str | None"]
"""From an operator's attributes to what its inputs become; None leaves them alone."""


def require_float16(target_dtype: str) -> None:
    """numpy has no bfloat16, and of other types nothing is gained."""
    if target_dtype == "bfloat16":
        raise MXNetError(
            four_lines(
                "AMP: bfloat16 is not there, because numpy has no such type.",
                "target_dtype='bfloat16'",
                "target_dtype='float16'",
                "use float16, and amp.scale_loss for its smaller range",
            )
        )
    if target_dtype != "float16":
        raise ArgumentError(
            four_lines(
                "AMP currently supports only float16 or bfloat16 as a target_dtype. Only "
                "target_dtype float16 and bfloat16 are supported currently",
                f"target_dtype={target_dtype!r}",
                "'float16'",
                "pass target_dtype='float16'",
            )
        )


def policies(
    low: Iterable[str] | None = None,
    full: Iterable[str] | None = None,
    conditional: Iterable[tuple] | None = None,
) -> dict[Op, Policy]:
    """The policy of every operator that has one; lists not given are the usual ones.

    An operator that is in a given list is not in the usual lists as well.
    """
    given = [name for names in (low, full) if names is not None for name in names]
    _require_known(low, "target_dtype_ops")
    _require_known(full, "fp32_ops")
    twice = set(low or ()) & set(full or ())
    if twice:
        raise ArgumentError(
            four_lines(
                "Ops cannot be in two or more lists. Common ops in target_dtype_ops and fp32_ops "
                f"{sorted(twice)}",
                f"{sorted(twice)} in both lists",
                "each operator in one list",
                "take it out of one of them",
            )
        )
    found: dict[Op, Policy] = {}
    usual = [
        (lists.WIDEST_TYPE_CASTS, WIDEST),
        (lists.FP32_FUNCS if full is None else full, FULL),
        (lists.FP16_FUNCS if low is None else low, LOW),
    ]
    for names, kind in usual:
        for name in names:
            if name in registry and (name not in given or kind != WIDEST):
                found[registry[name]] = _always(kind)
    rules = lists.CONDITIONAL_FP32_FUNCS if conditional is None else conditional
    for name, attribute, values in rules:
        _require_known([name], "conditional_fp32_ops")
        found[registry[name]] = _when(attribute, values, found.get(registry[name]))
    return found


def _always(kind: str) -> Policy:
    return lambda attributes: kind


def _when(attribute: str, values: list, otherwise: Policy | None) -> Policy:
    def policy(attributes: Mapping[str, Any]) -> str | None:
        if attributes.get(attribute) in values:
            return FULL
        return None if otherwise is None else otherwise(attributes)

    return policy


def _require_known(names: Any, argument: str) -> None:
    if names is None:
        return
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            four_lines(
                f"{argument} should be a list of strs",
                f"{argument}={names!r}",
                "names of operators",
                f"pass {argument}=['FullyConnected']",
            )
        )
    unknown = {name for name in names if name not in registry}
    if unknown:
        raise ArgumentError(
            four_lines(
                f"{argument}: Op {sorted(unknown)} not in any of the lists of operators",
                f"{argument}={list(names)!r}",
                "names that amp.list_lp16_ops, list_fp32_ops, ... or nd have",
                "check the spelling",
            )
        )
