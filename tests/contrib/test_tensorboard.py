"""Event files that TensorBoard reads; the frames of a file it has read are kept here."""

import struct

import pytest

from minigluon import metric, nd
from minigluon.contrib import tensorboard
from minigluon.model import BatchEndParam


def frames(path):
    """The events of a file, its checksums verified."""
    data, events = path.read_bytes(), []
    while data:
        length = struct.unpack("<Q", data[:8])[0]
        assert data[8:12] == tensorboard._checksum(data[:8])
        event = data[12 : 12 + length]
        assert data[12 + length : 16 + length] == tensorboard._checksum(event)
        events.append(event)
        data = data[16 + length :]
    return events


def test_the_checksum_is_crc_32c():
    """RFC 3720, B.4: the CRC of 32 zero bytes is 8a9136aa, masked as record files have it."""
    crc = 0x8A9136AA
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert tensorboard._checksum(bytes(32)) == struct.pack("<I", masked)


def test_every_value_of_a_metric_is_written_with_its_epoch(tmp_path):
    log = tensorboard.LogMetricsCallback(str(tmp_path / "logs"), prefix="train")
    found = metric.create(["acc", "ce"])
    found.update([nd.array([0])], [nd.array([[0.5, 0.5]])])
    log(BatchEndParam(epoch=300, nbatch=7, eval_metric=found, locals=None))
    log(BatchEndParam(epoch=301, nbatch=7, eval_metric=None, locals=None))
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("events.out.tfevents.")
    version, accuracy, entropy = frames(path)
    assert version.endswith(b"\x1a\x0dbrain.Event:2")
    scalar = b"\x0a\x0etrain-accuracy\x15" + struct.pack("<f", 1.0)
    assert accuracy.endswith(b"\x10\xac\x02\x2a\x17\x0a\x15" + scalar)
    assert b"train-cross-entropy" in entropy


def test_names_have_no_prefix_unless_given(tmp_path):
    log = tensorboard.LogMetricsCallback(str(tmp_path))
    found = metric.create("acc")
    found.update([nd.array([0])], [nd.array([[0.5, 0.5]])])
    log(BatchEndParam(0, 0, found, None))
    (path,) = tmp_path.iterdir()
    assert b"\x0a\x08accuracy\x15" in frames(path)[1]


def test_two_writers_have_files_of_their_own(tmp_path):
    for _ in range(2):
        tensorboard.SummaryWriter(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_no_path_is_refused():
    with pytest.raises(ValueError, match="no folder"):
        tensorboard.LogMetricsCallback(None)
