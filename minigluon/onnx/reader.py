"""An ONNX graph being read: tensors as symbols, and what is known of them beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import symbol as sym
from .package import not_so, onnx

#: what is worked out while a file is read, if all inputs are whole numbers that are known
FOLDED = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.floor_divide,
    "Identity": np.copy, "Neg": np.negative, "Max": np.maximum, "Min": np.minimum,
}  # fmt: skip


class Reader:
    """What converters of ONNX nodes read from.

    Attributes
    ----------
    symbols : tensor name -> symbol.
    constants : tensor name -> array, for initializers and what follows from them.
    parameters : the constants that symbols were made of.
    shape_of : names of tensors that are shapes -> the name of the tensor that has the shape.
    """

    def __init__(self, model: Any):
        self.onnx = onnx()
        graph = model.graph
        self.opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        self.constants = {
            t.name: self.onnx.numpy_helper.to_array(t) for t in graph.initializer
        }  # fmt: skip
        self.inputs = [v for v in graph.input if v.name not in self.constants]
        self.symbols: dict[str, Any] = {v.name: sym.var(v.name) for v in self.inputs}
        self.parameters: dict[str, np.ndarray] = {}
        self.shape_of: dict[str, str] = {}
        self._shapes = _shapes(self.onnx, model)
        self.node: Any = None
        self.attrs: dict[str, Any] = {}

    def begin(self, node: Any) -> None:
        """Go on to a node."""
        self.node = node
        self.attrs = {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}
        self.attrs = {k: v.decode() if isinstance(v, bytes) else v for k, v in self.attrs.items()}

    @property
    def name(self) -> str:
        """What the node's symbol is called."""
        return self.node.name or self.node.output[0]

    def has(self, k: int) -> bool:
        """Whether the node has an input ``k``."""
        return k < len(self.node.input) and bool(self.node.input[k])

    def symbol(self, k: int = 0) -> Any:
        """Input ``k`` as a symbol; a constant becomes a parameter."""
        name = self.node.input[k]
        if name not in self.symbols:
            if name not in self.constants:
                raise self.refuse("an input is not there", name, "tensors made before")
            array = self.constants[name]
            self.parameters[name] = array if array.ndim else array.reshape(1)
            self.symbols[name] = sym.var(name, shape=self.parameters[name].shape, dtype=array.dtype)
        return self.symbols[name]

    def symbols_of_all(self) -> list[Any]:
        """All inputs as symbols."""
        return [self.symbol(k) for k in range(len(self.node.input))]

    def constant(self, k: int) -> np.ndarray:
        """Input ``k``, which must be known now."""
        name = self.node.input[k]
        if name not in self.constants:
            raise self.refuse("an input depends on data", name, "a constant")
        return self.constants[name]

    def option(self, attribute: str, k: int, otherwise: Any = None) -> Any:
        """What newer operator sets have as input ``k`` and older ones as an attribute."""
        if attribute in self.attrs:
            return self.attrs[attribute]
        return self.constant(k).tolist() if self.has(k) else otherwise

    def is_number(self, k: int) -> bool:
        """Whether input ``k`` is a constant that is a single number."""
        found = self.constants.get(self.node.input[k])
        return found is not None and found.size == 1 and found.ndim <= 1

    def shape(self, k: int = 0) -> list[Any]:
        """The shape of input ``k``, with None for lengths that are not known."""
        name = self.node.input[k]
        if name in self.constants:
            return list(self.constants[name].shape)
        found = self._shapes.get(name)
        if found is None:
            raise self.refuse("the rank of an input is not known", name, "shapes in the file")
        return found

    def axis(self, value: int, k: int = 0) -> int:
        """An axis counted from the front."""
        return value if value >= 0 else value + len(self.shape(k))

    def fold(self) -> bool:
        """Work the node out now if it is about shapes; False if it is not."""
        op, names = self.node.op_type, list(self.node.input)
        if op == "Constant":
            self._keep(_constant(self))
        elif op == "Shape":
            shape = self._shapes.get(names[0])
            if shape is None or None in shape:
                self.shape_of[self.node.output[0]] = names[0]
                return names[0] in self.symbols
            self._keep(np.array(shape, np.int64))
        elif not all(n in self.constants and self.constants[n].dtype.kind in "iu" for n in names):
            return False
        elif op in FOLDED:
            self._keep(FOLDED[op](*[self.constants[n] for n in names]))
        elif op == "Concat":
            self._keep(np.concatenate([self.constants[n] for n in names], self.attrs["axis"]))
        elif op == "Gather":
            self._keep(self.constant(0).take(self.constant(1), self.attrs.get("axis", 0)))
        elif op == "Unsqueeze":
            axes = self.option("axes", 1)
            self._keep(np.expand_dims(self.constant(0), tuple(axes)))
        elif op == "Squeeze":
            axes = self.option("axes", 1)
            self._keep(np.squeeze(self.constant(0), None if axes is None else tuple(axes)))
        elif op == "ConstantOfShape":
            value = self.attrs.get("value")
            array = np.zeros(1, np.float32) if value is None else _array(self, value)
            self._keep(np.full(self.constant(0), array[0], array.dtype))
        elif op == "Slice" and self.constant(0).ndim == 1 and len(names) > 2:
            start, stop = self.constant(1)[0], self.constant(2)[0]
            step = self.constant(4)[0] if self.has(4) else 1
            self._keep(self.constant(0)[start:stop:step])
        elif op == "Cast":
            kind = self.onnx.helper.tensor_dtype_to_np_dtype(self.attrs["to"])
            self._keep(self.constant(0).astype(kind))
        else:
            return False
        return True

    def _keep(self, value: Any) -> None:
        self.constants[self.node.output[0]] = np.asarray(value)

    def refuse(self, what: str, received: object, expected: str) -> Exception:
        """The error for a node that has no counterpart as it is."""
        return not_so(
            f"import_model: node {self.name} ({self.node.op_type}): {what}.",
            received, expected, "export the network with fixed shapes, or in another way",
        )  # fmt: skip


def _array(reader: Reader, tensor: Any) -> np.ndarray:
    return reader.onnx.numpy_helper.to_array(tensor)


def _constant(reader: Reader) -> np.ndarray:
    attrs = reader.attrs
    if "value" in attrs:
        return _array(reader, attrs["value"])
    for name, dtype in {"float": np.float32, "int": np.int64}.items():
        for key in (f"value_{name}", f"value_{name}s"):
            if key in attrs:
                return np.array(attrs[key], dtype)
    raise reader.refuse("this kind of constant is not read", ", ".join(attrs), "numbers")


def _shapes(package: Any, model: Any) -> dict[str, list[Any]]:
    """Shapes of tensors by name, as far as the file tells or lets infer them."""
    inferred = package.shape_inference.infer_shapes(model).graph
    found = {}
    for value in [*inferred.input, *inferred.value_info, *inferred.output]:
        kind = value.type.tensor_type
        if kind.HasField("shape"):
            found[value.name] = [
                d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim
            ]
    return found
