"""An ONNX graph in the making: what converters write their nodes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from .. import symbol as sym
from .package import not_so, onnx


class Builder:
    """Nodes and constants of an ONNX graph, with names that are not taken twice.

    Attributes
    ----------
    nodes, constants : what was written so far.
    node : the node of our graph that is being converted.
    shapes, dtypes : what is known of every entry of our graph.
    arrays : the parameters by name.
    names : entry -> name of its tensor.
    """

    def __init__(
        self, shapes: dict[Any, Any], dtypes: dict[Any, Any], arrays: dict[str, np.ndarray]
    ):
        self.onnx = onnx()
        self.shapes, self.dtypes, self.arrays = shapes, dtypes, arrays
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.names: dict[Any, str] = {}
        self.node: Any = None
        self._taken: dict[str, int] = {}
        self._known: dict[Any, str] = {}

    def fresh(self, hint: str) -> str:
        """A name that nothing has."""
        count = self._taken.get(hint)
        self._taken[hint] = (count or 0) + 1
        return hint if count is None else self.fresh(f"{hint}_{count}")

    def emit(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Write a node; the name of its output, or the list of several."""
        made = [self.fresh(f"{self.node.name}_{op}") for _ in range(outputs)]
        given = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), made, name=made[0], **given))
        return made[0] if outputs == 1 else made

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        """The name of a constant tensor; equal ones are written once."""
        array = np.asarray(value, dtype)
        key = array.dtype, array.shape, array.tobytes()
        if key not in self._known:
            self._known[key] = self.fresh("constant")
            self.constants[self._known[key]] = array
        return self._known[key]

    def number(self, value: float, like: int = 0) -> str:
        """A scalar of the type of the node's input ``like``."""
        return self.constant(value, self.dtype(like))

    def entry(self, k: int = 0) -> Any:
        """The entry that is the node's input ``k``."""
        return self.node.inputs[k]

    def shape(self, k: int = 0) -> tuple[int, ...]:
        """The shape of input ``k``."""
        return self.shape_of(self.entry(k))

    def shape_of(self, entry: Any) -> tuple[int, ...]:
        """The shape of an entry; raises where it is not known."""
        shape = self.shapes.get(entry)
        if shape is None:
            raise not_so(
                f"export_model: node {self.node.name}: the rank of {entry[0].name} is not known.",
                "in_shapes", "shapes of all inputs", "pass in_shapes=[(1, 3, 224, 224)]",
            )  # fmt: skip
        return tuple(shape)

    def ndim(self, k: int = 0) -> int:
        """How many axes input ``k`` has."""
        return len(self.shape(k))

    def output_shape(self, k: int = 0) -> tuple[int, ...]:
        """The shape of the node's output ``k``."""
        return self.shape_of((self.node, k))

    def dtype(self, k: int = 0) -> np.dtype:
        """The type of input ``k``, float32 where nothing is known."""
        return np.dtype(self.dtypes.get(self.entry(k)) or np.float32)

    def value(self, k: int) -> np.ndarray:
        """Input ``k``, which must follow from parameters alone."""
        graph = sym.Symbol([self.entry(k)])
        names = graph.list_inputs()
        if any(name not in self.arrays for name in names):
            raise self.refuse("an input depends on data", ", ".join(names), "parameters")
        given = {name: nd.array(self.arrays[name], dtype=self.arrays[name].dtype) for name in names}
        return graph.eval(**given)[0].asnumpy()

    def cast(self, name: str, dtype: Any) -> str:
        """A tensor converted to a numpy type."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.emit("Cast", name, to=int(kind))

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """A tensor in another shape; 0 keeps a length, -1 is worked out."""
        return self.emit("Reshape", name, self.constant(shape))

    def refuse(self, what: str, received: object, expected: str) -> Exception:
        """The error for a node that has no counterpart with its attributes."""
        return not_so(
            f"export_model: node {self.node.name} ({self.node.call.op.name}): {what}.",
            received, expected, "write the layer in another way, or cut the graph before it",
        )  # fmt: skip
