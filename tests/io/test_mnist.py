"""MNISTIter."""

import gzip
import struct

import numpy as np
import pytest

from minigluon.base import MXNetError
from minigluon.io import MNISTIter

IMAGES = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3) * 8
LABELS = np.array([4, 3, 2, 1, 0], np.uint8)


def idx(array):
    """The bytes of an IDX file of unsigned bytes."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "image").write_bytes(idx(IMAGES))
    (tmp_path / "label").write_bytes(idx(LABELS))
    return {"image": str(tmp_path / "image"), "label": str(tmp_path / "label"), "silent": True}


def test_pixels_are_divided_by_256(files):
    batch = MNISTIter(**files, batch_size=2, shuffle=False).next()
    assert batch.data[0].shape == (2, 1, 2, 3)
    assert batch.data[0].dtype == np.float32
    np.testing.assert_array_equal(batch.data[0].asnumpy()[:, 0], IMAGES[:2] / 256)
    assert batch.label[0].asnumpy().tolist() == [4, 3]


def test_images_can_be_rows(files):
    batches = MNISTIter(**files, batch_size=2, shuffle=False, flat=True)
    assert batches.provide_data[0].shape == (2, 6)
    assert batches.next().data[0].shape == (2, 6)


def test_images_that_do_not_fill_a_batch_are_left_out(files):
    batches = MNISTIter(**files, batch_size=2, shuffle=False)
    for _ in range(2):
        found = [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in batches]
        assert found == [([4, 3], 0), ([2, 1], 0)]
        batches.reset()


def test_fewer_images_than_a_batch_are_no_batch(files):
    assert list(MNISTIter(**files, batch_size=6)) == []


def test_shuffled_order_depends_on_the_seed_only(files):
    def order(seed):
        return MNISTIter(**files, batch_size=5, seed=seed).next().label[0].asnumpy().tolist()

    assert order(1) == order(1)
    assert sorted(order(1)) == [0, 1, 2, 3, 4]
    assert len({tuple(order(seed)) for seed in range(5)}) > 1


def test_images_stay_with_their_labels(files):
    batch = MNISTIter(**files, batch_size=5, seed=3).next()
    first = batch.data[0].asnumpy()[:, 0, 0, 0] * 256
    np.testing.assert_array_equal(IMAGES[:, 0, 0][4 - batch.label[0].asnumpy().astype(int)], first)


def test_parts_share_the_images(files):
    found = []
    for part in range(2):
        batches = MNISTIter(**files, batch_size=1, shuffle=False, num_parts=2, part_index=part)
        found.extend(batch.label[0].asscalar() for batch in batches)
    assert found == [4, 3, 2, 1, 0]


def test_packed_files_are_read(files, tmp_path):
    (tmp_path / "image.gz").write_bytes(gzip.compress(idx(IMAGES)))
    packed = {**files, "image": str(tmp_path / "image.gz")}
    plain = MNISTIter(**files, batch_size=5, shuffle=False).next()
    found = MNISTIter(**packed, batch_size=5, shuffle=False).next()
    np.testing.assert_array_equal(found.data[0].asnumpy(), plain.data[0].asnumpy())


def test_swapped_files_are_refused(files):
    # MXNet 1.9.1 asks for more memory than there is
    swapped = {**files, "image": files["label"], "label": files["image"]}
    with pytest.raises(MXNetError, match="these are not images and their labels"):
        MNISTIter(**swapped, batch_size=1)


@pytest.mark.parametrize("content", [b"", b"hello world", idx(IMAGES)[:-1]])
def test_files_of_another_kind_or_cut_short_are_refused(files, tmp_path, content):
    (tmp_path / "image").write_bytes(content)
    with pytest.raises(MXNetError, match="is not an IDX file, or is cut short"):
        MNISTIter(**files, batch_size=1)


def test_a_missing_file_is_named(files):
    with pytest.raises(MXNetError, match="nowhere: No such file"):
        MNISTIter(**{**files, "image": "nowhere"}, batch_size=1)


@pytest.mark.slow
def test_published_digits_are_read(data_folder):
    batches = MNISTIter(
        image=str(data_folder / "t10k-images-idx3-ubyte.gz"),
        label=str(data_folder / "t10k-labels-idx1-ubyte.gz"),
        batch_size=300,
        shuffle=False,
        silent=True,
    )
    found = list(batches)
    assert len(found) == 33
    # recorded from MXNet 1.9.1
    assert found[-1].label[0].asnumpy()[:5].tolist() == [5, 0, 1, 2, 3]
    assert found[-1].data[0].asnumpy().sum() == pytest.approx(28080.566, rel=1e-6)


@pytest.mark.parametrize(
    "content",
    [b"\0\0\x08\x03", struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1) + b"x" * 13],
    ids=["no dimensions", "huge dimensions"],
)
def test_a_file_that_is_too_short_for_what_it_says_is_named(files, tmp_path, content):
    (tmp_path / "image").write_bytes(content)
    with pytest.raises(MXNetError, match="image is not an IDX file, or is cut short"):
        MNISTIter(**files, batch_size=2)
