"""How to draw inputs and attributes for sequences, recurrent layers, attention and their losses."""

from __future__ import annotations

import numpy as np

from algebra import WIDE
from cases import fixed, plain, smooth
from entries import Entry, update

CASES: dict[str, Entry] = {}


def _sequences(axes, **options):
    def make(pick):
        axis = pick.choice(axes)
        steps, batch = pick.integer(1, 4), pick.integer(1, 3)
        shape = (steps, batch) if axis == 0 else (batch, steps)
        inputs = [smooth(pick.values((*shape, *[2] * pick.integer(0, 1))))]
        attrs = {"axis": axis, "use_sequence_length": pick.boolean()}
        attrs.update({name: pick.choice(values) for name, values in options.items()})
        if attrs["use_sequence_length"]:
            lengths = pick.numbers.integers(1, steps + 1, batch)
            inputs.append(fixed(lengths, pick.choice(["float32", "int32"])))
        return inputs, attrs

    return make


CASES["SequenceMask"] = Entry(_sequences([0, 1], value=[0.0, -1.5]))
CASES["SequenceLast"] = Entry(_sequences([0, 1]))
CASES["SequenceReverse"] = Entry(_sequences([0]))

# ---- recurrent layers

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _recurrent(pick):
    mode = pick.choice(list(_GATES))
    steps, batch, width, hidden = (pick.integer(1, 2) for _ in range(4))
    layers, both = pick.integer(1, 2), pick.boolean()
    directions = 2 if both else 1
    sizes = [width, *[hidden * directions] * (layers - 1)]
    count = sum(directions * _GATES[mode] * hidden * (n + hidden + 2) for n in sizes)
    states = (layers * directions, batch, hidden)
    inputs = [
        smooth(pick.values((steps, batch, width))),
        smooth(pick.values((count,)) * 0.5),
        smooth(pick.values(states)),
    ]
    if mode == "lstm":
        inputs.append(smooth(pick.values(states)))
    attrs = {
        "mode": mode, "state_size": hidden, "num_layers": layers, "bidirectional": both,
        "state_outputs": pick.boolean(), "use_sequence_length": pick.boolean(),
    }  # fmt: skip
    if attrs["use_sequence_length"]:
        inputs.append(fixed(pick.numbers.integers(1, steps + 1, batch)))
    return inputs, attrs


CASES["RNN"] = Entry(
    _recurrent, second="its gradient is a kernel without gradient", dtypes=WIDE, factor=10
)


def _joined(pick):
    shapes = [(pick.integer(1, 3),) for _ in range(pick.integer(1, 3))]
    return [smooth(pick.values(s)) for s in shapes], {"dim": 0, "num_args": len(shapes)}


CASES["_rnn_param_concat"] = Entry(_joined)

# ---- alignments


def _alignment(pick):
    steps, batch, classes = pick.integer(4, 5), pick.integer(1, 2), pick.integer(3, 4)
    longest = pick.integer(1, 2)
    first = pick.boolean()
    labels = pick.numbers.integers(1, classes, (batch, longest)) - (0 if first else 1)
    attrs = {
        "blank_label": "first" if first else "last", "use_data_lengths": pick.boolean(),
        "use_label_lengths": pick.boolean(),
    }  # fmt: skip
    inputs = [smooth(pick.values((steps, batch, classes))), plain(labels)]
    if attrs["use_data_lengths"]:
        inputs.append(plain(pick.numbers.integers(4, steps + 1, batch)))
    if attrs["use_label_lengths"]:
        inputs.append(plain(pick.numbers.integers(1, longest + 1, batch)))
    return inputs, attrs


CASES["CTCLoss"] = Entry(
    _alignment, second="its gradient is a kernel without gradient", dtypes=WIDE, factor=10
)

# ---- attention


