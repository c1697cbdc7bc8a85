"""The table that ``Block.summary`` prints."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError

if TYPE_CHECKING:
    from .block import Block

_ROW = "{:>20}  {:>42} {:>15}"
_WIDTH = 80


def summarize(net: Block, inputs: tuple) -> str:
    """Run ``net`` on ``inputs`` and describe every block that ran, in the order they finished."""
    rows = [("Input", _shape_text(inputs), 0)]
    handles: list = []
    blocks: dict[int, Block] = {}
    net.apply(lambda block: blocks.setdefault(id(block), block))
    counted: list = []

    def note(block: Block, _: Any, outputs: Any) -> None:
        if any(isinstance(x, sym.Symbol) for x in _flat(outputs)):
            return  # a trace to infer shapes is no forward pass
        params = list(block.params.values())
        counted.extend(params)
        name = f"{type(block).__name__}-{len(rows)}"
        rows.append((name, _shape_text(outputs), sum(_size(p) for p in params)))

    try:
        for block in blocks.values():
            if getattr(block, "_active", False):
                raise ArgumentError(
                    f'"{block.name}" must not be hybridized to print summary.\n'
                    "  received  a hybridized block, whose children do not run one by one\n"
                    "  expected  a block that runs as Python\n"
                    "  fix       call hybridize(False), or summary() before hybridize()"
                )
            if not block._is_container:
                handles.append(block.register_forward_hook(note))
        net(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    return _table(rows, counted)


def _table(rows: list, counted: list) -> str:
    unique = {id(param): param for param in counted}.values()
    total = sum(_size(p) for p in counted)
    trainable = sum(_size(p) for p in counted if p.grad_req != "null")
    different = sum(_size(p) for p in unique)
    return "\n".join(
        [
            "-" * _WIDTH,
            _ROW.format("Layer (type)", "Output Shape", "Param #"),
            "=" * _WIDTH,
            *[_ROW.format(*row) for row in rows],
            "=" * _WIDTH,
            "Parameters in forward computation graph, duplicate included",
            f"   Total params: {total}",
            f"   Trainable params: {trainable}",
            f"   Non-trainable params: {total - trainable}",
            f"Shared params in forward computation graph: {total - different}",
            f"Unique parameters in model: {different}",
            "-" * _WIDTH,
        ]
    )


def _size(param: Any) -> int:
    return prod(param.shape)


def _flat(value: Any) -> list:
    if isinstance(value, list | tuple):
        return [x for inner in value for x in _flat(inner)]
    return [value]


def _shape_text(value: Any) -> str:
    """The shapes of nested lists of arrays; the outermost brackets are left out."""
    shapes = _shapes(value)
    return str(shapes)[1:-1] if isinstance(shapes, list) else str(shapes)


def _shapes(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_shapes(inner) for inner in value]
    return value.shape if isinstance(value, nd.NDArray) else value
