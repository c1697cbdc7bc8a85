"""Random numbers: the seed, and the samplers of ``nd.random``."""

from __future__ import annotations

from typing import Any

from .base import MXNetError
from .context import Context
from .core import state
from .ndarray import random as _samplers


def seed(seed_state: int, ctx: Context | str = "all") -> None:
    """Start the random streams again, so that what follows repeats bit for bit.

    Every context has a stream of its own. ``ctx`` names the one to start again; "all" (the default)
    starts all of them. numpy's global generator is neither used nor changed.

    Raises ``ValueError`` for a seed that is not an integer.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> first = nd.random.uniform(shape=2)
    >>> mx.random.seed(1)
    >>> bool((first == nd.random.uniform(shape=2)).asnumpy().all())
    True
    """
    try:
        value = int(seed_state)
        if value != seed_state:
            raise ValueError
    except (TypeError, ValueError) as error:
        raise SeedError(
            f"random.seed: the seed is not an integer.\n  received  {seed_state!r}\n"
            "  expected  an integer\n  fix       mx.random.seed(42)"
        ) from error
    state.seed(value % 2**64, None if isinstance(ctx, str) and ctx == "all" else Context(ctx))


class SeedError(MXNetError, ValueError):
    """A seed that is not an integer."""


def __getattr__(name: str) -> Any:
    return getattr(_samplers, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_samplers)})
