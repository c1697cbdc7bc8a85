"""Numpy's shapes, environment variables and questions about GPUs."""

import os

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, util
from minigluon.base import MXNetError


def test_numpy_shapes_hold_inside_the_block():
    with util.np_shape():
        assert mx.is_np_shape()
        assert nd.zeros((0, 3)).shape == (0, 3)
        with util.np_shape(False):
            assert not mx.is_np_shape()
    with pytest.raises(MXNetError, match="np_shape"):
        nd.zeros((0, 3))


def test_setting_numpy_shapes_returns_what_was_set_before():
    assert util.set_np_shape(True) is False
    assert util.set_np_shape(False) is True
    util.set_np(shape=True, array=False)
    assert mx.is_np_shape()
    util.reset_np()
    assert not mx.is_np_shape()


def test_arrays_without_elements_go_into_files(tmp_path):
    with util.np_shape():
        nd.save(str(tmp_path / "empty"), [nd.zeros((0, 3))])
        assert nd.load(str(tmp_path / "empty"))[0].shape == (0, 3)


def test_decorated_functions_and_classes_run_with_numpy_shapes():
    @util.use_np_shape
    class Net:
        """Kept."""

        def method(self):
            return util.is_np_shape()

        @property
        def value(self):
            return util.is_np_shape()

    assert Net().method()
    assert Net().value
    assert util.use_np_shape(util.is_np_shape)()
    assert Net.__doc__ == "Kept."
    with pytest.raises(TypeError, match="can only decorate classes and callable objects"):
        util.use_np_shape(3)


@pytest.mark.parametrize(
    "use",
    [
        lambda: mx.use_np(util.is_np_array),
        lambda: mx.use_np_array(util.is_np_array),
        lambda: mx.np_array(),
        lambda: util.set_np(),
    ],
)
def test_what_needs_numpy_arrays_of_the_library_says_that_there_are_none(use):
    with pytest.raises(MXNetError, match=r"minigluon has no mx\.np arrays"):
        use()
    assert not mx.is_np_array()


@pytest.mark.parametrize(
    ("key", "value", "legal"),
    # recorded from MXNet 1.9.1
    [
        ("where", None, True),
        ("casting", "same_kind", True),
        ("casting", "x", False),
        ("order", "C", True),
        ("order", 3, False),
        ("dtype", "float32", True),
        ("dtype", None, False),
        ("subok", 3, False),
        ("foo", 3, False),
    ],
)
def test_options_of_ufuncs_are_told_from_others(key, value, legal):
    assert util.np_ufunc_legal_option(key, value) is legal


def test_environment_variables_are_set_and_removed(monkeypatch):
    monkeypatch.delenv("MINIGLUON_FOR_THIS_TEST", raising=False)
    util.setenv("MINIGLUON_FOR_THIS_TEST", "1")
    assert util.getenv("MINIGLUON_FOR_THIS_TEST") == os.environ["MINIGLUON_FOR_THIS_TEST"] == "1"
    util.setenv("MINIGLUON_FOR_THIS_TEST", None)
    assert util.getenv("MINIGLUON_FOR_THIS_TEST") is None


def test_there_is_no_gpu_to_ask_about():
    assert util.get_gpu_count() == 0
    with pytest.raises(MXNetError, match="gpu"):
        util.get_gpu_memory(0)
    with pytest.raises(MXNetError, match="gpu"):
        util.get_cuda_compute_capability(mx.gpu(0))
    with pytest.raises(ValueError, match="Expecting a gpu context"):
        util.get_cuda_compute_capability(mx.cpu(0))


def test_a_function_is_shown_to_come_from_the_module_it_is_told():
    def function():
        return np.pi

    assert util.set_module("mxnet")(function).__module__ == "mxnet"
    assert util.set_module(None)(function).__module__ == "mxnet"
