"""The types an operator attribute can have: each reads values and the text of symbol files."""

from __future__ import annotations

import ast
import numbers
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, get_args, get_origin

import numpy as np

from ..base import AttributeValueError
from ..dtypes import as_dtype

#: names that annotate attributes in operator signatures, beside int, float, bool, str and Literal
Shape = tuple[int, ...]
Scalar = float
Count = int
Share = float
DType = object
Text = str
Floats = tuple[float, ...]


class AttributeType:
    """How to read one attribute: ``parse(value)`` gives a hashable value or raises ValueError."""

    __slots__ = ("description", "number", "optional", "parse", "plain")

    def __init__(
        self, description: str, parse: Callable[[Any], Any], optional: bool, plain: Any = None
    ):
        self.description, self.parse, self.optional = description, parse, optional
        self.plain = plain  # values of just this type need no reading
        self.number = description.startswith("a number")  # whose zeros are keys as text

    def read(self, op_name: str, name: str, value: Any) -> Any:
        """The value as the kernel wants it; ``AttributeValueError`` names op and attribute."""
        if value is None or (isinstance(value, str) and value == "None"):
            if self.optional:
                return None
        else:
            try:
                return self.parse(value)
            except (ValueError, TypeError, AttributeError, SyntaxError, OverflowError) as error:
                raise _refuse(op_name, name, value, self.description) from error
        raise _refuse(op_name, name, value, self.description)


def _refuse(op_name: str, name: str, value: Any, expected: str) -> AttributeValueError:
    shown = repr(value) if len(repr(value)) < 200 else repr(value)[:200] + "..."
    return AttributeValueError(
        f"{op_name}: attribute {name} is not valid.\n  received  {name}={shown}\n"
        f"  expected  {expected}\n  fix       pass such a value for {name}"
    )


def _parse_int(value: Any) -> int:
    if isinstance(value, str):
        return int(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    raise TypeError("not an integer")


def _parse_float(value: Any) -> float:
    if isinstance(value, str | numbers.Real):
        return float(value)
    return float(value.item())  # a numpy array or NDArray-like of one element


def _parse_count(value: Any) -> int:
    count = _parse_int(value)
    if count < 1:
        raise ValueError("below 1")
    return count


def _parse_share(value: Any) -> float:
    share = _parse_float(value)
    if not 0 <= share <= 1:
        raise ValueError("not between 0 and 1")
    return share


def _parse_scalar(value: Any) -> float | int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, str):
        if value in ("True", "False"):
            return int(value == "True")
        try:
            return int(value)
        except ValueError:
            return float(value)
    return _parse_float(value)


def _parse_bool(value: Any) -> bool:
    if isinstance(value, str):
        lowered = value.strip().lower()
        if lowered in ("true", "1"):
            return True
        if lowered in ("false", "0"):
            return False
        raise ValueError("not a truth value")
    if isinstance(value, numbers.Integral | np.bool_):
        return bool(value)
    raise TypeError("not a truth value")


def _parse_shape(value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip().replace("L", "") or "()")
    if isinstance(value, numbers.Integral):
        return (int(value),)
    return tuple([None if v is None else _parse_int(v) for v in value])


def _parse_floats(value: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip())
    if isinstance(value, numbers.Real):
        return (float(value),)
    return tuple([_parse_float(v) for v in value])


def _parse_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value)


def _parse_object(value: Any) -> Any:
    hash(value)
    return value


_PLAIN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "int": ("an integer", _parse_int),
    "float": ("a number", _parse_float),
    "Count": ("an integer of at least 1", _parse_count),
    "Share": ("a number from 0 to 1", _parse_share),
    "Scalar": ("a number", _parse_scalar),
    "bool": ("True or False", _parse_bool),
    "str": ("text", _parse_text),
    "Shape": ("an integer or a tuple of integers", _parse_shape),
    "Floats": ("a number or a tuple of numbers", _parse_floats),
    "DType": ("a dtype such as 'float32'", as_dtype),
    "object": ("a hashable value", _parse_object),
}


@cache
def attribute_type(annotation: str) -> AttributeType:
    """The attribute type an annotation such as ``"int"``, ``"Shape | None"`` names.

    ``Literal['a', 'b']`` accepts just those words.
    """
    base, _, rest = annotation.partition(" | ")
    optional = rest.strip() == "None"
    if base.startswith("Literal["):
        literal = eval(base, {"Literal": Literal})  # annotations are written by us
        assert get_origin(literal) is Literal
        words = get_args(literal)

        def parse_word(value: Any) -> str:
            if value in words:
                return str(value)
            raise ValueError("not one of the words")

        return AttributeType(
            "valid values are: {" + ", ".join(f"'{w}'" for w in sorted(words)) + "}",
            parse_word,
            optional,
        )
    description, parse = _PLAIN[base]
    plain = {"int": int, "float": float, "bool": bool, "Scalar": float}.get(base)
    return AttributeType(description + (" or None" if optional else ""), parse, optional, plain)
