"""``mx.contrib.ndarray`` and ``mx.contrib.symbol`` are the operators of ``nd.contrib``."""

import numpy as np

import minigluon as mx


def test_operators_are_found_under_their_short_names():
    assert mx.contrib.nd is mx.contrib.ndarray
    assert mx.contrib.ndarray.MultiBoxPrior(mx.nd.ones((1, 1, 2, 2))).shape == (1, 4, 4)
    prior = mx.contrib.symbol.MultiBoxPrior(mx.contrib.sym.arange_like(mx.sym.var("x")), name="p")
    assert prior.list_outputs() == ["p_output"]
    assert "box_nms" in dir(mx.contrib.sym)


def test_steps_of_adamw_and_lamb_take_numbers_and_lists():
    # values recorded from MXNet 1.9.1
    nd, contrib = mx.nd, mx.nd.contrib

    def arrays(count):
        return [mx.nd.array([[1, 2], [3, 4]]) for _ in range(count)]

    wanted = [[0.9, 1.8586493], [2.826968, 3.8002994]]
    for scale in (1.0, nd.array([1])):
        got = contrib.adamw_update(*arrays(4), scale, lr=0.1, eta=1)
        assert np.allclose(got.asnumpy(), wanted, rtol=1e-6)
    half = [x.astype("float16") for x in arrays(2)]
    got = contrib.mp_adamw_update(*half, *arrays(3), 1.0, lr=0.1, eta=1)
    assert got.dtype == np.float16
    assert np.allclose(got.asnumpy(), wanted, rtol=1e-3)
    lists = [[x] for x in arrays(4)]
    out = arrays(1)
    contrib.multi_adamw_update(*lists, 1.0, lrs=[0.1], wds=[0], etas=[1], out=out[0])
    assert np.allclose(out[0].asnumpy(), wanted, rtol=1e-6)
    lists = [[x] for x in arrays(4)]
    contrib.multi_lamb_update(*lists, [1], lrs=[0.1], wds=[0], out=out[0])
    lamb = [[0.8266219, 1.7549288], [2.7, 3.6537628]]
    assert np.allclose(out[0].asnumpy(), lamb, rtol=1e-6)
    mixed = [[half[0]], [half[1]], *[[x] for x in arrays(3)]]
    contrib.multi_mp_lamb_update(*mixed, [1], lrs=[0.1], wds=[0], out=half[0])
    assert np.allclose(half[0].asnumpy(), lamb, rtol=1e-3)
    step = mx.sym.contrib.adamw_update(*map(mx.sym.var, "wgmv"), 1.0, lr=0.1, eta=1)
    assert np.allclose(
        step.bind(mx.cpu(), dict(zip("wg", arrays(2), strict=True)),
                  aux_states=dict(zip("mv", arrays(2), strict=True))).forward()[0].asnumpy(),
        wanted, rtol=1e-6,
    )  # fmt: skip


def test_uniform_numbers_are_found_beside_the_operators():
    assert mx.nd.contrib.uniform(shape=(2,)).shape == (2,)
    assert mx.sym.contrib.uniform(shape=(2,)).infer_shape()[1] == [(2,)]