def _attention(parts, query_parts, weighted):
    def make(pick):
        heads, width, batch = pick.integer(1, 2), pick.integer(1, 3), pick.integer(1, 2)
        queries, keys = pick.integer(1, 3), pick.integer(1, 3)
        if query_parts is None:
            queries = keys
        wide = pick.values((keys, batch, heads * parts * width))
        inputs = [smooth(wide)]
        if weighted:
            inputs.append(smooth(pick.values((batch * heads, queries, keys))))
        elif query_parts:
            inputs.insert(0, smooth(pick.values((queries, batch, heads * width))))
        return inputs, {"heads": heads}

    return make


_PREFIX = "_contrib_interleaved_matmul_"
CASES[f"{_PREFIX}selfatt_qk"] = Entry(_attention(3, None, False), dtypes=WIDE, factor=4)
CASES[f"{_PREFIX}selfatt_valatt"] = Entry(_attention(3, None, True), dtypes=WIDE, factor=4)
CASES[f"{_PREFIX}encdec_qk"] = Entry(_attention(2, 1, False), dtypes=WIDE, factor=4)
CASES[f"{_PREFIX}encdec_valatt"] = Entry(_attention(2, 1, True), dtypes=WIDE, factor=4)

# ---- layers that shape the gradient


def _margins(pick):
    batch, classes = pick.integer(1, 3), pick.integer(2, 4)
    attrs = {
        "margin": pick.choice([1.0, 0.5]), "use_linear": pick.boolean(),
        "regularization_coefficient": pick.choice([1.0, 0.5]),
    }  # fmt: skip
    labels = pick.numbers.integers(0, classes, batch)
    return [smooth(pick.values((batch, classes))), plain(labels)], attrs


_OWN = "its gradient is that of a penalty it does not compute"
CASES["SVMOutput"] = Entry(_margins, slopes=_OWN)

# ---- steps of optimizers


def _attributes(**options):
    shared = {
        "lr": [0.1, 0.5],
        "wd": [0.0, 0.1],
        "rescale_grad": [1.0, 0.5],
        "clip_gradient": [-1.0, 0.5],
    }

    def choose(pick):
        chosen = {**shared, **options}
        return {n: pick.choice(values) for n, values in chosen.items() if values is not None}

    return choose


_LAMB = _attributes(lr=None, t=[1, 3], bias_correction=[True, False])
_MOMENTUM = {"momentum": [0.9, 0.0]}
CASES["nag_mom_update"] = update(1, _attributes(**_MOMENTUM))
CASES["rmsprop_update"] = update(1, _attributes(clip_weights=[-1.0, 0.5]))
CASES["rmspropalex_update"] = update(3, _attributes(epsilon=[4.0]))
CASES["ftml_update"] = update(
    3, _attributes(t=[1, 3], clip_grad=[-1.0, 0.5], clip_gradient=None), factor=10
)
CASES["signsgd_update"] = update(0, _attributes())
CASES["signum_update"] = update(1, _attributes(wd_lh=[0.0, 0.1], **_MOMENTUM))
CASES["lamb_update_phase1"] = update(2, _LAMB, factor=10)


def _mixed(states, attributes, last=()):
    """A step on a float16 weight with a float32 copy; ``last`` shapes of what comes behind."""

    def make(pick):
        shape = pick.shape()
        weight = pick.values(shape).astype(np.float16)
        arrays = [fixed(weight, "float16"), fixed(pick.values(shape), "float16")]
        arrays += [fixed(pick.values(shape, 0.1, 1.0)) for _ in range(states)]
        arrays.append(fixed(weight, "float32"))
        arrays += [fixed(pick.values(s, 0.5, 1.0)) for s in last]
        return arrays, attributes(pick)

    return Entry(make, slopes=_STEP, dtypes=("float32",), step=True)


_STEP = "a step of an optimizer has no gradient"
CASES["mp_sgd_update"] = _mixed(0, _attributes())
CASES["mp_sgd_mom_update"] = _mixed(1, _attributes(**_MOMENTUM))
CASES["mp_nag_mom_update"] = _mixed(1, _attributes(**_MOMENTUM))
CASES["mp_lamb_update_phase1"] = _mixed(2, _LAMB)
_ADAMW = _attributes(rescale_grad=None, eta=[1.0, 0.5])
CASES["_mp_adamw_update"] = _mixed(2, _ADAMW, [(1,)])


