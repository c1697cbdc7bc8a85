"""Record the public names of every module of the real MXNet.

usage: PYTHON tests/oracle/freeze_paths.py, with a python that has MXNet

Writes ``tests/data/module_paths.json.gz``. Private modules, those of ``mx.np`` and parts of the
build are left out.
"""

import gzip
import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import mxnet

LEFT_OUT = re.compile(
    r".*\.(cython|libmxnet|space|tvmop|torch|notebook|numpy|numpy_extension|onnx2mx|mx2onnx|lists)\b.*"
    r"|.*\.(onnx\.setup|numpy_\w+|gen_\w+)$|.*\._(?!internal$).*"
)


def names_of(module):
    """Functions and classes a module defines itself, and what ``__all__`` says."""
    listed = getattr(module, "__all__", None) or ()
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("__")
        and not inspect.ismodule(value)
        and (
            name in listed
            or (
                callable(value)
                and not name.startswith("_")
                and getattr(value, "__module__", None) == module.__name__
            )
        )
    )


if __name__ == "__main__":
    found = {}
    for info in pkgutil.walk_packages(mxnet.__path__, "mxnet."):
        if not LEFT_OUT.fullmatch(info.name):
            names = names_of(importlib.import_module(info.name))
            if names:
                found[info.name.partition(".")[2]] = names
    target = Path(__file__).parents[1] / "data" / "module_paths.json.gz"
    with gzip.open(target, "wt") as file:
        json.dump(found, file)
