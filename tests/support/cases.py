"""Cases: an operator with inputs and attributes, and how laws run them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
from hypothesis import strategies as st

import minigluon as mx
from minigluon import autograd, nd, storage, sym
from minigluon.core.invoke import wrap
from minigluon.core.op import registry
from picks import Drawn


class Flow:
    """Stands in attributes for the dtype in which a case is run."""

    def __repr__(self):
        return "FLOW"


FLOW = Flow()


@dataclass
class Input:
    """One array of a case. It flows if it is cast to the dtype the case is run in.

    ``smooth`` says that the operator has a derivative for it.
    """

    values: np.ndarray
    smooth: bool = True
    flows: bool = True


def smooth(values):
    """An input the operator can be differentiated for."""
    return Input(np.asarray(values, np.float64))


def plain(values):
    """An input of the dtype of the others that has no derivative, such as a label."""
    return Input(np.asarray(values, np.float64), smooth=False)


def fixed(values, dtype="float32"):
    """An input that keeps its dtype, such as an index."""
    return Input(np.asarray(values, dtype), smooth=False, flows=False)


@dataclass
class Case:
    """An operator's name, its inputs and its attributes."""

    name: str
    inputs: list[Input]
    attrs: dict = field(default_factory=dict)
    entry: object = None

    def arrays(self, dtype):
        """The inputs as numpy arrays."""
        with np.errstate(invalid="ignore", over="ignore"):  # of NaN no whole number can be made
            return [x.values.astype(dtype) if x.flows else x.values.copy() for x in self.inputs]

    def attributes(self, dtype):
        """The attributes, with the dtype filled in where they name it."""
        return {k: np.dtype(dtype).name if v is FLOW else v for k, v in self.attrs.items()}

    def call(self, dtype="float32"):
        """The Call of this case."""
        return registry[self.name].call(**self.attributes(dtype))

    def wanted(self):
        """The numbers of the inputs that have a derivative."""
        return [k for k, x in enumerate(self.inputs) if x.smooth]


def make(entry, name, pick):
    """The case a maker of the table gives for these choices."""
    made = entry.make(pick)
    inputs, attrs = made if isinstance(made, tuple) else (made, {})
    return Case(name, list(inputs), attrs, entry)


@st.composite
def cases(draw, table, name, **options):
    """Cases of an operator of the table, with the options of `Pick`."""
    return make(table[name], name, Drawn(draw, **options))


def function(module, name):
    """An operator's function in ``nd`` or ``sym``, under the operator's own name."""
    return getattr(module._internal if name.startswith("_") else module, name)


def stored(array, stype):
    """A numpy array in a storage."""
    return storage.cast(np.array(array), stype)


def as_arrays(arrays, stypes=None):
    """NDArrays of these storage types from numpy arrays."""
    stypes = stypes or ["default"] * len(arrays)
    return [wrap(stored(a, s), mx.cpu()) for a, s in zip(arrays, stypes, strict=True)]


def several(result):
    """The outputs of an operator as a list, one or many."""
    return list(result) if isinstance(result, list | tuple) else [result]


def mode(case):
    """The scope in which a case runs: training where the operator only then does anything."""
    return autograd.train_mode() if case.entry.training else contextlib.nullcontext()


def run(case, dtype, inputs):
    """The outputs of a case on NDArrays, eagerly."""
    mx.random.seed(7)
    with mode(case):
        return several(function(nd, case.name)(*inputs, **case.attributes(dtype)))


def symbol_of(case, dtype, stypes=None):
    """The case as a symbol on variables x0, x1, ..."""
    stypes = stypes or ["default"] * len(case.inputs)
    variables = [sym.Variable(f"x{k}", stype=s) for k, s in enumerate(stypes)]
    op = registry[case.name]
    named = {}
    if op.input_rule is not None and not op.variadic:  # inputs between may be left out
        names = op.names_of_inputs(case.call(dtype).attrs)
        variables, named = [], dict(zip(names, variables, strict=True))
    attrs = case.attributes(dtype)
    return function(sym, case.name)(*variables, **named, **attrs, name="case")


