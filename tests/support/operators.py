"""How to draw inputs and attributes for every operator of the table.

`CASES` has one entry for each operator; a test fails for an operator that has none, so nobody adds
one that the laws do not run over.
"""

from __future__ import annotations

import numpy as np

import algebra
import layers
import recurrence
import vision
from cases import FLOW, fixed, plain, smooth
from entries import (
    Entry,
    anything,
    away_from_zero,
    broadcasting,
    nothing,
    positive,
    reduction,
    same_shape,
    some_axes,
    unary,
    update,
    with_scalar,
)

OWN_GRADIENT = "an output layer: its gradient is that of a loss it does not compute"
RANDOM = "the result is random"
CASES: dict[str, Entry] = {}

# ---- elementwise, one array

CASES.update(
    dict.fromkeys(
        "negative abs sign square exp expm1 sin cos tanh sinh cosh arctan arcsinh degrees radians "
        "relu sigmoid softsign round rint ceil floor trunc fix erf logical_not _copy "
        "zeros_like ones_like".split(),
        unary(),
    )
)
CASES.update(
    {
        "make_loss": unary(slopes=OWN_GRADIENT),
        "BlockGrad": unary(slopes="its purpose is to have no gradient"),
        "tan": unary(-1.2, 1.2),
        "log1p": unary(-0.7, 3.0),
        "arccosh": unary(1.2, 4.0),
        "gamma": unary(0.4, 4.0),
        "gammaln": unary(0.4, 5.0),
    }
)
CASES.update(dict.fromkeys(["sqrt", "rsqrt", "log", "log10", "log2"], unary(0.3, 4.0)))
CASES.update(dict.fromkeys(["arcsin", "arccos", "arctanh", "erfinv"], unary(-0.85, 0.85)))
CASES.update(
    dict.fromkeys(
        ["reciprocal", "cbrt", "rcbrt"],
        Entry(lambda pick: [smooth(away_from_zero(pick, pick.shape()))]),
    )
)

# ---- elementwise, two arrays


def _dividend(pick, shape):
    """Numbers that are no multiples of one and a half, which `_divisor` gives."""
    return 1.5 * (pick.numbers.integers(-2, 3, shape) + pick.numbers.uniform(0.2, 0.8, shape))


def _divisor(pick, shape):
    return 1.5 * pick.numbers.choice([-1.0, 1.0], shape)


_OPERANDS = {
    "add sub mul maximum minimum hypot": (anything, anything),
    "div": (anything, away_from_zero),
    "power": (positive, anything),
    "mod": (_dividend, _divisor),
    "equal not_equal greater greater_equal lesser lesser_equal "
    "logical_and logical_or logical_xor": (
        anything,
        anything,
    ),
}
for _names, _makers in _OPERANDS.items():
    for _name in _names.split():
        _plain = f"elemwise_{_name}" if _name in ("add", "sub", "mul", "div") else f"_{_name}"
        CASES[_plain] = same_shape(*_makers)
        CASES[f"broadcast_{_name}"] = broadcasting(*_makers)

CASES["_scatter_elemwise_div"] = same_shape(
    anything, away_from_zero, dense="it touches the rows of lhs only"
)
CASES["_identity_with_attr_like_rhs"] = same_shape(anything, anything)


def _sum_of_some(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape)) for _ in range(pick.integer(1, 4))]


CASES["add_n"] = Entry(_sum_of_some)

# ---- elementwise, an array and a number


def _any_value(pick, shape, scalar):
    return pick.values(shape)


def _no_multiple(pick, shape, scalar):
    return scalar * (pick.numbers.integers(-2, 3, shape) + pick.numbers.uniform(0.2, 0.8, shape))


def _no_divisor(pick, shape, scalar):
    return scalar / (pick.numbers.integers(1, 4, shape) + pick.numbers.uniform(0.2, 0.8, shape))


_SCALARS = [1.0, 0.0, -1.0, 2.0, 0.5, 3]
CASES.update(
    {
        f"_{name}_scalar": with_scalar(_any_value, _SCALARS)
        for name in "plus minus rminus mul maximum minimum equal not_equal greater greater_equal "
        "lesser lesser_equal logical_and logical_or logical_xor".split()
    }
)
CASES.update(
    {
        "_hypot_scalar": with_scalar(_any_value, [1.0, -1.0, 2.0]),
        "_div_scalar": with_scalar(_any_value, [1.0, -2.0, 0.5]),
        "_rdiv_scalar": with_scalar(lambda p, s, k: away_from_zero(p, s), [1.0, 0.0, -2.0]),
        "_mod_scalar": with_scalar(_no_multiple, [2.0, -1.5, 0.5]),
        "_rmod_scalar": with_scalar(_no_divisor, [2.0, -1.5]),
        "_power_scalar": with_scalar(lambda p, s, k: positive(p, s), [1.0, 0.0, 2.0, 0.5, -1.0]),
        "_rpower_scalar": with_scalar(_any_value, [1.0, 2.0, 0.5]),
        "smooth_l1": with_scalar(_any_value, [1.0, 2.0]),
    }
)
CASES.update(
    dict.fromkeys(
        ["_scatter_plus_scalar", "_scatter_minus_scalar"],
        with_scalar(_any_value, _SCALARS, dense="it touches stored values only"),
    )
)


