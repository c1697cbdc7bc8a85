import numpy as np
import pytest

import minigluon as mx
from minigluon import kvstore, nd
from minigluon.kvstore.compression import TwoBit


def compressing(threshold=0.5):
    store = kvstore.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": threshold})
    return store


def pulled(store, count):
    out = nd.zeros((count,))
    store.pull("w", out=out)
    return out.asnumpy().tolist()


def test_what_is_lost_is_sent_later():  # recorded from MXNet 1.9.1
    store = compressing()
    store.init("w", nd.zeros((6,)))
    for expected in ([0, 0.5, 0.5, -0.5, 0, 0.5], [0.5, 0.5, 0.5, -0.5, -0.5, 0.5]):
        store.push("w", nd.array([0.4, 0.5, 0.6, -0.5, -0.3, 1.7]))
        assert pulled(store, 6) == expected


def test_every_device_has_its_own_remainder():  # recorded from MXNet 1.9.1
    store = compressing()
    store.init("w", nd.zeros((2,)))
    for expected in ([1, 0], [1, 0.5], [1, 0.5]):
        store.push("w", [nd.array([0.6, 0.2]), nd.array([0.6, 0.3], ctx=mx.cpu(1))])
        assert pulled(store, 2) == expected


def test_init_is_not_compressed():
    store = compressing()
    store.init("w", nd.array([0.1, 3.0]))
    np.testing.assert_allclose(pulled(store, 2), [0.1, 3.0], rtol=1e-6)


def test_a_gradient_is_not_changed():
    gradient = nd.array([0.6])
    TwoBit(0.5)("w", [gradient])
    assert gradient.asscalar() == np.float32(0.6)


def test_local_stores_do_not_compress():
    with pytest.raises(Exception, match="not supported for this type of kvstore"):
        kvstore.create("local").set_gradient_compression({"type": "2bit"})


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"type": "1bit"}, "Unknown type for gradient compression 1bit"),
        ({"type": "none"}, "Unknown type for gradient compression none"),
        ({"type": "2bit", "threshold": 0}, "threshold must be greater than 0"),
        ({"threshold": 0.5}, "Required parameter type"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(mx.MXNetError, match=message):
        kvstore.create("device").set_gradient_compression(params)


def test_sparse_gradients_are_refused():
    store = compressing()
    store.init("w", nd.zeros((2, 1), stype="row_sparse"))
    with pytest.raises(mx.MXNetError, match="dense gradients only"):
        store.push("w", nd.ones((2, 1)).tostype("row_sparse"))
