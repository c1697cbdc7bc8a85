"""Recurrent cells in numpy and float64, for comparison."""

import numpy as np

from minigluon import nd


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_step(x, states, w, u, b, c):
    output = np.tanh(x @ w.T + b + states[0] @ u.T + c)
    return output, [output]


def lstm_step(x, states, w, u, b, c):
    write, keep, candidate, read = np.split(x @ w.T + b + states[0] @ u.T + c, 4, axis=1)
    memory = sigmoid(keep) * states[1] + sigmoid(write) * np.tanh(candidate)
    output = sigmoid(read) * np.tanh(memory)
    return output, [output, memory]


def gru_step(x, states, w, u, b, c):
    from_input = np.split(x @ w.T + b, 3, axis=1)
    from_state = np.split(states[0] @ u.T + c, 3, axis=1)
    reset = sigmoid(from_input[0] + from_state[0])
    update = sigmoid(from_input[1] + from_state[1])
    candidate = np.tanh(from_input[2] + reset * from_state[2])
    output = (1 - update) * candidate + update * states[0]
    return output, [output]


def run(step, sequence, states, weights):
    """Outputs of all steps of ``(time, batch, channels)``, and the last states."""
    outputs = []
    for x in sequence:
        output, states = step(x, states, *weights)
        outputs.append(output)
    return np.stack(outputs), states


def fill(block, seed=7):
    """Give all parameters random values; returns them in float64, by name."""
    rng = np.random.default_rng(seed)
    block.initialize()
    values = {}
    for name, parameter in sorted(block.collect_params().items()):
        values[name] = rng.uniform(-0.5, 0.5, parameter.shape).astype("float32")
        parameter.set_data(nd.array(values[name]))
    return {name: value.astype(np.float64) for name, value in values.items()}


def weights_of(values, prefix):
    """What a step needs, in its order."""
    kinds = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    return [values[f"{prefix}{kind}"] for kind in kinds]
