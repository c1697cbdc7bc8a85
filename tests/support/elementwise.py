"""How to draw inputs and attributes for elementwise operators and casts."""

from __future__ import annotations

import numpy as np

from cases import fixed, smooth
from entries import (
    Entry,
    anything,
    away_from_zero,
    broadcasting,
    positive,
    same_shape,
    unary,
    with_scalar,
)

OWN_GRADIENT = "an output layer: its gradient is that of a loss it does not compute"
CASES: dict[str, Entry] = {}

# ---- elementwise, one array

CASES.update(
    dict.fromkeys(
        "negative abs sign square exp expm1 sin cos tanh sinh cosh arctan arcsinh degrees radians "
        "relu sigmoid softsign round rint ceil floor trunc fix erf logical_not _copy "
        "zeros_like ones_like".split(),
        unary(),
    )
)
CASES.update(
    {
        "make_loss": unary(slopes=OWN_GRADIENT),
        "BlockGrad": unary(slopes="its purpose is to have no gradient"),
        "tan": unary(-1.2, 1.2),
        "log1p": unary(-0.7, 3.0),
        "arccosh": unary(1.2, 4.0),
        "gamma": unary(0.4, 4.0),
        "gammaln": unary(0.4, 5.0),
    }
)
CASES.update(dict.fromkeys(["sqrt", "rsqrt", "log", "log10", "log2"], unary(0.3, 4.0)))
CASES.update(dict.fromkeys(["arcsin", "arccos", "arctanh", "erfinv"], unary(-0.85, 0.85)))
CASES.update(
    dict.fromkeys(
        ["reciprocal", "cbrt", "rcbrt"],
        Entry(lambda pick: [smooth(away_from_zero(pick, pick.shape()))]),
    )
)

# ---- elementwise, two arrays


def _dividend(pick, shape):
    """Numbers that are no multiples of one and a half, which `_divisor` gives."""
    return 1.5 * (pick.numbers.integers(-2, 3, shape) + pick.numbers.uniform(0.2, 0.8, shape))


def _divisor(pick, shape):
    return 1.5 * pick.numbers.choice([-1.0, 1.0], shape)


_OPERANDS = {
    "add sub mul maximum minimum hypot": (anything, anything),
    "div": (anything, away_from_zero),
    "power": (positive, anything),
    "mod": (_dividend, _divisor),
    "equal not_equal greater greater_equal lesser lesser_equal "
    "logical_and logical_or logical_xor": (
        anything,
        anything,
    ),
}
for _names, _makers in _OPERANDS.items():
    for _name in _names.split():
        _plain = f"elemwise_{_name}" if _name in ("add", "sub", "mul", "div") else f"_{_name}"
        CASES[_plain] = same_shape(*_makers)
        CASES[f"broadcast_{_name}"] = broadcasting(*_makers)

CASES["_scatter_elemwise_div"] = same_shape(
    anything, away_from_zero, dense="it touches the rows of lhs only"
)
CASES["_identity_with_attr_like_rhs"] = same_shape(anything, anything)


def _sum_of_some(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape)) for _ in range(pick.integer(1, 4))]


CASES["add_n"] = Entry(_sum_of_some)

# ---- elementwise, an array and a number


def _any_value(pick, shape, scalar):
    return pick.values(shape)


def _no_multiple(pick, shape, scalar):
    return scalar * (pick.numbers.integers(-2, 3, shape) + pick.numbers.uniform(0.2, 0.8, shape))


def _no_divisor(pick, shape, scalar):
    return scalar / (pick.numbers.integers(1, 4, shape) + pick.numbers.uniform(0.2, 0.8, shape))