def bind(case, symbol, inputs, grad_req="null", gradients=None):
    """An executor of the case's symbol on NDArrays, its states among them."""
    named = {f"x{k}": x for k, x in enumerate(inputs)}
    return symbol.bind(
        mx.cpu(),
        {name: named[name] for name in symbol.list_arguments()},
        args_grad=gradients,
        grad_req=grad_req,
        aux_states={name: named[name] for name in symbol.list_auxiliary_states()},
    )


def run_symbol(case, dtype, inputs, symbol=None):
    """The outputs of a case on NDArrays, through a symbol and its executor."""
    if symbol is None:
        symbol = symbol_of(case, dtype, [x.stype for x in inputs])
    executor = bind(case, symbol, inputs)
    mx.random.seed(7)
    return executor.forward(is_train=case.entry.training)


def run_plan(case, dtype, inputs, fuse="never"):
    """The outputs of a case on NDArrays, as the graph operator hybridised blocks make.

    Compiled plans (``fuse="always"``) round transcendental functions and sums otherwise.
    """
    with mock.patch.dict(os.environ, MINIGLUON_FUSE=fuse):
        return _run_plan(case, dtype, inputs)


def run_fused(case, dtype, inputs):
    """The same, compiled where that can be."""
    return run_plan(case, dtype, inputs, "always")


def _run_plan(case, dtype, inputs):
    symbol = symbol_of(case, dtype, [x.stype for x in inputs])
    by_name = {f"x{k}": x for k, x in enumerate(inputs)}
    cached = nd.CachedOp(symbol)
    mx.random.seed(7)
    with mode(case):
        return several(cached(*[by_name[name] for name in symbol.list_inputs()]))


def heads_for(outputs, numbers):
    """Random head gradients for outputs, as numpy arrays."""
    return [numbers.uniform(0.5, 1.5, x.shape).astype(x.dtype) for x in outputs]


def gradients(case, dtype, inputs, heads, run=run):
    """The gradients of the inputs that have a derivative, by recording."""
    wanted = case.wanted()
    for k in wanted:
        inputs[k].attach_grad()
    with autograd.record():
        outputs = run(case, dtype, inputs)
    used = [
        (o, nd.array(h, dtype=h.dtype))
        for o, h in zip(outputs, heads, strict=True)
        if o._entry is not None
    ]
    if used:
        autograd.backward([o for o, _ in used], [h for _, h in used])
    return [inputs[k].grad for k in wanted]


def central_differences(function, arrays, wanted, step=1e-6):
    """Slopes of a number-valued function of numpy arrays, for the arrays with these numbers."""
    slopes = []
    for k in wanted:
        slope = np.zeros(arrays[k].shape)
        for at in np.ndindex(slope.shape):
            ends = []
            for move in (step, -step):
                moved = [a.copy() for a in arrays]
                moved[k][at] += move
                ends.append(function(moved))
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        slopes.append(slope)
    return slopes


def slope_along(function, arrays, directions, step=1e-6):
    """The slope of a number-valued function of numpy arrays along directions, by their numbers."""
    ends = []
    for move in (step, -step):
        moved = [a + move * directions[k] if k in directions else a for k, a in enumerate(arrays)]
        ends.append(function(moved))
    return (ends[0] - ends[1]) / (2 * step)


def assert_same(got, wanted, what):
    """Two NDArrays are alike in storage type, dtype, shape and every value; NaN equals NaN."""
    assert (got.stype, got.shape) == (wanted.stype, wanted.shape), what
    assert np.dtype(got.dtype) == np.dtype(wanted.dtype), what
    np.testing.assert_array_equal(got.asnumpy(), wanted.asnumpy(), what)


#: how far results of one computation in two orders may be apart, by dtype
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-9}


def assert_close(got, wanted, what="", factor=1):
    """Two arrays are equal up to rounding in the dtype of the first; integers exactly."""
    got = got.asnumpy() if hasattr(got, "asnumpy") else np.asarray(got)
    wanted = wanted.asnumpy() if hasattr(wanted, "asnumpy") else np.asarray(wanted)
    tolerance = factor * TOLERANCE.get(got.dtype.name, 0)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=what)
