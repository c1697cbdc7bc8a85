"""How to draw inputs and attributes for products, activations and output layers."""

from __future__ import annotations

import numpy as np

from cases import fixed, plain, smooth
from entries import (
    Entry,
)

OWN_GRADIENT = "an output layer: its gradient is that of a loss it does not compute"
CASES: dict[str, Entry] = {}

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
