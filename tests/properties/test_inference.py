"""What is inferred about an operator is what running it gives."""

import numpy as np
from hypothesis import strategies as st

from cases import as_arrays, run, symbol_of
from laws import TABLE, for_every_operator
from minigluon import sym
from minigluon.core.infer import storages


def shapes_of(symbol, inputs):
    """The inputs' shapes by the names the symbol has for them."""
    return {f"x{k}": x.shape for k, x in enumerate(inputs)}


@for_every_operator()
def test_inferred_shapes_and_dtypes_are_those_of_the_results(case, data):
    dtype = data.draw(st.sampled_from(case.entry.dtypes))
    inputs = as_arrays(case.arrays(dtype))
    outputs = run(case, dtype, inputs)
    symbol = symbol_of(case, dtype)
    _, shapes, _ = symbol.infer_shape(**shapes_of(symbol, inputs))
    assert shapes == [o.shape for o in outputs]
    _, dtypes, _ = symbol.infer_type(**{f"x{k}": x.dtype for k, x in enumerate(inputs)})
    assert [np.dtype(d) for d in dtypes] == [np.dtype(o.dtype) for o in outputs]


@for_every_operator()
def test_inferred_storages_are_those_of_the_results(case, data):
    inputs = as_arrays(case.arrays("float32"))
    outputs = run(case, "float32", inputs)
    entries = symbol_of(case, "float32")._entries
    found, _ = storages(entries, {})
    assert [found[e] for e in entries] == [o.stype for o in outputs]


def agrees(partial, actual):
    """Whether what is known of a shape does not contradict it."""
    return not partial or (
        len(partial) == len(actual)
        and all(p in (0, -1, a) for p, a in zip(partial, actual, strict=True))
    )


#: where shapes are assumed that other shapes would do as well for
ASSUMING = {
    "pick": "indices without the axis, when they may have it",
    "LeakyReLU": "a gamma for each channel, when one for all will do",
    "LinearRegressionOutput": "labels without the last dimension if that is 1",
    "LogisticRegressionOutput": "labels without the last dimension if that is 1",
    "MAERegressionOutput": "labels without the last dimension if that is 1",
}


@for_every_operator([n for n in TABLE if n not in ASSUMING])
def test_what_is_inferred_from_less_is_never_wrong(case, data):
    inputs = as_arrays(case.arrays("float32"))
    if not inputs:
        return
    outputs = run(case, "float32", inputs)
    symbol = symbol_of(case, "float32")
    shapes = shapes_of(symbol, inputs)
    hidden = data.draw(st.sampled_from(sorted(shapes)), label="hidden")
    known = {k: v for k, v in shapes.items() if k != hidden}
    arguments, found, states = symbol.infer_shape_partial(**known)
    for partial, output in zip(found, outputs, strict=True):
        assert agrees(partial, output.shape), (partial, output.shape)
    names = symbol.list_arguments() + symbol.list_auxiliary_states()
    for name, partial in zip(names, arguments + states, strict=True):
        assert agrees(partial, shapes[name]), (name, partial, shapes[name])


@for_every_operator([n for n in TABLE if n not in ASSUMING])
def test_what_is_inferred_from_the_output_is_never_wrong(case, data):
    inputs = as_arrays(case.arrays("float32"))
    if not inputs:
        return
    outputs = run(case, "float32", inputs)
    symbol = symbol_of(case, "float32")
    shapes = shapes_of(symbol, inputs)
    hidden = data.draw(st.sampled_from(sorted(shapes)), label="hidden")
    known = {k: v for k, v in shapes.items() if k != hidden and len(shapes) > 1}
    total = sym.Group(
        [symbol[k] + sym.Variable(f"o{k}", shape=o.shape) for k, o in enumerate(outputs)]
    )
    arguments, _, states = total.infer_shape_partial(**known)
    names = total.list_arguments() + total.list_auxiliary_states()
    for name, partial in zip(names, arguments + states, strict=True):
        if name in shapes:
            assert agrees(partial, shapes[name]), (name, partial, shapes[name])
