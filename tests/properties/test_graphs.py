"""Graphs of many operators give the same eagerly, bound, as plans, and as compiled plans."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigluon as mx
from cases import assert_close
from minigluon import autograd, nd, sym
from minigluon.test_utils import environment
from picks import Drawn

#: operators that keep values of moderate size, as functions of the module and its arrays
ONE = [
    lambda F, x: F.tanh(x),
    lambda F, x: F.sigmoid(x) - 0.5,
    lambda F, x: F.sin(x) * x,
    lambda F, x: F.relu(x),
    lambda F, x: F.square(x) * 0.3,
    lambda F, x: -x,
    lambda F, x: F.abs(x),
    lambda F, x: F.sqrt(x * x + 1),
    lambda F, x: F.clip(x, a_min=-0.8, a_max=0.8),
    lambda F, x: 1 / (x * x + 1),
    lambda F, x: F.broadcast_sub(x, F.mean(x, axis=1, keepdims=True)),
    lambda F, x: F.broadcast_mul(x, F.sum(x * x, axis=0, keepdims=True) * 0.1),
    lambda F, x: F.softmax(x, axis=0),
    lambda F, x: F.Reshape(F.Reshape(x, shape=(-1,)), shape=(3, 4)),
    lambda F, x: F.transpose(F.transpose(x) * 2),
    lambda F, x: F.slice_axis(F.concat(x, x, dim=1), axis=1, begin=2, end=6),
    lambda F, x: F.BlockGrad(x),
    lambda F, x: F.Cast(F.Cast(x, dtype="float64"), dtype="float32"),
]
TWO = [
    lambda F, x, y: x + y,
    lambda F, x, y: x - y,
    lambda F, x, y: x * y * 0.5,
    lambda F, x, y: x / (y * y + 1),
    lambda F, x, y: F.maximum(x, y),
    lambda F, x, y: F.where(x > 0, x, y),
    lambda F, x, y: F.broadcast_add(F.sum(x * y, axis=1, keepdims=True) * 0.1, x),
    lambda F, x, y: F.dot(F.dot(x, F.transpose(y)), x) * 0.1,
    lambda F, x, y: F.add_n(x, y, x),
    lambda F, x, y: F.split(F.stack(x, y), num_outputs=2, axis=0, squeeze_axis=True)[1],
]
SHAPE = (3, 4)


def recipe(pick):
    """Which operators are applied to which results, and which results come out."""
    steps = []
    for k in range(pick.integer(1, 8)):
        known = 2 + k
        if pick.boolean():
            places = (pick.integer(0, known - 1), pick.integer(0, known - 1))
            steps.append((TWO[pick.integer(0, len(TWO) - 1)], places))
        else:
            steps.append((ONE[pick.integer(0, len(ONE) - 1)], (pick.integer(0, known - 1),)))
    return steps, sorted({len(steps) + 1, pick.integer(0, len(steps) + 1)})


@st.composite
def recipes(draw):
    """Recipes with the numbers they are tried on."""
    pick = Drawn(draw)
    return (*recipe(pick), pick.integer(0, 1000))


def cook(F, made, arrays):
    """The results of a recipe on arrays or symbols."""
    steps, taken, _ = made
    results = list(arrays)
    for function, places in steps:
        results.append(function(F, *[results[k] for k in places]))
    return [results[k] for k in taken]


def numbers(made):
    """The inputs and a head gradient for each output."""
    generator = np.random.default_rng(made[2])
    draw = functools.partial(generator.uniform, -1.5, 1.5, SHAPE)
    return [draw().astype("float32") for _ in range(2)], [draw().astype("float32") for _ in made[1]]


def recorded(compute, made):
    """Outputs and gradients of a function of two arrays."""
    inputs, heads = numbers(made)
    arrays = [nd.array(x) for x in inputs]
    for x in arrays:
        x.attach_grad()
    with autograd.record():
        outputs = compute(arrays)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    live = [k for k, o in enumerate(outputs) if o._entry is not None]
    autograd.backward([outputs[k] for k in live], [nd.array(heads[k]) for k in live])
    return [o.asnumpy() for o in outputs] + [x.grad.asnumpy() for x in arrays]


def symbol_of(made):
    return sym.Group(cook(sym, made, [sym.Variable("x"), sym.Variable("y")]))


def bound(made):
    """Outputs and gradients through an executor."""
    inputs, heads = numbers(made)
    executor = symbol_of(made).simple_bind(mx.cpu(), x=SHAPE, y=SHAPE)
    for name, value in zip("xy", inputs, strict=True):
        if name in executor.arg_dict:
            executor.arg_dict[name][:] = value
    outputs = executor.forward(is_train=True)
    executor.backward([nd.array(h) for h in heads])
    gradients = [executor.grad_dict.get(name) for name in "xy"]
    zero = np.zeros(SHAPE, "float32")
    return [o.asnumpy() for o in outputs] + [zero if g is None else g.asnumpy() for g in gradients]


def planned(made):
    """Outputs and gradients through the operator that hybridised blocks are."""
    symbol = symbol_of(made)
    op = nd.CachedOp(symbol)
    names = symbol.list_inputs()
    return recorded(lambda arrays: op(*[arrays["xy".index(n)] for n in names]), made)


@pytest.mark.slow
@pytest.mark.parametrize("fuse", ["never", "always"])
@given(made=recipes())
@settings(max_examples=settings.default.max_examples // 2 or 1)
def test_a_graph_gives_the_same_eagerly_bound_and_planned(fuse, made):
    eager = recorded(lambda arrays: cook(nd, made, arrays), made)
    with environment("MINIGLUON_FUSE", fuse):
        ways = [bound(made), planned(made)]
    for other in ways:
        for got, wanted in zip(other, eager, strict=True):
            assert_close(got, wanted, factor=20)
