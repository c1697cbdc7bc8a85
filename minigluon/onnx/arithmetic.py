"""How arithmetic and the shuffling of axes are written in ONNX: the rest of the table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .builder import Builder
from .layers import converts

_FAR = np.iinfo(np.int64).max

_UNARY = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softsign": "Softsign", "exp": "Exp",
    "log": "Log", "sqrt": "Sqrt", "abs": "Abs", "negative": "Neg", "ceil": "Ceil",
    "floor": "Floor", "sign": "Sign", "rint": "Round", "reciprocal": "Reciprocal", "erf": "Erf",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "arcsin": "Asin", "arccos": "Acos",
    "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "arcsinh": "Asinh", "arccosh": "Acosh",
    "arctanh": "Atanh",
}  # fmt: skip
_BINARY = {
    "elemwise_add": "Add", "elemwise_sub": "Sub", "elemwise_mul": "Mul", "elemwise_div": "Div",
    "broadcast_add": "Add", "broadcast_sub": "Sub", "broadcast_mul": "Mul", "broadcast_div": "Div",
    "broadcast_power": "Pow", "broadcast_maximum": "Max", "broadcast_minimum": "Min",
    "_power": "Pow", "_maximum": "Max", "_minimum": "Min",
}  # fmt: skip
#: operator on a scalar -> ONNX operator, and whether the scalar stands first
_SCALAR = {
    "_plus_scalar": ("Add", False), "_minus_scalar": ("Sub", False),
    "_rminus_scalar": ("Sub", True), "_mul_scalar": ("Mul", False), "_div_scalar": ("Div", False),
    "_rdiv_scalar": ("Div", True), "_power_scalar": ("Pow", False),
    "_rpower_scalar": ("Pow", True), "_maximum_scalar": ("Max", False),
    "_minimum_scalar": ("Min", False),
}  # fmt: skip
_COMPARED = {"equal": "Equal", "greater": "Greater", "lesser": "Less",
             "greater_equal": "GreaterOrEqual", "lesser_equal": "LessOrEqual"}  # fmt: skip
_LOGICAL = {"and": "And", "or": "Or", "xor": "Xor"}


def _declare_tables() -> None:
    for name, onnx_name in _UNARY.items():
        converts(name)(lambda g, a, x, op=onnx_name: g.emit(op, x[0]))
    for name, onnx_name in _BINARY.items():
        converts(name)(lambda g, a, x, op=onnx_name: g.emit(op, *x))
    for name, (onnx_name, first) in _SCALAR.items():
        converts(name)(lambda g, a, x, op=onnx_name, r=first: _with_scalar(g, op, a, x, r))
    for name, onnx_name in [*_COMPARED.items(), ("not_equal", "")]:
        convert = lambda g, a, x, op=onnx_name: _compare(g, op, x)  # noqa: E731
        converts(f"broadcast_{name}", f"_{name}")(convert)
        convert = lambda g, a, x, op=onnx_name: _compare(  # noqa: E731
            g, op, [x[0], g.number(a["scalar"])]
        )
        converts(f"_{name}_scalar")(convert)
    for name, onnx_name in _LOGICAL.items():
        converts(f"broadcast_logical_{name}")(
            lambda g, a, x, op=onnx_name: g.cast(
                g.emit(op, *[g.cast(v, bool) for v in x]), g.dtype()
            )
        )
    for name, kind in {"max": "Max", "min": "Min", "prod": "Prod", "mean": "Mean"}.items():
        converts(name)(lambda g, a, x, kind=kind: _reduce(g, f"Reduce{kind}", a, x))
    for name, kind in {"argmax": "ArgMax", "argmin": "ArgMin"}.items():
        converts(name)(lambda g, a, x, kind=kind: _arg(g, kind, a, x))


def _with_scalar(g: Builder, op: str, a: dict[str, Any], x: list[str], first: bool) -> str:
    scalar = g.number(a["scalar"])
    return g.emit(op, *((scalar, x[0]) if first else (x[0], scalar)))


def _compare(g: Builder, op: str, x: list[str]) -> str:
    found = g.emit(op, *x) if op else g.emit("Not", g.emit("Equal", *x))
    return g.cast(found, g.dtype())


_declare_tables()


@converts("square")
def _square(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Mul", x[0], x[0])


@converts("rsqrt")
def _rsqrt(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Reciprocal", g.emit("Sqrt", x[0]))


@converts("log2", "log10")
def _logarithm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    base = float(g.node.call.op.name[3:])
    return g.emit("Div", g.emit("Log", x[0]), g.number(math.log(base)))


@converts("log1p")
def _log1p(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Log", g.emit("Add", x[0], g.number(1)))


@converts("expm1")
def _expm1(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Sub", g.emit("Exp", x[0]), g.number(1))


@converts("hard_sigmoid")
def _hard_sigmoid(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("HardSigmoid", x[0], alpha=a["alpha"], beta=a["beta"])


@converts("logical_not")
def _not(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.cast(g.emit("Not", g.cast(x[0], bool)), g.dtype())


@converts("add_n")
def _add_n(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Sum", *x)


@converts("clip")
def _clip(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Clip", x[0], g.number(a["a_min"]), g.number(a["a_max"]))


@converts("Cast", "amp_cast")
def _cast(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.cast(x[0], a["dtype"])


@converts("where")
def _where(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if g.ndim(0) != g.ndim(1):
        raise g.refuse("a condition of rows has no counterpart", g.shape(0), str(g.shape(1)))
    return g.emit("Where", g.cast(x[0], bool), x[1], x[2])


@converts("_contrib_div_sqrt_dim")
def _div_sqrt_dim(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Div", x[0], g.number(math.sqrt(g.shape()[-1])))


# --- products -----------------------------------------------------------------------------------


@converts("dot")
def _dot(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    lhs, rhs = x
    if g.ndim(1) > 2 or (g.ndim(0) == 1 < g.ndim(1)) or (g.ndim(0) > 2 and a["transpose_a"]):
        raise g.refuse("such a dot has no counterpart", f"{g.shape(0)}, {g.shape(1)}", "matrices")
    if a["transpose_a"] and g.ndim(0) == 2:
        lhs = g.emit("Transpose", lhs, perm=(1, 0))
    if a["transpose_b"] and g.ndim(1) == 2:
        rhs = g.emit("Transpose", rhs, perm=(1, 0))
    product = g.emit("MatMul", lhs, rhs)
    return g.reshape(product, (1,)) if g.ndim(0) == g.ndim(1) == 1 else product


@converts("batch_dot", "_linalg_gemm2")
def _batch_dot(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a.get("axis", -2) != -2:
        raise g.refuse("matrices lie in the last axes", f"axis={a['axis']}", "axis=-2")
    turned = [
        g.emit("Transpose", name, perm=_swapped(g.ndim(k), -1, -2)) if a[flag] else name
        for k, (name, flag) in enumerate(zip(x, ("transpose_a", "transpose_b"), strict=True))
    ]
    product = g.emit("MatMul", *turned)
    return product if a.get("alpha", 1) == 1 else g.emit("Mul", product, g.number(a["alpha"]))


def _swapped(ndim: int, one: int, other: int) -> list[int]:
    order = list(range(ndim))
    order[one], order[other] = order[other], order[one]
    return order


# --- reductions ---------------------------------------------------------------------------------


def _axes(g: Builder, a: dict[str, Any]) -> list[int]:
    """The axes a reduction is over, as numbers from 0."""
    axis = a["axis"]
    if axis is None or axis == ():
        return list(range(g.ndim()))
    named = [k % g.ndim() for k in (axis if isinstance(axis, tuple) else (axis,))]
    return [k for k in range(g.ndim()) if (k in named) is not a.get("exclude", False)]


def _reduce(g: Builder, op: str, a: dict[str, Any], x: list[str]) -> str:
    axes = _axes(g, a)
    result = g.emit(op, x[0], axes=axes, keepdims=int(a["keepdims"]))
    return _of_one(g, a, axes, result)


def _of_one(g: Builder, a: dict[str, Any], axes: list[int], result: str) -> str:
    """A result of no axes has one here."""
    return g.reshape(result, (1,)) if len(axes) == g.ndim() and not a["keepdims"] else result


@converts("sum")
def _sum(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axes = _axes(g, a)
    result = g.emit("ReduceSum", x[0], g.constant(axes), keepdims=int(a["keepdims"]))
    return _of_one(g, a, axes, result)


@converts("norm")
def _norm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return _reduce(g, f"ReduceL{a['ord']}", a, x)


def _arg(g: Builder, op: str, a: dict[str, Any], x: list[str]) -> str:
    axis, data = a["axis"], x[0]
    if axis is None:
        data, axis = g.reshape(data, (-1,)), 0
        if a["keepdims"]:
            raise g.refuse("all axes cannot be kept", "axis=None, keepdims=True", "an axis")
    found = g.emit(op, data, axis=axis, keepdims=int(a["keepdims"]))
    if a["axis"] is None or (g.ndim() == 1 and not a["keepdims"]):
        found = g.reshape(found, (1,))
    return g.cast(found, np.float32)


# --- shapes and places --------------------------------------------------------------------------


@converts("Flatten")
def _flatten(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Flatten", x[0], axis=1)


@converts("Reshape")
def _reshape(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    wanted = a["shape"] or a["target_shape"]
    if a["reverse"] or min(wanted) < -1 or not a["shape"]:
        wanted = _spelled_out(g, wanted)
    return g.reshape(x[0], wanted)


def _spelled_out(g: Builder, wanted: tuple[int, ...]) -> list[int]:
    """The shape that codes below -1 give; what is kept at the front stays open for other sizes."""
    shape, result = g.shape(), list(g.output_shape())
    for k, code in enumerate(wanted):
        kept = code == 0 or (code == -2 and k < len(shape))
        if not kept or result[k] != shape[k]:
            break
        result[k] = 0
    return result


@converts("reshape_like")
def _reshape_like(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if any(v is not None for v in a.values()):
        raise g.refuse("parts of shapes have no counterpart", a, "all axes")
    return g.emit("Reshape", x[0], g.emit("Shape", x[1]))


@converts("transpose")
def _transpose(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Transpose", x[0], perm=a["axes"] or None)


@converts("SwapAxis")
def _swap_axis(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Transpose", x[0], perm=_swapped(g.ndim(), a["dim1"], a["dim2"]))


@converts("expand_dims")
def _expand_dims(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Unsqueeze", x[0], g.constant([a["axis"]]))


@converts("squeeze")
def _squeeze(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axis = a["axis"]
    if axis is None:
        return g.reshape(x[0], g.output_shape())
    axes = axis if isinstance(axis, tuple) else (axis,)
    squeezed = g.emit("Squeeze", x[0], g.constant(axes))
    return g.reshape(squeezed, (1,)) if len(axes) == g.ndim() else squeezed


@converts("Concat")
def _concat(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Concat", *x, axis=a["dim"])


@converts("stack")
def _stack(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axis = g.constant([a["axis"]])
    return g.emit("Concat", *[g.emit("Unsqueeze", v, axis) for v in x], axis=a["axis"])


@converts("SliceChannel", "_split_v2")
def _split(g: Builder, a: dict[str, Any], x: list[str]) -> list[str]:
    count, axis = g.node.call.outputs, a["axis"]
    sizes = []
    for k in range(count):
        shape = g.output_shape(k)
        sizes.append(1 if a["squeeze_axis"] else shape[axis % len(shape)])
    parts = g.emit("Split", x[0], g.constant(sizes), axis=axis, outputs=count)
    parts = [parts] if count == 1 else parts
    if not a["squeeze_axis"]:
        return parts
    return [g.emit("Squeeze", part, g.constant([axis])) for part in parts]


@converts("slice")
def _slice(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    steps = [s or 1 for s in a["step"]] or [1] * len(a["begin"])
    begin = [
        b if b is not None else (0 if s > 0 else _FAR)
        for b, s in zip(a["begin"], steps, strict=True)
    ]
    end = [
        e if e is not None else (_FAR if s > 0 else -_FAR)
        for e, s in zip(a["end"], steps, strict=True)
    ]
    axes = range(len(begin))
    return g.emit("Slice", x[0], *[g.constant(v) for v in (begin, end, axes, steps)])


@converts("slice_axis")
def _slice_axis(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    end = _FAR if a["end"] is None else a["end"]
    return g.emit("Slice", x[0], *[g.constant([v]) for v in (a["begin"], end, a["axis"])])


@converts("slice_like")
def _slice_like(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axes = [k % g.ndim() for k in a["axes"]] or list(range(g.ndim()))
    ends = g.emit("Gather", g.emit("Shape", x[1]), g.constant(axes))
    return g.emit("Slice", x[0], g.constant([0] * len(axes)), ends, g.constant(axes))


@converts("reverse")
def _reverse(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axes = a["axis"] if isinstance(a["axis"], tuple) else (a["axis"],)
    places = [[v] * len(axes) for v in (-1, -_FAR)]
    return g.emit(
        "Slice", x[0], *[g.constant(v) for v in (*places, axes, [-1] * len(axes))]
    )  # fmt: skip


@converts("Pad")
def _pad(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    widths = g.constant((*a["pad_width"][::2], *a["pad_width"][1::2]))
    if a["mode"] == "constant":
        return g.emit("Pad", x[0], widths, g.number(a["constant_value"]), mode="constant")
    return g.emit("Pad", x[0], widths, mode=a["mode"])


@converts("broadcast_to")
def _broadcast_to(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Expand", x[0], g.constant([n or 1 for n in a["shape"]]))


@converts("broadcast_axis")
def _broadcast_axis(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    shape = [1] * g.ndim()
    axes, sizes = (v if isinstance(v, tuple) else (v,) for v in (a["axis"], a["size"]))
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return g.emit("Expand", x[0], g.constant(shape))


@converts("broadcast_like")
def _broadcast_like(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["lhs_axes"] is not None:
        raise g.refuse("single axes have no counterpart", a, "all axes")
    return g.emit("Expand", x[0], g.emit("Shape", x[1]))


@converts("tile")
def _tile(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    reps, data = a["reps"], x[0]
    if len(reps) > g.ndim():
        data = g.emit("Unsqueeze", data, g.constant(range(len(reps) - g.ndim())))
    return g.emit("Tile", data, g.constant((1,) * (g.ndim() - len(reps)) + tuple(reps)))


@converts("zeros_like", "ones_like")
def _like(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    filled = np.full(1, g.node.call.op.name == "ones_like", g.dtype())
    value = g.onnx.numpy_helper.from_array(filled)
    return g.emit("ConstantOfShape", g.emit("Shape", x[0]), value=value)


@converts("_zeros", "_ones")
def _filled(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.constant(np.full(g.output_shape(), g.node.call.op.name == "_ones"), a["dtype"])


@converts("_arange")
def _arange(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    (size,) = g.output_shape()
    values = a["start"] + a["step"] * (np.arange(size) // a["repeat"])
    return g.constant(values, a["dtype"])


@converts("take")
def _take(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["mode"] == "wrap":
        raise g.refuse("indices are not wrapped", "mode='wrap'", "clip or raise")
    places = g.cast(x[1], np.int64)
    if a["mode"] == "clip":
        last = g.shape()[a["axis"]] - 1
        places = g.emit("Clip", places, g.constant(0), g.constant(last))
    return g.emit("Gather", x[0], places, axis=a["axis"])


@converts("gather_nd")
def _gather_nd(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    order = [*range(1, g.ndim(1)), 0]
    return g.emit("GatherND", x[0], g.emit("Transpose", g.cast(x[1], np.int64), perm=order))


@converts("one_hot")
def _one_hot(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    values = g.constant((a["off_value"], a["on_value"]), a["dtype"])
    return g.emit("OneHot", g.cast(x[0], np.int64), g.constant([a["depth"]]), values, axis=-1)


@converts("depth_to_space")
def _depth_to_space(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("DepthToSpace", x[0], blocksize=a["block_size"], mode="DCR")


@converts("space_to_depth")
def _space_to_depth(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("SpaceToDepth", x[0], blocksize=a["block_size"])


@converts("shape_array")
def _shape_array(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Shape", x[0])


@converts("topk")
def _topk(g: Builder, a: dict[str, Any], x: list[str]) -> Any:
    if a["axis"] is None or a["ret_typ"] == "mask":
        raise g.refuse("this has no counterpart", a["ret_typ"], "an axis, values or indices")
    count = a["k"] if a["k"] > 0 else g.shape()[a["axis"]]
    values, places = g.emit(
        "TopK",
        x[0],
        g.constant([count]),
        axis=a["axis"],
        largest=int(not a["is_ascend"]),
        outputs=2,
    )
    if a["ret_typ"] == "value":
        return values
    places = g.cast(places, a["dtype"])
    return places if a["ret_typ"] == "indices" else [values, places]
