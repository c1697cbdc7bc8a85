"""Random graphs give the same eagerly, as plans of kernels, and compiled."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.core.plan import cache

pytestmark = [
    pytest.mark.skipif(not cache.available(), reason="llvmlite is not there"),
    pytest.mark.slow,
]
#: functions of one value: those with a compiled form and some that have none
UNARY = [
    lambda F, x: F.tanh(x),
    lambda F, x: F.sigmoid(x),
    lambda F, x: F.exp(-F.square(x)),
    lambda F, x: F.relu(x),
    lambda F, x: F.abs(x) + 0.5,
    lambda F, x: F.sin(x) * 0.5,
    lambda F, x: F.cbrt(F.square(x) + 1),
    lambda F, x: F.identity(x),
    lambda F, x: F.arctan(x),
    lambda F, x: F.softmax(x, axis=-1),
    lambda F, x: F.log_softmax(x, axis=0),
    lambda F, x: F.sum(x, axis=0, keepdims=True),
    lambda F, x: F.mean(x, axis=1, keepdims=True),
    lambda F, x: F.max(x, axis=1, keepdims=True),
    lambda F, x: F.sum(F.square(x)).reshape((1, 1)),
    lambda F, x: F.transpose(F.transpose(x) * 2),
    lambda F, x: F.reshape(F.reshape(x, shape=(-1,)) * 0.5, shape=(-1, 1)),
    lambda F, x: F.slice_axis(x, axis=0, begin=0, end=1),
    lambda F, x: F.slice_axis(x, axis=1, begin=-1, end=None) + 1,
    lambda F, x: F.expand_dims(x, axis=0).sum(axis=1),
    lambda F, x: F.clip(x, -0.5, 0.5),
    lambda F, x: F.BlockGrad(x) + x,
    lambda F, x: F.dot(x, x, transpose_b=True) * 0.1,
    lambda F, x: x / (F.abs(x) + 1),
]
BINARY = [
    lambda F, x, y: F.broadcast_add(x, y),
    lambda F, x, y: F.broadcast_mul(x, y),
    lambda F, x, y: F.broadcast_sub(x, y) * F.broadcast_add(x, y),
    lambda F, x, y: F.broadcast_div(x, F.square(y) + 1),
    lambda F, x, y: F.broadcast_maximum(x, y),
    lambda F, x, y: F.dot(x, y, transpose_b=True),
]


@st.composite
def recipes(draw):
    """Shapes of inputs, and steps that combine earlier values; the last values are outputs."""
    rows, columns = draw(st.sampled_from([(1, 1), (2, 3), (4, 1), (1, 5), (3, 17), (40, 70)]))
    steps = draw(st.lists(st.tuples(
        st.booleans(), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)
    ), min_size=2, max_size=9))  # fmt: skip
    return (rows, columns), steps, draw(st.integers(1, 3)), draw(st.integers(0, 999))


def follow(F, recipe, inputs, fits):
    """The outputs a recipe gives on arrays or symbols, by the steps whose shapes fit."""
    _, steps, count, _ = recipe
    values = list(inputs)
    for k, (binary, which, first, second) in enumerate(steps):
        x, y = values[first % len(values)], values[second % len(values)]
        if fits is not None and not fits[k]:
            continue
        if binary:
            values.append(BINARY[which % len(BINARY)](F, x, y))
        else:
            values.append(UNARY[which % len(UNARY)](F, x))
    return values[-count:]


def fitting(recipe, inputs):
    """Which steps can be done: found out eagerly, one after the other."""
    _, steps, _, _ = recipe
    fits = [False] * len(steps)
    for k in range(len(steps)):
        fits[k] = True
        try:
            for x in follow(nd, (recipe[0], steps[: k + 1], 1, 0), inputs, fits):
                fits[k] = fits[k] and x.ndim == 2 and x.size < 1e5
                x.wait_to_read()
        except mx.MXNetError:
            fits[k] = False
    return fits


def run(recipe, numbers, fits, fuse):
    """Outputs and gradients; ``fuse`` is None for an eager run."""
    inputs = [nd.array(a) for a in numbers]
    inputs[0].attach_grad()
    inputs[1].attach_grad(grad_req="add")
    with mock.patch.dict(os.environ, MINIGLUON_FUSE=fuse or "never"):
        if fuse is not None:
            variables = [sym.Variable(f"x{k}") for k in range(3)]
            outputs = follow(sym, recipe, variables, fits)
            group = sym.Group(outputs)
            names = group.list_inputs()
            cached = nd.CachedOp(group)
        for _ in range(2):  # the second time the plan is there
            with autograd.record():
                if fuse is None:
                    results = follow(nd, recipe, inputs, fits)
                else:
                    results = cached(*[inputs[int(n[1:])] for n in names])
                    results = results if isinstance(results, list) else [results]
                used = [r for r in results if r._entry is not None]
            if used:
                autograd.backward(used, [nd.ones(r.shape) * 0.7 for r in used])
    return [x.asnumpy() for x in (*results, inputs[0].grad, inputs[1].grad)]


@settings(max_examples=settings.default.max_examples)
@given(recipe=recipes())
def test_random_graphs_run_alike(recipe):
    shape, _, _, seed = recipe
    numbers = [
        np.random.default_rng(seed + k).normal(size=shape).astype("float32") for k in range(3)
    ]
    fits = fitting(recipe, [nd.array(a) for a in numbers])
    wanted = run(recipe, numbers, fits, None)
    for fuse in ("never", "always"):
        for got, expected in zip(run(recipe, numbers, fits, fuse), wanted, strict=True):
            scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=3e-5 * scale, err_msg=fuse)
