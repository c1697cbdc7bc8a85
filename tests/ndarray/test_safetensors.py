"""minigluon/ndarray/safetensors.py, against the library of the format where it is installed."""

import json
import struct

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd
from minigluon.ndarray import safetensors

DTYPES = [
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32",
    "uint16", "uint8", "bool",
]  # fmt: skip

# the bytes safetensors 0.6 writes for these arrays
SMALL = {"b": np.array([[1, 2]], np.int32), "a": np.array([True]), "c": np.zeros((0, 3))}
WRITTEN = (
    b'\xa8\x00\x00\x00\x00\x00\x00\x00{"c":{"dtype":"F64","shape":[0,3],"data_offsets":[0,0]},'
    b'"b":{"dtype":"I32","shape":[1,2],"data_offsets":[0,8]},'
    b'"a":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]}}   \x01\x00\x00\x00\x02\x00\x00\x00\x01'
)


def arrays():
    numbers = np.random.default_rng(3)
    made = {f"{k}.{t}": (numbers.random((2, 3)) * 9).astype(t) for t in DTYPES for k in "zäb"}
    return {**made, "empty": np.zeros((0, 3), np.float32), "scalar": np.array(3.5)}


def with_header(header, values=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


def entry(shape=(1,), dtype="F32", offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_bytes_are_those_of_the_formats_library():
    assert safetensors.dumps(SMALL) == WRITTEN


def test_every_type_is_read_as_it_was_written():
    made = arrays()
    loaded = {name: x for name, x, _ in safetensors.loads(safetensors.dumps(made))}
    assert set(loaded) == set(made)
    for name, x in made.items():
        assert loaded[name].dtype == x.dtype
        np.testing.assert_array_equal(loaded[name], x)


def test_the_formats_library_agrees():
    library = pytest.importorskip("safetensors.numpy")
    made = arrays()
    assert library.save(made) == safetensors.dumps(made)
    assert len(safetensors.loads(library.save(made, {"by": "another program"}))) == len(made)


def test_bfloat16_is_read_as_float32():
    data = with_header({"w": entry((2,), "BF16")}, np.array([0x3F80, 0xC000], "<u2").tobytes())
    [(_, values, dtype)] = safetensors.loads(data)
    assert dtype == np.float32
    assert values.tolist() == [1.0, -2.0]


def test_the_suffix_decides_what_save_and_load_do(tmp_path):
    path = tmp_path / "net.safetensors"
    nd.save(path, {"w": nd.array([[1.5, 2.5]])})
    assert path.read_bytes() == safetensors.dumps({"w": np.array([[1.5, 2.5]], np.float32)})
    loaded = nd.load(str(path))
    assert loaded["w"].asnumpy().tolist() == [[1.5, 2.5]]
    loaded["w"][:] = 0  # it can be written


def test_parameters_of_a_block_travel_in_the_format(tmp_path):
    path = str(tmp_path / "net.safetensors")
    first, second = (mx.gluon.nn.Dense(2, in_units=3) for _ in range(2))
    first.initialize()
    first.save_parameters(path)
    second.load_parameters(path)
    x = nd.ones((1, 3))
    assert second(x).asnumpy().tolist() == first(x).asnumpy().tolist()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([nd.ones((1,))], "arrays without names"),
        ({"w": nd.ones((2, 2)).tostype("csr")}, r"w: \(2, 2\) float32 csr"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tmp_path, content, says):
    with pytest.raises(ValueError, match=says):
        nd.save(tmp_path / "net.safetensors", content)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "received  0 bytes"),
        (b"\xff" * 8, "a header of 18446744073709551615 bytes"),
        (with_header(b"{"), "JSONDecodeError"),
        (with_header(b"[" * 100_000), "RecursionError"),
        (with_header(b"[]"), "a header that is a list"),
        (with_header(b'{"a": 1, "a": 2}'), "a name stands twice"),
        (with_header({"w": 1}), "TypeError"),
        (with_header({"w": entry(dtype="F7")}, b"1234"), "F7"),
        (with_header({"w": entry((-1,))}, b"1234"), "whole numbers from 0"),
        (with_header({"w": entry((1.0,))}, b"1234"), "whole numbers from 0"),
        (with_header({"w": entry((2,))}, b"12345678"), "does not lie at 0 to 4"),
        (with_header({"w": entry(offsets=(4, 8))}, b"12345678"), "does not lie at 4 to 8"),
        (with_header({"w": entry()}, b"123"), "the file ends at byte"),
        (with_header({"w": entry()}, b"12345"), "1 bytes that no array is made of"),
        (with_header({"a": entry(), "b": entry()}, b"1234"), "does not lie at 0"),
        (with_header({"w": entry((0, 2**62, 2**62), offsets=(0, 0))}), "ValueError"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(tmp_path, data, says):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(MXNetError, match=rf"bad\.safetensors, byte \d+: [\s\S]*{says}"):
        nd.load(str(path))
