"""How to draw inputs and attributes for operators that pick, move and join elements."""

from __future__ import annotations

import numpy as np

from cases import FLOW, fixed, plain, smooth
from entries import (
    Entry,
    unary,
)

_DTYPES = ["float32", "float64", "int32", "float16", "uint8", "int64"]
CASES: dict[str, Entry] = {}

# ---- indexing


def _slice(pick):
    shape = pick.shape()
    begin, end, step = [], [], []
    for n in shape:
        start = pick.integer(0, n - 1)
        stop = pick.integer(start + 1, n)
        backwards = pick.integer(0, 3) == 3
        begin.append(stop - 1 if backwards else pick.choice([start, start - n]))
        end.append((start - 1 if start else None) if backwards else pick.choice([stop, None]))
        step.append(-1 if backwards else pick.choice([1, 2]))
    attrs = {"begin": tuple(begin), "end": tuple(end)}
    if step != [1] * len(step):
        attrs["step"] = tuple(step)
    return [smooth(pick.values(shape))], attrs


def _slice_axis(pick):
    shape = pick.shape()
    axis = pick.axis(shape)
    begin = pick.integer(0, shape[axis] - 1)
    end = pick.choice([None, pick.integer(begin + 1, shape[axis])])
    return [smooth(pick.values(shape))], {"axis": axis, "begin": begin, "end": end}


def _slice_like(pick):
    shape = pick.shape()
    axes = tuple(k for k in range(len(shape)) if pick.boolean())
    like = tuple(pick.integer(1, n) for n in shape)
    return [smooth(pick.values(shape)), plain(pick.values(like))], {"axes": axes}


def _indices(pick, shape, limit, beyond=0):
    dtype = pick.choice(["float32", "int32"])
    return fixed(pick.numbers.integers(-beyond, limit + beyond, shape), dtype)


def _take(pick):
    shape = pick.shape()
    axis = pick.integer(0, len(shape) - 1)
    mode = pick.choice(["clip", "wrap"])
    index = _indices(pick, pick.shape(1, 2 if pick.rank is None else 1, 3), shape[axis], beyond=2)
    return [smooth(pick.values(shape)), index], {"axis": axis, "mode": mode}


def _embedding(pick):
    rows, width = pick.integer(1, 5), pick.integer(1, 4)
    index = _indices(pick, pick.shape(1, 2, 3), rows)
    return [index, smooth(pick.values((rows, width)))], {
        "input_dim": rows,
        "output_dim": width,
        "dtype": FLOW,
        "sparse_grad": pick.boolean(),
    }


def _sparse_embedding(pick):
    inputs, attrs = _embedding(pick)
    return inputs, {k: v for k, v in attrs.items() if k != "sparse_grad"}


def _pick(pick):
    shape = pick.shape()
    axis = pick.axis(shape)
    keepdims = pick.boolean()
    index_shape = list(shape)
    index_shape[axis] = 1
    if not keepdims and len(shape) > 1:
        del index_shape[axis]
    index = fixed(pick.numbers.integers(-1, shape[axis] + 1, index_shape))
    attrs = {"axis": axis, "keepdims": keepdims, "mode": pick.choice(["clip", "wrap"])}
    return [smooth(pick.values(shape)), index], attrs


def _one_hot(pick):
    depth = pick.integer(1, 4)
    return [_indices(pick, pick.shape(1, 2), depth, beyond=1)], {
        "depth": depth,
        "on_value": pick.choice([1.0, 3.0]),
        "off_value": pick.choice([0.0, -1.0]),
        "dtype": pick.choice(_DTYPES[:3]),
    }


def _places(pick, shape, depth, unique):
    """Indices into the first ``depth`` dimensions of a shape, one column a place."""
    total = int(np.prod(shape[:depth]))
    count = pick.integer(1, min(total, 4))
    flat = pick.numbers.permutation(total)[:count]
    if not unique:
        flat = pick.numbers.integers(0, total, count)
    return fixed(np.stack(np.unravel_index(flat, shape[:depth])), pick.choice(["int32", "float32"]))


def _gather_nd(pick):
    shape = pick.shape()
    index = _places(pick, shape, pick.integer(1, len(shape)), unique=False)
    return [smooth(pick.values(shape)), index]


def _scatter_nd(pick):
    shape = pick.shape()
    depth = pick.integer(1, len(shape))
    index = _places(pick, shape, depth, unique=True)
    return [smooth(pick.values((index.values.shape[1], *shape[depth:]))), index], {"shape": shape}


def _batch_take(pick):
    rows, columns = pick.integer(1, 4), pick.integer(1, 4)
    index = fixed(pick.numbers.integers(0, columns, rows), "int32")
    return [plain(pick.values((rows, columns))), index]


def _where(pick):
    shape = pick.shape()
    condition = plain(pick.numbers.integers(0, 2, shape))
    if len(shape) > 1 and pick.boolean() and pick.rank is None:
        condition = plain(pick.numbers.integers(0, 2, shape[:1]))
    return [condition, smooth(pick.values(shape)), smooth(pick.values(shape))]


CASES.update(
    {
        "slice": Entry(_slice),
        "slice_axis": Entry(_slice_axis),
        "slice_like": Entry(_slice_like),
        "take": Entry(_take),
        "Embedding": Entry(_embedding),
        "_contrib_SparseEmbedding": Entry(_sparse_embedding),
        "pick": Entry(_pick),
        "one_hot": Entry(_one_hot),
        "gather_nd": Entry(_gather_nd),
        "scatter_nd": Entry(_scatter_nd),
        "batch_take": Entry(_batch_take),
        "where": Entry(_where),
    }
)

