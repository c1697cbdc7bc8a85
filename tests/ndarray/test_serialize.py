"""minigluon/ndarray/serialize.py; the files under tests/data/params were written by MXNet 1.9.1."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigluon as mx
from minigluon import nd
from minigluon.base import MXNetError
from minigluon.ndarray import serialize
from minigluon.storage import Csr, RowSparse

FILES = Path(__file__).parent.parent / "data" / "params"
EXPECTED = json.loads((FILES / "expected.json").read_text())
NAMES = sorted(EXPECTED)


def load(name):
    return serialize.loads((FILES / name).read_bytes(), np_shape=name.startswith("np_"))


def assert_holds(storage, dtype, expected):
    assert storage.dtype == dtype
    if isinstance(expected, list):  # the recording holds the shape only
        assert list(storage.shape) == expected
        return
    assert list(storage.shape) == expected["shape"]
    assert dtype.name == expected.get("dtype", dtype.name)
    if "data" not in expected:
        values = np.array(expected["values"], dtype).reshape(storage.shape)
        np.testing.assert_array_equal(storage, values)
        return
    assert storage.stype == expected["stype"]
    data = np.array(expected["data"], dtype).reshape(storage.values.shape)
    np.testing.assert_array_equal(storage.values, data)
    assert storage.indices.dtype == np.int64
    assert storage.indices.tolist() == expected["indices"]
    if "indptr" in expected:
        assert storage.indptr.tolist() == expected["indptr"]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_every_version_hold_what_mxnet_reads_in_them(name):
    entries, expected = load(name), EXPECTED[name]
    if isinstance(expected, dict):
        assert [entry[0] for entry in entries] == list(expected)
        expected = list(expected.values())
    else:
        assert [entry[0] for entry in entries] == [None] * len(expected)
    for (_, storage, dtype), wanted in zip(entries, expected, strict=True):
        assert_holds(storage, dtype, wanted)


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("legacy")])
def test_writing_what_was_read_gives_mxnets_own_bytes(name):
    entries = load(name)
    named = entries[0][0] is not None
    arrays = {n: x for n, x, _ in entries} if named else [x for _, x, _ in entries]
    again = serialize.dumps(arrays, np_shape=name.startswith("np_"))
    assert again == (FILES / name).read_bytes()


def test_a_file_written_by_mxnet_0_8_can_be_read(golden_folder):
    entries = serialize.loads((golden_folder / "mxnet_legacy_ndarray.v0").read_bytes())
    expected = json.loads((golden_folder / "expected.json").read_text())["mxnet_legacy_ndarray.v0"]
    for (name, storage, dtype), wanted in zip(entries, expected, strict=True):
        assert name is None
        assert_holds(storage, dtype, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_every_cut_of_a_file_is_refused(name):
    data = (FILES / name).read_bytes()
    for end in range(len(data)):
        with pytest.raises(MXNetError):
            serialize.loads(data[:end], np_shape=name.startswith("np_"))


@given(
    name=st.sampled_from(NAMES),
    changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_a_damaged_file_is_read_or_refused_with_an_mxnet_error(name, changes):
    data = bytearray((FILES / name).read_bytes())
    for at, byte in changes:
        data[at % len(data)] = byte
    try:
        serialize.loads(data, np_shape=name.startswith("np_"))
    except MXNetError:
        pass


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00" * 64, b"\xff" * 64])
def test_what_is_no_array_file_is_refused(data):
    with pytest.raises(MXNetError):
        serialize.loads(data)


def test_numpy_shape_files_need_numpy_shape_semantics_and_others_must_be_without():
    with pytest.raises(MXNetError, match="numpy-shape"):
        serialize.loads((FILES / "np_dict.params").read_bytes())
    with pytest.raises(MXNetError, match="numpy-shape"):
        serialize.loads((FILES / "dense_list.params").read_bytes(), np_shape=True)


def test_a_sparse_array_is_not_written_under_numpy_shape_semantics():
    rows = RowSparse(np.ones((1, 2), np.float32), np.array([1]), (3, 2))
    with pytest.raises(MXNetError, match="sparse"):
        serialize.dumps([rows], np_shape=True)


def test_arrays_that_are_not_contiguous_keep_their_values():
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3).T
    [(_, again, _)] = serialize.loads(serialize.dumps([matrix]))
    assert again.tolist() == matrix.tolist()


def test_a_scalar_becomes_an_array_of_one():
    [(_, again, _)] = serialize.loads(serialize.dumps([np.array(3.0)]))
    assert again.tolist() == [3.0]


def test_loaded_arrays_can_be_written_and_do_not_share_the_bytes():
    data = serialize.dumps([np.zeros(2, np.float32)])
    [(_, first, _)] = serialize.loads(data)
    first[:] = 7
    [(_, second, _)] = serialize.loads(data)
    assert second.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("container", [[], {}])
def test_an_empty_container_is_legal(container):
    assert serialize.loads(serialize.dumps(container)) == []


def test_names_may_be_any_text():
    [(name, _, _)] = serialize.loads(serialize.dumps({"größe/重み": np.ones(1, np.float32)}))
    assert name == "größe/重み"


def test_bytes_after_the_names_are_ignored_as_in_mxnet():
    data = serialize.dumps([np.ones(1, np.float32)])
    assert len(serialize.loads(data + b"xx")) == 1


def test_bfloat16_is_read_as_float32():
    data = serialize.dumps([np.array([0x3F80, 0xC000], np.uint16)])
    data = data.replace(struct.pack("<iii", 1, 0, 9), struct.pack("<iii", 1, 0, 12))
    [(_, values, dtype)] = serialize.loads(data)
    assert dtype == np.float32
    assert values.tolist() == [1.0, -2.0]


@pytest.mark.parametrize(
    "storage",
    [
        Csr(np.ones(1, np.float32), np.array([9]), np.array([0, 1]), (1, 3)),
        Csr(np.ones(1, np.float32), np.array([-1]), np.array([0, 1]), (1, 3)),
        Csr(np.ones(1, np.float32), np.array([0]), np.array([0, 5]), (1, 3)),
        Csr(np.ones(1, np.float32), np.array([0]), np.array([0, 2, 1]), (2, 3)),
        RowSparse(np.ones((1, 2), np.float32), np.array([3]), (3, 2)),
        RowSparse(np.ones((2, 2), np.float32), np.array([1, 1]), (3, 2)),
    ],
)
def test_a_sparse_array_whose_indices_lead_outside_is_refused(storage):
    with pytest.raises(MXNetError):
        serialize.loads_one(serialize.dumps_one(storage))


def test_rows_out_of_order_are_sorted_on_reading():
    rows = RowSparse(np.array([[2.0], [1.0]]), np.array([2, 0]), (3, 1))
    again = serialize.loads_one(serialize.dumps_one(rows))
    assert (again.indices.tolist(), again.values.tolist()) == ([0, 2], [[1.0], [2.0]])


def test_an_array_saved_on_a_gpu_is_loaded():
    data = serialize.dumps_one(np.ones(2, np.float32))
    on_gpu = data.replace(struct.pack("<iii", 1, 0, 0), struct.pack("<iii", 2, 0, 0), 1)
    assert serialize.loads_one(on_gpu).tolist() == [1.0, 1.0]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "w.params"
    serialize.write_file(path, b"old")

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(MXNetError, match="No space left"):
        serialize.write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["w.params"]


def test_overwriting_keeps_the_permissions_and_follows_a_link(tmp_path):
    path, link = tmp_path / "w.params", tmp_path / "latest"
    serialize.write_file(path, b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    serialize.write_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_file_is_an_mxnet_error_that_names_it(tmp_path):
    with pytest.raises(MXNetError, match=r"gone\.params"):
        serialize.read_file(tmp_path / "gone.params")
    with pytest.raises(MXNetError, match="nowhere"):
        serialize.write_file(tmp_path / "nowhere" / "w.params", b"")


def test_a_csr_array_is_stored_compressed_and_loaded_as_csr(tmp_path):
    path = tmp_path / "x.params"
    nd.save(path, nd.sparse.zeros("csr", (1000, 1000)))
    assert path.stat().st_size < 9000  # the row starts, and nothing of a million zeros
    [loaded] = nd.load(str(path))
    assert loaded.stype == "csr"
    assert loaded.shape == (1000, 1000)


def test_scalars_and_empty_arrays_are_files_under_numpy_shapes(tmp_path):
    path = str(tmp_path / "x.params")
    with mx.util.np_shape(True):
        nd.save(path, {"scalar": nd.array(2.5).reshape(()), "none": nd.zeros((0, 3))})
        loaded = nd.load(path)
        assert loaded["scalar"].shape == ()
        assert loaded["none"].shape == (0, 3)
        assert float(loaded["scalar"].asnumpy()) == 2.5
    with pytest.raises(MXNetError, match=r"x\.params, byte 28: an array saved under numpy-shape"):
        nd.load(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x12\x01", "byte 0: the data ends too early"),
        (b"\x13" + bytes(15), "byte 8: Invalid NDArray file format"),
        (struct.pack("<QQQ", 0x112, 0, 9), "byte 24: the data ends too early"),
        (struct.pack("<QQQII", 0x112, 0, 1, 65, 0), "byte 28: Invalid NDArray file format"),
    ],
)
def test_a_damaged_file_is_told_with_name_and_byte(tmp_path, data, says):
    (tmp_path / "cut.params").write_bytes(data)
    with pytest.raises(MXNetError, match=rf"cut\.params, {says}"):
        nd.load(str(tmp_path / "cut.params"))


def test_an_empty_csr_of_many_rows_takes_no_room_before_it_is_used():
    resource = pytest.importorskip("resource")
    rows = 1 << 31
    shape = struct.pack("<iqq", 2, rows, 3)
    none = struct.pack("<iq", 1, 0)
    types = struct.pack("<iii", 1, 0, 0)  # cpu(0), float32
    aux = struct.pack("<i", 6) + none
    data = struct.pack("<Ii", 0xF993FAC9, 2) + none + shape + types + aux + aux
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        assert serialize.loads_one(data).shape == (rows, 3)
    except MXNetError:
        pass  # no address space for the row starts
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_stored_shapes_that_mxnet_wrote_too_early_follow_from_the_indices(tmp_path):
    # MXNet writes the shape of what is stored before a lazy result is there: (0, d), or (0,)
    path = tmp_path / "early.params"
    rows = nd.sparse.row_sparse_array((nd.ones((2, 3)), [1, 4]), shape=(6, 3))
    csr = nd.array(np.eye(3, dtype="float32")).tostype("csr")
    for array, stored, early in (
        (rows, struct.pack("<i2q", 2, 2, 3), struct.pack("<i2q", 2, 0, 3)),
        (csr, struct.pack("<iq", 1, 3), struct.pack("<iq", 1, 0)),
    ):
        nd.save(str(path), [array])
        content = path.read_bytes()
        assert stored in content
        path.write_bytes(content.replace(stored, early, 1))
        np.testing.assert_array_equal(nd.load(str(path))[0].asnumpy(), array.asnumpy())
