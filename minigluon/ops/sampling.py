"""Operators that draw from the less common distributions, draw indices, or shuffle."""

from __future__ import annotations

import math

import numpy as np

from ..base import AttributeValueError, MXNetError
from ..core.attributes import DType, Shape
from ..core.infer import UnknownShape
from ..core.op import op
from ._draws import (
    dtype_of_attribute,
    dtype_of_parameters,
    floating,
    refuse,
    shape_of_attribute,
    shape_of_data,
    shape_of_parameters,
)
from ._shared import filled
from ._signature import REQUIRED, with_signature


def _negative_binomial(rng, size, k, p):
    """Failures before the k-th success: a Poisson number whose mean is gamma distributed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = rng.standard_gamma(k, size) * ((1 - p) / p)
    return _poisson(rng, size, np.nan_to_num(mean, nan=0.0))


def _generalized(rng, size, mu, alpha):
    spread = np.maximum(alpha, 1e-12)
    mean = rng.standard_gamma(1 / spread, size) * spread * mu
    return _poisson(rng, size, np.where(alpha > 1e-12, mean, mu))


def _poisson(rng, size, mean):
    # numpy refuses means beyond 2**63; there the spread is far below the rounding of the mean
    large = np.asarray(mean) > 1e15
    if not np.any(large):
        return rng.poisson(mean, size)
    return np.where(large, mean, rng.poisson(np.where(large, 0, mean), size))


#: name -> (title, ((parameter, type, default), ...), draw(rng, size, *parameters), checks)
#: a check is (parameter, says whether a value is right, what is)
_DISTRIBUTIONS = {
    "exponential": (
        "the exponential distribution of rate ``lam``",
        (("lam", "float", 1.0),),
        lambda rng, size, lam: rng.standard_exponential(size) / lam,
        (("lam", lambda v: v > 0, "a number above 0"),),
    ),
    "gamma": (
        "the gamma distribution of shape ``alpha`` and scale ``beta``",
        (("alpha", "float", 1.0), ("beta", "float", 1.0)),
        lambda rng, size, alpha, beta: rng.standard_gamma(alpha, size) * beta,
        (
            ("alpha", lambda v: v > 0, "a number above 0"),
            ("beta", lambda v: v > 0, "a number above 0"),
        ),
    ),
    "poisson": (
        "the Poisson distribution of mean ``lam``, as floats",
        (("lam", "float", 1.0),),
        _poisson,
        (("lam", lambda v: v >= 0, "a number of at least 0"),),
    ),
    "negative_binomial": (
        "how many failures come before the ``k``-th success of probability ``p``, as floats",
        (("k", "int", 1), ("p", "float", 1.0)),
        _negative_binomial,
        (
            ("k", lambda v: v >= 0, "a number of at least 0"),
            ("p", lambda v: (v > 0) & (v <= 1), "a probability above 0"),
        ),
    ),
    "generalized_negative_binomial": (
        "the negative binomial distribution of mean ``mu`` and dispersion ``alpha``, as floats",
        (("mu", "float", 1.0), ("alpha", "float", 1.0)),
        _generalized,
        (
            ("mu", lambda v: v >= 0, "a number of at least 0"),
            ("alpha", lambda v: v >= 0, "a number of at least 0"),
        ),
    ),
}


def _check(name, checks, values):
    for parameter, right, expected in checks:
        value = values[parameter]
        if not np.all(right(np.asarray(value))):
            raise refuse(name, parameter, value, expected)


_SHAPE_OF = (("shape", "Shape | None", None), ("dtype", "DType | None", None))
_HANDED = (("rng", REQUIRED, REQUIRED), ("out", REQUIRED, None))


def _declare(name):
    title, parameters, draw, checks = _DISTRIBUTIONS[name]
    names = tuple([p[0] for p in parameters])

    def from_numbers(*, rng, shape, dtype, out=None, **values):
        _check(name, checks, values)
        size = (1,) if shape is None else shape
        drawn = draw(rng, size, *[values[n] for n in names])
        return filled(np.asarray(drawn).astype(floating(name, dtype)), out)

    doc = f"""Numbers drawn from {title}.

    Examples
    --------
    >>> nd.random.{name}({"2, 0.5" if name == "negative_binomial" else "1"}, shape=(2, 3)).shape
    (2, 3)
    """
    signature = (*parameters, *_SHAPE_OF, *_HANDED)
    made = op(
        with_signature(from_numbers, f"_random_{name}", doc, (), signature),
        aliases=(f"random_{name}",),
    )
    made.shape(shape_of_attribute)
    made.dtype(dtype_of_attribute)

    def like(data, *, rng, **values):
        _check(name, checks, values)
        drawn = draw(rng, data.shape, *[values[n] for n in names])
        return np.asarray(drawn).astype(data.dtype)

    doc = f"Numbers drawn from {title}, in the shape and dtype of ``data``."
    signature = (*parameters, _HANDED[0])
    made = op(
        with_signature(like, f"_random_{name}_like", doc, ("data",), signature),
        grad="zero",
    )
    made.shape(shape_of_data)

    def from_arrays(*arrays, rng, shape, dtype):
        _check(name, checks, dict(zip(names, arrays, strict=True)))
        spread = (..., *[None] * len(shape))
        size = (*arrays[0].shape, *shape)
        drawn = draw(rng, size, *[a.astype(np.float64)[spread] for a in arrays])
        return np.asarray(drawn).astype(floating(name, dtype))

    doc = f"``shape`` numbers drawn from {title}, for each element of the parameters."
    signature = (("shape", "Shape", ()), ("dtype", "DType | None", None), _HANDED[0])
    made = op(
        with_signature(from_arrays, f"_sample_{name}", doc, names, signature),
        aliases=(f"sample_{name}",),
        grad="zero",
    )
    made.shape(shape_of_parameters)
    made.dtype(dtype_of_parameters)


for _name in _DISTRIBUTIONS:
    _declare(_name)


@op(aliases=("random_randint", "_npi_random_randint"))
def _random_randint(
    *, low: int, high: int, shape: Shape | None = None, dtype: DType | None = None, rng, out=None
):
    """Integers drawn evenly from ``low`` to ``high - 1``, int32 unless ``dtype`` says int64.

    Examples
    --------
    >>> nd.random.randint(0, 5, shape=(2, 3)).dtype
    <class 'numpy.int32'>
    """
    kind = dtype or np.dtype(np.int32)
    if kind not in (np.int32, np.int64):
        raise refuse("randint", "dtype", kind, "int32 or int64")
    if high <= low:
        raise refuse("randint", "high", high, f"more than low={low}")
    if not np.iinfo(kind).min <= low < high <= np.iinfo(kind).max + 1:
        raise refuse("randint", "low, high", (low, high), f"numbers that fit into {kind}")
    return filled(rng.integers(low, high, (1,) if shape is None else shape, kind), out)


_random_randint.shape(shape_of_attribute)


@_random_randint.dtype
def _(t, *, dtype, **_):
    t.out = dtype or np.int32


# ---- indices


def _names(get_prob, **_):
    return ("output0", "output1") if get_prob else ("output",)


@op(
    aliases=("sample_multinomial",),
    outputs=lambda get_prob, **_: 2 if get_prob else 1,
    output_names=_names,
)
def _sample_multinomial(
    data, *, shape: Shape = (), get_prob: bool = False, dtype: DType = "int32", rng
):
    """Indices drawn with the probabilities in the last axis of ``data``.

    Probabilities need not add up to one: they are taken in proportion.

    Parameters
    ----------
    shape : how many to draw from each distribution; () for one.
    get_prob : also give the logarithms of the probabilities of what was drawn. They carry the
        gradient to ``data``, as REINFORCE needs.

    Raises ``MXNetError`` for negative probabilities, NaN, or all zeros.

    Examples
    --------
    >>> nd.sample_multinomial(nd.array([0, 1, 0]), shape=4).asnumpy()
    array([1, 1, 1, 1], dtype=int32)
    """
    rows = data.reshape(-1, data.shape[-1])
    totals = np.cumsum(rows, axis=1, dtype=np.float64)
    if not (np.all(rows >= 0) and np.all((totals[:, -1] > 0) & np.isfinite(totals[:, -1]))):
        raise MXNetError(
            "sample_multinomial: these are no probabilities.\n"
            f"  received  data {data.shape} with values from {rows.min()} to {rows.max()}\n"
            "  expected  values of at least 0 that do not all vanish along the last axis\n"
            "  fix       apply nd.softmax first, if these are scores"
        )
    count = math.prod(shape)
    drawn = _drawn_indices(totals, rng.random((rows.shape[0], count)) * totals[:, -1:])
    indices = drawn.reshape(data.shape[:-1] + shape)
    if indices.ndim == 0:
        indices = indices.reshape(1)
    given = indices.astype(dtype)
    if not get_prob:
        return given
    return given, np.log(_pick_drawn.dense(data, indices))


def _drawn_indices(totals, at):
    """The first index whose running total is above ``at``, for each row."""
    last = np.argmax(totals == totals[:, -1:], axis=1)[:, None]
    if at.shape[1] <= 4:  # 1000 rows of 100 with one draw: 0.3 ms against 4.2
        found = np.empty(at.shape, np.int64)
        for k in range(at.shape[1]):
            found[:, k] = np.count_nonzero(totals <= at[:, k : k + 1], axis=1)
    else:
        pairs = zip(totals, at, strict=True)
        found = np.array([np.searchsorted(t, a, side="right") for t, a in pairs])
    return np.minimum(found.reshape(at.shape), last)


@_sample_multinomial.shape
def _(s, *, shape, **_):
    data = s.data
    if not isinstance(data, UnknownShape):
        drawn = (*data[:-1], *shape) or (1,)
        s.outs = [drawn] * len(s.outs)


@_sample_multinomial.dtype
def _(t, *, dtype, get_prob, **_):
    t.out = dtype
    if get_prob:
        t.state(("out", 1), t.data)


@_sample_multinomial.grad
def _(F, g, data, *, out, shape, get_prob, dtype):
    if not get_prob:
        return None
    return F._put_drawn(g[1] / F._pick_drawn(data, out[0]), out[0], data)


@op()
def _pick_drawn(data, indices):
    """The elements of the last axis that were drawn, in the shape of ``indices``."""
    rows = data.reshape(-1, data.shape[-1])
    columns = indices.astype(np.int64).reshape(rows.shape[0], -1)
    return np.take_along_axis(rows, columns, 1).reshape(indices.shape)


_pick_drawn.shape(lambda s, **_: setattr(s, "out", s.indices))


@_pick_drawn.dtype
def _(t, **_):
    t.out = t.data


@_pick_drawn.grad
def _(F, h, data, indices, *, out):
    return F._put_drawn(h, indices, data), None


@op(shape_only=("like",))
def _put_drawn(values, indices, like):
    """Zeros like ``like`` with ``values`` added where ``_pick_drawn`` reads."""
    result = np.zeros(like.shape, values.dtype)
    rows = result.reshape(-1, like.shape[-1])
    columns = indices.astype(np.int64).reshape(rows.shape[0], -1)
    np.add.at(rows, (np.arange(rows.shape[0])[:, None], columns), values.reshape(columns.shape))
    return result


_put_drawn.shape(lambda s, **_: setattr(s, "out", s.like))


@_put_drawn.dtype
def _(t, **_):
    t.out = t.values


@_put_drawn.grad
def _(F, h, values, indices, like, *, out):
    return F._pick_drawn(h, indices), None, None


@op(aliases=("shuffle", "_npi_shuffle"))
def _shuffle(data, *, rng):
    """The rows (elements of the first axis) in an order drawn at random. It has no gradient.

    Examples
    --------
    >>> nd.sort(nd.shuffle(nd.arange(4))).asnumpy()
    array([0., 1., 2., 3.], dtype=float32)
    """
    return rng.permutation(data, axis=0)


_shuffle.shape(shape_of_data)


@op(outputs=2)
def _sample_unique_zipfian(*, range_max: int, shape: Shape | None = None, rng):
    """Distinct numbers below ``range_max`` for each row, about as frequent as words, and the tries.

    Number ``k`` is drawn with probability ``log((k+2)/(k+1)) / log(range_max+1)``, until the row
    holds ``shape[1]`` distinct ones; the second result counts the draws this took.
    """
    rows, wanted = (1, 1) if shape is None else (shape[0], math.prod(shape[1:]))
    if wanted > range_max:
        raise AttributeValueError(
            "sample_unique_zipfian: there are not so many distinct numbers.\n"
            f"  received  shape={shape}, range_max={range_max}\n"
            f"  expected  at most {range_max} numbers a row\n  fix       draw fewer"
        )
    numbers = np.empty((rows, wanted), np.int64)
    tries = np.empty(rows, np.int64)
    for row in range(rows):
        numbers[row], tries[row] = _distinct_draws(rng, range_max, wanted)
    return numbers.reshape((1,) if shape is None else shape), tries


def _distinct_draws(rng, range_max, wanted):
    seen: dict[int, None] = {}
    tries = 0
    while len(seen) < wanted:
        for u in rng.random(2 * (wanted - len(seen)) + 8):
            value = int(math.exp(u * math.log(range_max + 1))) - 1
            seen.setdefault(min(value, range_max - 1))
            tries += 1
            if len(seen) == wanted:
                break
    return list(seen), tries


@_sample_unique_zipfian.shape
def _(s, *, range_max, shape):
    if shape is not None:
        s.outs = [shape, (shape[0],)]


@_sample_unique_zipfian.dtype
def _(t, **_):
    t.outs = [np.int64, np.int64]
