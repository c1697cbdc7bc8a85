"""The sparse kernel rows of the operator table, and cases that come to them."""

from __future__ import annotations

import itertools

import numpy as np

from cases import make
from minigluon import storage
from minigluon.core.op import registry
from operators import CASES
from picks import Seeded


def signatures(row, variadic_count=2):
    """The tuples of storage types a row is for."""
    inputs = list(row.inputs)
    if row.variadic:
        inputs += [inputs[-1]] * (variadic_count - len(inputs))
    return list(itertools.product(*[sorted(kinds) for kinds in inputs]))


def hidden(earlier, row, stypes, hint):
    """Whether inputs stored so never get past the rows before this one.

    Where a ``hint`` may ask for a storage they get past those that give another.
    """
    return any(
        other.matches(stypes) and other.when is None and (not hint or other.outputs == row.outputs)
        for other in earlier
    )


#: what a test calls a row -> the operator, the row, the storage types of its inputs
ROWS = {
    f"{name} {' '.join(stypes)}{f' {k}' if row.when or registry[name].hint else ''}": (
        name,
        row,
        stypes,
    )
    for name in sorted(CASES)
    for k, row in enumerate(registry[name].rows)
    for stypes in signatures(row)
    if set(stypes) != {"default"} or row.outputs[0] != "default"
    if not getattr(row.function, "refuses", False)
    if not hidden(registry[name].rows[:k], row, stypes, registry[name].hint)
}


def comes_to(call, row, stypes):
    """Whether a call on inputs stored so comes to this row."""
    types = tuple([storage.TYPES[s] for s in stypes])
    for other in call.op.rows:
        if other.matches(stypes) and (other.when is None or other.when(**call.attrs)):
            hint = call.attrs[call.op.hint] if call.op.hint else None
            if hint is None or other.outputs[0] == hint:
                return other is row and call.resolve(types).stypes[0] == row.outputs[0]
    return False


def sparse_case(name, row, stypes, seed, dtype="float32"):
    """A case that comes to the row, and its inputs with many zeros where they are sparse."""
    rank = 2 if "csr" in stypes or registry[name].hint else None
    for attempt in range(400):
        case = make(CASES[name], name, Seeded(1000 * seed + attempt, rank=rank))
        arrays = case.arrays(dtype)
        fits = [s != "csr" or x.ndim == 2 for x, s in zip(arrays, stypes, strict=False)]
        if len(arrays) == len(stypes) and all(fits) and comes_to(case.call(), row, stypes):
            # MXNet wants all rows of weights and states to be there, so only gradients have gaps
            full = [case.entry.step and k != 1 for k in range(len(arrays))]
            return case, thinned(arrays, stypes, seed, full)
    raise LookupError(f"no case of {name} comes to its row for {stypes}")


def thinned(arrays, stypes, seed, full):
    """Storages of the arrays: rows and elements dropped, and now and then a zero that is stored.

    Of ``full`` ones nothing is dropped.
    """
    numbers = np.random.default_rng(seed)
    inputs = []
    for array, stype, whole in zip(arrays, stypes, full, strict=True):
        if whole:
            array = np.where(array == 0, array.dtype.type(0.5), array)
        elif stype != "default":
            array = array * (numbers.random(array.shape) < 0.6)
            array[numbers.random(array.shape[0]) < 0.3] = 0
        made = storage.cast(array, stype)
        if stype != "default" and not whole and made.values.size and numbers.random() < 0.3:
            made.values.flat[0] = 0
        inputs.append(made)
    return inputs
