"""Uniform and normal numbers: distribution, dtype, reproducibility, bad parameters."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import MXNetError

N = 20000


@pytest.fixture(autouse=True)
def _seeded():
    mx.random.seed(7)


def test_uniform_numbers_fill_their_range_evenly():
    x = nd.random.uniform(-10, 30, shape=(N,)).asnumpy()
    assert x.min() >= -10
    assert x.max() < 30
    counts = np.histogram(x, bins=8, range=(-10, 30))[0]
    assert abs(counts - N / 8).max() < 5 * np.sqrt(N / 8)


def test_uniform_numbers_stay_below_their_end():
    x = nd.random.uniform(2**23, 2**23 + 1, shape=(1000,)).asnumpy()  # sums round to the end here
    assert x.max() < 2**23 + 1


def test_normal_numbers_have_their_mean_and_deviation():
    x = nd.random.normal(3, 2, shape=(N,)).asnumpy()
    assert abs(x.mean() - 3) < 5 * 2 / np.sqrt(N)
    assert abs(x.std() - 2) < 5 * 2 / np.sqrt(2 * N)


@pytest.mark.parametrize("draw", [nd.random.uniform, nd.random.normal])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_seed_repeats_bit_for_bit_in_the_dtype_asked_for(draw, dtype):
    mx.random.seed(3)
    first = draw(0, 1, shape=(2, 3), dtype=dtype)
    mx.random.seed(3)
    again = draw(0, 1, shape=(2, 3), dtype=dtype)
    assert (np.dtype(first.dtype), first.shape) == (dtype, (2, 3))
    assert first.asnumpy().tobytes() == again.asnumpy().tobytes()


def test_symbols_draw_what_arrays_draw():
    mx.random.seed(3)
    eager = nd.random.uniform(0, 1, shape=(2, 3)).asnumpy()
    mx.random.seed(3)
    drawn = sym.random.uniform(0, 1, shape=(2, 3))
    assert drawn.infer_shape()[1] == [(2, 3)]
    assert drawn.eval()[0].asnumpy().tolist() == eager.tolist()


def test_streams_of_contexts_do_not_disturb_each_other():
    def draw():
        return nd.random.uniform(shape=(3,), ctx=mx.cpu(0)).asnumpy().tolist()

    mx.random.seed(1, ctx=mx.cpu(0))
    alone = draw()
    mx.random.seed(1, ctx=mx.cpu(0))
    mx.random.seed(2, ctx=mx.cpu(1))
    assert draw() == alone
    mx.random.seed(1, ctx=mx.cpu(0))
    nd.random.uniform(shape=(3,), ctx=mx.cpu(1))
    assert draw() == alone


@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_parameters_that_are_arrays_give_draws_for_each_element(name):
    low, high = (
        nd.array([[0, 100]]),
        nd.array([[1, 1]]) if name == "normal" else nd.array([[1, 101]]),
    )
    x = getattr(nd.random, name)(low, high, shape=(3, 2))
    assert x.shape == (1, 2, 3, 2)
    assert (x.asnumpy()[0, 1] > 50).all()
    assert (x.asnumpy()[0, 0] < 50).all()
    assert getattr(nd.random, name)(low, high).shape == (1, 2)


def test_samples_infer_the_shape_of_their_parameters():
    drawn = sym.sample_uniform(sym.var("low"), sym.var("high"), shape=(2, 3))
    assert drawn.infer_shape(low=(4,))[0:2] == ([(4,), (4,)], [(4, 2, 3)])


def test_out_receives_the_numbers_in_its_storage():
    out = nd.zeros((2, 3)).tostype("row_sparse")
    mx.random.seed(3)
    nd.random.normal(0, 1, shape=(2, 3), out=out)
    mx.random.seed(3)
    assert out.stype == "row_sparse"
    assert out.asnumpy().tolist() == nd.random.normal(0, 1, shape=(2, 3)).asnumpy().tolist()


BAD = [("uniform", (2, 1), "high"), ("normal", (0, -1), "scale"), ("normal", (0, 0), "scale")]


@pytest.mark.parametrize("name, args, what", BAD)
def test_parameters_that_cannot_be_are_refused(name, args, what):
    with pytest.raises(
        MXNetError, match=rf"(?s){name}: {what} is not valid.*received.*expected.*fix"
    ):
        getattr(nd.random, name)(*args, shape=(3,))


@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_whole_numbers_cannot_be_drawn(name):
    with pytest.raises(MXNetError, match="dtype"):
        getattr(nd.random, name)(0, 1, shape=(3,), dtype="int32")
