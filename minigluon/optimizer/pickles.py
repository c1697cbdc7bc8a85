"""Reads pickles written by MXNet: its module names stand for ours."""

from __future__ import annotations

import importlib
import io
import pickle


class _Unpickler(pickle.Unpickler):
    """Finds ``mxnet.x.y.Name`` as ``Name`` of ``minigluon.x.y`` or the nearest package above."""

    def find_class(self, module, name):
        ours = __name__.partition(".")[0]
        package, _, path = module.partition(".")
        if package not in ("mxnet", ours):
            return super().find_class(module, name)
        parts = path.split(".") if path else []
        for length in range(len(parts), -1, -1):
            try:
                found = importlib.import_module(".".join([ours, *parts[:length]]))
            except ModuleNotFoundError:
                continue
            if hasattr(found, name):
                return getattr(found, name)
        raise pickle.UnpicklingError(
            f"no class {module}.{name} here.\n"
            f"  received  a pickle that names {module}.{name}\n"
            "  expected  classes of MXNet 1.x that this package has\n"
            "  fix       import and register the class before loading, or save the states without "
            "the optimizer"
        )


def loads(data):
    """What a pickle of this package or of MXNet 1.x holds.

    A pickle runs code when it is read: load only files you trust.
    """
    return _Unpickler(io.BytesIO(data)).load()
