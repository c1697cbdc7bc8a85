"""Record files; tests/data/recordio and the values said to be MXNet's come from MXNet 1.9.1."""

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigluon.base import MXNetError
from minigluon.recordio import (
    MAGIC,
    IRHeader,
    MXIndexedRecordIO,
    MXRecordIO,
    framed,
    pack,
    pack_img,
    unpack,
    unpack_img,
)

DATA = Path(__file__).parent / "data" / "recordio"
#: what MXNet reads from sample.rec
PAYLOADS = {
    0: b"",
    10: b"a",
    20: b"abcd",
    30: b"hello world",
    40: MAGIC,
    50: b"xxxx" + MAGIC + b"yyyy",
    60: b"x" + MAGIC + b"z",
    70: MAGIC + MAGIC + b"12",
}
PICTURE = (np.arange(5 * 4 * 3) * 3 % 255).astype(np.uint8).reshape(5, 4, 3)


@pytest.fixture
def three(tmp_path):
    """Paths of an index and a file with the records 0, 3 and 5."""
    paths = tmp_path / "three.idx", tmp_path / "three.rec"
    writer = MXIndexedRecordIO(*paths, "w")
    for key in (0, 3, 5):
        writer.write_idx(key, b"rec%d" % key)
    writer.close()
    return paths


def read_all(path):
    reader = MXRecordIO(path, "r")
    try:
        return list(iter(reader.read, None))
    finally:
        reader.close()


def test_a_file_of_mxnet_reads_to_its_payloads():
    reader = MXIndexedRecordIO(DATA / "sample.idx", DATA / "sample.rec", "r")
    assert reader.keys == [*PAYLOADS, 500, 501]
    assert {key: reader.read_idx(key) for key in PAYLOADS} == PAYLOADS
    reader.close()


def test_headers_of_mxnet_read_to_their_labels():
    reader = MXIndexedRecordIO(DATA / "sample.idx", DATA / "sample.rec", "r")
    assert unpack(reader.read_idx(500)) == (IRHeader(0, 3.5, 101, 0), b"IMGBYTES")
    header, body = unpack(reader.read_idx(501))
    assert (header.flag, header.label.tolist(), header.id2, body) == (3, [1, 2, 5.5], 9, b"more")
    assert header.label.dtype == np.float32
    reader.close()


def test_a_file_written_again_has_the_bytes_mxnet_wrote(tmp_path):
    reader = MXIndexedRecordIO(DATA / "sample.idx", DATA / "sample.rec", "r")
    writer = MXIndexedRecordIO(tmp_path / "again.idx", tmp_path / "again.rec", "w")
    for key in reader.keys:
        writer.write_idx(key, reader.read_idx(key))
    writer.close()
    reader.close()
    for suffix in ("idx", "rec"):
        written = (tmp_path / f"again.{suffix}").read_bytes()
        assert written == (DATA / f"sample.{suffix}").read_bytes()


@given(st.lists(st.lists(st.sampled_from([MAGIC, b"a", b"bcd", MAGIC[:2]]), max_size=6)))
def test_reading_gives_what_was_written(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("law") / "any.rec"
    records = [b"".join(parts) for parts in records]
    path.write_bytes(b"".join(map(framed, records)))
    assert read_all(path) == records


def test_records_are_in_the_file_before_the_writer_is_closed(tmp_path):
    writer = MXRecordIO(tmp_path / "open.rec", "w")
    writer.write(b"one")
    assert read_all(tmp_path / "open.rec") == [b"one"]
    writer.close()


@pytest.mark.slow
def test_a_writer_left_open_at_exit_loses_nothing_and_says_nothing(tmp_path):
    script = (
        "from minigluon.recordio import MXIndexedRecordIO as R\n"
        f"w = R({str(tmp_path / 'a.idx')!r}, {str(tmp_path / 'a.rec')!r}, 'w')\n"
        "w.write_idx(7, b'last')\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", script],
        capture_output=True,
        env=environment,
        check=True,
    )
    assert done.stderr == b""
    reader = MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")
    assert reader.read_idx(7) == b"last"
    reader.close()


def test_a_pickled_reader_starts_again_and_leaves_the_first_alone(three):
    reader = MXIndexedRecordIO(*three, "r")
    assert reader.read() == b"rec0"
    copy = pickle.loads(pickle.dumps(reader))
    assert (copy.read(), copy.read_idx(5), reader.read()) == (b"rec0", b"rec5", b"rec3")
    copy.close()
    reader.close()


def test_an_open_writer_is_not_pickled(tmp_path):
    writer = MXRecordIO(tmp_path / "w.rec", "w")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(writer)
    writer.close()