def _clipped(pick):
    return [smooth(pick.values(pick.shape()))], {
        "a_min": pick.choice([-1.0, 0.0, -0.5]),
        "a_max": pick.choice([1.0, 0.5, 0.0]),
    }


def _hard_sigmoid(pick):
    return [smooth(pick.values(pick.shape(), -4, 4))], {"alpha": pick.choice([0.2, 0.5])}


CASES["clip"] = Entry(_clipped)
CASES["hard_sigmoid"] = Entry(_hard_sigmoid)

STRAIGHT_THROUGH = "its gradient is that of the identity on purpose"
CASES["_contrib_quadratic"] = Entry(
    lambda pick: (
        [smooth(pick.values(pick.shape()))],
        {
            "a": pick.choice([1.0, 0.0, -2.0]),
            "b": pick.choice([0.0, 1.5]),
            "c": pick.choice([0, 1]),
        },
    )
)
CASES["_contrib_div_sqrt_dim"] = unary()
CASES["_contrib_round_ste"] = CASES["_contrib_sign_ste"] = unary(slopes=STRAIGHT_THROUGH)
CASES["_contrib_gradientmultiplier"] = with_scalar(
    _any_value, [1.0, 0.5], slopes="it changes the gradient on purpose"
)

# ---- dtypes and storages


def _cast(pick):
    dtype = pick.choice(["float64", "float32", "float16", "int32", "int64", "uint8", "int8"])
    if pick.smooth:
        dtype = "float64"
    return [smooth(pick.values(pick.shape(), 0, 4))], {"dtype": dtype}


def _amp_cast(pick):
    dtype = "float64" if pick.smooth else pick.choice(["float32", "float16"])
    return [smooth(pick.values(pick.shape()))], {"dtype": dtype}


def _amp_multicast(pick):
    count = pick.integer(1, 3)
    inputs = [smooth(pick.values(pick.shape())) for _ in range(count)]
    if not pick.smooth:
        for given in inputs[1:]:
            dtype = pick.choice(["float16", "float32"])
            given.values, given.flows, given.smooth = given.values.astype(dtype), False, False
    return inputs, {"num_outputs": count, "cast_narrow": pick.boolean()}


CASES["Cast"] = Entry(_cast)
CASES["amp_cast"] = Entry(_amp_cast)
CASES["amp_multicast"] = Entry(_amp_multicast)
CASES["cast_storage"] = Entry(
    lambda pick: (
        [smooth(pick.values(pick.shape(2, 2)))],
        {"stype": pick.choice(["default", "csr", "row_sparse"])},
    )
)


def _retained(pick):
    shape = pick.shape()
    rows = np.flatnonzero(pick.numbers.random(shape[0]) < 0.6)
    rows = rows if rows.size else np.array([0])
    return [smooth(pick.values(shape)), fixed(rows, pick.choice(["float32", "int64"]))]


CASES["_sparse_retain"] = Entry(_retained)

# ---- broadcasting and reductions


def _broadcast_to(pick):
    shape = pick.shape()
    target = tuple(pick.integer(1, 3) if n == 1 else n for n in shape)
    asked = tuple(0 if pick.boolean() and n == m else m for n, m in zip(shape, target, strict=True))
    return [smooth(pick.values(shape))], {"shape": asked}


def _broadcast_axis(pick):
    shape = list(pick.shape())
    axes = [k for k in range(len(shape)) if pick.boolean()] or [0]
    for k in axes:
        shape[k] = 1
    sizes = tuple(pick.integer(1, 3) for _ in axes)
    return [smooth(pick.values(tuple(shape)))], {"axis": tuple(axes), "size": sizes}


def _broadcast_like(pick):
    shape = pick.shape()
    narrow = tuple(1 if pick.boolean() else n for n in shape)
    return [smooth(pick.values(narrow)), plain(pick.values(shape))]


