"""``mx.contrib.ndarray`` and ``mx.contrib.symbol`` are the operators of ``nd.contrib``."""

import minigluon as mx


def test_operators_are_found_under_their_short_names():
    assert mx.contrib.nd is mx.contrib.ndarray
    assert mx.contrib.ndarray.MultiBoxPrior(mx.nd.ones((1, 1, 2, 2))).shape == (1, 4, 4)
    prior = mx.contrib.symbol.MultiBoxPrior(mx.contrib.sym.arange_like(mx.sym.var("x")), name="p")
    assert prior.list_outputs() == ["p_output"]
    assert "box_nms" in dir(mx.contrib.sym)
