"""Checkpoints: a symbol file and a file of parameters, named by a prefix and an epoch."""

from __future__ import annotations

import logging
from typing import Any

from .. import ndarray as nd
from .. import symbol as sym
from ..context import cpu


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Write ``prefix-symbol.json`` (unless ``symbol`` is None) and ``prefix-NNNN.params``."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    tagged = {f"arg:{name}": value.as_in_context(cpu()) for name, value in arg_params.items()}
    tagged |= {f"aux:{name}": value.as_in_context(cpu()) for name, value in aux_params.items()}
    fname = f"{prefix}-{epoch:04d}.params"
    nd.save(fname, tagged)
    logging.info('Saved checkpoint to "%s"', fname)


def load_checkpoint(prefix, epoch):
    """``(symbol, arg_params, aux_params)`` of a checkpoint.

    Parameters come as they were saved, to be handed to ``Module.set_params`` or to
    ``Module.fit(arg_params=..., aux_params=...)``.
    """
    symbol = sym.load(f"{prefix}-symbol.json")
    return (symbol, *load_params(prefix, epoch))


def load_params(prefix, epoch):
    """``(arg_params, aux_params)`` of a checkpoint."""
    fname = f"{prefix}-{epoch:04d}.params"
    loaded = nd.load(fname)
    if not loaded:
        logging.warning("Params file '%s' is empty", fname)
        return {}, {}
    return split_params(loaded, fname)


def split_params(loaded: Any, fname: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments and auxiliary states of a loaded file, by their ``arg:`` and ``aux:`` tags."""
    found: dict[str, dict[str, Any]] = {"arg": {}, "aux": {}}
    for key, value in loaded.items() if isinstance(loaded, dict) else [("", None)]:
        tag, colon, name = key.partition(":")
        if not colon:
            raise ValueError(
                f"{fname} does not hold the parameters of a module.\n"
                f"  received  {'an array named ' + repr(key) if key else 'arrays without names'}\n"
                "  expected  names that begin with arg: or aux:\n"
                "  fix       load it with nd.load, or with load_parameters if Gluon wrote it"
            )
        if tag in found:
            found[tag][name] = value
    return found["arg"], found["aux"]
