"""Checkpoints of recurrent networks, in which each gate has arrays of its own."""

from __future__ import annotations

import warnings

from ..model import load_checkpoint, save_checkpoint


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix="", layout="NTC"):
    """Deprecated: ``cell.unroll``, by default of variables ``t0_data``, ``t1_data`` and so on."""
    from .. import symbol

    warnings.warn("rnn_unroll is deprecated. Please call cell.unroll directly.", stacklevel=2)
    if inputs is None:
        inputs = [symbol.Variable(f"{input_prefix}t{k}_data") for k in range(length)]
    return cell.unroll(length=length, inputs=inputs, begin_state=begin_state, layout=layout)


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """``save_checkpoint`` of parameters that the cells unpack first.

    ``cells`` is a cell or a list of them. So a fused network's file serves the unfused one.
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """``load_checkpoint``, and the cells pack their parameters: ``(symbol, args, aux states)``."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """An epoch-end callback that calls `save_rnn_checkpoint` every ``period`` epochs."""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return _callback


def _listed(cells):
    return cells if isinstance(cells, list | tuple) else [cells]