CASES["broadcast_to"] = Entry(_broadcast_to)
CASES["broadcast_axis"] = Entry(_broadcast_axis)
CASES["broadcast_like"] = Entry(_broadcast_like)
CASES.update(dict.fromkeys(["sum", "mean", "nansum", "max", "min"], reduction()))
CASES.update(dict.fromkeys(["prod", "nanprod"], reduction(away_from_zero)))


def _square_sum(pick):
    attrs = {"axis": pick.choice([None, 0, 1, (0,), (1,)]), "keepdims": pick.boolean()}
    return [smooth(pick.values(pick.shape(2, 2)))], attrs


CASES["_square_sum"] = Entry(_square_sum)


def _moments(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape))], {
        "axes": some_axes(pick, shape) or 0,
        "keepdims": pick.boolean(),
    }


def _norm(pick):
    shape = pick.shape()
    axis = some_axes(pick, shape)
    if isinstance(axis, tuple) and len(axis) > 2:
        axis = axis[:2]
    return [smooth(away_from_zero(pick, shape))], {
        "ord": pick.choice([2, 1]),
        "axis": axis,
        "keepdims": pick.boolean(),
    }


def _extreme_place(pick):
    shape = pick.shape()
    axis = None if pick.boolean() else pick.axis(shape)
    return [smooth(pick.values(shape))], {"axis": axis, "keepdims": pick.boolean()}


CASES["moments"] = Entry(_moments)
CASES["norm"] = Entry(_norm)
CASES.update(dict.fromkeys(["argmax", "argmin"], Entry(_extreme_place)))
CASES["argmax_channel"] = Entry(lambda pick: [smooth(pick.values(pick.shape(2, 3)))])

# ---- making arrays

_DTYPES = ["float32", "float64", "int32", "float16", "uint8", "int64"]


def _filled(pick):
    return {"shape": pick.shape(), "dtype": pick.choice(_DTYPES)}


CASES["_zeros"] = CASES["_ones"] = nothing(_filled)
CASES["_full"] = nothing(lambda pick: {**_filled(pick), "value": pick.choice([2.0, 0.0, 7.0])})
CASES["_arange"] = nothing(
    lambda pick: {
        "start": pick.choice([0.0, 1.0, -2.5]),
        "stop": pick.choice([4.0, 3.5]),
        "step": pick.choice([1.0, 0.5, 2.0]),
        "repeat": pick.integer(1, 3),
        "dtype": pick.choice(["float32", "float64"]),
    }
)
CASES["_linspace"] = nothing(
    lambda pick: {
        "start": pick.choice([0.0, -1.0]),
        "stop": pick.choice([2.0, 5.0]),
        "num": pick.integer(2, 6),
        "endpoint": pick.boolean(),
    }
)
CASES["_eye"] = nothing(
    lambda pick: {
        "N": pick.integer(1, 4),
        "M": pick.integer(0, 4),
        "k": pick.integer(-2, 2),
        "dtype": pick.choice(_DTYPES[:3]),
    }
)

# ---- random numbers


def _sampler(*names):
    def attributes(pick):
        numbers = {name: pick.choice([0.5, 1.0]) for name in names}
        dtype = pick.choice(["float32", "float64"])
        return {**numbers, "shape": pick.shape(), "dtype": dtype}

    return nothing(attributes, random=True)


def _like_sampler(*names):
    def make(pick):
        attrs = {name: pick.choice([0.5, 1.0]) for name in names}
        return [plain(pick.values(pick.shape()))], attrs

    return Entry(make, random=True, slopes=RANDOM)


def _array_sampler(*domains):
    def make(pick):
        shape = pick.shape(1, 2)
        arrays = [plain(pick.values(shape, *domain)) for domain in domains]
        return arrays, {"shape": pick.choice([(), (2,), (3, 2)])}

    return Entry(make, random=True, slopes=RANDOM, dtypes=("float32", "float64"))


CASES["_random_uniform"] = nothing(
    lambda pick: {"low": -1.0, "high": pick.choice([1.0, 2.0]), "shape": pick.shape()}, random=True
)
CASES["_random_normal"] = _sampler("loc", "scale")
CASES["_random_uniform_like"] = Entry(
    lambda pick: ([plain(pick.values(pick.shape()))], {"low": -1.0}), random=True, slopes=RANDOM
)
CASES["_random_normal_like"] = _like_sampler("loc", "scale")
CASES["_sample_uniform"] = _array_sampler((-2.0, 0.0), (0.5, 2.0))
CASES["_sample_normal"] = _array_sampler((-1.0, 1.0), (0.3, 2.0))

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

# ---- matrices


