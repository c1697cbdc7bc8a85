"""What all symbolic recurrent cells are: parameters with names, and steps composed in a row."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from .. import symbol
from ..base import ArgumentError
from . import sequences


class RNNParams:
    """The variables of a cell, by name; cells that are given the same object share them.

    Examples
    --------
    >>> params = RNNParams("lstm_")
    >>> params.get("i2h_weight").name, params.get("i2h_weight") is params.get("i2h_weight")
    ('lstm_i2h_weight', True)
    """

    def __init__(self, prefix: str = ""):
        self._prefix = prefix
        self._params: dict[str, symbol.Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> symbol.Symbol:
        """The variable ``prefix + name``, made with these arguments when it is new."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """One step of a recurrent network as a piece of a symbol: ``output, states = cell(x, states)``.

    Parameters
    ----------
    prefix : what the names of its nodes and variables begin with.
    params : an `RNNParams` to share variables with other cells.
    """

    def __init__(self, prefix: str = "", params: RNNParams | None = None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Begin to count steps again, for another sequence."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", ()):
            cell.reset()

    def __call__(self, inputs, states):
        """One step: ``(output, states)``."""
        raise NotImplementedError(f"{type(self).__name__} does not make steps")

    @property
    def params(self) -> RNNParams:
        """The variables; asking for them means that they are shared."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict]:
        """Shape and layout of every state; 0 stands for the batch size."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_info")

    @property
    def state_shape(self) -> list[tuple]:
        """The shape of every state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> tuple[str, ...] | list[str]:
        return ()

    def _step_name(self) -> str:
        """Count a step; what the names of its nodes begin with."""
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    def begin_state(self, func=symbol.zeros, **kwargs: Any) -> list:
        """The states before the first step, made by ``func``.

        ``func`` is ``sym.zeros``, ``sym.uniform`` or the like; with ``sym.Variable`` the states
        become arguments.
        """
        if self._modified:
            raise ArgumentError(
                "After applying modifier cells (e.g. DropoutCell) the base cell cannot be called "
                "directly. Call the modifier cell instead."
            )
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(name=name, **{**kwargs, **(info or {})}))
        return states

    def unpack_weights(self, args: dict) -> dict:
        """Parameters with one array for each gate, in place of those for all gates at once.

        Arrays of other names are handed through; `pack_weights` is the way back.
        """
        args = dict(args)
        if not self._gate_names:
            return args
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                whole = args.pop(f"{self._prefix}{group}_{kind}")
                rows = whole.shape[0] // len(self._gate_names)
                for k, gate in enumerate(self._gate_names):
                    part = whole[k * rows : (k + 1) * rows].copy()
                    args[f"{self._prefix}{group}{gate}_{kind}"] = part
        return args

    def pack_weights(self, args: dict) -> dict:
        """Parameters with one array for all gates, in place of those for each gate."""
        args = dict(args)
        if not self._gate_names:
            return args
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                names = [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names]
                parts = [args.pop(name) for name in names]
                args[f"{self._prefix}{group}_{kind}"] = nd.concat(*parts, dim=0)
        return args

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """``length`` steps: ``(outputs, states)``.

        Parameters
        ----------
        inputs : a symbol of all steps in this layout, or a list with a symbol for each.
        begin_state : the states at the start; ``begin_state()`` unless given.
        merge_outputs : True makes the outputs one symbol, False a list; None takes what comes.
        """
        self.reset()
        steps = sequences.as_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return sequences.arranged(length, outputs, layout, merge_outputs), states


def activated(inputs, activation, **kwargs):
    """An activation by its name, or a function of a symbol."""
    if isinstance(activation, str):
        return symbol.Activation(inputs, act_type=activation, **kwargs)
    return activation(inputs, **kwargs)
