"""Operators of your own in Python: subclass ``CustomOp``, ``CustomOpProp``, and ``register``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

from .core.op import REQUIRED, registry
from .ops.custom import CustomOpError, compose_symbols, makers


class CustomOp:
    """What a user's operator does: ``forward`` fills ``out_data``, ``backward`` fills ``in_grad``.

    Examples
    --------
    >>> class Square(CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
    >>> @register("doc_square")
    ... class SquareProp(CustomOpProp):
    ...     def create_operator(self, ctx, in_shapes, in_dtypes):
    ...         return Square()
    >>> nd.Custom(nd.array([1, 2]), op_type="doc_square").asnumpy()
    array([1., 4.], dtype=float32)
    """

    def __init__(self) -> None:
        pass

    def forward(
        self, is_train: bool, req: list[str], in_data: list, out_data: list, aux: list
    ) -> None:
        """Put results into ``out_data``; ``req`` says how, ``assign`` does it."""

    def backward(
        self,
        req: list[str],
        out_grad: list,
        in_data: list,
        out_data: list,
        in_grad: list,
        aux: list,
    ) -> None:
        """Put the gradient of each argument into ``in_grad``."""

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Write ``src`` to ``dst``, add it to ``dst`` or do nothing, as ``req`` says."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """What is known of a user's operator before it runs: names, shapes, types, and how to make it.

    ``need_top_grad=False`` is for losses, whose gradient does not depend on that of the output.
    """

    def __init__(self, need_top_grad: bool = True):
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """The names of the arrays it takes."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """The names of its results."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """The names of arrays it keeps something in from run to run; they have no gradient."""
        return []

    def infer_shape(self, in_shape: list) -> tuple:
        """(shapes of arguments, of outputs, of states), from what is known of the first."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list) -> tuple:
        """(types of arguments, of outputs, of states), from those of the arguments."""
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype: list[str]) -> tuple:
        """(storage types of arguments, of outputs, of states); unless overridden all dense."""
        _refuse_sparse(in_stype, "in_stype")
        return (
            in_stype,
            ["default"] * len(self.list_outputs()),
            ["default"] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type_backward(
        self,
        ograd_stype: list[str],
        in_stype: list[str],
        out_stype: list[str],
        igrad_stype: list[str],
        aux_stype: list[str],
    ) -> tuple:
        """The same five lists with every "undefined" decided; unless overridden all dense."""
        named = {"ograd": ograd_stype, "in": in_stype, "out": out_stype, "igrad": igrad_stype}
        for name, stypes in (*named.items(), ("aux", aux_stype)):
            _refuse_sparse([s for s in stypes if s != "undefined"], f"{name}_stype")
        lists = (*named.values(), aux_stype)
        return tuple([["default"] * len(stypes) for stypes in lists])

    def declare_backward_dependency(self, out_grad: list, in_data: list, out_data: list) -> list:
        """Which of these arrays ``backward`` reads; the others need not be kept."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: list, in_dtypes: list) -> CustomOp:
        """The ``CustomOp`` for these shapes; one for every run that may need a gradient."""
        return CustomOp()


def _refuse_sparse(stypes: Sequence[str], name: str) -> None:
    for k, stype in enumerate(stypes):
        if stype != "default":
            raise AssertionError(
                "Default infer_storage_type implementation doesnt allow non default stypes: found "
                f"non default stype '{stype}' for {name}[{k}]. Please implement infer_storage_type "
                "and infer_storage_type_backward interface in your custom operator if you have "
                "non-default input/output stypes"
            )


def register(reg_name: str) -> Callable[[Any], Any]:
    """Decorate a ``CustomOpProp`` to make ``nd.Custom(..., op_type=reg_name)`` find it."""

    def do_register(prop_cls: Any) -> Any:
        makers[reg_name] = prop_cls
        return prop_cls

    return do_register


# ---- what came before CustomOp


class PythonOp:
    """An operator whose object is used directly: the form before `CustomOp`, deprecated.

    Subclasses of `NumpyOp` get numpy arrays, those of `NDArrayOp` get NDArrays.
    """

    _numbers = count()

    def __init__(self, need_top_grad: bool = True):
        warnings.warn(
            f"{type(self).__name__} is deprecated. Please use CustomOp instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        self.need_top_grad_ = need_top_grad
        self._name = f"_{type(self).__name__}{next(self._numbers)}"
        makers[self._name] = lambda **_: _OldProp(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The operator on symbols."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """The operator on symbols."""
        return compose_symbols(*args, op_type=self._name, **kwargs)

    def forward(self, in_data: list, out_data: list) -> None:
        """Put results into ``out_data``; unless overridden the first argument is the result."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: list, in_data: list, out_data: list, in_grad: list) -> None:
        """Put gradients into ``in_grad``; unless overridden they are 1."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list) -> tuple:
        """(shapes of arguments, shapes of outputs)."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """The names of its results."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """The names of the arrays it takes."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Whether backward reads the outputs' gradients."""
        return self.need_top_grad_


class NumpyOp(PythonOp):
    """A `PythonOp` that computes on numpy arrays."""


class NDArrayOp(PythonOp):
    """A `PythonOp` that computes on NDArrays."""

    def declare_backward_dependency(self, out_grad: list, in_data: list, out_data: list) -> list:
        """Which of these arrays ``backward`` reads."""
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]