def _dot(pick):
    m, k, n = (pick.integer(1, 4) for _ in range(3))
    if pick.rank is None and pick.integer(0, 4) == 4:
        return [smooth(pick.values((k,))), smooth(pick.values((k,)))]
    attrs = {"transpose_a": pick.boolean(), "transpose_b": pick.boolean()}
    if pick.rank == 2:
        attrs["forward_stype"] = pick.choice([None, "default", "csr", "row_sparse"])
    return [
        smooth(pick.values((k, m) if attrs["transpose_a"] else (m, k))),
        smooth(pick.values((n, k) if attrs["transpose_b"] else (k, n))),
    ], attrs


def _batch_dot(pick):
    b, m, k, n = (pick.integer(1, 3) for _ in range(4))
    left, right = pick.boolean(), pick.boolean()
    return [
        smooth(pick.values((b, k, m) if left else (b, m, k))),
        smooth(pick.values((b, n, k) if right else (b, k, n))),
    ], {"transpose_a": left, "transpose_b": right}


def _fully_connected(pick):
    shape = pick.shape(2, 3)
    flatten = pick.boolean()
    width = int(np.prod(shape[1:])) if flatten else shape[-1]
    hidden = pick.integer(1, 4)
    inputs = [smooth(pick.values(shape)), smooth(pick.values((hidden, width)))]
    no_bias = pick.boolean()
    if not no_bias:
        inputs.append(smooth(pick.values((hidden,))))
    return inputs, {"num_hidden": hidden, "no_bias": no_bias, "flatten": flatten}


CASES["dot"] = Entry(_dot)
CASES["batch_dot"] = Entry(_batch_dot)
CASES["FullyConnected"] = Entry(_fully_connected)

# ---- activations and layers of a network


def _activation(pick):
    kinds = ["relu", "sigmoid", "tanh", "softrelu", "softsign"]
    return [smooth(pick.values(pick.shape()))], {"act_type": pick.choice(kinds)}


def _leaky(pick):
    kind = pick.choice(["leaky", "elu", "selu", "gelu", "prelu", "rrelu"])
    shape = pick.shape(2, 3)
    inputs = [smooth(pick.values(shape))]
    if kind == "prelu":
        inputs.append(smooth(pick.values((shape[1] if pick.boolean() else 1,), 0.1, 0.4)))
    return inputs, {"act_type": kind, "slope": pick.choice([0.25, 0.5])}


def _dropout(pick):
    shape = pick.shape()
    axes = tuple(k for k in range(len(shape)) if pick.integer(0, 3) == 3)
    return [smooth(pick.values(shape))], {"p": pick.choice([0.5, 0.0, 0.9]), "axes": axes}


def _softmax(pick, lengths=True):
    shape = pick.shape()
    axis = pick.axis(shape)
    attrs = {"axis": axis, "temperature": pick.choice([None, 1.0, 2.0])}
    inputs = [smooth(pick.values(shape))]
    if lengths and len(shape) > 1 and pick.integer(0, 2) == 2:
        rest = (
            shape[:axis] + shape[axis % len(shape) + 1 :]
            if axis >= 0
            else (shape[: len(shape) + axis] + shape[len(shape) + axis + 1 :])
        )
        inputs.append(fixed(pick.numbers.integers(1, shape[axis] + 1, rest), "int32"))
        attrs["use_length"] = True
    return inputs, attrs


def _softmax_activation(pick):
    mode = pick.choice(["instance", "channel"])
    return [smooth(pick.values(pick.shape(3 if mode == "channel" else 2, 3)))], {"mode": mode}


def _labels(pick, shape, limit):
    return plain(pick.numbers.integers(0, limit, shape))


def _cross_entropy(pick):
    rows, classes = pick.integer(1, 4), pick.integer(2, 4)
    return [smooth(pick.values((rows, classes))), _labels(pick, (rows,), classes)]


def _softmax_output(pick):
    rows, classes = pick.integer(1, 4), pick.integer(2, 4)
    multi = pick.boolean()
    rest = (pick.integer(1, 3),) if multi else ()
    inputs = [smooth(pick.values((rows, classes, *rest))), _labels(pick, (rows, *rest), classes)]
    return inputs, {
        "multi_output": multi,
        "grad_scale": pick.choice([1.0, 2.0]),
        "use_ignore": pick.boolean(),
        "ignore_label": 1.0,
        "normalization": pick.choice(["null", "batch", "valid"]),
        "out_grad": pick.boolean(),
    }