# ---- shapes


def _reshape(pick):
    shape = pick.shape()
    total = int(np.prod(shape))
    options = [(-1,), (total,), (0, -1), (-2,), (-3, -2), (-4, 1, -1, -2)]
    options = [o for o in options if len(shape) > 1 or o[0] != -3]
    return [smooth(pick.values(shape))], {"shape": pick.choice(options)}


def _reshape_like(pick):
    shape = pick.shape()
    other = list(shape)
    pick.numbers.shuffle(other)
    inputs = [smooth(pick.values(shape)), plain(pick.values(tuple(other)))]
    if pick.boolean():
        return inputs, {}
    # the dimensions of one array from ``first`` on take the place of as many of the other
    first, count = pick.integer(0, len(shape) - 1), pick.integer(1, 2)
    middle = shape[first : first + count]
    pick.numbers.shuffle(middle := list(middle))
    before, behind = pick.shape(1, 2), pick.shape(1, 2)
    attrs = {
        "lhs_begin": first, "lhs_end": min(first + count, len(shape)),
        "rhs_begin": len(before), "rhs_end": len(before) + len(middle),
    }  # fmt: skip
    return [inputs[0], plain(pick.values((*before, *middle, *behind)))], attrs


def _expand_dims(pick):
    shape = pick.shape()
    axis = pick.integer(-len(shape) - 1, len(shape))
    return [smooth(pick.values(shape))], {"axis": axis}


def _squeeze(pick):
    shape = list(pick.shape())
    axis = pick.integer(0, len(shape) - 1)
    shape[axis] = 1
    return [smooth(pick.values(tuple(shape)))], {"axis": pick.choice([axis, None, (axis,)])}


def _transpose(pick):
    shape = pick.shape()
    axes = tuple(int(k) for k in pick.numbers.permutation(len(shape)))
    return [smooth(pick.values(shape))], {"axes": pick.choice([(), axes])}


def _swap_axes(pick):
    shape = pick.shape()
    first, second = (pick.integer(0, len(shape) - 1) for _ in range(2))
    return [smooth(pick.values(shape))], {"dim1": first, "dim2": second}


def _reverse(pick):
    shape = pick.shape()
    axes = tuple(k for k in range(len(shape)) if pick.boolean()) or (0,)
    return [smooth(pick.values(shape))], {"axis": axes}


def _concat(pick):
    shape = pick.shape()
    dim = pick.axis(shape)
    inputs = []
    for _ in range(pick.integer(1, 3)):
        own = list(shape)
        own[dim] = pick.integer(1, 3)
        inputs.append(smooth(pick.values(tuple(own))))
    return inputs, {"dim": dim}


def _stack(pick):
    shape = pick.shape()
    axis = pick.integer(-len(shape) - 1, len(shape))
    return [smooth(pick.values(shape)) for _ in range(pick.integer(1, 3))], {"axis": axis}


def _split(pick):
    shape = list(pick.shape())
    axis = pick.axis(shape)
    count = pick.integer(1, 3)
    squeeze = pick.boolean() and len(shape) > 1
    shape[axis] = count * (1 if squeeze else pick.integer(1, 2))
    attrs = {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze}
    return [smooth(pick.values(tuple(shape)))], attrs


def _split_at(pick):
    shape = list(pick.shape())
    axis = pick.integer(0, len(shape) - 1)
    shape[axis] = pick.integer(2, 5)
    cuts = sorted({0, *(pick.integer(1, shape[axis] - 1) for _ in range(2))})
    attrs = {"indices": tuple(cuts), "axis": axis, "sections": 0}
    if pick.boolean():
        shape[axis] = 4
        attrs = {"indices": (), "axis": axis, "sections": pick.choice([2, 1, 4])}
    return [smooth(pick.values(tuple(shape)))], attrs


def _tile(pick):
    reps = tuple(pick.integer(1, 3) for _ in range(pick.integer(1, 3)))
    return [smooth(pick.values(pick.shape(1, 3, 3)))], {"reps": reps}


def _repeat(pick):
    shape = pick.shape()
    axis = pick.choice([None, pick.axis(shape)])
    return [smooth(pick.values(shape))], {"repeats": pick.integer(1, 3), "axis": axis}


def _diag(pick):
    shape = pick.shape()
    if len(shape) == 1:
        return [smooth(pick.values(shape))], {"k": pick.integer(-2, 2)}
    first = pick.integer(0, len(shape) - 1)
    second = (first + pick.integer(1, len(shape) - 1)) % len(shape)
    offset = pick.integer(1 - shape[first], shape[second] - 1)
    return [smooth(pick.values(shape))], {"k": offset, "axis1": first, "axis2": second}


CASES.update(
    {
        "Reshape": Entry(_reshape),
        "reshape_like": Entry(_reshape_like),
        "Flatten": unary(),
        "expand_dims": Entry(_expand_dims),
        "squeeze": Entry(_squeeze),
        "transpose": Entry(_transpose),
        "SwapAxis": Entry(_swap_axes),
        "reverse": Entry(_reverse),
        "Concat": Entry(_concat),
        "stack": Entry(_stack),
        "SliceChannel": Entry(_split),
        "_split_v2": Entry(_split_at),
        "tile": Entry(_tile),
        "repeat": Entry(_repeat),
        "diag": Entry(_diag),
        "shape_array": unary(),
        "size_array": unary(),
    }
)
