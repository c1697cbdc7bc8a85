"""The ``onnx`` package, asked for when it is needed, and what is wrong when something is."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, four_lines

#: operator set that is written; onnxruntime 1.6 and later run it
OPSET = 13
#: version of the file format that belongs to the set
IR_VERSION = 7


class MissingPackage(MXNetError, ImportError):
    """ONNX files are asked for, and the package that reads and writes them is not there."""


class NotConvertible(MXNetError, NotImplementedError):
    """A graph that has no counterpart on the other side."""


def onnx() -> Any:
    """The ``onnx`` package; ``MissingPackage`` says how to get it."""
    try:
        import onnx
        import onnx.checker
        import onnx.external_data_helper
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError as error:
        raise MissingPackage(
            four_lines(
                "ONNX files need the onnx package.",
                f"{type(error).__name__}: {error}",
                "onnx 1.13 or later",
                "pip install minigluon[onnx]",
            )
        ) from error
    return onnx


def no_counterpart(verb: str, missing: list[str], known: Any) -> NotConvertible:
    """All nodes that cannot be converted, at once."""
    return NotConvertible(
        four_lines(
            f"{verb}: {len(missing)} nodes have no counterpart.",
            ", ".join(missing),
            f"operators among {', '.join(sorted(known))}",
            "replace these layers, or cut the graph before them",
        )
    )


def not_so(what: str, received: object, expected: str, fix: str) -> NotConvertible:
    """A node that cannot be converted with these attributes."""
    return NotConvertible(four_lines(what, received, expected, fix))