def _regression(pick):
    shape = pick.shape(2, 2)
    scale = {"grad_scale": pick.choice([1.0, 3.0])}
    return [smooth(pick.values(shape)), plain(pick.values(shape))], scale


def _make_loss(pick):
    return [smooth(pick.values(pick.shape()))], {
        "grad_scale": pick.choice([1.0, 2.0]),
        "valid_thresh": pick.choice([0.0, 0.5]),
        "normalization": pick.choice(["null", "batch", "valid"]),
    }


CASES.update(
    {
        "Activation": Entry(_activation),
        "LeakyReLU": Entry(_leaky),
        "Dropout": Entry(_dropout, training=True, random=True),
        "softmax": Entry(_softmax),
        "log_softmax": Entry(lambda pick: _softmax(pick, lengths=False)),
        "softmin": Entry(lambda pick: _softmax(pick, lengths=False)),
        "SoftmaxActivation": Entry(_softmax_activation),
        "softmax_cross_entropy": Entry(_cross_entropy),
        "SoftmaxOutput": Entry(_softmax_output, slopes=OWN_GRADIENT),
        "MakeLoss": Entry(_make_loss, slopes=OWN_GRADIENT),
    }
)
for _name in ("Linear", "Logistic", "MAE"):
    CASES[f"{_name}RegressionOutput"] = Entry(_regression, slopes=OWN_GRADIENT)

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
    return [smooth(pick.values(shape)), plain(pick.values(tuple(other)))]


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

# ---- optimizer steps


def _step(**more):
    def attributes(pick):
        attrs = {
            "lr": pick.choice([0.1, 0.5]),
            "wd": pick.choice([0.0, 0.1]),
            "rescale_grad": pick.choice([1.0, 0.5]),
            "clip_gradient": pick.choice([-1.0, 0.5]),
        }
        attrs.update({name: pick.choice(options) for name, options in more.items()})
        return attrs

    return attributes


LAZY = "rows without a gradient are left alone"
_LAZY = {"lazy_update": [False, True]}
CASES["sgd_update"] = update(0, _step(**_LAZY), dense=LAZY)
CASES["sgd_mom_update"] = update(1, _step(momentum=[0.9, 0.0], **_LAZY), dense=LAZY)
CASES["adam_update"] = update(2, _step(beta1=[0.9], epsilon=[1e-6], **_LAZY), dense=LAZY)
CASES["_sparse_adagrad_update"] = update(1, _step(), dense=LAZY)
CASES["ftrl_update"] = update(2, _step(lamda1=[0.01], beta=[1.0]), dense=LAZY)

for _more in (vision, algebra, recurrence):
    CASES.update(_more.CASES)
CASES.update(layers.CASES)

#: operators that the laws cannot make cases of, and where they are tested
ELSEWHERE = {"Custom": "tests/test_operator.py: what it does is written by users"}

ELSEWHERE |= vision.ELSEWHERE | algebra.ELSEWHERE | recurrence.ELSEWHERE

#: operators that only appear in the gradients of others, whose laws they are seen through
PARTS_OF_GRADIENTS = (
    frozenset(
        "_basic_index _basic_index_grad _boolean_mask_grad _cast_like _concat_grad "
        "_count_sketch_grad _ctc_grad _dense_zeros _diag_grad _dot_lhs_grad _dot_rhs_grad "
        "_embedding_grad _fully_connected_data_grad _fully_connected_weight_grad "
        "_fully_connected_weight_grad_like _gather_index _gather_index_grad _gather_nd_grad "
        "_grad_add _grad_mul _heads_into _heads_of _khatri_rao_part _leaky_slopes "
        "_linalg_cofactors _linalg_dot _linalg_folded _linalg_inverse_gaps _linalg_mirror "
        "_linalg_scaled _linalg_transposed _linalg_triangle _make_loss_grad _one_hot_like "
        "_other_products _pad_grad _pdf_possible _pdf_spread _pdf_spread_rows _pdf_sum "
        "_pdf_sum_rows _pick_drawn _pick_grad _polygamma _prelu_gamma_grad _put_along "
        "_put_drawn _regression_grad _repeat_grad _retain_grad _rnn_data_grad _rnn_grad "
        "_rows_copied _rows_dot _rows_of _sequence_last_grad _slice_axis_grad "
        "_slice_like_grad _softmax_output_grad _softrelu _spread_along_last _spread_like "
        "_spread_mean _spread_reduced _square_sum_grad _sum_rows _sum_to _svm_output_grad "
        "_take_along _take_grad _tie_weights _tile_grad _where_grad".split()
    )
    | vision.PARTS_OF_GRADIENTS
    | layers.PARTS_OF_GRADIENTS
)
