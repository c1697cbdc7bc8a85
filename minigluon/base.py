"""The errors users can catch, and the text form of operator attributes."""

from __future__ import annotations

import os

#: the MXNet release whose API this is
API_VERSION = "1.9.1"


class MXNetError(RuntimeError):
    """Whatever goes wrong inside the library; every more special error is also one of these."""


class ShapeError(MXNetError, ValueError):
    """Shapes that do not fit together."""


class DTypeError(MXNetError, TypeError):
    """Element types that do not fit together, or an unknown one."""


class StorageError(MXNetError, ValueError):
    """A storage type (default, csr, row_sparse) that cannot be used here."""


class AttributeValueError(MXNetError, ValueError):
    """An operator attribute with a value outside what it accepts."""


class ArgumentTypeError(MXNetError, TypeError, AssertionError):
    """An argument of the wrong type; an AssertionError as well, as MXNet asserted such things."""


class ArgumentError(MXNetError, ValueError, AssertionError):
    """An argument of the wrong value; an AssertionError as well, as MXNet asserted such things."""


class IndexOutOfRange(MXNetError, IndexError):
    """An index beyond the size of what it points into."""


class DeviceError(MXNetError):
    """A device that is not there."""


class NotImplementedForSymbol(MXNetError):
    """Something only arrays can do was asked of a symbol."""

    def __init__(self, function: object, alias: str | None = None, *args: object):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(str(type(a)) for a in args)

    def __str__(self) -> str:
        return f"{_called(self)} is not implemented for Symbol and only available in NDArray."


class NotSupportedForSparseNDArray(MXNetError):
    """Something only dense arrays can do was asked of a csr or row_sparse array."""

    def __init__(self, function: object, alias: str | None = None, *args: object):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(str(type(a)) for a in args)

    def __str__(self) -> str:
        return f"{_called(self)} is not supported for SparseNDArray and only available in NDArray."


def _called(error: NotImplementedForSymbol | NotSupportedForSparseNDArray) -> str:
    """``Function reshape with arguments (<class 'tuple'>)``: what was called, in MXNet's words."""
    text = f"Function {error.function}"
    if error.alias:
        text += f' (namely operator "{error.alias}")'
    if error.args:
        text += f" with arguments ({', '.join(error.args)})"
    return text


class StorageFallbackWarning(UserWarning):
    """A sparse input was made dense because the operator has no kernel for its storage."""


def four_lines(what: str, received: object, expected: str, fix: str) -> str:
    """A message as every error has it: what is wrong, what came, what was expected, what to do.

    Examples
    --------
    >>> print(four_lines("save: no name.", "fname=3", "a path", "pass a path"))
    save: no name.
      received  fname=3
      expected  a path
      fix       pass a path
    """
    return f"{what}\n  received  {received}\n  expected  {expected}\n  fix       {fix}"


def _as_list(obj: object) -> list[object] | tuple[object, ...]:
    """A list or tuple as it is, anything else as a list of one; old scripts import it from here."""
    return obj if isinstance(obj, list | tuple) else [obj]


def py_str(x: bytes) -> str:
    """The text of bytes; old scripts decode names with it."""
    return x.decode("utf-8")


def data_dir_default() -> str:
    """Where MXNet keeps downloaded files by default: ``~/.mxnet``."""
    return os.path.expanduser("~/.mxnet")  # noqa: PTH111 - the text, not a Path


def data_dir() -> str:
    """Where MXNet keeps downloaded files: ``MXNET_HOME``, or ``~/.mxnet``."""
    return os.environ.get("MXNET_HOME", data_dir_default())


long = int
string_types: tuple[type, ...] = (str,)
numeric_types: tuple[type, ...] = (float, int)
integer_types: tuple[type, ...] = (int,)
mx_real_t: type


def _with_numpy_scalars() -> None:
    import numpy as np

    global mx_real_t, numeric_types, integer_types
    mx_real_t = np.float32
    numeric_types = (float, int, np.generic)
    integer_types = (int, np.integer)


_with_numpy_scalars()


def attribute_to_string(value: object) -> str:
    """The text an attribute has in a symbol file: ``True``, ``2``, ``(1, 2)``, ``None``.

    It is the text Python gives the value; a list keeps its brackets, as in MXNet.

    Examples
    --------
    >>> attribute_to_string(2.0), attribute_to_string((1, 2)), attribute_to_string(True)
    ('2.0', '(1, 2)', 'True')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        inner = ", ".join(attribute_to_string(v) for v in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    name = getattr(value, "__name__", None)
    return name if isinstance(value, type) and name else str(value)
