"""Loops and branches on arrays; expected values recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import autograd, nd

contrib = nd.contrib


def data():
    return nd.arange(6).reshape((3, 2))


def test_foreach_stacks_outputs_and_passes_states_on():
    outputs, state = contrib.foreach(lambda x, s: (x * 2, s + x), data(), nd.zeros((2,)))
    assert outputs.asnumpy().tolist() == [[0, 2], [4, 6], [8, 10]]
    assert state.asnumpy().tolist() == [6, 9]


def test_foreach_keeps_the_nesting_of_outputs_and_states():
    start = nd.zeros((2,))
    outputs, states = contrib.foreach(
        lambda x, s: ([x, [x + 1]], [s[0] + x, [s[1][0]]]), data(), [start, [start]]
    )
    assert outputs[1][0].asnumpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert states[0].asnumpy().tolist() == [6, 9] and states[1][0].asnumpy().tolist() == [0, 0]


def test_foreach_works_without_states_and_without_outputs():
    assert contrib.foreach(lambda x, s: (x, []), data(), [])[1] == []
    assert contrib.foreach(lambda x, s: ([], s + x), data(), nd.zeros((2,)))[0] == []


@pytest.mark.parametrize("body", [lambda x, s: (x, [s[0]]), lambda x, s: x, lambda x, s: (x, s, s)])
def test_foreach_refuses_other_results_of_the_body(body):
    with pytest.raises(ValueError, match="foreach: body"):
        contrib.foreach(body, data(), [nd.zeros((2,)), nd.zeros((2,))])


def test_foreach_refuses_what_is_no_array_and_unequal_lengths():
    with pytest.raises(AssertionError, match="nested"):
        contrib.foreach(lambda x, s: (x, s), 5, [])
    with pytest.raises(ValueError, match="length"):
        contrib.foreach(lambda x, s: (x[0], s), [data(), nd.ones((2, 2))], [])


def test_gradients_flow_through_foreach():
    x = data()
    x.attach_grad()
    with autograd.record():
        _, total = contrib.foreach(lambda row, s: (row, s + row * row), x, nd.zeros((2,)))
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * x.asnumpy())


def test_while_loop_fills_its_outputs_up_with_zeros():
    outputs, (i, x) = contrib.while_loop(
        lambda i, x: i < 3, lambda i, x: (x * 2, [i + 1, x * 2]), [nd.array([0]), nd.array([1])],
        max_iterations=5,
    )  # fmt: skip
    assert outputs.asnumpy().tolist() == [[2], [4], [8], [0], [0]]
    assert (i.asscalar(), x.asscalar()) == (3, 8)


def test_while_loop_stops_at_the_limit_and_may_not_run_at_all():
    outputs, i = contrib.while_loop(lambda i: i < 9, lambda i: (i, i + 1), nd.array([0]), 2)
    assert outputs.asnumpy().tolist() == [[0], [1]] and i.asscalar() == 2
    outputs, i = contrib.while_loop(lambda i: i < 0, lambda i: (i, i + 1), nd.array([0]), 2)
    assert outputs == [] and i.asscalar() == 0


@pytest.mark.parametrize(
    ("condition", "function", "limit"),
    [
        (lambda i: i < 3, lambda i: (i, i + 1), None),
        (lambda i: i < 3, lambda i: (i, i + 1), "a"),
        (lambda i: [i < 3, i < 2], lambda i: (i, i + 1), 4),
        (lambda i: nd.ones((2,)), lambda i: (i, i + 1), 4),
        (lambda i: i < 3, lambda i: (i, [i, i]), 4),
        (lambda i: i < 3, lambda i: i, 4),
    ],
)
def test_while_loop_refuses_other_conditions_results_and_limits(condition, function, limit):
    with pytest.raises(ValueError, match=r"."):
        contrib.while_loop(condition, function, nd.array([0]), limit)


def test_cond_runs_one_branch():
    x = nd.array([1.0])
    assert contrib.cond(nd.array([1]), lambda: x * 2, lambda: x * 3).asscalar() == 2
    assert contrib.cond(nd.array([0]), lambda: x * 2, lambda: [x * 3])[0].asscalar() == 3


def test_kinds_of_numbers_are_told_apart():
    x = nd.array([1, np.nan, -np.inf])
    assert contrib.isnan(x).asnumpy().tolist() == [0, 1, 0]
    assert contrib.isinf(x).asnumpy().tolist() == [0, 0, 1]
    assert contrib.isfinite(x).asnumpy().tolist() == [1, 0, 0]


def test_zipfian_counts_are_those_of_the_distribution():
    drawn, true, sampled = contrib.rand_zipfian(nd.array([3]), 4, 5)
    assert drawn.dtype is np.int64 and drawn.shape == (4,)
    assert ((drawn.asnumpy() >= 0) & (drawn.asnumpy() < 5)).all()
    assert true.asscalar() == pytest.approx(0.498155148939376)
    k = drawn.asnumpy()
    np.testing.assert_allclose(sampled.asnumpy(), 4 * np.log((k + 2) / (k + 1)) / np.log(6))
