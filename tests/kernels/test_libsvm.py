import numpy as np
import pytest

from minigluon.base import MXNetError
from minigluon.kernels import libsvm


def rows(parsed):
    """One ``(labels, {index: value})`` for each row."""
    return [
        (
            parsed.labels[parsed.label_indptr[k] : parsed.label_indptr[k + 1]].tolist(),
            list(zip(parsed.indices[a:b].tolist(), parsed.values[a:b].tolist(), strict=True)),
        )
        for k, (a, b) in enumerate(zip(parsed.indptr[:-1], parsed.indptr[1:], strict=True))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1 0:1.5 2:2\n0 1:3\n", [([1], [(0, 1.5), (2, 2)]), ([0], [(1, 3)])]),
        (b"1\n0 1:3", [([1], []), ([0], [(1, 3)])]),
        (b"1 0:1 # c 3:x\n# whole\n\n \n0 1:3#", [([1], [(0, 1)]), ([0], [(1, 3)])]),
        (b"1,2.5 0:1\n-3,4 1:3\n", [([1, 2.5], [(0, 1)]), ([-3, 4], [(1, 3)])]),
        (b"+1 0:1e-3\r\n-1 1:+2.5E2\r\n", [([1], [(0, 0.001)]), ([-1], [(1, 250)])]),
        (b"1 2:1 0:3 2:5\n", [([1], [(2, 1), (0, 3), (2, 5)])]),
        (b" 1  0:.5\t2:4. \n", [([1], [(0, 0.5), (2, 4)])]),
        (b"1 qid:7 3:1\n", [([1], [(3, 1)])]),
        (b"1 3 8\n", [([1], [(3, 1), (8, 1)])]),
        (
            b"0 0:inf 1:-Infinity 2:1e400 3:1e-400\n",
            [([0], [(0, np.inf), (1, -np.inf), (2, np.inf), (3, 0)])],
        ),
        (b"", []),
        (b"\n\n", []),
    ],
)
def test_well_formed_text(path, text, expected):
    parsed = libsvm.parse(text)
    assert rows(parsed) == [
        (labels, [(i, float(np.float32(v))) for i, v in features]) for labels, features in expected
    ]
    assert parsed.values.dtype == parsed.labels.dtype == np.float32
    assert parsed.indices.dtype == parsed.indptr.dtype == np.int64


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"x 0:1", "label"),
        (b"1, 0:1", "label"),
        (b"1x 0:1", "label"),
        (b"1 0:", "feature"),
        (b"1 0:abc", "feature"),
        (b"1 a:1", "feature"),
        (b"1 :1", "feature"),
        (b"1 0:1:2", "feature"),
        (b"1 0:1e", "feature"),
        (b"1 0:0x10", "feature"),
        (b"1 0:1_0", "feature"),
        (b"1 0.5:1", "feature"),
        (b"1 -1:2", "negative column index"),
        (b"1 99999999999999999999:2", "feature"),
    ],
)
def test_malformed_text_names_the_line(path, line, message):
    with pytest.raises(MXNetError, match=f"line 13 has a {message}") as error:
        libsvm.parse(b"1 0:1\n# comment\n" + line + b"\n0 1:1\n", first_line=11)
    assert line.decode() in str(error.value)
    assert isinstance(error.value, ValueError)


def test_numbers_are_read_as_python_reads_them(path):
    r = np.random.RandomState(0)
    numbers = r.randn(60) * 10.0 ** r.randint(-3, 9, 60)
    short = [f"{x:.{k % 10}f}" for k, x in enumerate(numbers)]
    doubles = r.randn(200) * 10.0 ** r.randint(-20, 20, 200)
    texts = (
        short
        + [repr(float(x)) for x in doubles]
        + [f"{x:.25f}" for x in r.randn(20)]
        + ["1" * 30, "0." + "0" * 30 + "25"]
    )
    text = "".join(f"1 0:{t}\n" for t in texts).encode()
    expected = np.array([float(t) for t in texts]).astype(np.float32)
    np.testing.assert_allclose(libsvm.parse(text).values, expected, rtol=1.2e-7)


def test_nan_is_a_number(path):
    assert np.isnan(libsvm.parse(b"1 0:nan 1:NaN\n").values).all()


def test_a_large_text_is_compiled_to_the_same_arrays(numba_loaded):
    r = np.random.RandomState(3)
    lines = [
        f"{r.randint(2)} " + " ".join(f"{j}:{r.rand():.4g}" for j in range(0, 90, 3))
        for _ in range(300)
    ]
    text = "\n".join(lines).encode()
    assert len(text) > libsvm.SMALL
    for fast, plain in zip(libsvm.parse(text), libsvm._parse_plainly(text, "", 1), strict=True):
        np.testing.assert_array_equal(fast, plain)


def test_features_of_any_length_are_read_the_same_in_bulk(numba_loaded):
    r = np.random.RandomState(4)
    lines = []
    for _ in range(1500):
        ids = [str(r.randint(10 ** r.randint(1, 17))) for _ in range(r.randint(0, 9))]
        ends = [
            r.choice(["", ":1", ":-3", ":0.25", ":-12.5", ":1234567.1234567", ":12345678"])
            for _ in ids
        ]
        lines.append(" ".join(["-1", *[i + e for i, e in zip(ids, ends, strict=True)]]))
    text = "\n".join(lines).encode()
    for fast, plain in zip(libsvm.parse(text), libsvm._parse_plainly(text, "", 1), strict=True):
        np.testing.assert_array_equal(fast, plain)


def test_arrays_grow_when_later_lines_are_longer_than_the_first(numba_loaded):
    head, tail = "1\n" * 40000, "1,2 " + " ".join(f"{k}:{k}" for k in range(40)) + "\n"
    text = (head + tail * 900).encode()
    parsed = libsvm.parse(text)
    assert parsed.indptr[-1] == 40 * 900
    assert parsed.labels.size == 40000 + 2 * 900
    np.testing.assert_array_equal(parsed.indices, np.tile(np.arange(40), 900))
    np.testing.assert_array_equal(parsed.values, np.tile(np.arange(40.0), 900))
