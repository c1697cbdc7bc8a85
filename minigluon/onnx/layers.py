"""How layers of neural networks are written in ONNX: a table from operator to function.

A function gets the builder, the operator's attributes and the names of the input tensors, and gives
the name of the output, or a list of names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .builder import Builder

CONVERTERS: dict[str, Callable[..., Any]] = {}
_CHANNELS_FIRST = (None, "NCW", "NCHW", "NCDHW")


def converts(*names: str) -> Callable[[Any], Any]:
    """Put a function into the table under the names of operators."""

    def put(function: Any) -> Any:
        CONVERTERS.update(dict.fromkeys(names, function))
        return function

    return put


def _window(g: Builder, a: dict[str, Any], dims: int) -> dict[str, Any]:
    """Attributes that convolutions and poolings share."""
    if a["layout"] not in _CHANNELS_FIRST:
        raise g.refuse("the layout has no counterpart", a["layout"], "channels first")
    pad = a["pad"] or (0,) * dims
    return {
        "kernel_shape": a["kernel"],
        "strides": a["stride"] or (1,) * dims,
        "pads": (*pad, *pad),
    }


@converts("Convolution")
def _convolution(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    dims = len(a["kernel"])
    dilations = a["dilate"] or (1,) * dims
    return g.emit("Conv", *x, group=a["num_group"], dilations=dilations, **_window(g, a, dims))


@converts("Deconvolution")
def _deconvolution(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["target_shape"]:
        raise g.refuse("target_shape has no counterpart", a["target_shape"], "pad and adj")
    dims = len(a["kernel"])
    return g.emit(
        "ConvTranspose", *x, group=a["num_group"], dilations=a["dilate"] or (1,) * dims,
        output_padding=a["adj"] or (0,) * dims, **_window(g, a, dims),
    )  # fmt: skip


@converts("FullyConnected")
def _fully_connected(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    data, weight, *bias = x
    if a["flatten"] or g.ndim() == 2:
        flat = data if g.ndim() == 2 else g.emit("Flatten", data, axis=1)
        return g.emit("Gemm", flat, weight, *bias, transB=1)
    product = g.emit("MatMul", data, g.emit("Transpose", weight, perm=(1, 0)))
    return g.emit("Add", product, *bias) if bias else product


@converts("BatchNorm", "_contrib_SyncBatchNorm")
def _batch_norm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    data, gamma, *others = x
    axis = a.get("axis", 1) % g.ndim()
    if a["fix_gamma"]:
        gamma = g.constant(np.ones(g.shape(1)), g.dtype(1))
    order = list(range(g.ndim()))
    order[1:1] = [order.pop(axis)]
    if axis != 1:
        data = g.emit("Transpose", data, perm=order)
    normal = g.emit("BatchNormalization", data, gamma, *others, epsilon=a["eps"])
    if axis == 1:
        return normal
    return g.emit("Transpose", normal, perm=np.argsort(order).tolist())


_ACTIVATIONS = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus",
    "softsign": "Softsign",
}  # fmt: skip


@converts("Activation")
def _activation(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["act_type"] not in _ACTIVATIONS:
        raise g.refuse("no such activation", a["act_type"], ", ".join(_ACTIVATIONS))
    return g.emit(_ACTIVATIONS[a["act_type"]], *x)


@converts("LeakyReLU")
def _leaky_relu(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    kind = a["act_type"]
    if kind == "leaky":
        return g.emit("LeakyRelu", x[0], alpha=a["slope"])
    if kind == "rrelu":
        return g.emit("LeakyRelu", x[0], alpha=(a["lower_bound"] + a["upper_bound"]) / 2)
    if kind == "elu":
        return g.emit("Elu", x[0], alpha=a["slope"])
    if kind == "selu":
        return g.emit("Selu", x[0])
    if kind == "prelu":
        return g.emit("PRelu", x[0], _per_channel(g, x[1]))
    inner = g.emit("Erf", g.emit("Div", x[0], g.number(math.sqrt(2))))
    doubled = g.emit("Mul", x[0], g.emit("Add", inner, g.number(1)))
    return g.emit("Mul", doubled, g.number(0.5))


def _per_channel(g: Builder, name: str) -> str:
    """A vector of the channels (axis 1), so that it meets them."""
    if g.ndim() <= 2:
        return name
    return g.reshape(name, (-1,) + (1,) * (g.ndim() - 2))


_POOLS = {"max": "MaxPool", "avg": "AveragePool", "sum": "AveragePool", "lp": "LpPool"}


@converts("Pooling")
def _pooling(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    kind, dims = a["pool_type"], g.ndim() - 2
    more = {"p": a["p_value"]} if kind == "lp" else {}
    if a["layout"] not in _CHANNELS_FIRST:
        raise g.refuse("the layout has no counterpart", a["layout"], "channels first")
    if a["global_pool"]:
        if kind == "sum":
            return g.emit("ReduceSum", x[0], g.constant(range(2, dims + 2)))
        return g.emit(f"Global{_POOLS[kind]}", x[0], **more)
    window = _window(g, a, dims)
    full = a["pooling_convention"] == "full"
    if full and kind == "max":
        more["ceil_mode"] = 1
    elif a["pooling_convention"] == "same" or (full and not _fits(g, window)):
        raise g.refuse("such borders have no counterpart", a["pooling_convention"], "valid")
    if kind in ("avg", "sum"):
        more["count_include_pad"] = int(a["count_include_pad"] is not False or kind == "sum")
    pooled = g.emit(_POOLS[kind], x[0], **window, **more)
    if kind != "sum":
        return pooled
    return g.emit("Mul", pooled, g.number(math.prod(a["kernel"])))


def _fits(g: Builder, window: dict[str, Any]) -> bool:
    """Whether the windows end where the input does."""
    sides = zip(
        g.shape()[2:], window["kernel_shape"], window["strides"], window["pads"], strict=False
    )
    return not any((n + 2 * p - k) % s for n, k, s, p in sides)


@converts("_contrib_AdaptiveAvgPooling2D")
def _adaptive(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    size = a["output_size"] or (1, 1)
    wanted = size if len(size) == 2 else size * 2
    if wanted == (1, 1):
        return g.emit("GlobalAveragePool", x[0])
    sides = g.shape()[2:]
    if any(n % m for n, m in zip(sides, wanted, strict=True)):
        raise g.refuse("the size is no part of the input's", wanted, f"divisors of {sides}")
    kernel = [n // m for n, m in zip(sides, wanted, strict=True)]
    return g.emit("AveragePool", x[0], kernel_shape=kernel, strides=kernel)


@converts("softmax", "log_softmax", "softmin")
def _softmax(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["use_length"]:
        raise g.refuse("lengths have no counterpart", "use_length=True", "use_length=False")
    data = x[0]
    if g.node.call.op.name == "softmin":
        data = g.emit("Neg", data)
    if a["temperature"] not in (None, 1.0):
        data = g.emit("Div", data, g.number(a["temperature"]))
    kind = "LogSoftmax" if g.node.call.op.name == "log_softmax" else "Softmax"
    result = g.emit(kind, data, axis=a["axis"])
    return result if a["dtype"] is None else g.cast(result, a["dtype"])


@converts("SoftmaxOutput")
def _softmax_output(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["multi_output"] or a["preserve_shape"] or g.ndim() <= 2:
        return g.emit("Softmax", x[0], axis=1 if a["multi_output"] else -1)
    flat = g.emit("Softmax", g.emit("Flatten", x[0], axis=1), axis=1)
    return g.emit("Reshape", flat, g.emit("Shape", x[0]))


@converts("SoftmaxActivation")
def _softmax_activation(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Softmax", x[0], axis=1 if a["mode"] == "channel" else -1)


@converts("LogisticRegressionOutput")
def _logistic(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Sigmoid", x[0])


@converts(
    "Dropout", "_copy", "BlockGrad", "make_loss", "MakeLoss", "LinearRegressionOutput",
    "MAERegressionOutput", "IdentityAttachKLSparseReg",
)  # fmt: skip
def _as_it_is(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return x[0]


@converts("LRN")
def _lrn(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("LRN", *x, alpha=a["alpha"], beta=a["beta"], bias=a["knorm"], size=a["nsize"])


@converts("InstanceNorm")
def _instance_norm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("InstanceNormalization", *x, epsilon=a["eps"])


@converts("LayerNorm")
def _layer_norm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["output_mean_var"]:
        raise g.refuse("there is one output", "output_mean_var=True", "False")
    data, gamma, beta = x
    axis = a["axis"] % g.ndim()
    centred = g.emit("Sub", data, g.emit("ReduceMean", data, axes=[axis]))
    square = g.emit("ReduceMean", g.emit("Mul", centred, centred), axes=[axis])
    deviation = g.emit("Sqrt", g.emit("Add", square, g.number(a["eps"])))
    after = (1,) * (g.ndim() - 1 - axis)
    if after:
        gamma, beta = (g.reshape(v, (-1, *after)) for v in (gamma, beta))
    return g.emit("Add", g.emit("Mul", g.emit("Div", centred, deviation), gamma), beta)


@converts("GroupNorm")
def _group_norm(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["output_mean_var"]:
        raise g.refuse("there is one output", "output_mean_var=True", "False")
    data, gamma, beta = x
    grouped = g.reshape(data, (0, a["num_groups"], -1))
    normal = g.emit("InstanceNormalization", grouped, gamma, beta, epsilon=a["eps"])
    return g.emit("Reshape", normal, g.emit("Shape", data))


@converts("L2Normalization")
def _l2_normalization(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    axes = {"instance": range(1, g.ndim()), "channel": [1], "spatial": range(2, g.ndim())}
    square = g.emit("ReduceSum", g.emit("Mul", x[0], x[0]), g.constant(axes[a["mode"]]))
    return g.emit("Div", x[0], g.emit("Sqrt", g.emit("Add", square, g.number(a["eps"]))))


@converts("UpSampling")
def _upsampling(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["sample_type"] != "nearest" or len(x) != 1:
        raise g.refuse("this has no counterpart", a["sample_type"], "nearest of one input")
    scales = g.constant((1, 1, a["scale"], a["scale"]), np.float32)
    return g.emit(
        "Resize", x[0], "", scales, mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip


@converts("_contrib_BilinearResize2D")
def _resize(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    if a["mode"] != "size" or a["scale_height"] is not None or len(x) != 1:
        raise g.refuse("this has no counterpart", f"mode={a['mode']!r}", "height and width")
    sizes = g.emit(
        "Concat", g.emit("Slice", g.emit("Shape", x[0]), g.constant([0]), g.constant([2])),
        g.constant((a["height"], a["width"])), axis=0,
    )  # fmt: skip
    mode = "align_corners" if a["align_corners"] else "half_pixel"
    return g.emit("Resize", x[0], "", "", sizes, mode="linear", coordinate_transformation_mode=mode)


@converts("Embedding")
def _embedding(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Gather", x[1], g.cast(x[0], np.int64), axis=0)
