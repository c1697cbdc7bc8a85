"""Running operators on plain storages, without the array classes users see."""

import numpy as np
import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.grad import symbolic, trace
from minigluon.core.graph import Node, variable
from minigluon.core.infer import solve
from minigluon.core.note import make_note
from minigluon.core.op import registry
from minigluon.core.plan.emit import emit


def evaluate(name, *arrays, **attrs):
    """What the operator gives for storages: one, or a tuple."""
    call = registry[name].call(**attrs)
    return call.kernel(tuple(map(type, arrays)))(*arrays)


def differentiate(name, *arrays, head=None, **attrs):
    """The gradients of an operator of one output for all inputs; ``head`` is ones by default.

    Where there is none it is zero.
    """
    call = registry[name].call(**attrs)
    result = evaluate(name, *arrays, **attrs)
    head = np.ones(result.shape, result.dtype) if head is None else head
    wanted = (True,) * len(arrays)
    gradient = trace(call, len(arrays))
    note = make_note(call, gradient, wanted, tuple(map(type, arrays)), result)
    node = note(call, wanted, arrays, result)
    arguments = (head, *node.values)
    found = node.pull.function(wanted, tuple(map(type, arguments)))(*arguments)
    return tuple(
        [np.zeros(x.shape) if g is None else g for g, x in zip(found, arrays, strict=True)]
    )


def slopes(name, *arrays, step=1e-6, **attrs):
    """Central differences of the sum of an operator's result, in float64."""
    results = []
    for k, x in enumerate(arrays):
        slope = np.zeros(x.shape)
        for at in np.ndindex(x.shape):
            ends = []
            for sign in (step, -step):
                moved = x.copy()
                moved[at] += sign
                inputs = (*arrays[:k], moved, *arrays[k + 1 :])
                ends.append(np.sum(evaluate(name, *inputs, **attrs)))
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        results.append(slope)
    return results


def inferred(name, kind, given, outputs=None, **attrs):
    """Shapes or dtypes that the rules of an operator find: (of the inputs, of the outputs)."""
    call = registry[name].call(**attrs)
    inputs = [variable(f"x{k}") for k in range(len(given))]
    node = Node(call, tuple(inputs), name)
    known = {entry[0]: value for entry, value in zip(inputs, given, strict=True)}
    found = solve([(node, k) for k in range(call.outputs)], known, kind)
    return [found[e] for e in inputs], [found[(node, k)] for k in range(call.outputs)]


@pytest.fixture(name="evaluate")
def _evaluate():
    return evaluate


@pytest.fixture(name="differentiate")
def _differentiate():
    return differentiate


@pytest.fixture(name="slopes")
def _slopes():
    return slopes


@pytest.fixture(name="inferred")
def _inferred():
    return inferred


def assert_close(got, wanted, ulps=8):
    """Equality within some units in the last place of the dtype of ``got``."""
    got = np.asarray(got)
    tolerance = ulps * np.finfo(got.dtype).eps if got.dtype.kind == "f" else 0
    np.testing.assert_allclose(got, np.asarray(wanted), rtol=tolerance, atol=tolerance)


@pytest.fixture(name="assert_close")
def _assert_close():
    return assert_close


def second_derivative(name, data, **attrs):
    """The gradient of the sum of the gradient of the sum of an operator of one array."""
    x = variable("x")
    head = (Node(registry[name].call(**attrs), (x,), name), 0)
    for _order in range(2):
        found = symbolic([head], [None], [x[0]])
        if x not in found:
            return np.zeros(data.shape)
        head = found[x]
    return emit("second", [x], [head], [type(data)]).run(data)[0]


@pytest.fixture(name="second_derivative")
def _second_derivative():
    return second_derivative
