"""ImageIter; img.rec and all batches from it come from MXNet 1.9.1."""

import random
from pathlib import Path

import numpy as np
import pytest

from minigluon import image
from minigluon.base import MXNetError
from minigluon.recordio import IRHeader, MXIndexedRecordIO, pack, pack_img, unpack

pytest.importorskip("PIL", reason="pictures need Pillow")

DATA = Path(__file__).parent.parent / "data" / "recordio"
RECORDS = {"path_imgrec": DATA / "img.rec"}
INDEXED = {**RECORDS, "path_imgidx": DATA / "img.idx"}


@pytest.fixture
def folder(tmp_path):
    """Three pictures of one colour each, and a list of them."""
    for number in range(3):
        pixels = np.full((8, 8, 3), 10 * number + 10, np.uint8)
        record = pack_img(IRHeader(0, 0, 0, 0), pixels, img_fmt=".png")
        (tmp_path / f"{number}.png").write_bytes(unpack(record)[1])
    (tmp_path / "three.lst").write_text("0\t1.0\t0.png\n4\t2\t1.png\n7\t3.5\t2.png\n")
    return tmp_path


def epoch(batches):
    """Padding, labels and sum of each batch."""
    found = [
        (b.pad, b.label[0].asnumpy().tolist(), b.data[0].asnumpy().sum(dtype=np.float64))
        for b in batches
    ]
    batches.reset()
    return found


def test_whole_pictures_have_the_sums_of_mxnet():
    batches = image.ImageIter(4, (3, 8, 8), **RECORDS)
    sums = [b.data[0].asnumpy().sum(axis=(1, 2, 3)).tolist() for b in batches]
    assert sums == [[18336, 20288, 22496, 24192], [23328, 22976, 18336, 20288]]


@pytest.mark.parametrize(
    ("handling", "first", "second"),
    [
        ("pad", [0, 2], [0, 2]),
        ("discard", [0], [0]),
        ("roll_over", [0], [2, 0]),
    ],
)
def test_the_last_batch_is_handled_as_in_mxnet(handling, first, second):
    whole, rest = (0, [0, 1, 2, 0], 51940.0), (2, [1, 2, 0, 1], 50956.0)
    rolled = (0, [2, 0, 1, 2], 56884.0)
    batches = image.ImageIter(4, (3, 6, 6), last_batch_handle=handling, **RECORDS)
    known = {"pad": [[whole, rest]] * 2, "discard": [[whole]] * 2}
    known["roll_over"] = [[whole], [rest, rolled]]
    epochs = [epoch(batches), epoch(batches)]
    assert epochs == known[handling]
    assert [[pad for pad, _, _ in e] for e in epochs] == [first, second]


def test_hard_reset_forgets_what_rolled_over():
    batches = image.ImageIter(4, (3, 6, 6), last_batch_handle="roll_over", **RECORDS)
    first = epoch(batches)
    batches.hard_reset()
    assert epoch(batches) == first


def test_a_batch_larger_than_the_file_goes_round():
    assert epoch(image.ImageIter(7, (3, 6, 6), **RECORDS)) == [(1, [0, 1, 2, 0, 1, 2, 0], 90204.0)]


def test_shuffling_takes_the_order_of_mxnet():
    random.seed(5)
    batches = image.ImageIter(2, (3, 6, 6), shuffle=True, **INDEXED)
    assert [sum_ for _, _, sum_ in epoch(batches)] == [23006, 28388, 28496]
    assert [sum_ for _, _, sum_ in epoch(batches)] == [28934, 25862, 25094]


def test_parts_share_the_records():
    labels = []
    for part in (0, 1):
        batches = image.ImageIter(3, (3, 6, 6), num_parts=2, part_index=part, **INDEXED)
        labels += [found for _, found, _ in epoch(batches)]
    assert labels == [[0, 1, 2], [0, 1, 2]]


def test_what_is_provided_is_described():
    batches = image.ImageIter(4, (3, 6, 6), data_name="x", label_name="y", **RECORDS)
    assert batches.provide_data == [("x", (4, 3, 6, 6))]
    assert batches.provide_label == [("y", (4,))]


def test_a_list_file_names_pictures_and_labels(folder):
    batches = image.ImageIter(
        2, (3, 8, 8), path_imglist=folder / "three.lst", path_root=folder, aug_list=[]
    )
    pixels = 3 * 8 * 8
    assert epoch(batches) == [(0, [1, 2], 30.0 * pixels), (1, [3.5, 1], 40.0 * pixels)]


