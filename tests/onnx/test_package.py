import sys

import pytest

import minigluon as mx
from minigluon import sym


def test_a_missing_package_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install minigluon\[onnx\]"):
        mx.onnx.export_model(sym.var("x"), {}, [(1,)], onnx_file_path=str(tmp_path / "m"))
    with pytest.raises(mx.MXNetError, match="onnx package"):
        mx.contrib.onnx.import_model("x.onnx")


def test_the_older_path_holds_the_same_functions():
    for name in ("export_model", "import_model", "import_to_gluon", "get_model_metadata"):
        assert getattr(mx.contrib.onnx, name) is getattr(mx.onnx, name)
