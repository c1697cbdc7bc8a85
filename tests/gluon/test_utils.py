"""Splitting, clipping and the small helpers of gluon; values recorded from MXNet 1.9.1."""

import warnings
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.gluon import utils


@pytest.fixture
def rows():
    """Six rows of two."""
    return nd.arange(12).reshape((6, 2))


def test_pieces_are_equal_and_in_order(rows):
    pieces = utils.split_data(rows, 3)
    assert [piece.asnumpy().tolist() for piece in pieces] == [
        [[0, 1], [2, 3]],
        [[4, 5], [6, 7]],
        [[8, 9], [10, 11]],
    ]


def test_another_axis_can_be_split(rows):
    assert [p.shape for p in utils.split_data(rows, 2, batch_axis=1)] == [(6, 1), (6, 1)]


def test_uneven_pieces_need_permission(rows):
    with pytest.raises(ValueError, match=r"shape \(6, 2\) cannot be evenly split into 4 slices"):
        utils.split_data(rows, 4)
    pieces = utils.split_data(rows, 4, even_split=False)
    assert [p.shape for p in pieces] == [(2, 2), (2, 2), (1, 2), (1, 2)]


def test_numpy_arrays_are_split_too():
    assert [p.tolist() for p in utils.split_data(np.arange(4), 2)] == [[0, 1], [2, 3]]


def test_every_context_gets_a_piece(rows):
    pieces = utils.split_and_load(rows, [mx.cpu(0), mx.cpu(1)])
    assert [(p.context, p.shape) for p in pieces] == [(mx.cpu(0), (3, 2)), (mx.cpu(1), (3, 2))]


def test_one_context_gets_the_array_itself(rows):
    assert utils.split_and_load(rows, [mx.cpu(0)])[0] is rows


def test_lists_become_arrays():
    assert utils.split_and_load([1, 2], [mx.cpu(0)])[0].asnumpy().tolist() == [1, 2]


def test_csr_rows_are_split(rows):
    pieces = utils.split_and_load(
        rows.tostype("csr"), [mx.cpu(i) for i in range(4)], even_split=False
    )
    assert [p.stype for p in pieces] == ["csr"] * 4
    assert [p.shape for p in pieces] == [(2, 2), (2, 2), (1, 2), (1, 2)]


def test_large_gradients_are_scaled_to_the_norm():
    arrays = [nd.ones(2) * 3, nd.ones(2) * 4]
    assert utils.clip_global_norm(arrays, 1.0) == pytest.approx(50**0.5)
    np.testing.assert_allclose(arrays[0].asnumpy(), 3 / 50**0.5, rtol=1e-6)
    np.testing.assert_allclose(arrays[1].asnumpy(), 4 / 50**0.5, rtol=1e-6)


def test_small_gradients_stay():
    arrays = [nd.ones(2) * 3]
    utils.clip_global_norm(arrays, 100.0)
    assert arrays[0].asnumpy().tolist() == [3, 3]


def test_sparse_gradients_stay_sparse():
    arrays = [nd.array([[3.0], [0.0]]).tostype("row_sparse"), nd.ones(1) * 4]
    assert utils.clip_global_norm(arrays, 1.0) == pytest.approx(5)
    assert arrays[0].stype == "row_sparse"
    assert arrays[0].indices.asnumpy().tolist() == [0]
    np.testing.assert_allclose(arrays[0].data.asnumpy(), [[0.6]], rtol=1e-6)


def test_nan_warns_if_checked():
    with pytest.warns(UserWarning, match="nan or inf is detected"):
        utils.clip_global_norm([nd.array([np.nan])], 1.0)


def test_unchecked_norm_is_an_array_and_nan_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        norm = utils.clip_global_norm([nd.array([np.nan])], 1.0, check_isfinite=False)
    assert norm.shape == (1,)
    assert np.isnan(norm.asscalar())


def test_huge_gradients_do_not_overflow_the_norm():
    assert utils.clip_global_norm([nd.array([1e20, 1e20])], 1.0) == pytest.approx(2**0.5 * 1e20)


def test_nothing_to_clip_is_an_error():
    with pytest.raises(AssertionError, match="nothing to clip"):
        utils.clip_global_norm([], 1.0)


def test_sha1_of_a_file(tmp_path):
    file = tmp_path / "greeting"
    file.write_text("hello")
    assert utils.check_sha1(file, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
    assert not utils.check_sha1(file, "bbf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")


def test_download_saves_checks_and_keeps(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    target = tmp_path / "folder" / "target.txt"
    sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    assert utils.download(source.as_uri(), str(target), sha1_hash=sha1) == str(target)
    assert target.read_text() == "hello"
    source.write_text("changed")
    utils.download(source.as_uri(), str(target), sha1_hash=sha1)
    assert target.read_text() == "hello"


def test_download_of_the_wrong_content_fails_and_leaves_nothing(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    target = tmp_path / "target.txt"
    with pytest.raises(OSError, match="SHA-1"):
        utils.download(source.as_uri(), str(target), sha1_hash="0" * 40, retries=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["source.txt"]


def test_download_takes_the_file_from_the_local_root(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    root = tmp_path / "home" / "downloads"
    root.mkdir(parents=True)
    (root / "data.bin").write_text("hello")
    url = "http://127.0.0.1:9/somewhere/data.bin"
    got = utils.download(url, str(tmp_path / "target.bin"), retries=0)
    assert Path(got).read_text() == "hello"
    with pytest.raises(OSError, match=r"data\.bin"):  # another file of that name is not taken
        utils.download(url, str(tmp_path / "other.bin"), sha1_hash="0" * 40, retries=0)


def test_a_download_that_fails_says_where_to_put_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    target = tmp_path / "target.bin"
    with pytest.raises(OSError, match="could not be fetched") as caught:
        utils.download("http://127.0.0.1:9/somewhere/data.bin", str(target), retries=0)
    text = str(caught.value)
    assert "http://127.0.0.1:9/somewhere/data.bin" in text
    assert str(tmp_path / "home" / "downloads" / "data.bin") in text
    assert str(target) in text


@pytest.mark.parametrize(
    ("shape", "known"),
    [(None, False), ((), False), ((0, 1), False), ((1, 2), True), ((-1, 2), False)],
)
def test_shape_is_known_if_every_size_is(shape, known):
    assert utils.shape_is_known(shape) is known


def test_long_lists_are_printed_briefly():
    names = [str(i) for i in range(20)]
    # recorded from MXNet 1.9.1
    assert utils._brief_print_list(names) == "'0', '1', '2', ..., '16', '17', '18', '19'"
    assert utils._brief_print_list(names, limit=4) == "'0', '1', ..., '18', '19'"
    assert utils._brief_print_list(["a", "b"]) == "'a', 'b'"


def test_handle_attaches_once_and_detaches():
    hooks = OrderedDict()
    handle = utils.HookHandle()
    handle.attach(hooks, print)
    assert list(hooks.values()) == [print]
    with pytest.raises(AssertionError, match="cannot be attached twice"):
        handle.attach(hooks, print)
    handle.detach()
    handle.detach()
    assert not hooks
