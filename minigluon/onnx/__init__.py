"""``mx.onnx``: networks to and from ONNX files; the ``onnx`` package is needed for it."""

from __future__ import annotations

from .exporting import export_model
from .importing import get_model_metadata, import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