def _adamw(pick):
    shape = pick.shape()
    arrays = [plain(pick.values(shape)) for _ in range(2)]
    arrays += [plain(pick.values(shape, 0.1, 1.0)) for _ in range(2)]
    return [*arrays, fixed([0.5])], _ADAMW(pick)


def _lamb_step(mixed):
    def make(pick):
        shape = pick.shape()
        weight, direction = pick.values(shape), pick.values(shape)
        norms = [[pick.choice([2.0, 0.0])], [pick.choice([3.0, 0.0])]]
        attrs = {"lr": 0.1, "lower_bound": pick.choice([-1.0, 0.5]), "upper_bound": -1.0}
        if not mixed:
            return [plain(x) for x in (weight, direction, *norms)], attrs
        half = fixed(weight.astype(np.float16), "float16")
        return [half, *[fixed(x) for x in (direction, *norms, weight)]], attrs

    return make


def _layer_rates(pick):
    shape = pick.shape(1, 1)
    arrays = [plain(pick.values(shape, 0.1, 2.0)) for _ in range(4)]
    return arrays, {"eta": 0.5, "eps": 0.01, "rescale_grad": pick.choice([1.0, 0.5])}


def _row_step(pick):
    shape = pick.shape(2, 3)
    arrays = [plain(pick.values(shape)) for _ in range(2)]
    history = plain(pick.values((shape[0], 1), 0.1, 1.0))
    return [*arrays, history], {"lr": 0.1, "clip_gradient": pick.choice([-1.0, 0.5])}


CASES["_adamw_update"] = Entry(_adamw, slopes=_STEP, dtypes=("float32",), step=True)
CASES["lamb_update_phase2"] = Entry(_lamb_step(False), slopes=_STEP, dtypes=WIDE)
CASES["mp_lamb_update_phase2"] = Entry(_lamb_step(True), slopes=_STEP, dtypes=("float32",))
CASES["multi_lars"] = Entry(_layer_rates, slopes=_STEP, dtypes=WIDE)
CASES["_contrib_group_adagrad_update"] = Entry(
    _row_step, slopes=_STEP, dtypes=WIDE, step=True, dense="rows without a gradient are left alone"
)


def _several(arrays_of_each, attributes, behind=0, mixed=False):
    """Steps of one or two weights; ``behind`` arrays with rates come last."""

    def make(pick):
        count = pick.integer(1, 2)
        inputs = []
        for _ in range(count):
            shape = pick.shape(1, 2)
            weight = pick.values(shape).astype(np.float16)
            half = "float16" if mixed else "float32"
            inputs += [fixed(weight, half), fixed(pick.values(shape), half)]
            inputs += [fixed(weight)] * (arrays_of_each - 2)
        inputs += [fixed(pick.values((count,), 0.1, 0.5)) for _ in range(behind)]
        attrs = {"num_weights": count, "rescale_grad": pick.choice([1.0, 0.5])}
        if attributes:
            attrs |= {"lrs": (0.1, 0.2)[:count], "wds": (0.0, 0.1)[:count]}
        return inputs, attrs

    return Entry(make, slopes=_STEP, dtypes=("float32",))


CASES["multi_sgd_update"] = _several(2, True)
CASES["preloaded_multi_sgd_update"] = _several(2, False, behind=2)

#: operators that take any number of arrays and change some of them
ELSEWHERE = dict.fromkeys(
    "multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update _multi_adamw_update "
    "_multi_mp_adamw_update _multi_lamb_update _multi_mp_lamb_update "
    "preloaded_multi_sgd_mom_update preloaded_multi_mp_sgd_update "
    "preloaded_multi_mp_sgd_mom_update".split(),
    "tests/ops/test_optimizer_updates.py: they change some of any number of arrays",
)
ELSEWHERE["IdentityAttachKLSparseReg"] = "tests/ops/nn/test_penalty.py: each run changes the next"
PARTS = frozenset(
    "_heads_of _heads_into _sequence_last_grad _svm_output_grad _rnn_grad _rnn_data_grad "
    "_ctc_grad".split()
)
