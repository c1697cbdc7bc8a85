"""Making arrays of values, ranges, files and other libraries' memory."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.base import MXNetError


@pytest.mark.parametrize(
    "source", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), np.array([1, 2], np.float16)]
)
def test_values_become_float32_unless_a_dtype_is_given(source):
    assert nd.array(source).dtype is np.float32
    assert nd.array(source, dtype="int32").asnumpy().tolist() == [1, 2]
    assert nd.array(source, dtype="int32").dtype is np.int32


def test_an_ndarray_keeps_its_dtype_and_is_copied_to_the_current_context():
    source = nd.array([1, 2], dtype="int8", ctx=mx.cpu(3))
    made = nd.array(source)
    assert (made.dtype, made.context) == (np.int8, mx.cpu(0))
    made[:] = 5
    assert source.asnumpy().tolist() == [1, 2]


def test_numpy_arrays_are_copied():
    source = np.ones(2, np.float32)
    nd.array(source)[:] = 5
    assert source.tolist() == [1, 1]


def test_numbers_give_arrays_without_dimensions():
    assert nd.array(5).shape == nd.array(np.array(5)).shape == ()
    assert nd.array([]).shape == (0,)
    assert nd.array(np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("source", ["abc", [[1], [2, 3]], object(), {1: 2}])
def test_what_is_no_array_is_a_type_error(source):
    with pytest.raises(TypeError, match="source_array must be array like object"):
        nd.array(source)


def test_large_integers_are_exact():
    big = 2**53 + 1
    assert nd.array([big], dtype="int64").asscalar() == big
    assert nd.full((1,), big, dtype="int64").asscalar() == big
    assert nd.arange(big, big + 2, dtype="int64").asnumpy().tolist() == [big, big + 1]


@pytest.mark.parametrize("make", [nd.zeros, nd.ones, nd.empty])
def test_a_shape_is_a_number_or_a_sequence(make):
    for shape, expected in ((3, (3,)), ((2, 3), (2, 3)), ([2, 2], (2, 2)), (np.int32(4), (4,))):
        assert make(shape).shape == expected
    assert make((1,), dtype="int32").dtype is np.int32
    assert make((1,), mx.cpu(1)).context == mx.cpu(1)


@pytest.mark.parametrize("make", [nd.zeros, nd.ones, lambda shape: nd.full(shape, 1)])
@pytest.mark.parametrize("shape", [(), 0, (0, 3), -1, "a", 2.5, None])
def test_a_shape_that_is_not_known_completely_is_refused(make, shape):
    with pytest.raises(MXNetError):
        make(shape)


def test_unknown_keywords_are_refused():
    with pytest.raises(MXNetError, match="Cannot find argument 'foo'"):
        nd.zeros((1,), foo=1)
    with pytest.raises(MXNetError, match="Cannot find argument 'stype'"):
        nd.ones((1,), stype="csr")


def test_results_go_into_out():
    out = nd.ones((2,))
    assert nd.zeros((2,), out=out) is out and out.asnumpy().tolist() == [0, 0]
    assert nd.full((2,), 7, out=out) is out and out.asnumpy().tolist() == [7, 7]


def test_full_takes_numbers_and_arrays():
    assert nd.full(3, 2.5, dtype="int32").asnumpy().tolist() == [2, 2, 2]
    assert nd.full((2, 2), np.array([1, 2])).asnumpy().tolist() == [[1, 2], [1, 2]]
    assert nd.full((2,), nd.array([3])).asnumpy().tolist() == [3, 3]


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5,), [0, 1, 2, 3, 4]),
        ((2, 5), [2, 3, 4]),
        ((2, 5, 2), [2, 4]),
        ((5, 2, -1), [5, 4, 3]),
        ((1.5,), [0, 1]),
        ((0, 1, 0.3), [0, 0.30000001192092896, 0.6000000238418579, 0.9000000357627869]),
    ],
)
def test_ranges(arguments, expected):
    assert nd.arange(*arguments).asnumpy().tolist() == expected


def test_ranges_repeat_their_numbers():
    assert nd.arange(2, repeat=2).asnumpy().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "keywords",
    [
        {"start": 0},
        {"start": 5, "stop": 0},
        {"start": 0, "stop": 3, "step": 0},
        {"start": 3, "repeat": 0},
    ],
)
def test_ranges_without_numbers_are_refused(keywords):
    with pytest.raises(MXNetError):
        nd.arange(**keywords)


def test_linspace_is_that_of_numpy_and_rounds_integers_down():
    np.testing.assert_allclose(nd.linspace(-1, 1, 4).asnumpy(), np.linspace(-1, 1, 4), rtol=1e-6)
    assert nd.linspace(0, 1, 2, endpoint=False).asnumpy().tolist() == [0, 0.5]
    for bounds, expected in (
        ((-1, 1), [-1, -1, 0, 1]), ((-5, 2), [-5, -3, -1, 2]), ((2, -5), [2, -1, -3, -5]),
    ):  # fmt: skip
        assert nd.linspace(*bounds, 4, dtype="int32").asnumpy().tolist() == expected
    for num in (2.5, -1):
        with pytest.raises(MXNetError, match="num"):
            nd.linspace(0, 1, num)


@pytest.mark.parametrize("arguments", [(3,), (2, 3), (2, 3, 1), (3, 0, -1), (3, -1)])
def test_eye_is_that_of_numpy(arguments):
    rows, columns, k = (*arguments, 0, 0)[:3]
    expected = np.eye(rows, columns if columns > 0 else rows, k)
    np.testing.assert_array_equal(nd.eye(*arguments).asnumpy(), expected)


def test_concatenate_joins_or_returns_the_only_array():
    x = nd.array([[1, 2]])
    assert nd.concatenate([x, x]).shape == (2, 2)
    assert nd.concatenate([x, x], axis=1).asnumpy().tolist() == [[1, 2, 1, 2]]
    assert nd.concatenate([x], always_copy=False) is x
    assert nd.concatenate([x]) is not x
    for arrays in ([], [x, nd.ones((1, 2), dtype="int32")], [x, nd.ones((2,))]):
        with pytest.raises(AssertionError):
            nd.concatenate(arrays)


def test_moveaxis_is_that_of_numpy():
    values = np.arange(24).reshape(2, 3, 4)
    for source, destination in ((0, -1), ([0, 1], [2, 0]), (-1, 0)):
        np.testing.assert_array_equal(
            nd.moveaxis(nd.array(values), source, destination).asnumpy(),
            np.moveaxis(values, source, destination),
        )
    for source, destination in ((5, 0), ([0, 1], [0]), ([0, 0], [0, 1])):
        with pytest.raises(ValueError, match=r"axis|number|verify"):
            nd.moveaxis(nd.array(values), source, destination)


def test_split_v2_cuts_equally_or_at_indices():
    x = nd.arange(6).reshape((2, 3))
    assert [p.shape for p in nd.split_v2(x, 3, axis=1)] == [(2, 1)] * 3
    assert [p.shape for p in nd.split_v2(x, (1,), axis=1)] == [(2, 1), (2, 2)]
    assert [p.shape for p in nd.split_v2(x, (1, 2), axis=1, squeeze_axis=True)] == [(2,)] * 3
    assert isinstance(nd.split_v2(x, 1), nd.NDArray)
    for sections in (2, 2.5):
        with pytest.raises(ValueError, match=r"equal division|either int or tuple"):
            nd.split_v2(x, sections, axis=1)


def test_onehot_encode_leaves_rows_of_indices_outside_zero():
    out = nd.ones((2, 3))
    assert nd.onehot_encode(nd.array([1, 5]), out) is out
    assert out.asnumpy().tolist() == [[0, 1, 0], [0, 0, 0]]


def test_histograms_count_as_numpy_does():
    x = nd.array([0, 1, 2, 3])
    counts, edges = nd.histogram(x, bins=3, range=(0, 3))
    assert (counts.asnumpy().tolist(), edges.asnumpy().tolist()) == ([1, 1, 2], [0, 1, 2, 3])
    assert nd.histogram(x, nd.array([0, 1, 1, 3]))[0].asnumpy().tolist() == [1, 0, 3]
    mixed = nd.histogram(x, nd.array([0, 1, 2, 3], dtype="float64"))[0]
    assert mixed.asnumpy().tolist() == [1, 1, 2]


@pytest.mark.parametrize("bins", [0, -1, nd.array([0, 2, 1, 3])])
def test_histograms_refuse_bins_that_are_none(bins):
    with pytest.raises(ValueError, match="bins"):
        nd.histogram(nd.array([0, 1]), bins)


def test_from_numpy_shares_memory_and_makes_the_source_read_only():
    source = np.ones((2, 3))
    made = nd.from_numpy(source)
    made[0] = 5
    assert made.dtype is np.float64
    assert source[0].tolist() == [5, 5, 5]
    assert not source.flags.writeable


def test_from_numpy_copies_if_asked_to():
    source = np.ones((2, 3))
    nd.from_numpy(source, zero_copy=False)[:] = 5
    assert source.flags.writeable and source.max() == 1


def test_from_numpy_refuses_what_cannot_be_shared():
    with pytest.raises(ValueError, match="c-contiguous"):
        nd.from_numpy(np.ones((2, 3)).T)
    with pytest.raises(ValueError, match="not supported"):
        nd.from_numpy(np.ones(2, np.complex64))


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_files_keep_names_values_and_storage(tmp_path, stype):
    array = nd.array([[0, 1.5], [0, 0]]).tostype(stype)
    path = str(tmp_path / "arrays")
    nd.save(path, {"a": array, "b": nd.ones((2,))})
    loaded = nd.load(path)
    assert list(loaded) == ["a", "b"]
    assert type(loaded["a"]) is type(array)
    np.testing.assert_array_equal(loaded["a"].asnumpy(), array.asnumpy())
    nd.save(path, [array, array])
    assert [x.stype for x in nd.load(path)] == [stype, stype]


def test_a_single_array_loads_as_a_list_of_one(tmp_path):
    path = tmp_path / "array"
    nd.save(path, nd.ones((2,)))
    assert [x.shape for x in nd.load(path)] == [(2,)]
    assert [x.shape for x in nd.load_frombuffer(path.read_bytes())] == [(2,)]


@pytest.mark.parametrize("data", [np.ones(2), [np.ones(2)], {"a": np.ones(2)}, {1: nd.ones((2,))}])
def test_saving_what_is_no_ndarray_is_a_type_error(tmp_path, data):
    with pytest.raises(TypeError):
        nd.save(str(tmp_path / "x"), data)


def test_missing_and_cut_files_are_errors(tmp_path):
    with pytest.raises(MXNetError):
        nd.load(str(tmp_path / "missing"))
    with pytest.raises(TypeError, match="required to be a string"):
        nd.load(5)
    nd.save(str(tmp_path / "x"), nd.ones((2,)))
    with pytest.raises(MXNetError):
        nd.load_frombuffer((tmp_path / "x").read_bytes()[:-3])


def test_waiting_is_nothing():
    assert nd.waitall() is None
    assert nd.ones((1,)).wait_to_read() is None


def test_a_gpu_is_refused_with_the_reason():
    with pytest.raises(MXNetError, match="runs on the CPU"):
        nd.zeros((1,), ctx=mx.gpu())