@pytest.mark.parametrize("entry", [[[1.0, 2.0], "0.png"], [1.0, 2.0, "0.png"]])
def test_a_list_may_hold_several_labels(folder, entry):
    batches = image.ImageIter(1, (3, 8, 8), 2, imglist=[entry], path_root=folder)
    assert next(batches).label[0].asnumpy().tolist() == [[1, 2]]


def test_labels_of_a_list_replace_those_of_records(folder):
    listed = folder / "new.lst"
    listed.write_text("".join(f"{key}\t{key + 10}\tunused\n" for key in range(6)))
    batches = image.ImageIter(3, (3, 6, 6), path_imglist=listed, **INDEXED)
    assert [labels for _, labels, _ in epoch(batches)] == [[10, 11, 12], [13, 14, 15]]


def test_a_missing_picture_is_named(folder):
    batches = image.ImageIter(1, (3, 8, 8), imglist=[[1.0, "none.png"]], path_root=folder)
    with pytest.raises(FileNotFoundError, match=r"none\.png"):
        next(batches)


def test_a_broken_picture_is_named(folder):
    (folder / "0.png").write_bytes(b"abc")
    batches = image.ImageIter(1, (3, 8, 8), imglist=[[1.0, "0.png"]], path_root=folder)
    with pytest.raises(MXNetError, match=r"Broken image filename: sample 0, 0\.png"):
        next(batches)


@pytest.mark.parametrize("line", ["x\t1\t1.png", "1\tone\t1.png", "1\t1.png", "1 2 1.png"])
def test_a_line_that_is_none_of_a_list_is_named(folder, line):
    (folder / "bad.lst").write_text(f"0\t1\t0.png\n{line}\n")
    with pytest.raises(ValueError, match=r"bad\.lst, line 2"):
        image.ImageIter(1, (3, 8, 8), path_imglist=folder / "bad.lst", path_root=folder)


def test_a_label_of_another_length_is_refused(tmp_path):
    writer = MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    writer.write_idx(0, pack_img(IRHeader(0, [1, 2], 0, 0), np.zeros((8, 8, 3)), img_fmt=".png"))
    writer.close()
    with pytest.raises(ValueError, match="label_width=1"):
        next(image.ImageIter(1, (3, 8, 8), path_imgrec=tmp_path / "a.rec"))


def test_a_record_without_a_picture_is_named(tmp_path):
    writer = MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    writer.write_idx(3, pack(IRHeader(0, 1, 0, 0), b"abc"))
    writer.close()
    batches = image.ImageIter(
        1, (3, 8, 8), path_imgrec=tmp_path / "a.rec", path_imgidx=tmp_path / "a.idx"
    )
    with pytest.raises(MXNetError, match="Broken image filename: sample 0, 3"):
        next(batches)


def test_augmenters_that_give_another_size_are_found_out():
    with pytest.raises(ValueError, match="end aug_list with a crop"):
        next(image.ImageIter(1, (3, 6, 6), aug_list=[], **RECORDS))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "there are no pictures"),
        ({**RECORDS, "shuffle": True}, "only with their index"),
        ({**RECORDS, "dtype": "uint8"}, "uint8 label not supported"),
        ({**RECORDS, "last_batch_handle": "keep"}, "'keep'"),
        ({**INDEXED, "num_parts": 2, "part_index": 2}, "no such part"),
        ({**RECORDS, "data_shape": (1, 6, 6)}, "data_shape should have length 3"),
        ({"path_imglist": "none.lst"}, r"none\.lst"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, says):
    with pytest.raises(MXNetError, match=says):
        image.ImageIter(**{"batch_size": 2, "data_shape": (3, 6, 6), **settings})


def test_old_module_path_has_the_same_objects():
    from minigluon.image import image as old

    assert old.ImageIter is image.ImageIter
    assert old.CreateAugmenter is image.CreateAugmenter


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_batches_are_float32_whatever_dtype_says(dtype):
    # recorded from MXNet 1.9.1, which checks the argument only
    batches = image.ImageIter(2, (3, 8, 8), dtype=dtype, mean=True, std=True, **RECORDS)
    batch = next(batches)
    assert batch.data[0].dtype is batch.label[0].dtype is np.float32
    assert batches.provide_data[0].dtype is batches.provide_label[0].dtype is np.float32
    assert (batch.data[0].asnumpy() % 1 != 0).any()
