"""LibSVMIter; batches are recorded from MXNet 1.9.1 unless said otherwise."""

import json

import numpy as np
import pytest

from minigluon.base import MXNetError
from minigluon.io import LibSVMIter

ROWS = [[1.5, 0, 2], [0, 0, 0], [0, 3, 4], [-1, 0, 0], [0, 0, 9]]


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.libsvm"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.fixture
def five_rows(write):
    return write("1 0:1.5 2:2\n-2\n3 1:3 2:4\n4 0:-1\n5 2:9\n")


def test_batches_are_csr_with_dense_labels(five_rows):
    batches = LibSVMIter(data_libsvm=five_rows, data_shape=(3,), batch_size=2)
    batch = batches.next()
    assert batch.data[0].stype == "csr"
    assert batch.data[0].asnumpy().tolist() == ROWS[:2]
    assert batch.data[0].indptr.asnumpy().tolist() == [0, 2, 2]
    assert batch.label[0].asnumpy().tolist() == [1, -2]
    assert batch.data[0].dtype == batch.label[0].dtype == np.float32


def test_rows_that_filled_up_a_batch_are_left_out_of_the_next_epoch(five_rows):
    batches = LibSVMIter(data_libsvm=five_rows, data_shape=(3,), batch_size=2)
    first = [(b.label[0].asnumpy().tolist(), b.pad, b.index.tolist()) for b in batches]
    assert first == [([1, -2], 0, [0, 1]), ([3, 4], 0, [2, 3]), ([5, 1], 1, [4, 0])]
    batches.reset()
    second = [(b.data[0].asnumpy().tolist(), b.pad) for b in batches]
    assert second == [(ROWS[1:3], 0), (ROWS[3:], 0)]


def test_wrapped_batches_are_well_formed(five_rows):
    batches = LibSVMIter(data_libsvm=five_rows, data_shape=(3,), batch_size=3)
    found = list(batches)
    assert found[1].data[0].asnumpy().tolist() == [*ROWS[3:], ROWS[0]]
    for batch in found:
        batch.data[0].check_format(True)


def test_labels_of_another_file_are_csr(five_rows, write):
    labels = write("1 0:1\n-2 1:2\n3\n4 2:-1\n5 0:3\n", "label.libsvm")
    batches = LibSVMIter(
        data_libsvm=five_rows, data_shape=(3,), label_libsvm=labels, label_shape=(3,), batch_size=2
    )
    assert batches.provide_label[0].shape == (2, 3)
    found = [batch.label[0] for batch in batches]
    assert {label.stype for label in found} == {"csr"}
    assert found[2].asnumpy().tolist() == [[3, 0, 0], [1, 0, 0]]


def test_unsorted_and_repeated_columns_are_put_right(write):
    # MXNet 1.9.1 keeps them as they stand, and check_format fails
    file = write("1 2:1 0:5\n2 1:3 1:4\n")
    batch = LibSVMIter(data_libsvm=file, data_shape=(3,), batch_size=2).next()
    batch.data[0].check_format(True)
    assert batch.data[0].asnumpy().tolist() == [[5, 0, 1], [0, 7, 0]]


def test_parts_share_the_rows(five_rows):
    found = []
    for part in range(2):
        batches = LibSVMIter(
            data_libsvm=five_rows, data_shape=(3,), batch_size=1, num_parts=2, part_index=part
        )
        found.extend(batch.label[0].asscalar() for batch in batches)
    assert found == [1, -2, 3, 4, 5]


def test_a_part_that_is_not_there_is_refused(five_rows):
    with pytest.raises(ValueError, match="part_index=2, num_parts=2"):
        LibSVMIter(data_libsvm=five_rows, data_shape=(3,), batch_size=1, num_parts=2, part_index=2)


def test_round_batch_false_is_refused(five_rows):
    with pytest.raises(MXNetError, match="doesn't support round_batch == false"):
        LibSVMIter(data_libsvm=five_rows, data_shape=(3,), batch_size=2, round_batch=False)


def test_a_negative_index_is_refused(write):
    with pytest.raises(MXNetError, match="line 1 has a negative column index"):
        LibSVMIter(data_libsvm=write("1 -1:1\n"), data_shape=(3,), batch_size=1)


def test_an_index_beyond_the_width_is_refused_with_file_and_line(write):
    # MXNet 1.9.1 makes a matrix of it that is not well-formed
    path = write("1 0:1\n# a comment\n\n2 3:1\n")
    with pytest.raises(MXNetError, match=r"index 3 in .*data\.libsvm, line 4"):
        LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=1)


@pytest.mark.parametrize("mode", [1, -1])
def test_columns_may_count_from_one(write, mode):
    path = write("1 1:0.5 3:2\n0 2:1 5:1\n1 4:3\n") + f"?indexing_mode={mode}"
    (batch,) = LibSVMIter(data_libsvm=path, data_shape=(6,), batch_size=3)
    assert batch.data[0].asnumpy().tolist() == [
        [0.5, 0, 2, 0, 0, 0],
        [0, 1, 0, 0, 1, 0],
        [0, 0, 0, 3, 0, 0],
    ]


