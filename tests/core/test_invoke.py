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


@pytest.mark.parametrize("shapes", [[(2, 2), (2, 3)], [(2, 3), (2, 2)], [(2, 2)]])
def test_several_outputs_are_all_written_or_none(shapes):
    outs = [nd.ones(shape) * 5 for shape in shapes]
    with pytest.raises(ShapeError):
        nd.split(nd.ones((2, 4)), num_outputs=2, axis=1, out=outs)
    for out, shape in zip(outs, shapes, strict=True):
        np.testing.assert_array_equal(out.asnumpy(), np.full(shape, 5))


@pytest.mark.parametrize(
    "update",
    [
        lambda w, g, m, v: nd.sgd_mom_update(w, nd.ones((2, 2)), m, lr=0.1, momentum=0.9, out=w),
        lambda w, g, m, v: nd.sgd_mom_update(w, g, m, lr=0.1, momentum=0.9, out=nd.ones((5,))),
        lambda w, g, m, v: nd.adam_update(w, g, m, nd.ones((2, 2)), lr=0.1, out=w),
        lambda w, g, m, v: nd.adam_update(w, g, m, v, lr="fast", out=w),
        lambda w, g, m, v: nd.sgd_update(w, g, out=w),
    ],
)
def test_a_failed_update_leaves_weight_and_states_as_they_were(update):
    arrays = [nd.ones((3, 2)) for _ in range(4)]
    with pytest.raises(MXNetError):
        update(*arrays)
    for array in arrays:
        np.testing.assert_array_equal(array.asnumpy(), np.ones((3, 2)))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__iadd__(nd.ones((3, 2))),
        lambda x: x.__iadd__(nd.ones((4, 2, 3))),
        lambda x: x.__imul__(nd.ones((2, 3), dtype="float64")),
        lambda x: x.__setitem__(slice(None), np.ones((3, 3))),
        lambda x: x.__setitem__(slice(None), "a"),
        lambda x: x.__setitem__(([0, 5],), 3),
        lambda x: nd.ones((3, 3)).copyto(x),
        lambda x: nd.dot(nd.ones((2, 3)), nd.ones((3, 5)), out=x),
    ],
)
def test_a_failed_write_leaves_the_array_as_it_was(write):
    x = nd.ones((2, 3))
    with pytest.raises((MXNetError, IndexError, TypeError, ValueError)):
        write(x)
    np.testing.assert_array_equal(x.asnumpy(), np.ones((2, 3)))
