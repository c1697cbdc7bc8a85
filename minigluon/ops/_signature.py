"""Signatures for operators that are made from tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

REQUIRED = inspect.Parameter.empty


def with_signature(
    function: Callable[..., Any],
    name: str,
    doc: str,
    arrays: Iterable[str],
    attributes: Iterable[tuple[str, Any, Any]],
    *,
    variadic: bool = False,
) -> Callable[..., Any]:
    """The function dressed as an operator's kernel, for ``op`` to read.

    ``attributes`` are ``(name, annotation, default)``, REQUIRED standing for no default (and, as an
    annotation, for what is handed in: ``rng``, ``out``). ``variadic`` takes any number of arrays,
    under the one name given.
    """
    kinds = inspect.Parameter
    kind = kinds.VAR_POSITIONAL if variadic else kinds.POSITIONAL_OR_KEYWORD
    parameters = [kinds(n, kind) for n in arrays]
    for attribute, annotation, default in attributes:
        parameters.append(
            kinds(attribute, kinds.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__name__ = name
    function.__doc__ = doc
    return function
