"""NDArrayIter and ResizeIter; sequences are recorded from MXNet 1.9.1 unless said otherwise."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from minigluon import nd
from minigluon.io import NDArrayIter, ResizeIter


class Dataset:
    """Sliced like an h5py Dataset: ascending distinct rows only, and says which were read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __len__(self):
        return len(self.array)

    def __getitem__(self, key):
        if isinstance(key, np.ndarray):
            assert (np.diff(key) > 0).all()
        self.read.append(key)
        return self.array[key]


def epoch(batches):
    return [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]


def epochs(batches, count):
    found = []
    for _ in range(count):
        found.append(epoch(batches))
        batches.reset()
    return found


def sparse_data(rows=5):
    return nd.array(np.eye(rows)[:, :3] * np.arange(1, 4)).tostype("csr")


def test_last_batch_is_padded_from_the_start():
    padded = [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]
    assert epochs(NDArrayIter(np.arange(7), batch_size=3), 2) == [padded, padded]


def test_padding_wraps_as_often_as_needed():
    assert epoch(NDArrayIter(np.arange(4), batch_size=9)) == [([0, 1, 2, 3, 0, 1, 2, 3, 0], 5)]


def test_last_batch_can_be_discarded():
    batches = NDArrayIter(np.arange(7), batch_size=3, last_batch_handle="discard")
    assert epochs(batches, 2) == [[([0, 1, 2], 0), ([3, 4, 5], 0)]] * 2


