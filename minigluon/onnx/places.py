"""What ONNX operators that move, choose and compare values are here: the rest of the table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import symbol as sym
from .reader import Reader
from .readers import function, reads

_FAR = 2**31 - 1


@reads("Flatten")
def _flatten(r: Reader) -> Any:
    axis = r.axis(r.attrs.get("axis", 1))
    if axis == 1:
        return sym.Flatten(r.symbol(), name=r.name)
    front = r.shape()[:axis]
    if None in front:
        raise r.refuse("the axes in front are not known", front, "known lengths")
    return sym.reshape(r.symbol(), shape=(math.prod(front), -1), name=r.name)


@reads("Reshape")
def _reshape(r: Reader) -> Any:
    if r.has(1) and r.node.input[1] in r.shape_of:
        like = r.symbols[r.shape_of[r.node.input[1]]]
        return sym.reshape_like(r.symbol(), like, name=r.name)
    shape = r.option("shape", 1)
    if r.attrs.get("allowzero", 0) and 0 in shape:
        raise r.refuse("0 keeps a length here", shape, "allowzero=0")
    return sym.reshape(r.symbol(), shape=tuple(shape) or (1,), name=r.name)


@reads("Transpose")
def _transpose(r: Reader) -> Any:
    return sym.transpose(r.symbol(), axes=tuple(r.attrs.get("perm", ())), name=r.name)


@reads("Squeeze")
def _squeeze(r: Reader) -> Any:
    axes = r.option("axes", 1)
    return sym.squeeze(r.symbol(), axis=None if axes is None else tuple(axes), name=r.name)


@reads("Unsqueeze")
def _unsqueeze(r: Reader) -> Any:
    axes, result = r.option("axes", 1), r.symbol()
    for axis in sorted(axes) if min(axes) >= 0 else axes:
        result = sym.expand_dims(result, axis=axis)
    return result


@reads("Concat")
def _concat(r: Reader) -> Any:
    return sym.concat(*r.symbols_of_all(), dim=r.attrs["axis"], name=r.name)


@reads("Split")
def _split(r: Reader) -> Any:
    axis, count = r.attrs.get("axis", 0), len(r.node.output)
    sizes = r.option("split", 1)
    if sizes is None or len(set(sizes)) == 1:
        return sym.SliceChannel(r.symbol(), num_outputs=count, axis=axis, name=r.name)
    stops = np.cumsum(sizes).tolist()
    return [
        sym.slice_axis(r.symbol(), axis=axis, begin=stop - size, end=stop)
        for stop, size in zip(stops, sizes, strict=True)
    ]


@reads("Slice")
def _slice(r: Reader) -> Any:
    begin, end = r.option("starts", 1), r.option("ends", 2)
    axes = r.option("axes", 3, list(range(len(begin))))
    steps = r.constant(4).tolist() if r.has(4) else [1] * len(begin)
    count = 1 + max(r.axis(k) for k in axes)
    parts: list[list[Any]] = [[None] * count for _ in range(3)]
    for k, b, e, s in zip(axes, begin, end, steps, strict=True):
        far = e >= _FAR if s > 0 else e <= -_FAR
        for part, value in zip(parts, (b, None if far else e, s), strict=True):
            part[r.axis(k)] = value
    return sym.slice(
        r.symbol(), begin=tuple(parts[0]), end=tuple(parts[1]), step=tuple(parts[2]), name=r.name
    )


@reads("Gather")
def _gather(r: Reader) -> Any:
    axis, places = r.attrs.get("axis", 0), r.constants.get(r.node.input[1])
    if places is not None and not places.ndim:
        begin = places.item()
        part = sym.slice_axis(r.symbol(), axis=axis, begin=begin, end=begin + 1 or None)
        return sym.squeeze(part, axis=axis, name=r.name)
    return sym.take(r.symbol(0), r.symbol(1), axis=axis, mode="wrap", name=r.name)


@reads("GatherND")
def _gather_nd(r: Reader) -> Any:
    order = (len(r.shape(1)) - 1, *range(len(r.shape(1)) - 1))
    return sym.gather_nd(r.symbol(0), sym.transpose(r.symbol(1), axes=order), name=r.name)


@reads("Pad")
def _pad(r: Reader) -> Any:
    pads, mode = r.option("pads", 1), r.attrs.get("mode", "constant")
    half = len(pads) // 2
    widths = [w for pair in zip(pads[:half], pads[half:], strict=True) for w in pair]
    value = r.option("value", 2, 0.0)
    if min(widths) < 0 or r.has(3):
        raise r.refuse("this has no counterpart", pads, "numbers from 0 for all axes")
    value = float(np.ravel(value)[0])
    return sym.pad(
        r.symbol(), mode=mode, pad_width=tuple(widths), constant_value=value, name=r.name
    )


@reads("Clip")
def _clip(r: Reader) -> Any:
    low, high = (
        float(np.ravel(r.option(n, k, otherwise))[0])
        for n, k, otherwise in (("min", 1, -np.inf), ("max", 2, np.inf))
    )
    return sym.clip(r.symbol(), a_min=low, a_max=high, name=r.name)


@reads("Cast")
def _cast(r: Reader) -> Any:
    kind = np.dtype(r.onnx.helper.tensor_dtype_to_np_dtype(r.attrs["to"]))
    if kind.kind == "b":  # truth values are numbers here
        return function("_not_equal_scalar")(r.symbol(), scalar=0, name=r.name)
    return sym.cast(r.symbol(), dtype=kind.name, name=r.name)


@reads("Sum")
def _sum(r: Reader) -> Any:
    result = r.symbol()
    for k in range(1, len(r.node.input)):
        result = sym.broadcast_add(result, r.symbol(k))
    return result


@reads("ArgMax", "ArgMin")
def _arg(r: Reader) -> Any:
    function = sym.argmax if r.node.op_type == "ArgMax" else sym.argmin
    if r.attrs.get("select_last_index", 0):
        raise r.refuse("the first of equals is taken", r.attrs, "select_last_index=0")
    kept = bool(r.attrs.get("keepdims", 1))
    found = function(r.symbol(), axis=r.attrs.get("axis", 0), keepdims=kept)
    return sym.cast(found, dtype="int64", name=r.name)


@reads("TopK")
def _topk(r: Reader) -> Any:
    count = int(np.ravel(r.option("k", 1))[0])
    return sym.topk(
        r.symbol(), k=count, axis=r.attrs.get("axis", -1), ret_typ="both", dtype="int64",
        is_ascend=not r.attrs.get("largest", 1), name=r.name,
    )  # fmt: skip


@reads("OneHot")
def _one_hot(r: Reader) -> Any:
    if r.attrs.get("axis", -1) != -1:
        raise r.refuse("the new axis is the last", r.attrs, "axis=-1")
    off, on = r.constant(2).tolist()
    depth = int(r.constant(1).ravel()[0])
    kind = r.constant(2).dtype.name
    return sym.one_hot(r.symbol(), depth=depth, on_value=on, off_value=off, dtype=kind, name=r.name)


@reads("Expand")
def _expand(r: Reader) -> Any:
    if r.node.input[1] in r.shape_of:
        like = r.symbols[r.shape_of[r.node.input[1]]]
        return sym.broadcast_add(r.symbol(), sym.zeros_like(like), name=r.name)
    shape, known = r.constant(1).tolist(), r.shape()
    data, more = r.symbol(), len(shape) - len(known)
    for _ in range(more):
        data = sym.expand_dims(data, axis=0)
    shape = [1] * -more + shape
    # 0 keeps a length, and a length of 1 wanted is no other
    return sym.broadcast_to(data, shape=tuple([0 if n == 1 else n for n in shape]), name=r.name)


@reads("Tile")
def _tile(r: Reader) -> Any:
    return sym.tile(r.symbol(), reps=tuple(r.constant(1).tolist()), name=r.name)


@reads("Where")
def _where(r: Reader) -> Any:
    chosen = r.symbols_of_all()
    if not r.shape(0) == r.shape(1) == r.shape(2):
        zero = [sym.zeros_like(x) for x in chosen]
        zero = sym.broadcast_add(sym.broadcast_add(zero[1], zero[2]), zero[0])
        chosen = [sym.broadcast_add(x, zero) for x in chosen]
    return sym.where(*chosen, name=r.name)


@reads("ConstantOfShape")
def _constant_of_shape(r: Reader) -> Any:
    if r.node.input[0] not in r.shape_of:
        raise r.refuse("the shape depends on data", r.node.input[0], "the shape of a tensor")
    value = r.attrs.get("value")
    number = 0 if value is None else r.onnx.numpy_helper.to_array(value).item()
    like = r.symbols[r.shape_of[r.node.input[0]]]
    return function("_plus_scalar")(sym.zeros_like(like), scalar=number, name=r.name)


@reads("Shape")
def _shape(r: Reader) -> Any:
    return sym.shape_array(r.symbol(), name=r.name)


@reads("DepthToSpace")
def _depth_to_space(r: Reader) -> Any:
    if r.attrs.get("mode", "DCR") != "DCR":
        raise r.refuse("this mode has no counterpart", r.attrs, "mode='DCR'")
    return sym.depth_to_space(r.symbol(), block_size=r.attrs["blocksize"], name=r.name)


@reads("SpaceToDepth")
def _space_to_depth(r: Reader) -> Any:
    return sym.space_to_depth(r.symbol(), block_size=r.attrs["blocksize"], name=r.name)
