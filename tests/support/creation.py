"""How to draw attributes for operators that make arrays, at random or not."""

from __future__ import annotations

from cases import plain
from entries import (
    Entry,
    nothing,
)

RANDOM = "the result is random"
CASES: dict[str, Entry] = {}

# ---- making arrays

_DTYPES = ["float32", "float64", "int32", "float16", "uint8", "int64"]


def _filled(pick):
    return {"shape": pick.shape(), "dtype": pick.choice(_DTYPES)}


CASES["_zeros"] = CASES["_ones"] = nothing(_filled)
# with -1, its default, it takes the dtype of its surroundings, and alone says none
CASES["_zeros_without_dtype"] = nothing(
    lambda pick: {"shape": pick.shape(), "dtype": pick.choice([0, 1, 4])}
)
CASES["_full"] = nothing(lambda pick: {**_filled(pick), "value": pick.choice([2.0, 0.0, 7.0])})
CASES["_arange"] = nothing(
    lambda pick: {
        "start": pick.choice([0.0, 1.0, -2.5]),
        "stop": pick.choice([4.0, 3.5]),
        "step": pick.choice([1.0, 0.5, 2.0]),
        "repeat": pick.integer(1, 3),
        "dtype": pick.choice(["float32", "float64"]),
    }
)
CASES["_linspace"] = nothing(
    lambda pick: {
        "start": pick.choice([0.0, -1.0]),
        "stop": pick.choice([2.0, 5.0]),
        "num": pick.integer(2, 6),
        "endpoint": pick.boolean(),
    }
)
CASES["_eye"] = nothing(
    lambda pick: {
        "N": pick.integer(1, 4),
        "M": pick.integer(0, 4),
        "k": pick.integer(-2, 2),
        "dtype": pick.choice(_DTYPES[:3]),
    }
)

# ---- random numbers


def _sampler(*names):
    def attributes(pick):
        numbers = {name: pick.choice([0.5, 1.0]) for name in names}
        dtype = pick.choice(["float32", "float64"])
        return {**numbers, "shape": pick.shape(), "dtype": dtype}

    return nothing(attributes, random=True)


def _like_sampler(*names):
    def make(pick):
        attrs = {name: pick.choice([0.5, 1.0]) for name in names}
        return [plain(pick.values(pick.shape()))], attrs

    return Entry(make, random=True, slopes=RANDOM)


def _array_sampler(*domains):
    def make(pick):
        shape = pick.shape(1, 2)
        arrays = [plain(pick.values(shape, *domain)) for domain in domains]
        return arrays, {"shape": pick.choice([(), (2,), (3, 2)])}

    return Entry(make, random=True, slopes=RANDOM, dtypes=("float32", "float64"))


CASES["_random_uniform"] = nothing(
    lambda pick: {"low": -1.0, "high": pick.choice([1.0, 2.0]), "shape": pick.shape()}, random=True
)
CASES["_random_normal"] = _sampler("loc", "scale")
CASES["_random_uniform_like"] = Entry(
    lambda pick: ([plain(pick.values(pick.shape()))], {"low": -1.0}), random=True, slopes=RANDOM
)
CASES["_random_normal_like"] = _like_sampler("loc", "scale")
CASES["_sample_uniform"] = _array_sampler((-2.0, 0.0), (0.5, 2.0))
CASES["_sample_normal"] = _array_sampler((-1.0, 1.0), (0.3, 2.0))
