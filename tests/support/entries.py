"""What an entry of the table of cases says about an operator, and makers many operators share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cases import plain, smooth

#: the dtypes a law on values may run in
FLOATS = ("float32", "float64", "float16")


@dataclass
class Entry:
    """How to make cases of an operator, and which laws hold for it.

    Parameters
    ----------
    make : from a `Pick` to the inputs, or to (inputs, attributes).
    slopes : True if gradients are derivatives, else why they are not.
    second : True if second derivatives are those of the first, else why not.
    dense : True if a sparse kernel gives what the dense one does, else why not.
    dtypes : the dtypes in which the operator may be run.
    training : run in training mode.
    random : what it gives is random.
    step : a step of an optimizer: it writes to its first input.
    factor : how much further than others results may be from the truth.
    every : a step of many weights: it writes to the first of every so many inputs.
    stypes : how the inputs are stored, if not densely.
    """

    make: Callable
    slopes: object = True
    second: object = True
    dense: object = True
    dtypes: tuple = FLOATS
    training: bool = False
    random: bool = False
    step: bool = False
    factor: float = 1
    every: int = 0
    stypes: tuple | None = None

    def written(self, attrs):
        """The numbers of the inputs that a step writes to."""
        if not self.every:
            return [0] if self.step else []
        counts = [attrs[n] for n in ("num_weights", "num_tensors") if n in attrs]
        return list(range(0, self.every * sum(counts), self.every))


def unary(low=-2.0, high=2.0, **options):
    """An elementwise operator of one array, with a domain."""

    def make(pick):
        return [smooth(pick.values(pick.shape(), low, high))]

    return Entry(make, **options)


def away_from_zero(pick, shape, low=0.4, high=2.0):
    """Numbers of both signs, none of them near zero."""
    values = pick.values(shape, low, high)
    return values * pick.numbers.choice([-1.0, 1.0], shape)


def same_shape(left, right, **options):
    """An elementwise operator of two arrays of one shape; makers get (pick, shape)."""

    def make(pick):
        shape = pick.shape()
        return [smooth(left(pick, shape)), smooth(right(pick, shape))]

    return Entry(make, **options)


def broadcasting(left, right, **options):
    """An elementwise operator of two arrays whose shapes broadcast."""

    def make(pick):
        shape = pick.shape()
        sides = [tuple(1 if pick.integer(0, 3) == 3 else n for n in shape) for _ in range(2)]
        return [smooth(left(pick, sides[0])), smooth(right(pick, sides[1]))]

    return Entry(make, **options)


def anything(pick, shape):
    """Numbers of any sign."""
    return pick.values(shape)


def positive(pick, shape):
    """Numbers above zero."""
    return pick.values(shape, 0.3, 2.5)


def with_scalar(values, scalars, **options):
    """An operator of an array and a number; ``values`` gets (pick, shape, scalar)."""

    def make(pick):
        scalar = pick.choice(scalars)
        return [smooth(values(pick, pick.shape(), scalar))], {"scalar": scalar}

    return Entry(make, **options)


def reduction(values=anything, **options):
    """A reduction with ``axis``, ``keepdims`` and ``exclude``."""

    def make(pick):
        shape = pick.shape()
        attrs = {"axis": some_axes(pick, shape), "keepdims": pick.boolean()}
        if attrs["axis"] is not None:
            attrs["exclude"] = pick.boolean()
        return [smooth(values(pick, shape))], attrs

    return Entry(make, **options)


def some_axes(pick, shape):
    """None, one axis, or several."""
    kind = pick.integer(0, 2)
    if kind == 0:
        return None
    if kind == 1:
        return pick.axis(shape)
    chosen = [k for k in range(len(shape)) if pick.boolean()]
    return tuple(chosen or [0])


def nothing(attributes, **options):
    """An operator that takes no arrays; ``attributes`` gets the pick."""
    return Entry(lambda pick: ([], attributes(pick)), **options)


def update(states, attributes, **options):
    """An optimizer step: weight, gradient and so many states, then attributes from the pick."""

    def make(pick):
        shape = pick.shape()
        arrays = [plain(pick.values(shape)) for _ in range(2)]
        arrays += [plain(pick.values(shape, 0.1, 1.0)) for _ in range(states)]
        return arrays, attributes(pick)

    options.setdefault("slopes", "a step of an optimizer has no gradient")
    options.setdefault("dtypes", ("float32", "float64"))
    return Entry(make, step=True, **options)
