"""Padding against numpy, and what cannot be padded."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

X = np.arange(12.0, dtype=np.float32).reshape(1, 1, 3, 4)
WIDTHS = (0, 0, 0, 0, 1, 2, 2, 1)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad_is_that_of_numpy(mode):
    pairs = list(zip(WIDTHS[::2], WIDTHS[1::2], strict=True))
    more = {"constant_values": 7} if mode == "constant" else {}
    padded = nd.pad(nd.array(X), mode=mode, pad_width=WIDTHS, constant_value=7)
    np.testing.assert_array_equal(padded.asnumpy(), np.pad(X, pairs, mode, **more))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_the_gradient_counts_how_often_an_element_occurs(mode):
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = nd.pad(x, mode=mode, pad_width=WIDTHS)
    y.backward()
    pairs = list(zip(WIDTHS[::2], WIDTHS[1::2], strict=True))
    more = {"constant_values": -1} if mode == "constant" else {}
    places = np.pad(np.arange(12).reshape(X.shape), pairs, mode, **more)
    counts = [np.count_nonzero(places == k) for k in range(12)]
    assert x.grad.asnumpy().ravel().tolist() == counts


def test_wrong_widths_are_refused():
    x = nd.array(X)
    for widths in ((1, 1), (0, 0, 0, 0, -1, 0, 0, 0), (*WIDTHS, 1, 1)):
        with pytest.raises(MXNetError, match="pad_width does not fit"):
            nd.pad(x, mode="edge", pad_width=widths)
    with pytest.raises(MXNetError, match="reflection is longer"):
        nd.pad(x, mode="reflect", pad_width=(0, 0, 0, 0, 3, 0, 0, 0))
