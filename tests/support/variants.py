"""Cases made odder: other dtypes, sizes of zero, attributes left out, flipped or out of range.

The makers of the table draw what operators are made for. What is drawn here may be nonsense; then
the question to the real MXNet is whether it refuses.
"""

from __future__ import annotations

import math
import re

import numpy as np

from cases import make
from minigluon.core.op import REQUIRED, registry
from picks import Seeded

#: all that MXNet has; the floating ones come up more often
DTYPES = (
    "float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool", "float32",
    "float64",
)  # fmt: skip

_SPECIAL = (0.0, -0.0, 0.5, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, 1e4, -3.0, 1e-4)
_AXES = ("axis", "axes", "dim", "dim1", "dim2", "axis1", "axis2")


class Edges(Seeded):
    """Choices whose shapes have sides of zero and one often."""

    def shape(self, low=1, high=3, side=4):
        found = super().shape(low, high, side)
        return tuple(self.choice([n, 1, 0]) for n in found)


#: what is odd about the cases of odd numbers, in turn
KINDS = ("dtype", "empty", "defaults", "axes", "special", "changed", "rare")


def variant(entry, name, seed):
    """The case of this number, its dtype, and what is odd about it, None for every second one.

    Those are the table's own, in the dtypes it names.
    """
    choose = Seeded(f"{name} {seed}")
    if seed % 2 == 0:
        dtype = entry.dtypes[seed // 2 % len(entry.dtypes)]
        return make(entry, name, Seeded(seed // 2)), dtype, None
    odd = KINDS[seed // 2 % len(KINDS)]
    case = _empty(entry, name, seed) if odd == "empty" else None
    if case is None:
        odd = "dtype" if odd == "empty" else odd
        case = make(entry, name, Seeded(seed))
    dtype = choose.choice(DTYPES if odd in ("dtype", "empty", "special") else entry.dtypes)
    if odd == "defaults":
        _leave_out(case, choose)
    elif odd == "axes":
        _count_axes_from_the_other_end(case)
    elif odd == "special":
        _special_values(case, choose)
    elif odd == "changed":
        _change_one(case, choose)
    elif odd == "rare":
        _set_rare_ones(case, choose)
    return case, dtype, odd


#: attributes that many makers leave to their defaults -> other values
RARE = {
    "beta1": [0.5, 0.8],
    "beta2": [0.5, 0.99],
    "epsilon": [1e-3, 0.1],
    "gamma1": [0.5, 0.8],
    "gamma2": [0.5, 0.8],
    "clip_weights": [0.5],
    "upper_bound": [1.0, 2.0],
    "lazy_update": [False],
    "lr": [0.2, 1.0],
    "wd": [0.2],
    "output_mean_var": [True],
    "is_int": [False],
    "smooth_alpha": [0.1, 0.3],
    "preserve_shape": [True],
    "minimum_negative_samples": [1, 2],
    "iou_loss": [True],
    "feature_stride": [8, 4],
    "variances": [(0.2, 0.2, 0.1, 0.1)],
    "std2": [0.5],
    "dtype": ["float16", "float32", "float64", "int32", "int64"],
    "ndev": [2],
    "grad_scale": [0.5],
    "temperature": [0.5, 2.0],
}


def _set_rare_ones(case, choose):
    """Attributes that the maker of the case did not set get other values."""
    declared = registry[case.name].attributes
    for attribute in sorted(RARE.keys() & declared.keys() - case.attrs.keys()):
        case.attrs[attribute] = choose.choice(RARE[attribute])


def _empty(entry, name, seed):
    """A case with an array without elements, or None if there is none."""
    for attempt in range(30):
        try:
            case = make(entry, name, Edges(f"{seed} {attempt}"))
        except (ValueError, IndexError, ZeroDivisionError):
            continue  # the maker wanted to choose one of no elements
        if any(x.values.size == 0 for x in case.inputs):
            return case
    return None


def _leave_out(case, choose):
    """Some attributes are left to their defaults."""
    declared = registry[case.name].attributes
    for attribute in list(case.attrs):
        if declared[attribute][1] is not REQUIRED and choose.boolean():
            del case.attrs[attribute]


def _count_axes_from_the_other_end(case):
    rank = case.inputs[0].values.ndim if case.inputs else 0
    for attribute in _AXES:
        value = case.attrs.get(attribute)
        if isinstance(value, int) and not isinstance(value, bool):
            case.attrs[attribute] = value - rank if value >= 0 else value + rank
        elif isinstance(value, tuple):
            case.attrs[attribute] = tuple(k - rank if k >= 0 else k + rank for k in value)


def _special_values(case, choose):
    """Infinities, NaN, zeros and ties among the numbers of an input."""
    for x in case.inputs:
        if x.smooth and x.values.size and choose.integer(0, 2):
            with np.errstate(invalid="ignore"):
                mask = choose.numbers.random(x.values.shape) < 0.5
                x.values[mask] = choose.numbers.choice(_SPECIAL, int(mask.sum()))


def _change_one(case, choose):
    """One attribute gets another value of its type, out of range perhaps."""
    declared = registry[case.name].attributes
    if not declared:
        return
    attribute = choose.choice(sorted(declared))
    kind, default = declared[attribute]
    value = case.attrs.get(attribute, default)
    words = re.findall(r"'([^']*)'", kind.description) if "valid values" in kind.description else ()
    if words:
        case.attrs[attribute] = choose.choice(words)
    elif isinstance(value, bool):
        case.attrs[attribute] = not value
    elif isinstance(value, int):
        case.attrs[attribute] = choose.choice([0, 1, 2, 3, -1, -2, -5, 7])
    elif isinstance(value, float):
        case.attrs[attribute] = choose.choice([0.0, 1.0, -1.0, 0.5, 2.0, math.pi])
    elif isinstance(value, tuple) and value:
        k = choose.integer(0, len(value) - 1)
        other = choose.choice([0, 1, 2, -1, 3, None]) if None in value else choose.integer(-2, 4)
        case.attrs[attribute] = (*value[:k], other, *value[k + 1 :])
