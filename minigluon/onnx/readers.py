"""What ONNX operators are here: a table from their names to functions that make symbols."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import symbol as sym
from .reader import Reader

READERS: dict[str, Callable[[Reader], Any]] = {}


def reads(*names: str) -> Callable[[Any], Any]:
    """Put a function into the table under the names of ONNX operators."""

    def put(function: Any) -> Any:
        READERS.update(dict.fromkeys(names, function))
        return function

    return put


# --- tables -------------------------------------------------------------------------------------

_UNARY = {
    "Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softsign": "softsign", "Exp": "exp",
    "Log": "log", "Sqrt": "sqrt", "Abs": "abs", "Neg": "negative", "Ceil": "ceil",
    "Floor": "floor", "Sign": "sign", "Round": "rint", "Reciprocal": "reciprocal", "Erf": "erf",
    "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "arcsin", "Acos": "arccos",
    "Atan": "arctan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "arcsinh", "Acosh": "arccosh",
    "Atanh": "arctanh", "Not": "logical_not",
}  # fmt: skip
#: two arrays, array and number, number and array; an empty name is said by the one before
_BINARY = {
    "Add": ("broadcast_add", "_plus_scalar", ""), "Sub": ("broadcast_sub", "_minus_scalar",
    "_rminus_scalar"), "Mul": ("broadcast_mul", "_mul_scalar", ""),
    "Div": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "Pow": ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "Max": ("broadcast_maximum", "_maximum_scalar", ""),
    "Min": ("broadcast_minimum", "_minimum_scalar", ""),
    "Equal": ("broadcast_equal", "_equal_scalar", ""),
    "Greater": ("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    "Less": ("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    "GreaterOrEqual": ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "LessOrEqual": ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
    "And": ("broadcast_logical_and", None, None), "Or": ("broadcast_logical_or", None, None),
    "Xor": ("broadcast_logical_xor", None, None),
}  # fmt: skip
_REDUCTIONS = {
    "ReduceSum": (None, "sum", None), "ReduceMean": (None, "mean", None),
    "ReduceMax": (None, "max", None), "ReduceMin": (None, "min", None),
    "ReduceProd": (None, "prod", None), "ReduceL1": ("abs", "sum", None),
    "ReduceL2": ("square", "sum", "sqrt"), "ReduceSumSquare": ("square", "sum", None),
    "ReduceLogSum": (None, "sum", "log"), "ReduceLogSumExp": ("exp", "sum", "log"),
}  # fmt: skip


def function(name: str) -> Any:
    """The function that composes an operator."""
    return getattr(sym, name, None) or getattr(sym._internal, name)


def _binary(r: Reader) -> Any:
    both, scalar, reverse = _BINARY[r.node.op_type]
    if len(r.node.input) == 1:
        return r.symbol()
    if len(r.node.input) == 2 and scalar:
        for k, name in ((1, scalar), (0, reverse or scalar)):
            other = r.node.input[1 - k]
            if r.is_number(k) and other not in r.constants:
                number = r.constant(k).item()
                return function(name)(r.symbol(1 - k), scalar=number, name=r.name)
    result = r.symbol()
    for k in range(1, len(r.node.input)):
        last = {"name": r.name} if k == len(r.node.input) - 1 else {}
        result = function(both)(result, r.symbol(k), **last)
    return result


def _reduced(r: Reader) -> Any:
    before, op, after = _REDUCTIONS[r.node.op_type]
    axes = r.option("axes", 1)
    data = function(before)(r.symbol()) if before else r.symbol()
    if not axes and r.attrs.get("noop_with_empty_axes"):
        return data
    given = {"axis": tuple(axes)} if axes else {}
    result = function(op)(data, keepdims=bool(r.attrs.get("keepdims", 1)), **given)
    return function(after)(result) if after else result


READERS.update(
    {n: lambda r, op=op: function(op)(r.symbol(), name=r.name) for n, op in _UNARY.items()}
)
READERS.update(dict.fromkeys(_BINARY, _binary))
READERS.update(dict.fromkeys(_REDUCTIONS, _reduced))


# --- layers -------------------------------------------------------------------------------------


def _pads(r: Reader, dims: int, kernel: Any) -> tuple[list[int], list[int]]:
    """What is added before and after each axis in space."""
    mode = r.attrs.get("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = list(r.attrs.get("pads", [0] * 2 * dims))
        return pads[:dims], pads[dims:]
    if mode == "VALID":
        return [0] * dims, [0] * dims
    strides = r.attrs.get("strides", [1] * dims)
    dilations = r.attrs.get("dilations", [1] * dims)
    before, after = [], []
    for n, k, s, d in zip(r.shape()[2:], kernel, strides, dilations, strict=True):
        if n is None:
            raise r.refuse("auto_pad needs the size of the input", mode, "known sizes")
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        small, large = total // 2, total - total // 2
        before.append(small if mode == "SAME_UPPER" else large)
        after.append(large if mode == "SAME_UPPER" else small)
    return before, after


def _padded(data: Any, before: list[int], after: list[int], value: float = 0) -> Any:
    """The data with a border that is not the same on both sides."""
    widths = [0, 0, 0, 0]
    for pair in zip(before, after, strict=True):
        widths += pair
    return sym.pad(data, mode="constant", pad_width=tuple(widths), constant_value=value)


def _window(r: Reader, kernel: Any) -> tuple[Any, dict[str, Any]]:
    """Data, padded where needed, and the attributes convolutions and poolings share."""
    dims = len(kernel)
    before, after = _pads(r, dims, kernel)
    data = r.symbol()
    if before != after:
        edge = -np.inf if r.node.op_type == "MaxPool" else 0
        data, before = _padded(data, before, after, edge), [0] * dims
    stride = tuple(r.attrs.get("strides", [1] * dims))
    return data, {"kernel": tuple(kernel), "stride": stride, "pad": tuple(before)}


@reads("Conv")
def _conv(r: Reader) -> Any:
    weight = r.shape(1)
    data, window = _window(r, weight[2:])
    return sym.Convolution(
        data, r.symbol(1), *([r.symbol(2)] if r.has(2) else []), num_filter=weight[0],
        num_group=r.attrs.get("group", 1), no_bias=not r.has(2), name=r.name,
        dilate=tuple(r.attrs.get("dilations", [1] * len(weight[2:]))), **window,
    )  # fmt: skip


@reads("ConvTranspose")
def _conv_transpose(r: Reader) -> Any:
    weight, group = r.shape(1), r.attrs.get("group", 1)
    dims = len(weight) - 2
    before, after = _pads(r, dims, weight[2:])
    if (
        before != after
        or "output_shape" in r.attrs
        or r.attrs.get("auto_pad", "NOTSET") != "NOTSET"
    ):
        raise r.refuse("the border has no counterpart", r.attrs, "equal pads")
    return sym.Deconvolution(
        r.symbol(0), r.symbol(1), *([r.symbol(2)] if r.has(2) else []), kernel=tuple(weight[2:]),
        num_filter=weight[1] * group, num_group=group, no_bias=not r.has(2), name=r.name,
        stride=tuple(r.attrs.get("strides", [1] * dims)), pad=tuple(before),
        dilate=tuple(r.attrs.get("dilations", [1] * dims)),
        adj=tuple(r.attrs.get("output_padding", [0] * dims)),
    )  # fmt: skip


@reads("Gemm")
def _gemm(r: Reader) -> Any:
    alpha, beta = r.attrs.get("alpha", 1.0), r.attrs.get("beta", 1.0)
    turned = bool(r.attrs.get("transB", 0))
    rows, _ = r.shape(1)
    bias = r.has(2) and r.shape(2) == [rows]
    plain = turned and alpha == beta == 1 and not r.attrs.get("transA", 0)
    if plain and rows and (bias or not r.has(2)):
        return sym.FullyConnected(
            r.symbol(0), r.symbol(1), *([r.symbol(2)] if bias else []), num_hidden=rows,
            no_bias=not bias, flatten=False, name=r.name,
        )  # fmt: skip
    product = sym.dot(
        r.symbol(0), r.symbol(1), transpose_a=bool(r.attrs.get("transA", 0)), transpose_b=turned
    )
    product = product if alpha == 1 else product * alpha
    if not r.has(2):
        return product
    return sym.broadcast_add(product, r.symbol(2) if beta == 1 else r.symbol(2) * beta, name=r.name)


@reads("MatMul")
def _matmul(r: Reader) -> Any:
    left, right = len(r.shape(0)), len(r.shape(1))
    if right <= 2 <= left or left == right == 1:
        return sym.dot(r.symbol(0), r.symbol(1), name=r.name)
    if left == right:
        return sym.linalg.gemm2(r.symbol(0), r.symbol(1), name=r.name)
    raise r.refuse("stacks are not broadcast", f"{r.shape(0)}, {r.shape(1)}", "equal ranks")


@reads("BatchNormalization")
def _batch_normalization(r: Reader) -> Any:
    return sym.BatchNorm(
        *r.symbols_of_all(), eps=r.attrs.get("epsilon", 1e-5), fix_gamma=False, name=r.name,
        momentum=r.attrs.get("momentum", 0.9),
    )  # fmt: skip


@reads("InstanceNormalization")
def _instance_normalization(r: Reader) -> Any:
    return sym.InstanceNorm(*r.symbols_of_all(), eps=r.attrs.get("epsilon", 1e-5), name=r.name)


@reads("LayerNormalization")
def _layer_normalization(r: Reader) -> Any:
    if r.axis(r.attrs.get("axis", -1)) != len(r.shape()) - 1 or not r.has(2):
        raise r.refuse("this has no counterpart", r.attrs, "the last axis, with a bias")
    return sym.LayerNorm(*r.symbols_of_all(), eps=r.attrs.get("epsilon", 1e-5), name=r.name)


@reads("LpNormalization")
def _lp_normalization(r: Reader) -> Any:
    axis, data = r.attrs.get("axis", -1), r.symbol()
    size = sym.norm(data, ord=r.attrs.get("p", 2), axis=axis, keepdims=True)
    return sym.broadcast_div(data, size, name=r.name)


@reads("LRN")
def _lrn(r: Reader) -> Any:
    return sym.LRN(
        r.symbol(), nsize=r.attrs["size"], alpha=r.attrs.get("alpha", 1e-4), name=r.name,
        beta=r.attrs.get("beta", 0.75), knorm=r.attrs.get("bias", 1.0),
    )  # fmt: skip


@reads("MaxPool", "AveragePool", "LpPool")
def _pool(r: Reader) -> Any:
    kind = {"MaxPool": "max", "AveragePool": "avg", "LpPool": "lp"}[r.node.op_type]
    kernel = r.attrs["kernel_shape"]
    dims = len(kernel)
    data, window = _window(r, kernel)
    inside = not r.attrs.get("count_include_pad", 0)
    if any(d != 1 for d in r.attrs.get("dilations", [1])) or len(r.node.output) > 1:
        raise r.refuse("this has no counterpart", r.attrs, "one output, no dilation")
    if kind == "avg" and inside and data is not r.symbol():
        raise r.refuse("this border has no counterpart", r.attrs, "equal pads")
    more = {"p_value": r.attrs.get("p", 2)} if kind == "lp" else {}
    if kind == "avg":
        more["count_include_pad"] = not inside
    if r.attrs.get("ceil_mode", 0):
        sides = r.shape()[2:]
        pad = [a + b for a, b in zip(*_pads(r, dims, kernel), strict=True)]
        whole = None not in sides and not any(
            (n + p - k) % s for n, p, k, s in zip(sides, pad, kernel, window["stride"], strict=True)
        )
        if kind != "max" and not whole:
            raise r.refuse("this border has no counterpart", r.attrs, "ceil_mode=0")
        more["pooling_convention"] = "valid" if whole else "full"
    return sym.Pooling(data, pool_type=kind, name=r.name, **window, **more)


@reads("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def _global_pool(r: Reader) -> Any:
    kind = {"GlobalMaxPool": "max", "GlobalAveragePool": "avg", "GlobalLpPool": "lp"}
    more = {"p_value": r.attrs.get("p", 2)} if r.node.op_type == "GlobalLpPool" else {}
    kernel = (1,) * (len(r.shape()) - 2)
    return sym.Pooling(
        r.symbol(), pool_type=kind[r.node.op_type], global_pool=True, kernel=kernel, name=r.name,
        **more,
    )  # fmt: skip


@reads("Softplus")
def _softplus(r: Reader) -> Any:
    return sym.Activation(r.symbol(), act_type="softrelu", name=r.name)


@reads("LeakyRelu")
def _leaky_relu(r: Reader) -> Any:
    return sym.LeakyReLU(r.symbol(), slope=r.attrs.get("alpha", 0.01), name=r.name)


@reads("Elu")
def _elu(r: Reader) -> Any:
    slope = r.attrs.get("alpha", 1.0)
    return sym.LeakyReLU(r.symbol(), act_type="elu", slope=slope, name=r.name)


@reads("Selu")
def _selu(r: Reader) -> Any:
    return sym.LeakyReLU(r.symbol(), act_type="selu", name=r.name)


@reads("Gelu")
def _gelu(r: Reader) -> Any:
    if r.attrs.get("approximate", "none") != "none":
        raise r.refuse("this has no counterpart", r.attrs, "approximate='none'")
    return sym.LeakyReLU(r.symbol(), act_type="gelu", name=r.name)


@reads("PRelu")
def _prelu(r: Reader) -> Any:
    slope = r.symbol(1)
    shape = r.shape(1)
    if len(shape) > 1:  # one number a channel, in a shape that meets the channels
        if any(n != 1 for n in shape[1:]) and shape[0] != 1:
            raise r.refuse("a slope for each place has no counterpart", shape, "one a channel")
        slope = sym.reshape(slope, shape=(-1,))
    return sym.LeakyReLU(r.symbol(), slope, act_type="prelu", name=r.name)


@reads("HardSigmoid")
def _hard_sigmoid(r: Reader) -> Any:
    a = r.attrs
    return sym.hard_sigmoid(r.symbol(), alpha=a.get("alpha", 0.2), beta=a.get("beta", 0.5))


@reads("HardSwish")
def _hard_swish(r: Reader) -> Any:
    x = r.symbol()
    return sym.elemwise_mul(x, sym.hard_sigmoid(x, alpha=1 / 6, beta=0.5), name=r.name)


@reads("Softmax", "LogSoftmax")
def _softmax(r: Reader) -> Any:
    function = sym.softmax if r.node.op_type == "Softmax" else sym.log_softmax
    axis = r.attrs.get("axis", 1 if r.opset < 13 else -1)
    if r.opset < 13 and r.axis(axis) != len(r.shape()) - 1:
        # over all axes from this one on
        flat = sym.reshape(r.symbol(), shape=(*[0] * r.axis(axis), -1))
        return sym.reshape_like(function(flat, axis=-1), r.symbol(), name=r.name)
    return function(r.symbol(), axis=axis, name=r.name)


@reads("Identity")
def _identity(r: Reader) -> Any:
    return r.symbol()


@reads("Dropout")
def _dropout(r: Reader) -> Any:
    ratio = r.option("ratio", 1, 0.5)
    return sym.Dropout(r.symbol(), p=float(np.ravel(ratio)[0]), name=r.name)


@reads("Resize", "Upsample")
def _resize(r: Reader) -> Any:
    place = 2 if r.node.op_type == "Resize" and r.opset > 10 else 1
    scales = r.option("scales", place, [])
    sizes = r.constant(3).tolist() if r.has(3) else None
    mode = r.attrs.get("mode", "nearest")
    placed = r.attrs.get("coordinate_transformation_mode", "half_pixel")
    shape = r.shape()
    if mode == "nearest":
        if sizes:
            scales = [a / b if b else 0 for a, b in zip(sizes, shape, strict=True)]
        factor = scales[-1]
        if list(scales) != [1, 1, factor, factor] or factor != int(factor):
            raise r.refuse("such sizes have no counterpart", scales, "[1, 1, n, n]")
        return sym.UpSampling(
            r.symbol(), scale=int(factor), sample_type="nearest", num_args=1, name=r.name
        )
    if mode != "linear" or placed not in ("align_corners", "half_pixel", "pytorch_half_pixel"):
        raise r.refuse("this mode has no counterpart", f"{mode}, {placed}", "nearest or linear")
    if not sizes:
        if None in shape[2:]:
            raise r.refuse("the size of the input is not known", shape, "a known size")
        sizes = [math.floor(n * s) for n, s in zip(shape[2:], scales[2:], strict=True)]
    height, width = sizes[-2:]
    return sym.contrib.BilinearResize2D(
        r.symbol(), height=height, width=width, align_corners=placed == "align_corners", name=r.name
    )
