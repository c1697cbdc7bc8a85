"""Gradients are derivatives: compared with central differences in float64, in both orders."""

import numpy as np
import pytest
from hypothesis import strategies as st

import minigluon as mx
from cases import (
    as_arrays,
    assert_close,
    assert_same,
    bind,
    central_differences,
    gradients,
    heads_for,
    run,
    run_plan,
    slope_along,
    symbol_of,
)
from laws import TABLE, for_every_operator
from minigluon import MXNetError, autograd, nd
from minigluon.core.graph import topological
from minigluon.core.op import registry
from minigluon.test_utils import environment
from operators import CASES

# the storage of an inner gradient may be one the laws' own arithmetic falls back from
pytestmark = pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
DIFFERENTIABLE = [n for n in TABLE if CASES[n].slopes is True]


@pytest.fixture(autouse=True, scope="module")
def _numpy_only():
    """Plans are not compiled here: that would take longer than everything else."""
    with environment("MINIGLUON_FUSE", "never"):
        yield


def projected(case, heads):
    """The function whose derivative a backward pass with these head gradients gives."""

    def value(arrays):
        with autograd.train_mode():
            outputs = run(case, "float64", as_arrays(arrays))
        values = [o.asnumpy().astype(np.float64) for o in outputs]
        return sum(  # windows that hold nothing but padding have no finite largest element
            float(np.sum(h * np.where(np.isfinite(v), v, 0)))
            for v, h in zip(values, heads, strict=True)
        )

    return value


def random_heads(case, data):
    numbers = np.random.default_rng(data.draw(st.integers(0, 1000), label="heads"))
    arrays = case.arrays("float64")
    return arrays, heads_for(run(case, "float64", as_arrays(arrays)), numbers)


@pytest.mark.slow
@for_every_operator(DIFFERENTIABLE, smooth=True)
def test_gradients_are_central_differences(case, data):
    if not case.wanted():
        return
    arrays, heads = random_heads(case, data)
    found = gradients(case, "float64", as_arrays(arrays), heads)
    slopes = central_differences(projected(case, heads), arrays, case.wanted())
    for got, slope in zip(found, slopes, strict=True):
        np.testing.assert_allclose(got.asnumpy(), slope, rtol=1e-5, atol=1e-6)


@for_every_operator()
def test_gradients_have_the_dtype_and_storage_of_what_they_belong_to(case, data):
    if not case.wanted():
        return
    dtype = data.draw(st.sampled_from(case.entry.dtypes))
    inputs = as_arrays(case.arrays(dtype))
    heads = heads_for(run(case, dtype, as_arrays(case.arrays(dtype))), np.random.default_rng(1))
    for k, got in zip(case.wanted(), gradients(case, dtype, inputs, heads), strict=True):
        assert (got.dtype, got.stype, got.shape) == (inputs[k].dtype, "default", inputs[k].shape)


def bound_gradients(case, arrays, heads, grad_req, before):
    """The gradients an executor gives into buffers that held the number ``before``."""
    inputs = as_arrays(arrays)
    symbol = symbol_of(case, "float64")
    names = [f"x{k}" for k in case.wanted()]
    buffers = {
        n: nd.full(x.shape, before, dtype="float64")
        for n, x in zip(names, [inputs[k] for k in case.wanted()], strict=True)
    }
    executor = bind(case, symbol, inputs, dict.fromkeys(buffers, grad_req), buffers)
    mx.random.seed(7)
    executor.forward(is_train=True)
    executor.backward([nd.array(h, dtype=h.dtype) for h in heads])
    return [buffers[n] for n in names]


@for_every_operator()
def test_recorded_symbolic_and_planned_gradients_agree(case, data):
    if not case.wanted():
        return
    arrays, heads = random_heads(case, data)
    eager = gradients(case, "float64", as_arrays(arrays), heads)
    planned = gradients(case, "float64", as_arrays(arrays), heads, run_plan)
    bound = bound_gradients(case, arrays, heads, "write", 0)
    for got, other, wanted in zip(planned, bound, eager, strict=True):
        assert_close(got, wanted, "planned")
        assert_close(other, wanted, "bound")
        assert_same(got, wanted, "planned")


@for_every_operator()
def test_bound_gradients_are_added_to_what_is_there(case, data):
    if not case.wanted():
        return
    arrays, heads = random_heads(case, data)
    written = bound_gradients(case, arrays, heads, "write", 10)
    added = bound_gradients(case, arrays, heads, "add", 10)
    for got, wanted in zip(added, written, strict=True):
        assert_close(got, wanted.asnumpy() + 10, factor=10)


