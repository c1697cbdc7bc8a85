"""How to draw inputs and attributes for broadcasting and reductions."""

from __future__ import annotations

from cases import plain, smooth
from entries import (
    Entry,
    away_from_zero,
    reduction,
    some_axes,
)

CASES: dict[str, Entry] = {}

# ---- broadcasting and reductions


def _broadcast_to(pick):
    shape = pick.shape()
    target = tuple(pick.integer(1, 3) if n == 1 else n for n in shape)
    asked = tuple(0 if pick.boolean() and n == m else m for n, m in zip(shape, target, strict=True))
    return [smooth(pick.values(shape))], {"shape": asked}


def _broadcast_axis(pick):
    shape = list(pick.shape())
    axes = [k for k in range(len(shape)) if pick.boolean()] or [0]
    for k in axes:
        shape[k] = 1
    sizes = tuple(pick.integer(1, 3) for _ in axes)
    return [smooth(pick.values(tuple(shape)))], {"axis": tuple(axes), "size": sizes}


def _broadcast_like(pick):
    shape = pick.shape()
    narrow = tuple(1 if pick.boolean() else n for n in shape)
    inputs = [smooth(pick.values(narrow)), plain(pick.values(shape))]
    spread = [k for k, n in enumerate(narrow) if n == 1]
    if not spread or pick.boolean():
        return inputs, {}
    others = pick.shape(len(spread), 3)
    ends = tuple(pick.integer(0, len(others) - 1) for _ in spread)
    return [inputs[0], plain(pick.values(others))], {"lhs_axes": tuple(spread), "rhs_axes": ends}


CASES["broadcast_to"] = Entry(_broadcast_to)
CASES["broadcast_axis"] = Entry(_broadcast_axis)
CASES["broadcast_like"] = Entry(_broadcast_like)
CASES.update(dict.fromkeys(["sum", "mean", "nansum", "max", "min"], reduction()))
CASES.update(dict.fromkeys(["prod", "nanprod"], reduction(away_from_zero)))


def _square_sum(pick):
    attrs = {"axis": pick.choice([None, 0, 1, (0,), (1,)]), "keepdims": pick.boolean()}
    return [smooth(pick.values(pick.shape(2, 2)))], attrs


CASES["_square_sum"] = Entry(_square_sum)


def _moments(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape))], {
        "axes": some_axes(pick, shape) or 0,
        "keepdims": pick.boolean(),
    }


def _norm(pick):
    shape = pick.shape()
    axis = some_axes(pick, shape)
    if isinstance(axis, tuple) and len(axis) > 2:
        axis = axis[:2]
    return [smooth(away_from_zero(pick, shape))], {
        "ord": pick.choice([2, 1]),
        "axis": axis,
        "keepdims": pick.boolean(),
    }


def _extreme_place(pick):
    shape = pick.shape()
    axis = None if pick.boolean() else pick.axis(shape)
    return [smooth(pick.values(shape))], {"axis": axis, "keepdims": pick.boolean()}


CASES["moments"] = Entry(_moments)
CASES["norm"] = Entry(_norm)
CASES.update(dict.fromkeys(["argmax", "argmin"], Entry(_extreme_place)))
CASES["argmax_channel"] = Entry(lambda pick: [smooth(pick.values(pick.shape(2, 3)))])