def test_threads_may_share_a_reader(three):
    reader = MXIndexedRecordIO(*three, "r")
    wrong = []

    def read(key):
        wrong.extend(r for r in (reader.read_idx(key) for _ in range(200)) if r != b"rec%d" % key)

    threads = [threading.Thread(target=read, args=(key,)) for key in (0, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reader.close()
    assert not wrong


def test_reset_goes_back_to_the_first_record(three):
    reader = MXIndexedRecordIO(*three, "r")
    reader.seek(5)
    assert (reader.tell(), reader.read(), reader.read()) == (24, b"rec5", None)
    reader.reset()
    assert reader.read() == b"rec0"
    reader.close()


def test_keys_may_be_names(three):
    reader = MXIndexedRecordIO(*three, "r", key_type=str)
    assert reader.keys == ["0", "3", "5"]
    reader.close()


@pytest.mark.parametrize(
    ("flag", "verb", "arguments"),
    [
        ("r", "write", (b"x",)),
        ("r", "write_idx", (1, b"x")),
        ("w", "read", ()),
        ("w", "seek", (0,)),
    ],
)
def test_the_other_direction_is_refused_with_its_name(three, flag, verb, arguments):
    file = MXIndexedRecordIO(*three, flag)
    with pytest.raises(AssertionError, match=f"{verb}: the file was not opened for this"):
        getattr(file, verb)(*arguments)
    file.close()


def test_a_closed_file_says_so(three):
    reader = MXRecordIO(three[1], "r")
    reader.close()
    reader.close()
    with pytest.raises(RuntimeError, match="the file is closed"):
        reader.read()


def test_text_is_no_record(tmp_path):
    writer = MXRecordIO(tmp_path / "t.rec", "w")
    with pytest.raises(TypeError, match=r"text\.encode"):
        writer.write("text")
    writer.close()


def test_only_reading_and_writing_are_ways_to_open():
    with pytest.raises(ValueError, match="Invalid flag a"):
        MXRecordIO("a.rec", "a")


@pytest.mark.parametrize("paths", [("none.idx", "img.rec"), ("img.idx", "none.rec")])
def test_a_missing_file_is_named(paths):
    index, records = (DATA / name for name in paths)
    with pytest.raises(FileNotFoundError, match="none"):
        MXIndexedRecordIO(index, records, "r")


@pytest.mark.parametrize("line", ["x\t5", "5", "5\tfive", "5\t5\t5", "5\t-8", "5\t" + "9" * 20])
def test_an_index_that_is_none_names_file_and_line(three, line):
    three[0].write_text(f"0\t0\n{line}\n")
    with pytest.raises(ValueError, match=r"three\.idx, line 2"):
        MXIndexedRecordIO(*three, "r")


def test_a_key_that_is_not_there_is_named(three):
    reader = MXIndexedRecordIO(*three, "r")
    with pytest.raises(KeyError, match="no key '3'"):
        reader.read_idx("3")
    reader.close()


@pytest.mark.parametrize(
    ("position", "says"), [(5, "byte 5"), (500, "file ends before the record")]
)
def test_an_index_of_another_file_is_found_out(three, position, says):
    three[0].write_text(f"0\t{position}\n")
    reader = MXIndexedRecordIO(*three, "r")
    with pytest.raises(MXNetError, match=says):
        reader.read_idx(0)
    reader.close()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda whole: whole[:-3], "byte 8: the file ends inside a record"),
        (lambda whole: whole[:-7], "byte 8: the file ends inside a record"),
        (lambda whole: whole[:12], "byte 8: the file ends inside a record"),
        (lambda whole: whole[:8] + b"abcd" + whole[12:], "byte 8: Invalid RecordIO File"),
        (lambda whole: whole[:15] + b"\x40" + whole[16:], "byte 8: a part .* out of place"),
        (lambda whole: whole[:15] + b"\x1f" + whole[16:], "byte 8: the file ends inside a record"),
        (lambda whole: whole[:15] + b"\x20" + whole[16:], "byte 20: the file ends inside"),
    ],
)
def test_a_damaged_file_names_file_and_place(tmp_path, damage, says):
    path = tmp_path / "damaged.rec"
    path.write_bytes(damage(framed(b"") + framed(b"abc")))
    with pytest.raises(MXNetError, match=rf"damaged\.rec, {says}"):
        read_all(path)


@given(st.integers(0, 223), st.binary(min_size=1, max_size=3))
def test_a_changed_file_gives_records_or_one_clear_error(tmp_path_factory, place, change):
    whole = (DATA / "sample.rec").read_bytes()
    path = tmp_path_factory.mktemp("fuzz") / "changed.rec"
    path.write_bytes(whole[:place] + change + whole[place + len(change) :])
    try:
        assert all(isinstance(record, bytes) for record in read_all(path))
    except MXNetError as error:
        assert "changed.rec, byte" in str(error)


