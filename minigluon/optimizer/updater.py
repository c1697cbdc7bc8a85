"""An optimizer with the states of the parameters it has met: what trainers and stores call."""

from __future__ import annotations

from ..base import ShapeError, four_lines
from ..ndarray import NDArray
from .base import Optimizer
from .compiled import Stepper
from .pickles import dumps, loads


class Updater:
    """Calls an optimizer on ``(index, gradient, weight)`` and keeps a state for every index.

    Examples
    --------
    >>> updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=0.5))
    >>> weight = nd.ones((1,))
    >>> updater(0, nd.ones((1,)), weight)
    >>> float(weight.asscalar())
    0.5
    """

    def __init__(self, optimizer: Optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}
        self.aggregate_updates = optimizer.aggregate_num > 0
        self._stepper = Stepper()  # of lists; each parameter that comes alone has its own
        self._steppers = {}

    def __call__(self, index, grad, weight):
        """Update one parameter, or those of the lists."""
        if isinstance(index, list | tuple):
            if not index:
                return
            self.optimizer._set_current_context(weight[0].context.device_id)
            self._update_several(index, grad, weight)
            return
        if isinstance(index, bytes):
            index = index.decode()
        optimizer = self.optimizer
        optimizer._set_current_context(weight.context.device_id)
        state = self._state(index, weight)
        if optimizer._rule is not None:
            stepper = self._steppers.get(index)
            if stepper is None:
                stepper = self._steppers[index] = Stepper()
            if not stepper.step(optimizer, (index,), (weight,), (grad,), (state,)):
                return
        optimizer.update_multi_precision(index, weight, grad, state)

    def _update_several(self, index, grad, weight):
        synced = self.states_synced
        for i, w in zip(index, weight, strict=True):
            if not synced.get(i):
                self._state(i, w)
        states = [self.states[i] for i in index]
        optimizer = self.optimizer
        if optimizer._rule is not None:
            left = self._stepper.step(optimizer, index, weight, grad, states)
            if not left:
                return
            if len(left) < len(index):
                index, weight, grad, states = (
                    [values[k] for k in left] for values in (index, weight, grad, states)
                )
        for i, w, g in zip(index, weight, grad, strict=True):
            _check_fits(i, w, g)  # before any of them is changed
        step = optimizer.update_multi_precision
        if not self.aggregate_updates:
            for i, w, g, s in zip(index, weight, grad, states, strict=True):
                step(i, w, g, s)
            return
        size = self.optimizer.aggregate_num
        if len(index) <= size and len({w.dtype for w in weight}) == 1:
            step(index, weight, grad, states)
            return
        # as in MXNet, what is updated together has one dtype and is at most aggregate_num long
        groups = {}
        for parameter in zip(index, weight, grad, states, strict=True):
            groups.setdefault(parameter[1].dtype, []).append(parameter)
        for group in groups.values():
            for start in range(0, len(group), size):
                step(*(list(part) for part in zip(*group[start : start + size], strict=True)))

    def _state(self, index, weight):
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
            self.states_synced[index] = True
        return self.states[index]

    def sync_state_context(self, state, context):
        """The state on a context: loaded states may come from another one."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, list | tuple):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def get_states(self, dump_optimizer=False):
        """The states as bytes; with ``dump_optimizer`` the optimizer and its counts too."""
        return dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states):
        """Take over what ``get_states`` gave, here or in MXNet; nothing it names is run."""
        loaded = loads(states)
        if isinstance(loaded, tuple) and len(loaded) == 2:
            self.states, self.optimizer = loaded
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        else:
            self.states = loaded
        self.states_synced = dict.fromkeys(self.states, False)


def get_updater(optimizer):
    """The ``Updater`` of an optimizer."""
    return Updater(optimizer)


def _check_fits(index, weight, grad):
    """Raise ``ShapeError`` unless a gradient has the shape of its weight."""
    if getattr(grad, "shape", None) != weight.shape:
        shown = getattr(grad, "shape", type(grad).__name__)
        raise ShapeError(
            four_lines(
                f"update: the gradient of parameter {index} does not fit.",
                f"gradient {shown}, weight {weight.shape}",
                "one shape for both; nothing has been updated",
                "pass the gradient that belongs to this weight",
            )
        )
