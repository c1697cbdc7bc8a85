"""Running a Call on arrays."""

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError, ShapeError


@pytest.mark.parametrize(
    "function",
    [
        nd.squeeze,
        lambda x: nd.expand_dims(x, axis=0),
        nd.transpose,
        lambda x: nd.transpose(x, axes=(0, 1)),
        lambda x: nd.broadcast_to(x, shape=(2, 3)),
        lambda x: nd.slice_axis(x, axis=0, begin=0, end=None),
        lambda x: nd.flip(x, axis=0),
        nd.identity,
    ],
)
def test_results_of_functions_have_memory_of_their_own(function):
    data = nd.ones((2, 3))
    function(data)[:] = 5
    np.testing.assert_array_equal(data.asnumpy(), np.ones((2, 3)))


def test_shapes_that_do_not_broadcast_are_told_with_operator_inputs_and_remedy():
    with pytest.raises(ShapeError) as caught:
        nd.ones((2, 3)) + nd.ones((4, 5))
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines] == ["broadcast_add:", "received", "expected", "fix"]
    assert lines[1] == "  received  lhs (2, 3) float32 default, rhs (4, 5) float32 default"


def test_a_failed_call_leaves_out_as_it_was():
    out = nd.zeros((2, 3))
    with pytest.raises(MXNetError):
        nd.broadcast_add(nd.ones((2, 3)), nd.ones((4, 5)), out=out)
    with pytest.raises(MXNetError):
        nd.elemwise_add(nd.ones((2, 2)), nd.ones((2, 2)), out=out)
    np.testing.assert_array_equal(out.asnumpy(), np.zeros((2, 3)))


def test_nothing_is_recorded_for_inputs_that_are_not_on_the_tape():
    with autograd.record():
        assert (nd.ones(2) + 1)._entry is None
