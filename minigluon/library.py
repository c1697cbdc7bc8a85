"""``mx.library`` is refused: compiled libraries of operators are made for MXNet's own core."""

from __future__ import annotations

from .base import MXNetError, four_lines


def load(path: str, verbose: bool = True) -> None:
    """Refused: a library of operators cannot be loaded."""
    raise MXNetError(
        four_lines(
            "library.load: libraries made for MXNet's core cannot be loaded.",
            repr(path),
            "operators written in Python",
            "write a CustomOp (mx.operator), or an operator of minigluon's table",
        )
    )


load.unsupported = "libraries made for MXNet's core cannot be loaded"  # type: ignore[attr-defined]
