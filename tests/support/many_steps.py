"""How to draw cases of operators that the laws cannot run, for the comparison with MXNet.

Some change any number of arrays, some take csr arrays only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import algebra
import layers
import recurrence
from cases import fixed, plain, smooth
from entries import Entry

_STEP = "a step of an optimizer has no gradient"
CASES: dict[str, Entry] = {}

# ---- steps of several weights


def _weights(states, mixed=False, behind=0, scale=False, rates=(), **options):
    """Weight, gradient, states and a float32 copy if mixed, of each; then what all share."""
    every = 2 + states + mixed

    def make(pick):
        count = pick.integer(1, 3)
        half = "float16" if mixed else "float32"
        inputs = []
        for _ in range(count):
            shape = pick.shape(1, 2)
            weight = pick.values(shape).astype(np.float16)
            inputs += [fixed(weight, half), fixed(pick.values(shape), half)]
            inputs += [fixed(pick.values(shape, 0.1, 1.0)) for _ in range(states)]
            inputs += [fixed(weight, "float32")] * mixed
        inputs += [fixed(pick.values((count,), 0.1, 0.5)) for _ in range(behind)]
        inputs += [fixed([0.5])] * scale
        attrs = {name: pick.choice(values) for name, values in options.items()}
        for name in rates:
            attrs[name] = tuple(pick.choice([0.1, 0.25, 0.5]) for _ in range(count))
        if "step_count" in attrs:
            attrs["step_count"] = tuple(pick.integer(1, 3) for _ in range(count))
        attrs["num_tensors" if "step_count" in attrs else "num_weights"] = count
        return inputs, attrs

    return Entry(make, slopes=_STEP, dtypes=("float32",), every=every, factor=10)


_SGD = {"rescale_grad": [1.0, 0.5], "clip_gradient": [-1.0, 0.5]}
_MOMENTUM = {**_SGD, "momentum": [0.9, 0.0]}
_LAMB = {
    **_SGD, "bias_correction": [True, False], "lower_bound": [-1.0, 0.5], "step_count": [()],
}  # fmt: skip
_RATES = ("lrs", "wds")
_OF_LAMB = ("learning_rates", "wds")
_OF_ADAMW = (*_RATES, "etas")
_CLIP = {"clip_gradient": [-1.0, 0.5]}
CASES["multi_sgd_update"] = _weights(0, rates=_RATES, **_SGD)
CASES["multi_sgd_mom_update"] = _weights(1, rates=_RATES, **_MOMENTUM)
CASES["multi_mp_sgd_update"] = _weights(0, True, rates=_RATES, **_SGD)
CASES["multi_mp_sgd_mom_update"] = _weights(1, True, rates=_RATES, **_MOMENTUM)
CASES["preloaded_multi_sgd_update"] = _weights(0, behind=2, **_SGD)
CASES["preloaded_multi_sgd_mom_update"] = _weights(1, behind=2, **_MOMENTUM)
CASES["preloaded_multi_mp_sgd_update"] = _weights(0, True, behind=2, **_SGD)
CASES["preloaded_multi_mp_sgd_mom_update"] = _weights(1, True, behind=2, **_MOMENTUM)
CASES["_multi_adamw_update"] = _weights(2, scale=True, rates=_OF_ADAMW, **_CLIP)
CASES["_multi_mp_adamw_update"] = _weights(2, True, scale=True, rates=_OF_ADAMW, **_CLIP)
CASES["_multi_lamb_update"] = _weights(2, rates=_OF_LAMB, **_LAMB)
CASES["_multi_mp_lamb_update"] = _weights(2, True, rates=_OF_LAMB, **_LAMB)


def _forgotten(pick):
    count = pick.integer(1, 3)
    return [plain(pick.values(pick.shape())) for _ in range(count)], {"num_arrays": count}


# how MXNet wants them called: the first phase has no weight to write to, others must have one
CASES["mp_lamb_update_phase1"] = replace(recurrence.CASES["mp_lamb_update_phase1"], step=False)
CASES["_scatter_set_nd"] = replace(algebra.CASES["_scatter_set_nd"], step=True)
CASES["_copyto"] = replace(algebra.CASES["_copyto"], step=True)
CASES["reset_arrays"] = Entry(_forgotten, slopes="it gives nothing", every=1)

# MXNet's CPU build has it in single precision and with channels first
CASES["_contrib_BatchNormWithReLU"] = replace(
    layers.CASES["_contrib_SyncBatchNorm"],
    make=lambda pick: layers.batch_norm(pick, axis=False),
    dtypes=("float32",),
)

# ---- shapes seen in running only, and csr arrays


def _masked(pick):
    shape = pick.shape()
    mask = plain(pick.numbers.integers(0, 2, shape[:1]))
    return [smooth(pick.values(shape)), mask]


def _graph(pick):
    shape = pick.shape(2, 2)
    return shape, plain(pick.values(shape) * (pick.numbers.random(shape) < 0.5))


def _edges(pick):
    (rows, columns), graph = _graph(pick)
    count = pick.integer(1, 4)
    ends = [plain(pick.numbers.integers(0, n, count)) for n in (rows, columns)]
    return [graph, *ends]


_COUNT = "what it gives are whole numbers"
CASES["_contrib_boolean_mask"] = Entry(_masked)
CASES["_contrib_getnnz"] = Entry(
    lambda pick: ([_graph(pick)[1]], {"axis": pick.choice([None, 1])}),
    slopes=_COUNT,
    stypes=("csr",),
)
CASES["_contrib_edge_id"] = Entry(_edges, slopes=_COUNT, stypes=("csr", "default", "default"))
