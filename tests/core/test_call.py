import subprocess
import sys
import warnings

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, ops  # noqa: F401  (declares the operators)
from minigluon.base import StorageFallbackWarning
from minigluon.core import call as calls
from minigluon.core.op import registry
from minigluon.storage import Csr, RowSparse


@pytest.fixture
def csr():
    return nd.array([[1.0, 0.0], [0.0, 2.0]]).tostype("csr")


@pytest.fixture
def nothing_warned(monkeypatch):
    monkeypatch.setattr(calls, "_warned", set())


def test_a_kernel_is_chosen_once_for_each_tuple_of_storages():
    call = registry["dot"].call()
    assert call.resolve((Csr, np.ndarray)) is call.resolve((Csr, np.ndarray))
    assert call.resolve((Csr, np.ndarray)) is not call.resolve((np.ndarray, np.ndarray))


@pytest.mark.parametrize(
    ("name", "attrs", "types", "mode", "given"),
    [
        ("dot", {}, (np.ndarray, np.ndarray), "fcompute", "default"),
        ("dot", {}, (Csr, np.ndarray), "fcompute_ex", "default"),
        ("dot", {"transpose_a": True}, (Csr, np.ndarray), "fcompute_ex", "row_sparse"),
        ("softmax", {}, (Csr,), "fcompute_fallback", "default"),
        ("_hypot", {}, (Csr, RowSparse), "fcompute_fallback", "default"),
    ],
)
def test_dispatch_is_mxnets(name, attrs, types, mode, given):
    # recorded from MXNet 1.9.1 with MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING=1
    dispatch = registry[name].call(**attrs).resolve(types)
    assert (dispatch.mode, dispatch.stypes) == (mode, (given,))


def test_an_output_storage_asked_for_is_given():
    dispatch = registry["sin"].call().resolve((np.ndarray,), "csr")
    assert dispatch.stypes == ("csr",)


FALLBACK = """
Storage type fallback detected:
operator = softmax
input storage types = [csr, ]
output storage types = [default, ]
params = {}
context.dev_mask = cpu
The operator with default storage type will be dispatched for execution."""


@pytest.mark.usefixtures("nothing_warned")
def test_fallback_warns_in_mxnets_words(csr):
    with pytest.warns(StorageFallbackWarning) as caught:
        nd.softmax(csr)
    assert str(caught[0].message).startswith(FALLBACK)


@pytest.mark.usefixtures("nothing_warned")
def test_fallback_warns_once_for_each_operator_and_combination_of_storages(csr):
    rows = nd.ones((2, 2)).tostype("row_sparse")
    with pytest.warns(StorageFallbackWarning) as caught:
        for _repeat in range(2):
            nd.softmax(csr)
            nd.softmax(rows)
            nd.log_softmax(csr)
    said = [str(w.message).split("\n")[2:4] for w in caught]
    assert said == [
        ["operator = softmax", "input storage types = [csr, ]"],
        ["operator = softmax", "input storage types = [row_sparse, ]"],
        ["operator = log_softmax", "input storage types = [csr, ]"],
    ]


@pytest.mark.usefixtures("nothing_warned")
def test_the_warning_points_at_the_line_of_the_program(csr):
    symbol = mx.sym.softmin(mx.sym.var("x"))
    for run in (lambda: nd.softmax(csr), lambda: csr.log_softmax(), lambda: symbol.eval(x=csr)):
        with pytest.warns(StorageFallbackWarning) as caught:
            run()
        assert caught[0].filename == __file__


@pytest.mark.usefixtures("nothing_warned")
def test_the_warning_shows_attributes_that_were_set(csr):
    with pytest.warns(StorageFallbackWarning, match='params = {"axis" : 0, "temperature" : 2.0, }'):
        nd.softmax(csr, axis=0, temperature=2)


@pytest.mark.usefixtures("nothing_warned")
def test_the_setting_that_silences_fallback_is_read_when_it_happens(csr, monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    nd.softmax(csr)  # warnings are errors here
    monkeypatch.delenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE")
    with pytest.warns(StorageFallbackWarning):
        nd.softmax(csr)


@pytest.mark.usefixtures("nothing_warned")
def test_fallback_gives_the_dense_result(csr):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = nd.softmax(csr + 0)
    parts = np.exp(csr.asnumpy())
    np.testing.assert_allclose(got.asnumpy(), parts / parts.sum(1, keepdims=True), rtol=1e-6)


def test_calls_that_differ_each_time_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(calls, "NUMBERS_KEPT", 16)
    kept = registry["_mul_scalar"].calls
    for k in range(60):
        registry["_mul_scalar"].call(scalar=k + 0.5)
    assert len(kept) <= 20


@pytest.mark.slow
def test_dense_code_runs_where_numba_cannot_be_imported():
    program = (
        "import sys; sys.modules['numba'] = None; sys.modules['llvmlite'] = None\n"
        "import minigluon as mx; x = mx.nd.ones((2, 2)); x.attach_grad()\n"
        "with mx.autograd.record(): y = (mx.nd.dot(x, x) * x).sum()\n"
        "y.backward(); print(x.grad.asnumpy().sum())"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "24.0"
