"""Reading and writing parts of arrays, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigluon as mx
from minigluon import autograd, nd

SHAPE = (2, 3, 4)


def cube():
    return nd.array(np.arange(24).reshape(SHAPE))


@st.composite
def advanced_keys(draw):
    """Keys of int lists, ints and slices, with index arrays that broadcast."""
    length = draw(st.integers(1, 3))
    parts = []
    for size in SHAPE[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(["list", "int", "slice"]))
        index = st.integers(-size, size - 1)
        if kind == "list":
            parts.append(draw(st.lists(index, min_size=length, max_size=length)))
        elif kind == "int":
            parts.append(draw(index))
        else:
            parts.append(slice(*sorted([draw(st.integers(0, size)), size])))
    if not any(isinstance(p, list) for p in parts):
        parts[0] = [0, 1]
        parts[1:] = [p for p in parts[1:] if isinstance(p, slice)]
    return tuple(parts)


@given(hnp.basic_indices(SHAPE, allow_newaxis=True))
def test_basic_keys_read_what_numpy_reads(key):
    expected = np.arange(24, dtype=np.float32).reshape(SHAPE)[key]
    found = cube()[key]
    assert found.shape == (expected.shape or (1,))
    np.testing.assert_array_equal(found.asnumpy().reshape(expected.shape), expected)


@given(hnp.basic_indices(SHAPE, allow_newaxis=True))
def test_a_basic_key_gives_a_view_exactly_if_what_it_picks_is_contiguous(key):
    array = cube()
    picked = array._data[key]
    contiguous = isinstance(picked, np.ndarray) and picked.flags.c_contiguous
    part = array[key]
    if np.isscalar(picked) or picked.size:
        assert np.shares_memory(part._data, array._data) == (contiguous or np.ndim(picked) == 0)


@given(hnp.basic_indices(SHAPE, allow_newaxis=True), st.sampled_from(["number", "like"]))
def test_basic_keys_write_where_numpy_writes(key, kind):
    expected = np.arange(24, dtype=np.float32).reshape(SHAPE)
    value = 7 if kind == "number" else -expected[key]
    array = cube()
    array[key] = nd.array(value) if kind == "like" else value
    expected[key] = value
    np.testing.assert_array_equal(array.asnumpy(), expected)


@given(advanced_keys())
def test_integer_arrays_read_and_write_what_numpy_does(key):
    expected = np.arange(24, dtype=np.float32).reshape(SHAPE)
    array = cube()
    picked = expected[key]
    np.testing.assert_array_equal(array[key].asnumpy().reshape(picked.shape), picked)
    array[key] = nd.array(100 + np.zeros(picked.shape))
    expected[key] = 100
    np.testing.assert_array_equal(array.asnumpy(), expected)


@given(advanced_keys())
def test_the_gradient_of_reading_counts_how_often_each_element_was_read(key):
    array = cube()
    array.attach_grad()
    with autograd.record():
        total = array[key].sum()
    total.backward()
    expected = np.zeros(SHAPE, np.float32)
    np.add.at(expected, key, 1)
    np.testing.assert_array_equal(array.grad.asnumpy(), expected)


@given(hnp.basic_indices(SHAPE, allow_newaxis=True))
def test_the_gradient_of_a_basic_read_is_one_where_it_read(key):
    array = cube()
    array.attach_grad()
    with autograd.record():
        part = array[key] * 2
    if part.shape == () or 0 in part.shape:
        return
    part.backward()
    expected = np.zeros(SHAPE, np.float32)
    expected[key] = 2
    np.testing.assert_array_equal(array.grad.asnumpy(), expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), min_size=1, max_size=3))
def test_contiguity_of_slices_agrees_with_the_flags_of_numpy(bounds):
    shape = tuple(size for _, size in bounds)
    key = tuple(slice(min(begin, size - 1), size) for begin, size in bounds)
    assert nd.NDArray._basic_indexing_slice_is_contiguous(key, shape) == (
        np.empty(shape)[key].flags.c_contiguous
    )


# what MXNet 1.9.1 gives where numpy differs: masks are integers, floats are truncated
@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ([True, False], [1, 0]),
        (np.array([True, False]), [1, 0]),
        (np.array([0.0, 1.9]), [0, 1]),
        (range(2), [0, 1]),
    ],
)
def test_masks_are_taken_as_zeros_and_ones_and_floats_are_truncated(key, rows):
    np.testing.assert_array_equal(cube()[key].asnumpy(), cube().asnumpy()[rows])


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "uint8"])
def test_an_ndarray_of_any_number_type_is_an_index(dtype):
    index = nd.array([1, 0, 1], dtype=dtype)
    np.testing.assert_array_equal(cube()[index].asnumpy(), cube().asnumpy()[[1, 0, 1]])


def test_all_integers_give_an_array_of_one_element_that_shares_memory():
    array = cube()
    element = array[1, -1, 3]
    assert element.shape == (1,)
    element[:] = -5
    assert array[1, 2, 3].asscalar() == -5


@pytest.mark.parametrize("key", [2, -3, (0, 5), [0, 2], (0, 0, 0, 0), nd.array([-3])])
@pytest.mark.parametrize("act", ["read", "write"])
def test_an_index_beyond_its_axis_is_an_index_error_and_changes_nothing(key, act):
    array = cube()
    with pytest.raises(IndexError):
        array[key] if act == "read" else array.__setitem__(key, 1)
    np.testing.assert_array_equal(array.asnumpy(), cube().asnumpy())


def test_iteration_ends():
    assert [row.shape for row in cube()] == [(3, 4), (3, 4)]


@pytest.mark.parametrize("key", ["a", 1.5, object(), np.float32(1)])
def test_what_is_no_index_is_a_value_error(key):
    with pytest.raises(ValueError, match="cannot be indexed"):
        cube()[key]


@pytest.mark.parametrize("value", ["x", {}, object()])
def test_what_is_no_array_cannot_be_assigned(value):
    with pytest.raises(TypeError, match="does not support assignment with non-array-like object"):
        cube()[:] = value


@pytest.mark.parametrize("key", [slice(None), [0, 1], 0])
def test_a_value_that_does_not_broadcast_is_a_value_error_naming_both_shapes(key):
    with pytest.raises(ValueError, match=r"(?s)\(5,\).*\(2, 3, 4\)"):
        cube()[key] = nd.ones((5,))


def test_leading_axes_of_one_are_dropped_from_a_value():
    array = nd.zeros((2, 3))
    array[:] = np.ones((1, 1, 2, 3))
    array[0:1, 1] = nd.array([[[5]]])
    np.testing.assert_array_equal(array.asnumpy(), [[1, 5, 1], [1, 1, 1]])


def test_a_csr_array_can_be_assigned_to_a_dense_one():
    dense = nd.zeros((2, 2))
    dense[:] = nd.sparse.csr_matrix(np.array([[0, 1], [2, 0]]))
    np.testing.assert_array_equal(dense.asnumpy(), [[0, 1], [2, 0]])


def test_rows_of_one_array_are_assigned_to_each_other():
    array = cube()
    array[0] = array[1]
    np.testing.assert_array_equal(array[0].asnumpy(), cube()[1].asnumpy())


def test_integers_are_assigned_exactly():
    small, large = nd.zeros((2,), dtype="int32"), nd.zeros((2,), dtype="int64")
    small[1] = 16800001
    large[0] = 2**53 + 1
    assert small[1].asscalar() - 1 == 16800000
    assert large[0].asscalar() == 2**53 + 1


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("uint8", 300, 44),
        ("uint8", -1, 255),
        ("int8", 300, 44),
        ("int32", 1.7, 1),
        ("int32", -1.7, -1),
        ("int32", 2**31, -(2**31)),
        ("int32", float("nan"), -(2**31)),
        ("bool", 1.7, True),
        ("float16", 2**31, float("inf")),
    ],
)
def test_numbers_that_do_not_fit_are_cast_as_c_does(dtype, value, expected):
    array = nd.zeros((2,), dtype=dtype)
    array[:] = value
    array[0] = value
    assert array.asnumpy().tolist() == [expected, expected]


@pytest.mark.parametrize("key", [slice(None), 0, [0], (0, 1), None, (slice(None), slice(0, 2))])
def test_writing_to_an_array_with_a_gradient_while_recording_is_refused(key):
    leaf = nd.ones((2, 3))
    leaf.attach_grad()
    with autograd.record():
        product = leaf * 2
        for array in (leaf, product):
            with pytest.raises(mx.MXNetError, match="are not supported when recording with"):
                array[key] = 5


def test_writing_a_recorded_value_into_a_part_is_refused_and_into_a_whole_passes():
    leaf, other = nd.ones((2,)), nd.zeros((2,))
    leaf.attach_grad()
    with autograd.record():
        other[:] = leaf
        with pytest.raises(mx.MXNetError, match=r"\(\+=, -=, x\[:\]=, etc\)"):
            other[0] = leaf[0]
    assert other.asnumpy().tolist() == [1, 1]


def test_writing_to_unrelated_arrays_while_recording_passes():
    leaf, other = nd.ones((2,)), nd.zeros((2,))
    leaf.attach_grad()
    with autograd.record():
        leaf * 2
        other[0] = 3
        other[None] = nd.array([3, 4])
    leaf[:] = 9
    assert other.asnumpy().tolist() == [3, 4]


def test_a_part_read_while_recording_shares_memory_too():
    leaf = nd.ones((2, 3))
    leaf.attach_grad()
    with autograd.record():
        row = leaf[0]
    row[:] = 5
    assert leaf.asnumpy()[0].tolist() == [5, 5, 5]
