"""Names and numbers of element types, and bfloat16 where numpy has learned it."""

import subprocess
import sys

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd
from minigluon.base import DTypeError
from minigluon.dtypes import as_dtype


def test_what_is_no_dtype_is_refused_with_those_there_are():
    for wrong in ("float31", "complex64", object, [1]):
        with pytest.raises(DTypeError, match=r"unknown dtype|float32"):
            as_dtype(wrong)


@pytest.mark.slow
def test_without_ml_dtypes_bfloat16_is_refused_in_words():
    text = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "from minigluon.base import DTypeError\n"
        "from minigluon.dtypes import as_dtype\n"
        "try: as_dtype('bfloat16')\n"
        "except DTypeError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "pip install ml_dtypes" in said.stdout


def test_bfloat16_arrays_compute_record_and_are_saved(tmp_path):
    pytest.importorskip("ml_dtypes")
    x = nd.array([[1, 2.5], [3, 4]], dtype="bfloat16")
    assert np.dtype(x.dtype).name == "bfloat16"
    for result in (x + x, x * 2, x / 4, x - 1, x.sum(axis=0), nd.dot(x, x), x.T):
        assert result.dtype == x.dtype
    assert (x / 4).astype("float32").asnumpy().tolist() == [[0.25, 0.625], [0.75, 1]]
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    assert x.grad.astype("float32").asnumpy().tolist() == [[2, 5], [6, 8]]
    nd.save(str(tmp_path / "x"), [x])
    (back,) = nd.load(str(tmp_path / "x"))
    assert back.astype("float32").asnumpy().tolist() == [[1, 2.5], [3, 4]]
    symbol = mx.sym.cast(mx.sym.var("x"), dtype="bfloat16")
    assert symbol.infer_type(x="float32")[1] == [x.dtype]
    with pytest.raises(mx.MXNetError, match="softmax"):
        nd.softmax(x)
