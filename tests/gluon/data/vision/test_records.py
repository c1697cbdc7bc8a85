"""Data sets of records and of folders; tests/data/pictures holds six pictures of 14 by 16.

Shapes, labels, sums and the checksum were recorded from MXNet 1.9.1.
"""

import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from minigluon import MXNetError, gluon, image, nd, recordio
from minigluon.gluon.data import RecordFileDataset
from minigluon.gluon.data.vision import ImageFolderDataset, ImageRecordDataset

pytest.importorskip("PIL", reason="pictures need Pillow")

FILE = str(Path(__file__).parents[3] / "data" / "pictures" / "one.rec")


def test_a_record_file_gives_records_as_bytes():
    records = RecordFileDataset(FILE)
    assert len(records) == 6
    assert zlib.crc32(records[3]) == 1799990387
    assert records[-1] == records[5]
    with pytest.raises(IndexError, match="record 6 of"):
        records[6]


@pytest.mark.parametrize(("flag", "channels", "total"), [(1, 3, 86484.0), (0, 1, 29616.0)])
def test_pictures_and_labels_are_those_of_mxnet(flag, channels, total):
    picture, label = ImageRecordDataset(FILE, flag)[2]
    assert picture.shape == (14, 16, channels)
    assert picture.dtype is np.uint8
    assert (label, type(label)) == (2.0, float)
    assert picture.asnumpy().sum(dtype="f8") == total


def test_a_transform_gets_picture_and_label():
    pairs = ImageRecordDataset(FILE, transform=lambda x, y: (x.shape, y + 1))
    assert pairs[4] == ((14, 16, 3), 5.0)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_reads_records_in_its_workers(workers):
    def cut(picture, label):
        return image.center_crop(picture, (8, 8))[0].astype("float32"), label

    pairs = ImageRecordDataset(FILE).transform(cut)
    loader = gluon.data.DataLoader(pairs, 4, num_workers=workers, thread_pool=True)
    batches = list(loader)
    assert [x.shape for x, _ in batches] == [(4, 8, 8, 3), (2, 8, 8, 3)]
    assert [y for _, labels in batches for y in labels.asnumpy()] == [0, 1, 2, 3, 4, 5]


def test_a_record_file_is_pickled_as_its_name():
    import pickle

    records = pickle.loads(pickle.dumps(RecordFileDataset(FILE)))
    assert zlib.crc32(records[3]) == 1799990387


def test_an_index_that_disagrees_with_the_file_is_told_with_the_place(tmp_path):
    shutil.copy(FILE, tmp_path / "x.rec")
    (tmp_path / "x.idx").write_text("0\t0\n1\t100\n2\t999999\n")
    pairs = ImageRecordDataset(str(tmp_path / "x.rec"))
    assert pairs[0][1] == 0
    with pytest.raises(MXNetError, match=r"x\.rec, byte 100"):
        pairs[1]
    with pytest.raises(MXNetError, match=r"x\.rec.*ends before[\s\S]*key 2 at byte 999999"):
        pairs[2]


def test_folders_give_pictures_with_the_number_of_their_folder(tmp_path):
    records = ImageRecordDataset(FILE)
    for number, name in enumerate(("cat", "dog", "dog")):
        (tmp_path / name).mkdir(exist_ok=True)
        encoded = recordio.unpack(RecordFileDataset(FILE)[number])[1]
        (tmp_path / name / f"{number}.png").write_bytes(encoded)
    folders = ImageFolderDataset(str(tmp_path))
    assert folders.synsets == ["cat", "dog"]
    assert [label for _, label in folders.items] == [0, 1, 1]
    picture, label = folders[2]
    assert label == 1
    assert (picture.asnumpy() == records[2][0].asnumpy()).all()
    grey = ImageFolderDataset(str(tmp_path), flag=0, transform=lambda x, y: (x.shape, -y))
    assert grey[1] == ((14, 16, 1), -1)
    assert isinstance(picture, nd.NDArray)