def test_columns_that_count_from_zero_are_found_out(five_rows):
    path = f"{five_rows}?indexing_mode=-1"
    batch = LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=5).next()
    assert batch.data[0].asnumpy().tolist() == ROWS


def test_a_column_before_the_first_is_refused(write):
    path = write("1 1:1\n2 0:1\n") + "?indexing_mode=1"
    with pytest.raises(MXNetError, match=r"before the first column(.|\n)*line 2"):
        LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=1)


@pytest.mark.parametrize("options", ["indexing_mode=2", "indexing=1"])
def test_other_words_after_the_path_are_refused(five_rows, options):
    with pytest.raises(MXNetError, match=r"what follows the path(.|\n)*indexing_mode=0"):
        LibSVMIter(data_libsvm=f"{five_rows}?{options}", data_shape=(3,), batch_size=1)


def test_a_malformed_line_is_named_with_its_file(five_rows, write):
    other = write("1 0:1\n\n2 x:1\n", "other.libsvm")
    with pytest.raises(MXNetError, match=r"other\.libsvm, line 3 has a feature that cannot"):
        LibSVMIter(data_libsvm=f"{five_rows};{other}", data_shape=(3,), batch_size=1)


def test_several_files_are_one_after_the_other(five_rows, write):
    other = write("7 1:8\n", "other.libsvm")
    batch = LibSVMIter(data_libsvm=f"{five_rows};{other}", data_shape=(3,), batch_size=6).next()
    assert batch.data[0].asnumpy().tolist() == [*ROWS, [0, 8, 0]]
    assert batch.label[0].asnumpy().tolist() == [1, -2, 3, 4, 5, 7]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"label_shape": (3,)}, "label_shape is expected to be"),
        ({"label_libsvm": "x"}, "label_shape is not expected to be"),
        ({"data_shape": (3, 1)}, "dimension of data_shape is expected to be 1"),
        ({"data_libsvm": "nowhere.libsvm"}, "nowhere.libsvm: No such file"),
        ({"batch_size": 0}, "batch_size cannot be used"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(five_rows, more, message):
    arguments = {"data_libsvm": five_rows, "data_shape": (3,), "batch_size": 2, **more}
    with pytest.raises(MXNetError, match=message):
        LibSVMIter(**arguments)


def test_a_file_without_rows_is_refused(write):
    with pytest.raises(MXNetError, match="holds no records"):
        LibSVMIter(data_libsvm=write(""), data_shape=(3,), batch_size=1)


@pytest.mark.slow
def test_published_data_is_read_whole(data_folder):
    batches = LibSVMIter(data_libsvm=str(data_folder / "a9a.t"), data_shape=(124,), batch_size=81)
    found = list(batches)
    assert sum(batch.label[0].shape[0] for batch in found) == 16281
    labels = np.concatenate([batch.label[0].asnumpy() for batch in found])
    assert set(labels) == {-1, 1}
    assert sum(batch.data[0].data.shape[0] for batch in found) == sum(
        line.count(":") for line in (data_folder / "a9a.t").read_text().splitlines()
    )


@pytest.mark.parametrize(
    ("case", "labels"),
    [
        ("zero.libsvm batch=3", {}),
        ("zero.libsvm batch=2", {}),
        ("zero+label.libsvm batch=3", {"label_libsvm": "label.libsvm", "label_shape": (3,)}),
    ],
)
def test_golden_files_give_the_batches_of_mxnet(golden_folder, case, labels):
    if labels:
        labels = {**labels, "label_libsvm": str(golden_folder / labels["label_libsvm"])}
    batches = LibSVMIter(
        data_libsvm=str(golden_folder / "zero.libsvm"),
        data_shape=(3,),
        batch_size=int(case[-1]),
        **labels,
    )
    found = []
    for epoch in range(2):
        found += [
            {
                "epoch": epoch,
                "pad": batch.pad,
                "data": batch.data[0].asnumpy().tolist(),
                "label_stype": batch.label[0].stype,
                "label": batch.label[0].asnumpy().tolist(),
            }
            for batch in batches
        ]
        batches.reset()
    expected = json.loads((golden_folder / "expected.json").read_text())[case]
    assert found == expected


@pytest.mark.parametrize(("count", "ends"), [(2, r"l ends after row 2"), (7, "ends after row 5")])
def test_labels_of_another_length_are_refused(five_rows, write, count, ends):
    labels = write("0 0:1\n" * count, "l")
    with pytest.raises(MXNetError, match=rf"{ends}[\s\S]*5 rows of data in .*, {count} of labels"):
        LibSVMIter(five_rows, (4,), 2, label_libsvm=labels, label_shape=(2,))
