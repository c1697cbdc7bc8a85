"""Error classes and attribute texts, against what MXNet 1.9.1 answers."""

import numpy as np
import pytest

from minigluon import Context, base, cpu, current_context, nd, sym


def test_what_sparse_arrays_cannot_do_is_said_in_the_words_of_mxnet():
    array = nd.ones((2, 3)).tostype("csr")
    with pytest.raises(base.NotSupportedForSparseNDArray) as caught:
        array._at(0)
    # recorded from MXNet 1.9.1
    assert str(caught.value) == (
        "Function _at (namely operator \"[idx]\") with arguments (<class 'int'>) is not supported "
        "for SparseNDArray and only available in NDArray."
    )


def test_what_symbols_cannot_do_is_said_in_the_words_of_mxnet():
    with pytest.raises(base.NotImplementedForSymbol) as caught:
        sym.Variable("x").asnumpy()
    # recorded from MXNet 1.9.1
    assert str(caught.value) == (
        "Function asnumpy is not implemented for Symbol and only available in NDArray."
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: nd.zeros((2, 2), stype="foo"),
        lambda: nd.sparse.zeros("foo", (2, 2)),
        lambda: nd.sparse.empty("default", (2, 2)),
        lambda: nd.ones((2, 2)).attach_grad(stype="foo"),
        lambda: nd.ones((2, 2)).tostype("foo"),
    ],
)
def test_an_unknown_storage_type_is_a_value_error_of_the_library(make):
    with pytest.raises(ValueError, match="expected") as caught:
        make()
    assert isinstance(caught.value, base.MXNetError)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2.0"), (2, "2"), (True, "True"), ((1,), "(1,)"), ([1, 2], "[1, 2]"), (None, "None")],
)
def test_attributes_are_written_as_mxnet_writes_them(value, text):
    assert base.attribute_to_string(value) == text


def test_names_that_old_scripts_import_from_base(monkeypatch):
    monkeypatch.delenv("MXNET_HOME", raising=False)
    assert base.mx_real_t is np.float32
    assert base.long is int
    assert base.py_str(b"fc_weight") == "fc_weight"
    assert base.data_dir() == base.data_dir_default()
    assert base.data_dir_default().endswith(".mxnet")
    monkeypatch.setenv("MXNET_HOME", "/somewhere")
    assert base.data_dir() == "/somewhere"


def test_the_default_context_can_be_read_and_set_on_the_class():
    before = Context.default_ctx
    assert before == current_context()
    try:
        Context.default_ctx = cpu(3)
        assert current_context() == nd.zeros(1).context == cpu(3)
    finally:
        Context.default_ctx = before