_SCALARS = [1.0, 0.0, -1.0, 2.0, 0.5, 3]
CASES.update(
    {
        f"_{name}_scalar": with_scalar(_any_value, _SCALARS)
        for name in "plus minus rminus mul maximum minimum equal not_equal greater greater_equal "
        "lesser lesser_equal logical_and logical_or logical_xor".split()
    }
)
CASES.update(
    {
        "_hypot_scalar": with_scalar(_any_value, [1.0, -1.0, 2.0]),
        "_div_scalar": with_scalar(_any_value, [1.0, -2.0, 0.5]),
        "_rdiv_scalar": with_scalar(lambda p, s, k: away_from_zero(p, s), [1.0, 0.0, -2.0]),
        "_mod_scalar": with_scalar(_no_multiple, [2.0, -1.5, 0.5]),
        "_rmod_scalar": with_scalar(_no_divisor, [2.0, -1.5]),
        "_power_scalar": with_scalar(lambda p, s, k: positive(p, s), [1.0, 0.0, 2.0, 0.5, -1.0]),
        "_rpower_scalar": with_scalar(_any_value, [1.0, 2.0, 0.5]),
        "smooth_l1": with_scalar(_any_value, [1.0, 2.0]),
    }
)
CASES.update(
    dict.fromkeys(
        ["_scatter_plus_scalar", "_scatter_minus_scalar"],
        with_scalar(_any_value, _SCALARS, dense="it touches stored values only"),
    )
)


def _clipped(pick):
    return [smooth(pick.values(pick.shape()))], {
        "a_min": pick.choice([-1.0, 0.0, -0.5]),
        "a_max": pick.choice([1.0, 0.5, 0.0]),
    }


def _hard_sigmoid(pick):
    return [smooth(pick.values(pick.shape(), -4, 4))], {"alpha": pick.choice([0.2, 0.5])}


CASES["clip"] = Entry(_clipped)
CASES["hard_sigmoid"] = Entry(_hard_sigmoid)

STRAIGHT_THROUGH = "its gradient is that of the identity on purpose"
CASES["_contrib_quadratic"] = Entry(
    lambda pick: (
        [smooth(pick.values(pick.shape()))],
        {
            "a": pick.choice([1.0, 0.0, -2.0]),
            "b": pick.choice([0.0, 1.5]),
            "c": pick.choice([0, 1]),
        },
    )
)
CASES["_contrib_div_sqrt_dim"] = unary()
CASES["_contrib_round_ste"] = CASES["_contrib_sign_ste"] = unary(slopes=STRAIGHT_THROUGH)
CASES["_contrib_gradientmultiplier"] = with_scalar(
    _any_value, [1.0, 0.5], slopes="it changes the gradient on purpose"
)

# ---- dtypes and storages


def _cast(pick):
    dtype = pick.choice(["float64", "float32", "float16", "int32", "int64", "uint8", "int8"])
    if pick.smooth:
        dtype = "float64"
    return [smooth(pick.values(pick.shape(), 0, 4))], {"dtype": dtype}


def _amp_cast(pick):
    dtype = "float64" if pick.smooth else pick.choice(["float32", "float16"])
    return [smooth(pick.values(pick.shape()))], {"dtype": dtype}


def _amp_multicast(pick):
    count = pick.integer(1, 3)
    inputs = [smooth(pick.values(pick.shape())) for _ in range(count)]
    if not pick.smooth:
        for given in inputs[1:]:
            dtype = pick.choice(["float16", "float32"])
            given.values, given.flows, given.smooth = given.values.astype(dtype), False, False
    return inputs, {"num_outputs": count, "cast_narrow": pick.boolean()}


CASES["Cast"] = Entry(_cast)
CASES["amp_cast"] = Entry(_amp_cast)
CASES["amp_multicast"] = Entry(_amp_multicast)
CASES["cast_storage"] = Entry(
    lambda pick: (
        [smooth(pick.values(pick.shape(2, 2)))],
        {"stype": pick.choice(["default", "csr", "row_sparse"])},
    )
)


def _retained(pick):
    shape = pick.shape()
    rows = np.flatnonzero(pick.numbers.random(shape[0]) < 0.6)
    rows = rows if rows.size else np.array([0])
    return [smooth(pick.values(shape)), fixed(rows, pick.choice(["float32", "int64"]))]


CASES["_sparse_retain"] = Entry(_retained)
