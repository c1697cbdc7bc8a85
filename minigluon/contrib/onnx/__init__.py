"""``mx.contrib.onnx``: where older programs look for `minigluon.onnx`."""

from __future__ import annotations

from ...onnx import export_model, get_model_metadata, import_model, import_to_gluon

export_model_, get_model_metadata_ = export_model, get_model_metadata
import_model_, import_to_gluon_ = import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