# ---- headers


def test_a_header_packs_to_the_bytes_of_mxnet():
    expected = "0000000000004040010000000000000002000000000000"  # recorded from MXNet
    assert pack(IRHeader(0, 3, 1, 2), b"xyz").hex() == expected + "00" + b"xyz".hex()


@pytest.mark.parametrize("label", [[1, 2], np.array([1.5, 2.0]), np.array([3], np.int64)])
def test_several_labels_follow_the_header(label):
    header, body = unpack(pack((5, label, 4, 0), b"s"))
    assert (header.flag, header.label.tolist(), body) == (len(label), list(label), b"s")


def test_one_label_is_a_number_whatever_the_flag():
    assert unpack(pack(IRHeader(3, np.float32(4), 1, 0), b""))[0] == IRHeader(0, 4.0, 1, 0)


@pytest.mark.parametrize("label", [17672687.0, 2**24 + 1, [1, 17672687], 1e39])
def test_a_label_that_float32_cannot_hold_is_told(label):
    with pytest.warns(UserWarning, match="does not fit into float32"):
        pack(IRHeader(0, label, 1, 0), b"x")


def test_a_fraction_is_rounded_without_a_word():
    assert unpack(pack(IRHeader(0, 0.1, 1, 0), b""))[0].label == np.float32(0.1)


def test_a_negative_number_of_a_picture_is_refused():
    with pytest.raises(ValueError, match="id and id2 from 0"):
        pack(IRHeader(0, 1, -1, 0), b"")


@pytest.mark.parametrize("size", [3, 23, 31])
def test_a_record_too_short_for_its_header_is_refused(size):
    with pytest.raises(ValueError, match=f"{size} bytes"):
        unpack(pack(IRHeader(0, [1, 2, 3], 1, 0), b"")[:size])


def test_a_header_shows_as_in_mxnet():
    assert repr(IRHeader(0, 4.0, 7, 0)) == "HEADER(flag=0, label=4.0, id=7, id2=0)"


# ---- pictures


@pytest.mark.parametrize("shape", [(5, 4, 3), (5, 4, 4), (5, 4)])
def test_png_gives_a_picture_back(shape):
    pytest.importorskip("PIL", reason="pictures need Pillow")
    picture = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    header, found = unpack_img(pack_img(IRHeader(0, 1, 2, 0), picture, img_fmt=".png"))
    assert header.id == 2
    np.testing.assert_array_equal(found, picture)


def test_grey_is_weighed_as_opencv_weighs_it():
    pytest.importorskip("PIL", reason="pictures need Pillow")
    packed = pack_img(IRHeader(0, 1, 2, 0), PICTURE, img_fmt=".png")
    expected = [[3, 12, 21, 30], [39, 48, 57, 66], [75, 84, 93, 102], [111, 120, 129, 138]]
    np.testing.assert_array_equal(unpack_img(packed, 0)[1][:4], expected)  # recorded from MXNet


def test_jpeg_gives_almost_the_picture_back_with_blue_first():
    pytest.importorskip("PIL", reason="pictures need Pillow")
    flat = np.broadcast_to(np.array([200, 100, 50], np.uint8), (16, 16, 3))
    found = unpack_img(pack_img(IRHeader(0, 1, 2, 0), flat), 1)[1]
    assert np.abs(found.astype(int) - flat).max() <= 2


def test_a_picture_of_mxnet_reads_to_its_pixels():
    pytest.importorskip("PIL", reason="pictures need Pillow")
    reader = MXIndexedRecordIO(DATA / "img.idx", DATA / "img.rec", "r")
    for number in range(6):
        header, picture = unpack_img(reader.read_idx(number))
        expected = (np.arange(192).reshape(8, 8, 3) * (number + 1) % 256).astype(np.uint8)
        np.testing.assert_array_equal(picture[:, :, ::-1], expected)
        assert (header.label, header.id) == (number % 3, number)
    reader.close()


@pytest.mark.parametrize(
    ("picture", "suffix", "says"),
    [(PICTURE, ".xyz", "img_fmt='.xyz'"), (PICTURE[:, :, :2], ".png", "channels last")],
)
def test_what_cannot_be_packed_is_refused(picture, suffix, says):
    pytest.importorskip("PIL", reason="pictures need Pillow")
    with pytest.raises(ValueError, match=says):
        pack_img(IRHeader(0, 1, 2, 0), picture, img_fmt=suffix)


def test_a_record_without_a_picture_is_refused():
    pytest.importorskip("PIL", reason="pictures need Pillow")
    with pytest.raises(MXNetError, match="not an image"):
        unpack_img(pack(IRHeader(0, 1, 2, 0), b"abc"))