class _OldProp(CustomOpProp):
    """A `PythonOp` as a `CustomOpProp`."""

    def __init__(self, old: PythonOp):
        super().__init__(old.need_top_grad())
        self.old = old
        self.list_arguments, self.list_outputs = old.list_arguments, old.list_outputs
        self.infer_shape = old.infer_shape
        if isinstance(old, NDArrayOp):
            self.declare_backward_dependency = old.declare_backward_dependency

    def create_operator(self, ctx: Any, in_shapes: list, in_dtypes: list) -> CustomOp:
        return _OldOp(self.old)


class _OldOp(CustomOp):
    """A `PythonOp` as a `CustomOp`."""

    def __init__(self, old: PythonOp):
        self.old = old

    def _run(self, method: Any, *lists: list) -> None:
        if isinstance(self.old, NDArrayOp):
            method(*lists)
            return
        held = [[None if x is None else x.asnumpy() for x in arrays] for arrays in lists]
        method(*held)
        for array, values in zip(lists[-1], held[-1], strict=True):
            array[:] = values

    def forward(
        self, is_train: bool, req: list[str], in_data: list, out_data: list, aux: list
    ) -> None:
        self._run(self.old.forward, in_data, out_data)

    def backward(
        self,
        req: list[str],
        out_grad: list,
        in_data: list,
        out_data: list,
        in_grad: list,
        aux: list,
    ) -> None:
        self._run(self.old.backward, out_grad, in_data, out_data, in_grad)


# ---- what operators there are


class OperatorArguments(NamedTuple):
    """The arguments of an operator: how many, their names and their types."""

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators() -> list[str]:
    """The names of all operators of the table."""
    return sorted(registry)


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """The arguments of an operator, arrays first."""
    op = registry[op_name]
    names = [*op.inputs, *([op.variadic] if op.variadic else []), *op.attributes]
    types = ["NDArray-or-Symbol"] * len(op.inputs)
    types += ["NDArray-or-Symbol[]"] if op.variadic else []
    for kind, default in op.attributes.values():
        tail = "required" if default is REQUIRED else f"optional, default={default!r}"
        types.append(f"{kind.description}, {tail}")
    return OperatorArguments(len(names), names, types)


__all__ = [
    "CustomOp", "CustomOpError", "CustomOpProp", "NDArrayOp", "NumpyOp", "OperatorArguments",
    "PythonOp", "get_all_registered_operators", "get_operator_arguments", "register",
]  # fmt: skip
