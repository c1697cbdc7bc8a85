"""CSVIter; batches are recorded from MXNet 1.9.1 unless said otherwise."""

import numpy as np
import pytest

from minigluon.base import MXNetError
from minigluon.io import CSVIter


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.fixture
def five_rows(write):
    return write("data.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n")


def epoch(batches):
    """First value of each row, padding and numbers of the rows."""
    found = []
    for batch in batches:
        first = batch.data[0].asnumpy().reshape(batches.batch_size, -1)[:, 0].tolist()
        found.append((first, batch.pad, batch.index.tolist()))
    batches.reset()
    return found


def test_rows_that_filled_up_a_batch_are_left_out_of_the_next_epoch(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=2)
    wrapping = [([1, 3], 0, [0, 1]), ([5, 7], 0, [2, 3]), ([9, 1], 1, [4, 0])]
    assert epoch(batches) == wrapping
    assert epoch(batches) == [([3, 5], 0, [1, 2]), ([7, 9], 0, [3, 4])]
    assert epoch(batches) == wrapping


def test_without_round_batch_rows_of_the_batch_before_fill_up(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=2, round_batch=False)
    expected = [([1, 3], 0, [0, 1]), ([5, 7], 0, [2, 3]), ([9, 7], 1, [4, 3])]
    assert epoch(batches) == expected
    assert epoch(batches) == expected


def test_without_round_batch_and_batch_before_zeros_fill_up(five_rows):
    # MXNet 1.9.1 shows uninitialised memory
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=6, round_batch=False)
    assert epoch(batches) == [([1, 3, 5, 7, 9, 0], 1, [0, 1, 2, 3, 4, 0])]


def test_batches_may_be_larger_than_the_file(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=7)
    assert epoch(batches) == [([1, 3, 5, 7, 9, 1, 3], 2, [0, 1, 2, 3, 4, 0, 1])]
    assert epoch(batches) == [([5, 7, 9, 1, 3, 5, 7], 4, [2, 3, 4, 0, 1, 2, 3])]


def test_reset_amid_an_epoch_starts_at_the_first_row(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=2)
    epoch(batches)
    batches.next()
    batches.reset()
    assert batches.next().data[0].asnumpy()[0, 0] == 1


def test_labels_are_zero_without_a_file(five_rows):
    label = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=2).next().label[0]
    assert label.asnumpy().tolist() == [0, 0]


def test_labels_come_from_their_file(five_rows, write):
    labels = write("label.csv", "0\n1\n2\n3\n4\n")
    batches = CSVIter(data_csv=five_rows, label_csv=labels, data_shape=(2,), batch_size=3)
    found = [batch.label[0].asnumpy().tolist() for batch in batches]
    assert found == [[0, 1, 2], [3, 4, 0]]


def test_rows_and_labels_are_reshaped(five_rows):
    batches = CSVIter(
        data_csv=five_rows,
        label_csv=five_rows,
        data_shape=(2, 1),
        label_shape=(2,),
        batch_size=5,
        data_name="x",
        label_name="y",
    )
    assert repr(batches.provide_data[0]).startswith("DataDesc[x,(5, 2, 1)")
    assert repr(batches.provide_label[0]).startswith("DataDesc[y,(5, 2)")
    assert batches.next().label[0].shape == (5, 2)


def test_large_integers_are_exact(write):
    file = write("big.csv", "16777217,1\n-9007199254740993,2\n")
    batches = CSVIter(data_csv=file, data_shape=(2,), batch_size=2, dtype="int64")
    batch = batches.next()
    assert batch.data[0].dtype == batch.label[0].dtype == np.int64
    assert batch.data[0].asnumpy().tolist() == [[16777217, 1], [-9007199254740993, 2]]


@pytest.mark.parametrize("text", ["1.5, 2\n\n3e2,-4\n", "1.5,2\n3e2,-4", "1.5,2\r\n3e2,-4\r\n"])
def test_blanks_empty_lines_and_line_ends_do_not_matter(write, text):
    batches = CSVIter(data_csv=write("data.csv", text), data_shape=(2,), batch_size=2)
    assert batches.next().data[0].asnumpy().tolist() == [[1.5, 2], [300, -4]]


def test_all_files_of_a_directory_are_read(write, tmp_path):
    write("folder/b.csv", "5,6\n")
    write("folder/a.csv", "1,2\n3,4\n")
    batches = CSVIter(data_csv=str(tmp_path / "folder"), data_shape=(2,), batch_size=3)
    assert batches.next().data[0].asnumpy()[:, 0].tolist() == [1, 3, 5]


def test_the_first_batch_can_be_repeated_for_measurements(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=2)
    batches.debug_skip_load()
    found = [next(batches).data[0].asnumpy().tolist() for _ in range(9)]
    assert found == [[[1, 2], [3, 4]]] * 9


def test_the_current_batch_can_be_asked_for(five_rows):
    batches = CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=3)
    assert batches.iter_next()
    assert batches.iter_next()
    assert batches.getdata().asnumpy()[:, 0].tolist() == [7, 9, 1]
    assert batches.getlabel().shape == (3,)
    assert batches.getpad() == 1
    assert batches.getindex().tolist() == [3, 4, 0]
    assert not batches.iter_next()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,abc\n3,4\n", "not a table of numbers"),
        ("1,\n3,4\n", "not a table of numbers"),
        ("1,2,3\n3,4\n", "not a table of numbers"),
        ("1,2,3\n", "csv row-length=3"),
        ("", "holds no records"),
    ],
)
def test_files_that_are_no_tables_of_that_width_are_refused(write, text, message):
    with pytest.raises(MXNetError, match=message):
        CSVIter(data_csv=write("data.csv", text), data_shape=(2,), batch_size=1)


def test_a_missing_file_is_named():
    with pytest.raises(MXNetError, match=r"nowhere.csv: No such file") as caught:
        CSVIter(data_csv="nowhere.csv", data_shape=(2,), batch_size=1)
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("count", "ends"), [(1, r"l\.csv ends after row 1"), (7, r"data\.csv ends")]
)
def test_labels_of_another_length_are_refused(five_rows, write, count, ends):
    labels = write("l.csv", "1\n" * count)
    with pytest.raises(
        MXNetError, match=rf"{ends}[\s\S]*5 rows of data in .*, {count} of labels in"
    ):
        CSVIter(data_csv=five_rows, label_csv=labels, data_shape=(2,), batch_size=1)


@pytest.mark.parametrize("content", [b"\x1f\x8bnot packed", b"\x1f\x8b\x08\x00\x00"])
def test_a_damaged_packed_file_is_named(tmp_path, content):
    (tmp_path / "x.csv.gz").write_bytes(content)
    with pytest.raises(MXNetError, match=r"x\.csv\.gz: the file cannot be read"):
        CSVIter(data_csv=str(tmp_path / "x.csv.gz"), data_shape=(2,), batch_size=1)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "nonsense"])
def test_other_types_are_refused(five_rows, dtype):
    with pytest.raises(MXNetError):
        CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=1, dtype=dtype)


def test_unknown_parameters_are_ignored_with_a_warning(five_rows):
    with pytest.warns(UserWarning, match="CSVIter ignores unknown parameters: leave out foo"):
        CSVIter(data_csv=five_rows, data_shape=(2,), batch_size=1, foo=1, prefetch_buffer=4)
