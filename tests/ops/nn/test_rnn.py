"""Recurrent layers against cells written out step by step."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
T, N, WIDTH, H = 4, 3, 2, 5


def logistic(x):
    return 1 / (1 + np.exp(-x))


def cell(mode, x, h, c, w_x, w_h, b_x, b_h):
    """One step, as the papers have it."""
    if mode == "lstm":
        i, f, g, o = np.split(x @ w_x.T + b_x + h @ w_h.T + b_h, 4, axis=1)
        c = logistic(f) * c + logistic(i) * np.tanh(g)
        return logistic(o) * np.tanh(c), c
    if mode == "gru":
        (r, z, n), (hr, hz, hn) = (
            np.split(a, 3, axis=1) for a in (x @ w_x.T + b_x, h @ w_h.T + b_h)
        )
        r, z = logistic(r + hr), logistic(z + hz)
        return (1 - z) * np.tanh(n + r * hn) + z * h, None
    pre = x @ w_x.T + b_x + h @ w_h.T + b_h
    return (np.tanh(pre) if mode == "rnn_tanh" else np.maximum(pre, 0)), None


def case(mode, layers=1, both=False, seed=0):
    """Parameters in layers and as one vector, data, and states."""
    numbers = np.random.default_rng(seed)
    directions, gates = 1 + both, GATES[mode] * H
    weights = [
        [numbers.normal(size=s) * 0.5 for s in ((gates, width), (gates, H), gates, gates)]
        for width in [WIDTH] + [H * directions] * (layers - 1)
        for _ in range(directions)
    ]
    flat = [w for group in weights for w in group[:2]] + [w for g in weights for w in g[2:]]
    vector = np.concatenate([w.ravel() for w in flat])
    states = [numbers.normal(size=(layers * directions, N, H)) for _ in range(1 + (mode == "lstm"))]
    return weights, [numbers.normal(size=(T, N, WIDTH)), vector, *states]


def reference(mode, weights, arrays, layers, both, lengths):
    """Outputs and last states, sequence by sequence and step by step."""
    x, _, *states = arrays
    last = [np.array(s) for s in states]
    for layer in range(layers):
        parts = np.zeros((T, N, (1 + both) * H))
        for direction in range(1 + both):
            k = layer * (1 + both) + direction
            for n in range(N):
                h, c = states[0][k, n : n + 1], states[-1][k, n : n + 1]
                steps = range(lengths[n])
                for t in reversed(steps) if direction else steps:
                    h, c = cell(mode, x[t, n : n + 1], h, c, *weights[k])
                    parts[t, n, direction * H : (direction + 1) * H] = h[0]
                last[0][k, n] = h[0]
                if mode == "lstm":
                    last[1][k, n] = c[0]
        x = parts
    return [x, *last]


def double(arrays):
    return [nd.array(x, dtype="float64") for x in arrays]


@pytest.mark.parametrize("lengths", [None, [4, 1, 2]])
@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, False), (1, True), (3, True)])
@pytest.mark.parametrize("mode", GATES)
def test_outputs_and_states_are_those_of_cells(mode, layers, both, lengths):
    # MXNet ignores sequence lengths on the CPU
    weights, arrays = case(mode, layers, both)
    more = [] if lengths is None else [nd.array(lengths)]
    found = nd.RNN(
        *double(arrays), *more, state_size=H, num_layers=layers, bidirectional=both, mode=mode,
        state_outputs=True, use_sequence_length=lengths is not None,
    )  # fmt: skip
    wanted = reference(mode, weights, arrays, layers, both, lengths or [T] * N)
    for got, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", GATES)
def test_gradients_are_slopes_with_lengths_and_dropout(mode):
    _, arrays = case(mode, 2, True)
    lengths = nd.array([4, 1, 2], dtype="int32")
    how = {
        "state_size": H, "num_layers": 2, "bidirectional": True, "mode": mode, "p": 0.4,
        "state_outputs": True, "use_sequence_length": True,
    }  # fmt: skip
    numbers = np.random.default_rng(1)

    def total(values, record=False):
        inputs = double(values)
        if record:
            for x in inputs:
                x.attach_grad()
        mx.random.seed(3)
        with autograd.record():
            found = nd.RNN(*inputs, lengths, **how)
            parts = [
                (nd.array(w, dtype="float64") * o).sum() for w, o in zip(heads, found, strict=True)
            ]
            result = sum(parts[1:], parts[0])
        if record:
            result.backward()
            return [x.grad.asnumpy() for x in inputs]
        return result.asscalar()

    shapes = [(T, N, 2 * H), *[x.shape for x in arrays[2:]]]
    heads = [numbers.normal(size=s) for s in shapes]
    for k, got in enumerate(total(arrays, record=True)):
        for at in [tuple(numbers.integers(0, n) for n in got.shape) for _ in range(6)]:
            ends = []
            for step in (1e-6, -1e-6):
                moved = [x.copy() for x in arrays]
                moved[k][at] += step
                ends.append(total(moved))
            assert got[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-6)


def test_dropout_between_layers_is_for_training_only():
    _, arrays = case("gru", 2)
    how = {"state_size": H, "num_layers": 2, "mode": "gru"}
    plain = nd.RNN(*double(arrays), **how)
    np.testing.assert_array_equal(nd.RNN(*double(arrays), p=0.5, **how).asnumpy(), plain.asnumpy())
    with autograd.train_mode():
        dropped = nd.RNN(*double(arrays), p=0.5, **how)
    assert not np.allclose(dropped.asnumpy(), plain.asnumpy())


def test_lengths_may_be_given_by_name_where_there_is_no_cell():
    _, arrays = case("gru")
    how = {"state_size": H, "num_layers": 1, "mode": "gru", "use_sequence_length": True}
    lengths = nd.array([1, 2, 3])
    named = nd.RNN(*double(arrays), sequence_length=lengths, **how)
    np.testing.assert_array_equal(
        named.asnumpy(), nd.RNN(*double(arrays), lengths, **how).asnumpy()
    )
    assert (named.asnumpy()[1:, 0] == 0).all()


def test_symbols_name_what_they_take_and_give_as_in_mxnet():
    x = mx.sym.Variable("x")
    lstm = mx.sym.RNN(x, state_size=2, num_layers=1, mode="lstm", state_outputs=True, name="r")
    assert lstm.list_arguments() == ["x", "r_parameters", "r_state", "r_state_cell"]
    assert lstm.list_outputs() == ["r_output", "r_state_output", "r_statecell_output"]
    shapes, outputs, _ = lstm.infer_shape(x=(3, 2, 2))
    assert shapes == [(3, 2, 2), (48,), (1, 2, 2), (1, 2, 2)]
    assert outputs == [(3, 2, 2), (1, 2, 2), (1, 2, 2)]
    gru = mx.sym.RNN(x, state_size=2, num_layers=1, mode="gru", use_sequence_length=True, name="g")
    assert gru.list_arguments() == ["x", "g_parameters", "g_state", "g_sequence_length"]
    assert gru.list_outputs() == ["g_output"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": (T, N)}, "data has the wrong shape"),
        ({"parameters": (7,)}, "parameters has the wrong shape"),
        ({"state": (2, N, H)}, "state has the wrong shape"),
        ({"state_cell": (1, N, 1)}, "state_cell has the wrong shape"),
    ],
)
def test_wrong_shapes_are_named(change, words):
    names = ("data", "parameters", "state", "state_cell")
    arrays = dict(zip(names, double(case("lstm")[1]), strict=True))
    arrays.update({k: nd.ones(s, dtype="float64") for k, s in change.items()})
    with pytest.raises(MXNetError, match=words):
        nd.RNN(*arrays.values(), state_size=H, num_layers=1, mode="lstm")


def test_what_only_the_gpu_has_is_refused():
    arrays = double(case("lstm")[1])
    for more in ({"projection_size": 2}, {"lstm_state_clip_min": -1, "lstm_state_clip_max": 1}):
        with pytest.raises(MXNetError, match="is not available"):
            nd.RNN(*arrays, state_size=H, num_layers=1, mode="lstm", **more)
