"""Which writes a recording forbids, as recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError

MESSAGE = r"Inplace operations \(\+=, -=, x\[:\]=, etc\) are not supported when recording with"


def arrays():
    """A leaf, an array that takes no part, and room for what is computed."""
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    return x, nd.array([1.0, 2.0])


def add_to(array, value):
    array += value


def put(array, key, value):
    array[key] = value


FORBIDDEN = {
    "leaf += 1": lambda x, y, q: add_to(x, 1),
    "result += 1": lambda x, y, q: add_to(y, 1),
    "other += leaf": lambda x, y, q: add_to(q, x),
    "leaf[:] = 1": lambda x, y, q: put(x, slice(None), 1),
    "result[:] = 1": lambda x, y, q: put(y, slice(None), 1),
    "leaf[0] = 1": lambda x, y, q: put(x, 0, 1),
    "other[0] = result[0]": lambda x, y, q: put(q, 0, y[0]),
    "out=result": lambda x, y, q: nd.exp(x, out=y),
    "out=leaf": lambda x, y, q: nd.exp(q, out=x),
}

ALLOWED = {
    "other += 1": lambda x, y, q: add_to(q, 1),
    "other[:] = 1": lambda x, y, q: put(q, slice(None), 1),
    "other[:] = result": lambda x, y, q: put(q, slice(None), y),
    "leaf.grad[:] = 3": lambda x, y, q: put(x.grad, slice(None), 3),
    "leaf.copyto(other)": lambda x, y, q: x.copyto(q),
    "out=other": lambda x, y, q: nd.exp(x, out=q),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_write_that_would_spoil_a_gradient_is_refused_and_changes_nothing(name):
    x, other = arrays()
    with autograd.record():
        y = x * 2
        with pytest.raises(MXNetError, match=MESSAGE):
            FORBIDDEN[name](x, y, other)
    np.testing.assert_array_equal(x.asnumpy(), [1, 2])
    np.testing.assert_array_equal(y.asnumpy(), [2, 4])
    np.testing.assert_array_equal(other.asnumpy(), [1, 2])


@pytest.mark.parametrize("name", ALLOWED)
def test_a_write_that_spoils_nothing_passes(name):
    x, other = arrays()
    with autograd.record():
        y = x * 2
        ALLOWED[name](x, y, other)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2])


@pytest.mark.parametrize("name", FORBIDDEN)
def test_outside_of_recording_everything_may_be_written(name):
    x, other = arrays()
    with autograd.record():
        y = x * 2
    FORBIDDEN[name](x, y, other)


def test_a_result_written_to_out_is_recorded():
    x, other = arrays()
    with autograd.record():
        nd.square(x, out=other)
        z = other * 3
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [6, 12])