@for_every_operator()
def test_gradients_that_are_added_are_added(case, data):
    if not case.wanted():
        return
    arrays, heads = random_heads(case, data)
    once = gradients(case, "float64", as_arrays(arrays), heads)
    inputs = as_arrays(arrays)
    for k in case.wanted():
        inputs[k].attach_grad(grad_req="add")
    for _ in range(2):
        with autograd.record():
            outputs = run(case, "float64", inputs)
        kept = [k for k, o in enumerate(outputs) if o._entry is not None]
        if not kept:
            return
        autograd.backward(
            [outputs[k] for k in kept], [nd.array(heads[k], dtype=heads[k].dtype) for k in kept]
        )
    for k, wanted in zip(case.wanted(), once, strict=True):
        assert_close(inputs[k].grad, 2 * wanted.asnumpy())


@for_every_operator([n for n in TABLE if len(registry[n].inputs) > 1 or registry[n].variadic])
def test_a_gradient_asked_for_alone_is_the_same(case, data):
    wanted = case.wanted()
    if not wanted:
        return
    arrays, heads = random_heads(case, data)
    place = data.draw(st.integers(0, len(wanted) - 1), label="alone")
    together = gradients(case, "float64", as_arrays(arrays), heads)[place]
    for k, given in enumerate(case.inputs):
        given.smooth = k == wanted[place]
    for how in (run, run_plan):
        (alone,) = gradients(case, "float64", as_arrays(arrays), heads, how)
        assert_close(alone, together, factor=case.entry.factor)


def has_second_order(case):
    """Whether every operator in the traced gradient has a gradient itself."""
    traced = case.call("float64").trace(len(case.inputs))
    nodes = [n for n in topological(traced.results) if n.call is not None]
    return all(n.call.op.grad_rule is not None for n in nodes)


def first_gradients(case, inputs, heads, run, create_graph):
    """The gradients of the projected outputs, as arrays that may be differentiated again."""
    with autograd.record():
        outputs = run(case, "float64", inputs)
        used = [k for k, o in enumerate(outputs) if o._entry is not None]
        if not used:
            return None
        return autograd.grad(
            [outputs[k] for k in used],
            [inputs[k] for k in case.wanted()],
            [nd.array(heads[k], dtype=heads[k].dtype) for k in used],
            create_graph=create_graph,
            retain_graph=True,
        )


def second_gradients(case, arrays, heads, weights, run):
    """The gradients of the weighted sum of the gradients, or None if nothing depends on inputs."""
    wanted = case.wanted()
    inputs = as_arrays(arrays)
    for k in wanted:
        inputs[k].attach_grad()
    with autograd.record():
        found = first_gradients(case, inputs, heads, run, create_graph=True)
        if found is None or all(g._entry is None for g in found):
            return None
        total = sum(
            (nd.array(w, dtype="float64") * g).sum() for g, w in zip(found, weights, strict=True)
        )
    total.backward()
    return [inputs[k].grad.asnumpy() for k in wanted]


@pytest.mark.slow
@for_every_operator([n for n in DIFFERENTIABLE if CASES[n].second is True], smooth=True)
def test_gradients_of_gradients_are_central_differences(case, data):
    if not case.wanted() or not has_second_order(case):
        return
    arrays, heads = random_heads(case, data)
    wanted = case.wanted()
    numbers = np.random.default_rng(2)
    weights = [numbers.uniform(0.5, 1.5, arrays[k].shape) for k in wanted]
    directions = {k: numbers.uniform(0.5, 1.5, arrays[k].shape) for k in wanted}

    def weighted(moved):
        again = as_arrays(moved)
        for k in wanted:
            again[k].attach_grad()
        got = first_gradients(case, again, heads, run, create_graph=False)
        return sum(float(np.sum(w * g.asnumpy())) for g, w in zip(got, weights, strict=True))

    eager, planned = (second_gradients(case, arrays, heads, weights, r) for r in (run, run_plan))
    if eager is None:
        return
    curvature = slope_along(weighted, arrays, directions, step=1e-5)
    for found in (eager, planned):
        total = sum(float(np.sum(g * directions[k])) for g, k in zip(found, wanted, strict=True))
        np.testing.assert_allclose(total, curvature, rtol=1e-4, atol=1e-4)
    for one, other in zip(eager, planned, strict=True):
        assert_close(one, other, factor=100 * case.entry.factor)


@for_every_operator([n for n in TABLE if CASES[n].slopes is not True])
def test_operators_without_derivative_pass_something_back_or_say_they_do_not(case, data):
    arrays, heads = random_heads(case, data)
    if not case.wanted():
        return
    try:
        found = gradients(case, "float64", as_arrays(arrays), heads)
    except MXNetError as error:
        assert case.name in str(error)
        return
    assert all(np.isfinite(g.asnumpy()).all() for g in found)