def test_rows_roll_over_into_the_next_epoch():
    batches = NDArrayIter(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    assert epochs(batches, 3) == [
        [([0, 1], 0), ([2, 3], 0)],
        [([4, 0], 1), ([1, 2], 0), ([3, 4], 0)],
        [([0, 1], 0), ([2, 3], 0)],
    ]


def test_fewer_rows_than_a_batch_gather_over_epochs():
    # MXNet 1.9.1 raises in the second epoch
    batches = NDArrayIter(np.arange(4), batch_size=9, last_batch_handle="roll_over")
    assert epochs(batches, 3) == [[], [], [([0, 1, 2, 3, 0, 1, 2, 3, 0], 8)]]


def test_asking_beyond_the_end_loses_no_rolled_over_row():
    batches = NDArrayIter(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    epoch(batches)
    for _ in range(2):
        with pytest.raises(StopIteration):
            batches.next()
    batches.reset()
    assert batches.next().data[0].asnumpy().tolist() == [4, 0]


def test_hard_reset_forgets_what_rolls_over():
    batches = NDArrayIter(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    epoch(batches)
    batches.hard_reset()
    assert epoch(batches) == [([0, 1], 0), ([2, 3], 0)]


def test_reset_amid_an_epoch_starts_again():
    batches = NDArrayIter(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    batches.next()
    batches.reset()
    assert epoch(batches) == [([0, 1], 0), ([2, 3], 0)]


def test_shuffled_order_is_that_of_mxnet():
    np.random.seed(0)
    batches = NDArrayIter(np.arange(7), batch_size=3, shuffle=True, last_batch_handle="roll_over")
    assert epochs(batches, 3) == [
        [([6, 2, 1], 0), ([3, 0, 5], 0)],
        [([4, 1, 4], 1), ([0, 3, 6], 0)],
        [([2, 5, 2], 2), ([3, 4, 5], 0), ([6, 1, 0], 0)],
    ]


def test_idx_says_where_shuffled_rows_came_from():
    # in MXNet 1.9.1 only until the first reset
    batches = NDArrayIter(np.arange(6), np.arange(6), 6, shuffle=True)
    for _ in range(3):
        batch = batches.next()
        assert batch.data[0].asnumpy().tolist() == batches.idx.tolist()
        assert batch.label[0].asnumpy().tolist() == batches.idx.tolist()
        batches.reset()


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("data", "names"),
    [
        (np.ones((3, 2)), ["data"]),
        ([np.ones((3, 2))], ["data"]),
        ([np.ones((3, 2)), np.zeros((3, 1))], ["_0_data", "_1_data"]),
        ({"b": np.ones((3, 2)), "a": np.zeros((3, 1))}, ["a", "b"]),
    ],
)
def test_names_are_given_to_arrays(data, names):
    assert [desc.name for desc in NDArrayIter(data).provide_data] == names


def test_descriptions_of_a_batch():
    batches = NDArrayIter(
        np.ones((5, 2)), np.ones(5), 2, data_name="d", label_name="l", layout="NC"
    )
    assert repr(batches.provide_data) == "[DataDesc[d,(2, 2),<class 'numpy.float32'>,NC]]"
    assert repr(batches.provide_label) == "[DataDesc[l,(2,),<class 'numpy.float32'>,NC]]"


@pytest.mark.parametrize("label", [None, [], {}])
def test_labels_may_be_missing(label):
    batches = NDArrayIter(np.ones((3, 2)), label)
    assert batches.provide_label == []
    assert batches.next().label == []


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (np.ones(3), "float32"),
        (np.ones(3, "int32"), "float32"),
        (nd.ones(3, dtype="int32"), "int32"),
        (nd.ones(3, dtype="float64"), "float64"),
    ],
)
def test_numpy_becomes_float32_and_arrays_keep_their_dtype(data, dtype):
    batches = NDArrayIter(data)
    assert np.dtype(batches.provide_data[0].dtype) == dtype
    assert np.dtype(batches.next().data[0].dtype) == dtype


def test_writing_to_a_batch_leaves_the_data_alone():
    data = nd.ones((4, 2))
    NDArrayIter(data, batch_size=2).next().data[0][:] = 5
    assert data.asnumpy().tolist() == [[1, 1]] * 4


def test_one_iterator_can_go_over_the_data_by_steps():
    batches = NDArrayIter(np.arange(4), np.arange(4) * 2, 3)
    assert batches.iter_next()
    assert batches.getdata()[0].asnumpy().tolist() == [0, 1, 2]
    assert batches.iter_next()
    assert batches.getlabel()[0].asnumpy().tolist() == [6, 0, 2]
    assert batches.getpad() == 2
    assert not batches.iter_next()


def test_csr_rows_stay_csr():
    # MXNet 1.9.1 hands them out dense; its documents read batch.data[0].indices
    batches = NDArrayIter(sparse_data(), np.arange(5), 2, last_batch_handle="discard")
    found = list(batches)
    assert [batch.data[0].stype for batch in found] == ["csr", "csr"]
    assert found[0].data[0].asnumpy().tolist() == [[1, 0, 0], [0, 2, 0]]
    assert found[1].data[0].asnumpy().tolist() == [[0, 0, 3], [0, 0, 0]]
    for batch in found:
        batch.data[0].check_format(True)


def test_csr_rows_are_shuffled_with_their_labels():
    data = sparse_data()
    batches = NDArrayIter(data, np.arange(5), 1, shuffle=True, last_batch_handle="discard")
    for _ in range(2):
        for batch in batches:
            row = int(batch.label[0].asscalar())
            assert batch.data[0].asnumpy().tolist() == data[row].asnumpy().tolist()
        batches.reset()


def test_writing_to_a_csr_batch_leaves_the_data_alone():
    data = sparse_data()
    batch = NDArrayIter(data, batch_size=5, last_batch_handle="discard").next()
    batch.data[0][:] = nd.ones((5, 3)).tostype("csr")
    batch.data[0].data[:] = 9
    assert data.data.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("wrapped", [lambda x: x, lambda x: [x], lambda x: {"data": x}])
def test_scipy_matrices_become_csr_of_their_dtype(wrapped):
    data = wrapped(scipy.sparse.csr_matrix(np.eye(3)))
    batch = NDArrayIter(data, batch_size=2, last_batch_handle="discard").next()
    assert batch.data[0].stype == "csr"
    assert batch.data[0].dtype == np.float64


@pytest.mark.parametrize("handle", ["pad", "roll_over"])
def test_csr_needs_the_last_batch_discarded(handle):
    with pytest.raises(NotImplementedError, match="only supports ``CSRNDArray`` with"):
        NDArrayIter(sparse_data(), last_batch_handle=handle)
    with pytest.raises(NotImplementedError, match="only supports ``CSRNDArray`` with"):
        NDArrayIter(np.ones(5), sparse_data(), last_batch_handle=handle)


def test_row_sparse_rows_come_dense():
    data = sparse_data().tostype("default")
    batches = NDArrayIter(data.tostype("row_sparse"), batch_size=2)
    assert [batch.data[0].stype for batch in batches] == ["default"] * 3
    batches.reset()
    assert epoch(batches) == epoch(NDArrayIter(data, batch_size=2))


@pytest.mark.parametrize("handle", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_data_on_disk_gives_the_batches_of_data_in_memory(handle, shuffle):
    array = np.arange(14).reshape(7, 2)
    found = []
    for data in (array, Dataset(array)):
        np.random.seed(1)
        found.append(epochs(NDArrayIter(data, None, 3, shuffle, handle), 3))
    assert found[0] == found[1]


def test_data_on_disk_is_read_batch_by_batch():
    dataset = Dataset(np.arange(6))
    NDArrayIter(dataset, batch_size=2).next()
    assert dataset.read == [slice(0, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": np.arange(3), "label": np.arange(2)}, "data 3, softmax_label 2"),
        ({"data": [np.arange(3), np.arange(4)]}, "_0_data 3, _1_data 4"),
        ({"data": np.arange(3), "batch_size": 0}, "batch_size=0"),
        ({"data": np.arange(3), "last_batch_handle": "bogus"}, "last_batch_handle='bogus'"),
        ({"data": None}, "there is no data"),
        ({"data": []}, "there is no data"),
        ({"data": np.array(3.0)}, "data has no axis of samples"),
    ],
)
def test_wrong_arguments_are_value_errors(arguments, message):
    # MXNet 1.9.1 accepts the first four
    with pytest.raises(ValueError, match=message):
        NDArrayIter(**arguments)


@pytest.mark.parametrize("data", ["x", 3, (np.ones(2),)])
def test_what_is_no_data_is_a_type_error(data):
    with pytest.raises(TypeError, match=r"Input must be NDArray, numpy\.ndarray, h5py\.Dataset"):
        NDArrayIter(data)


@pytest.mark.parametrize("data", [np.array(["a"]), [scipy.sparse.csc_matrix(np.eye(2))]])
def test_data_that_is_no_numbers_by_rows_is_a_type_error(data):
    with pytest.raises(TypeError, match=r"should be NDArray, numpy\.ndarray"):
        NDArrayIter(data, last_batch_handle="discard")


def test_no_rows_are_no_batches():
    assert epoch(NDArrayIter(np.ones((0, 2)))) == []


def test_an_epoch_can_be_repeated_to_a_size():
    batches = ResizeIter(NDArrayIter(np.arange(5), batch_size=2), 5)
    expected = [([0, 1], 0), ([2, 3], 0), ([4, 0], 1), ([0, 1], 0), ([2, 3], 0)]
    assert epochs(batches, 2) == [expected, expected]


def test_an_epoch_can_go_on_where_the_last_was_cut():
    batches = ResizeIter(NDArrayIter(np.arange(5), batch_size=2), 2, reset_internal=False)
    assert epochs(batches, 2) == [[([0, 1], 0), ([2, 3], 0)], [([4, 0], 1), ([0, 1], 0)]]


def test_a_resized_iterator_describes_its_batches():
    inner = NDArrayIter(np.arange(5), np.arange(5), batch_size=2)
    batches = ResizeIter(inner, 1)
    assert batches.batch_size == 2
    assert batches.provide_label == inner.provide_label
    assert batches.iter_next()
    assert batches.getdata()[0].asnumpy().tolist() == [0, 1]
    assert batches.getlabel()[0].asnumpy().tolist() == [0, 1]
    assert batches.getpad() == 0


def test_a_subclass_may_change_what_a_batch_holds():
    class Doubled(NDArrayIter):
        def getdata(self):
            return [x * 2 for x in super().getdata()]

    assert epoch(Doubled(np.arange(3), batch_size=2)) == [([0, 2], 0), ([4, 0], 1)]


@given(rows=st.integers(1, 12), batch=st.integers(1, 15), epochs_run=st.integers(1, 4))
def test_rolled_over_epochs_lose_no_row(rows, batch, epochs_run):
    batches = NDArrayIter(np.arange(rows), batch_size=batch, last_batch_handle="roll_over")
    seen = [x for epoch in epochs(batches, epochs_run) for values, _ in epoch for x in values]
    assert seen == [k % rows for k in range(len(seen))]
    assert rows * epochs_run - len(seen) < batch


@given(rows=st.integers(1, 12), batch=st.integers(1, 15))
def test_padded_batches_hold_every_row_once_before_the_padding(rows, batch):
    found = epoch(NDArrayIter(np.arange(rows), batch_size=batch))
    seen = [x for values, pad in found for x in values[: batch - pad]]
    assert seen == list(range(rows))
    assert all(len(values) == batch for values, _ in found)


@given(rows=st.integers(1, 12), batch=st.integers(1, 5), seed=st.integers(0, 99))
def test_csr_batches_equal_dense_ones(rows, batch, seed):
    rng = np.random.RandomState(seed)
    dense = nd.array(rng.rand(rows, 3) * (rng.rand(rows, 3) < 0.4))
    found = []
    for data in (dense, dense.tostype("csr")):
        np.random.seed(seed)
        found.append(epochs(NDArrayIter(data, None, batch, True, "discard"), 2))
    assert found[0] == found[1]
