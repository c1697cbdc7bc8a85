"""``mx.nd.random``: samples from distributions whose parameters are numbers or arrays."""

from __future__ import annotations

from typing import Any

from ..core.namespace import operator_namespace
from . import _internal
from .ndarray import NDArray

__getattr__, __dir__ = operator_namespace(globals(), "nd", "random")


def uniform(
    low: Any = 0,
    high: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples from the uniform distribution on ``[low, high)``.

    With arrays for ``low`` and ``high`` (in one shape), ``shape`` samples are drawn for each pair.
    """
    return _sample("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(
    loc: Any = 0,
    scale: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples from the normal distribution with mean ``loc`` and standard deviation ``scale``."""
    names = {"loc": loc, "scale": scale}
    if isinstance(loc, NDArray) or isinstance(scale, NDArray):
        names = {"mu": loc, "sigma": scale}
    return _sample("normal", names, shape, dtype, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> Any:
    """Samples from the normal distribution; the shape is given as separate numbers."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return normal(loc, scale, kwargs.pop("shape", None) or shape or None, **kwargs)


def poisson(
    lam: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples from the Poisson distribution with mean ``lam``, as floats."""
    return _sample("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def exponential(
    scale: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples from the exponential distribution with mean ``scale``."""
    return _sample("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def gamma(
    alpha: Any = 1,
    beta: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples from the gamma distribution of shape ``alpha`` and scale ``beta``."""
    return _sample("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


def negative_binomial(
    k: Any = 1,
    p: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """How many failures come before the ``k``-th success of probability ``p``, as floats."""
    return _sample("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(
    mu: Any = 1,
    alpha: Any = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Samples of the negative binomial distribution with mean ``mu`` and dispersion ``alpha``."""
    parameters = {"mu": mu, "alpha": alpha}
    return _sample("generalized_negative_binomial", parameters, shape, dtype, ctx, out, kwargs)


def multinomial(
    data: Any,
    shape: Any = None,
    get_prob: bool = False,
    out: Any = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Indices drawn with the probabilities in ``data``, one distribution a row.

    With ``get_prob`` the log probabilities of what was drawn are returned, too.
    """
    if not _given(shape):
        shape = ()
    return _internal._sample_multinomial(
        data, shape=shape, get_prob=get_prob, out=out, dtype=dtype, **kwargs
    )


def shuffle(data: Any, **kwargs: Any) -> Any:
    """The array with the order of its first axis drawn at random."""
    return _internal._shuffle(data, **kwargs)


def randint(
    low: int,
    high: int,
    shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Integers drawn uniformly from ``low`` to ``high - 1``, int32 unless ``dtype`` says int64."""
    parameters = {"low": low, "high": high}
    return _sample("randint", parameters, shape, dtype, ctx, out, kwargs)


def _given(value: Any) -> bool:
    return value is not None and type(value).__name__ != "_Null"


def _sample(
    name: str,
    parameters: dict[str, Any],
    shape: Any,
    dtype: Any,
    ctx: Any,
    out: Any,
    kwargs: dict[str, Any],
) -> Any:
    """``_random_name`` for numbers, ``_sample_name`` if the parameters are arrays."""
    attrs = {k: v for k, v in (("shape", shape), ("dtype", dtype)) if _given(v)}
    arrays = [isinstance(p, NDArray) for p in parameters.values()]
    if all(arrays):
        function = getattr(_internal, f"_sample_{name}")
        return function(*parameters.values(), out=out, **attrs, **kwargs)
    if any(arrays):
        raise ValueError(
            f"Distribution parameters of {name} must all be NDArrays or all be numbers, got "
            f"{', '.join(f'{k} {type(v).__name__}' for k, v in parameters.items())}"
        )
    if "shape" not in attrs and out is None:
        attrs["shape"] = (1,)
    elif "shape" not in attrs:
        attrs["shape"] = out.shape
    function = getattr(_internal, f"_random_{name}")
    return function(**parameters, **attrs, ctx=ctx, out=out, **kwargs)
