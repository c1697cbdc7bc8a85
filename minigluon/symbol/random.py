"""``mx.sym.random``: samples from distributions whose parameters are numbers or symbols."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..base import ArgumentError
from ..core.namespace import operator_namespace
from .creation import _made
from .symbol import Symbol

__getattr__, __dir__ = operator_namespace(globals(), "sym", "random")

#: name -> (the defaults of its parameters, what it draws)
_DISTRIBUTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "uniform": ({"low": 0, "high": 1}, "the uniform distribution on ``[low, high)``"),
    "normal": ({"loc": 0, "scale": 1}, "the normal distribution of mean ``loc``"),
    "poisson": ({"lam": 1}, "the Poisson distribution of mean ``lam``"),
    "gamma": ({"alpha": 1, "beta": 1}, "the gamma distribution of shape ``alpha``"),
    "negative_binomial": ({"k": 1, "p": 1}, "the failures before the ``k``-th success"),
    "generalized_negative_binomial": (
        {"mu": 1, "alpha": 1},
        "the negative binomial distribution of mean ``mu``",
    ),
    "randint": (
        {"low": inspect.Parameter.empty, "high": inspect.Parameter.empty},
        "the integers from ``low`` to ``high - 1``",
    ),
}


def _distribution(name: str, defaults: dict[str, Any], what: str) -> Callable[..., Symbol]:
    """The function that draws from one distribution."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    formal = [inspect.Parameter(n, kind, default=d) for n, d in defaults.items()]
    formal += [inspect.Parameter(n, kind, default=None) for n in ("shape", "dtype")]
    formal.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    signature = inspect.Signature(formal)

    def sample(*args: Any, **kwargs: Any) -> Symbol:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        attrs = {k: given[k] for k in ("shape", "dtype") if given[k] is not None}
        return _sample(name, {n: given[n] for n in defaults}, {**attrs, **given["kwargs"]})

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = (
        f"Samples from {what}.\n\nWith symbols for the parameters (all of them), ``shape`` samples "
        "are drawn for each of their elements."
    )
    sample.__signature__ = signature  # type: ignore[attr-defined]
    return sample


def _sample(name: str, parameters: dict[str, Any], attrs: dict[str, Any]) -> Symbol:
    """``_random_name`` for numbers, ``_sample_name`` if the parameters are symbols."""
    symbols = [isinstance(p, Symbol) for p in parameters.values()]
    if all(symbols):
        return _made(f"_sample_{name}", *parameters.values(), **attrs)
    if any(symbols):
        shown = ", ".join(f"{k} {type(v).__name__}" for k, v in parameters.items())
        raise ArgumentError(
            f"{name}: distribution parameters must all have the same type.\n"
            f"  received  {shown}\n  expected  symbols only, or numbers only\n"
            "  fix       make a symbol of the number: mx.sym.full(shape, number)"
        )
    return _made(f"_random_{name}", **parameters, **attrs)


for _name, _row in _DISTRIBUTIONS.items():
    globals()[_name] = _distribution(_name, *_row)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Samples from the normal distribution; the shape is given as separate numbers."""
    parameters = {"loc": kwargs.pop("loc", 0), "scale": kwargs.pop("scale", 1)}
    return _sample("normal", parameters, {"shape": shape, **kwargs})


def exponential(scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Samples from the exponential distribution of mean ``scale``."""
    attrs = {k: v for k, v in (("shape", shape), ("dtype", dtype)) if v is not None}
    return _sample("exponential", {"lam": 1.0 / scale}, {**attrs, **kwargs})


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Indices drawn with the probabilities in ``data``, one distribution a row.

    With ``get_prob`` (the default here, as in MXNet) their log probabilities come second.
    """
    attrs: dict[str, Any] = {} if shape is None else {"shape": shape}
    attrs.update(get_prob=get_prob, dtype=dtype)
    return _made("_sample_multinomial", data, **attrs, **kwargs)


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """The elements of ``data`` with the order of its first axis drawn at random."""
    return _made("_shuffle", data, **kwargs)
