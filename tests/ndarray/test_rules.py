"""What MXNet 1.9.1 does with arrays, rule by rule: views, keys, dtypes, names and files."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd


@pytest.fixture
def x():
    return nd.arange(24).reshape((2, 3, 4))


def test_contiguous_parts_and_shapes_write_through(x):
    for view in (
        x[1], x[0:1], x.reshape((6, 4)), x.expand_dims(0, inplace=True),
        x.flatten(inplace=True), x[1:2].squeeze(0, inplace=True), nd.reshape(x, shape=(24,)),
    ):  # fmt: skip
        before = x.asnumpy()
        view[:] = -view
        assert (x.asnumpy() != before).any()
    for copy in (x[:, 1], x[::-1], x[:, :, 1:2], x.expand_dims(0), x.transpose((1, 0, 2))):
        before = x.asnumpy()
        copy[:] = 77
        assert (x.asnumpy() == before).all()


@pytest.mark.parametrize(
    "slices, shape",
    [((slice(0, 1), slice(0, 3)), (2, 3)), ((slice(0, 2), slice(0, 1)), (2, 3)),
     ((slice(1, 2), slice(1, 2), slice(0, 2)), (2, 3, 4))],
)  # fmt: skip
def test_contiguity_is_what_numpy_says(slices, shape):
    wanted = np.zeros(shape)[slices].flags.c_contiguous
    assert nd.NDArray._basic_indexing_slice_is_contiguous(slices, shape) == wanted


def test_what_is_one_number_has_shape_one(x):
    assert x[1, 2, 3].shape == (1,)
    assert x.sum().shape == (1,)
    assert nd.ones((1, 1)).squeeze().shape == (1,)
    assert nd.array(np.float32(3)).shape == ()
    with pytest.raises(ValueError, match="not a scalar"):
        x.asscalar()
    with pytest.raises(MXNetError):
        nd.zeros(())
    with mx.util.np_shape():
        assert nd.zeros(()).shape == ()


KEYS = [
    None, ..., (0, ..., 1), (None, 1), np.int64(1), [1, 0], ([0, 1], [2, 0]), (slice(None), [0, 2]),
    (..., [0, 3]), ([1, 0], slice(None), 2), (slice(None, None, -1), 0), (0, slice(2, 0, -1)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys_read_and_write_and_lead_gradients_as_in_numpy(x, key):
    values = x.asnumpy()
    wanted = values[key]
    assert x[key].asnumpy().tolist() == np.atleast_1d(wanted).tolist()
    x.attach_grad()
    with autograd.record():
        y = x[key].sum()
    y.backward()
    slopes = np.zeros_like(values)
    np.add.at(slopes, key, 1)
    assert x.grad.asnumpy().tolist() == slopes.tolist()
    changed = x.copy()
    changed[key] = 5
    values[key] = 5
    assert changed.asnumpy().tolist() == values.tolist()


def test_masks_are_zeros_and_ones_and_floats_are_whole(x):
    mask = nd.array([True, False], dtype="bool")
    assert x[mask].asnumpy().tolist() == x.asnumpy()[[1, 0]].tolist()
    assert x[nd.array([1.0, 0.0])].asnumpy().tolist() == x.asnumpy()[[1, 0]].tolist()
    with pytest.raises(IndexError):
        x[2]
    assert len(list(x)) == 2


def test_writing_while_recording_is_refused_where_it_would_harm(x):
    x.attach_grad()
    other = nd.zeros(3)
    with autograd.record():
        y = x * 2
        for write in (
            lambda: x.__setitem__(0, 1),
            lambda: y.__setitem__(0, 1),
            lambda: y.__iadd__(y),
        ):
            with pytest.raises(MXNetError, match=r"Inplace operations \(\+=, -=, x\[:\]=, etc\)"):
                write()
        other[:] = y[0, 0, :3]
        other[None] = 2
    x[0] = 1


def test_values_fit_into_what_they_are_written_to(x):
    for value in (3, [1, 2, 3, 4], np.arange(4), nd.arange(4), np.ones((1, 1, 1, 4))):
        x[0] = value
        assert x[0].asnumpy().tolist() == np.broadcast_to(np.asarray(value if not isinstance(
            value, nd.NDArray) else value.asnumpy()).reshape(-1), (3, 4)).tolist()  # fmt: skip
    whole = nd.zeros(1, dtype="int32")
    whole[0] = 16800001
    assert whole.asscalar() == 16800001


def test_dtypes_follow_the_array():
    assert nd.array([1, 2]).dtype == nd.array(np.arange(2)).dtype == np.float32
    assert nd.array(nd.array([1], dtype="int8")).dtype == np.int8
    a = nd.array([1, 2], dtype="int32")
    assert (a + 1.5).asnumpy().tolist() == [2, 3]
    with pytest.raises(MXNetError, match="dtype"):
        a + nd.array([1, 2])
    assert (a > 1).dtype == np.int32
    rows = nd.array([[1, 3, 2]])
    assert {f(rows).dtype for f in (nd.argmax, nd.argmin, nd.argsort, nd.topk)} == {np.float32}
    assert nd.topk(rows, dtype="int32").dtype == np.int32


def test_codes_of_reshape_and_sizes_that_do_not_fit(x):
    for shape, wanted in (
        ((0, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, 0), (6, 4)), ((-4, 1, 2, -2), (1, 2, 3, 4)),
    ):  # fmt: skip
        assert (
            x.reshape(shape).shape
            == x.reshape(*shape).shape
            == x.reshape(shape=shape).shape
            == wanted
        )
    assert nd.zeros((10, 5, 4)).reshape((-1, 0), reverse=True).shape == (50, 4)
    with pytest.raises(ValueError, match="24"):
        x.reshape((5,))


def test_comparisons_with_nothing_and_truth(x):
    with pytest.raises(TypeError):
        x == None  # noqa: B015, E711
    assert bool(nd.array([2]))
    with mx.util.np_shape():
        assert not bool(nd.zeros((0,)))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(MXNetError):
        nd.elemwise_add(nd.ones((2, 1)), nd.ones((2, 2)))


def test_whole_numbers_divide_and_round_as_in_mxnet():
    a, b = nd.array([-3, 3, 7], dtype="int32"), nd.array([2, 2, -2], dtype="int32")
    assert (a / b).asnumpy().tolist() == [-1, 1, -3]
    assert (a % b).asnumpy().tolist() == [1, 1, -1]
    halves = nd.array([2.5, -0.5, 0.5, 1.5])
    assert nd.round(halves).asnumpy().tolist() == [3, -1, 1, 2]
    assert nd.rint(halves).asnumpy().tolist() == [2, -1, 0, 1]


def test_reductions_take_any_axes(x):
    values = x.asnumpy()
    assert x.sum(axis=-1).asnumpy().tolist() == values.sum(-1).tolist()
    assert x.mean(axis=(0, 2)).asnumpy().tolist() == values.mean((0, 2)).tolist()
    assert x.sum(axis=()).asscalar() == values.sum()
    assert x.sum(axis=1, exclude=True).asnumpy().tolist() == values.sum((0, 2)).tolist()
    assert nd.norm(x, axis=1).shape == (2, 4)
    assert nd.array([100, 100], dtype="int8").sum().dtype == np.int8


def test_indices_beyond_the_end_are_clipped_wrapped_or_refused():
    row = nd.array([1, 2, 3])
    index = nd.array([5, -1])
    assert nd.take(row, index).asnumpy().tolist() == [3, 1]
    assert nd.take(row, index, mode="wrap").asnumpy().tolist() == [3, 3]
    with pytest.raises(MXNetError):
        nd.take(row, index, mode="raise").asnumpy()
    assert nd.pick(nd.array([[1, 2]]), nd.array([7])).asnumpy().tolist() == [2]
    assert nd.one_hot(nd.array([1, 7]), 2).asnumpy().tolist() == [[0, 1], [0, 0]]
    assert isinstance(nd.split(row, num_outputs=1, axis=0), nd.NDArray)


def test_the_largest_come_in_the_form_asked_for():
    a = nd.array([[1, 3, 2], [6, 5, 4]])
    assert nd.topk(a, k=2, ret_typ="value").asnumpy().tolist() == [[3, 2], [6, 5]]
    assert nd.topk(a, k=1, ret_typ="mask").asnumpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    assert nd.topk(a, axis=None, k=5, ret_typ="indices").shape == (5,)
    values, indices = nd.topk(a, k=1, ret_typ="both")
    assert (values.asnumpy().tolist(), indices.asnumpy().tolist()) == ([[3], [6]], [[1], [0]])
    assert np.isnan(nd.relu(nd.array([np.nan])).asnumpy()).all()


def test_numpy_functions_call_methods():
    a = nd.array([[1, 3, 2]])
    assert np.argmax(a, axis=1).asnumpy().tolist() == [1]
    assert np.sum(a).asscalar() == 6


def test_numpy_memory_is_shared_and_sealed():
    source = np.arange(4.0)
    x = nd.from_numpy(source)
    assert not source.flags.writeable
    x[0] = 9
    assert source[0] == 9
    assert nd.from_numpy(np.arange(4.0), zero_copy=False)[1].asscalar() == 1
    with pytest.raises(ValueError, match="contiguous"):
        nd.from_numpy(np.arange(8.0)[::2])


STEPS = {
    "sgd_mom_update": 1, "adam_update": 2, "ftrl_update": 2, "rmsprop_update": 1,
    "rmspropalex_update": 3, "signum_update": 1, "nag_mom_update": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_steps_change_their_states_and_nothing_else(name):
    weight, grad = nd.array([1, 2]), nd.array([0.5, -1])
    # the mean of gradients must stay below the root of the mean of squares
    states = [nd.full((2,), 0.5 if k == 0 else 0.1) for k in range(STEPS[name])]
    result = getattr(nd, name)(weight, grad, *states, lr=0.1)
    assert (weight.asnumpy().tolist(), grad.asnumpy().tolist()) == ([1, 2], [0.5, -1])
    assert result.asnumpy().tolist() != [1, 2]
    assert all(set(s.asnumpy().tolist()) - {0.5, np.float32(0.1)} for s in states)


def test_what_is_no_array_or_no_attribute_is_refused(tmp_path):
    with pytest.raises(TypeError):
        nd.save(str(tmp_path / "x"), np.ones(2))
    with pytest.raises(MXNetError, match="unheard_of"):
        nd.Activation(nd.ones(2), act_type="relu", unheard_of=1)
    with pytest.raises(MXNetError, match="'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'"):
        nd.Activation(nd.ones(2), act_type="wrong")


def test_files_hold_what_was_saved(tmp_path):
    path = str(tmp_path / "x")
    nd.save(path, nd.ones(2))
    (back,) = nd.load(path)
    assert back.asnumpy().tolist() == [1, 1]
    content = (tmp_path / "x").read_bytes()
    with pytest.raises(MXNetError):
        nd.load_frombuffer(content[:-3])
    with mx.util.np_shape(), pytest.raises(MXNetError):
        nd.load(path)
