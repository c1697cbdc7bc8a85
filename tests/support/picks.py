"""Choices that make a test case: drawn by hypothesis, or from a seed if it must be repeatable."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st


class Pick:
    """Where the makers of cases get their choices from.

    ``smooth`` asks for numbers away from the multiples of one half, where operators have their
    kinks and steps; otherwise whole numbers, zeros and ties come up on purpose. ``rank`` fixes how
    many dimensions the shapes have that a maker leaves open.
    """

    def __init__(self, smooth=False, rank=None):
        self.smooth, self.rank = smooth, rank
        self._numbers = None

    def integer(self, low, high):
        """A whole number, both ends included."""
        raise NotImplementedError

    def choice(self, options):
        """One of the options; earlier ones are simpler."""
        return options[self.integer(0, len(options) - 1)]

    def boolean(self):
        """False or, less simple, True."""
        return bool(self.integer(0, 1))

    @property
    def numbers(self):
        """A generator of numbers whose values do not matter one by one."""
        if self._numbers is None:
            self._numbers = np.random.default_rng(self.integer(0, 2**31 - 1))
        return self._numbers

    def shape(self, low=1, high=3, side=4):
        """A shape of ``low`` to ``high`` dimensions of 1 to ``side`` elements."""
        rank = self.rank if self.rank is not None and low <= self.rank <= high else None
        rank = rank or self.integer(low, high)
        return tuple(self.integer(1, side) for _ in range(rank))

    def axis(self, shape):
        """The number of a dimension, counted from either end."""
        return self.integer(-len(shape), len(shape) - 1)

    def values(self, shape, low=-2.0, high=2.0):
        """Float64 numbers between ``low`` and ``high``."""
        if self.smooth and high - low > 1:
            cells = np.arange(np.ceil((low - 0.1) * 4) + 1, np.floor((high - 0.1) * 4))
            middle = self.numbers.choice(cells, shape) / 4 + 0.1
            return middle + self.numbers.uniform(-0.03, 0.03, shape)
        fine = self.numbers.uniform(low, high, shape)
        if self.boolean():
            return fine
        whole = np.clip(np.rint(fine), np.ceil(low), np.floor(high))
        return np.where(self.numbers.random(shape) < 0.7, whole, fine)


class Drawn(Pick):
    """Choices that hypothesis draws, so that it can look for simpler ones when a law fails."""

    def __init__(self, draw, **options):
        super().__init__(**options)
        self._draw = draw

    def integer(self, low, high):
        return self._draw(st.integers(low, high))


class Seeded(Pick):
    """Choices that follow from a number."""

    def __init__(self, seed, **options):
        super().__init__(**options)
        self._random = random.Random(seed)

    def integer(self, low, high):
        return self._random.randint(low, high)
