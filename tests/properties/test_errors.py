"""A wrong call of any operator raises an error that names the operator and what is wrong."""

import re

import numpy as np
import pytest

from cases import function, make, several
from laws import TABLE
from minigluon import MXNetError, nd, sym
from minigluon.core.op import REQUIRED, registry
from operators import CASES
from picks import Seeded


def example(name):
    """One case of an operator, as arrays and attributes."""
    case = make(CASES[name], name, Seeded(1))
    dtype = case.entry.dtypes[0]
    return [nd.array(x, dtype=x.dtype) for x in case.arrays(dtype)], case.attributes(dtype)


def message(kind, name, inputs, attrs):
    """What the operator has to say about this call."""
    module = nd if kind == "nd" else sym
    if kind == "sym":
        inputs = [sym.Variable(f"x{k}") for k in range(len(inputs))]
    with pytest.raises(MXNetError) as caught:
        several(function(module, name)(*inputs, **attrs))
    return str(caught.value)


#: operators without attributes take any keyword, as in MXNet
WITH_ATTRIBUTES = [n for n in TABLE if registry[n].attributes]


@pytest.mark.parametrize("kind", ["nd", "sym"])
@pytest.mark.parametrize("name", WITH_ATTRIBUTES)
def test_an_unknown_attribute_is_refused_by_name(name, kind):
    inputs, attrs = example(name)
    text = message(kind, name, inputs, {**attrs, "unheard_of": 1})
    assert name in text
    assert "unheard_of" in text


WRONG = {
    f"{name} {attribute}": (name, attribute)
    for name in TABLE
    for attribute, (kind, _) in registry[name].attributes.items()
    if kind.description not in ("text", "a hashable value")
}


@pytest.mark.parametrize("kind", ["nd", "sym"])
@pytest.mark.parametrize("key", WRONG)
def test_an_attribute_of_the_wrong_type_is_refused_by_name(key, kind):
    name, attribute = WRONG[key]
    inputs, attrs = example(name)
    text = message(kind, name, inputs, {**attrs, attribute: "no such value"})
    assert text.startswith(f"{name}: ")
    assert f"{attribute}='no such value'" in text


MISSING = {
    f"{name} {attribute}": (name, attribute)
    for name in TABLE
    for attribute, (_, default) in registry[name].attributes.items()
    if default is REQUIRED
}


@pytest.mark.parametrize("kind", ["nd", "sym"])
@pytest.mark.parametrize("key", MISSING)
def test_a_required_attribute_that_is_missing_is_asked_for(key, kind):
    name, attribute = MISSING[key]
    inputs, attrs = example(name)
    del attrs[attribute]
    text = message(kind, name, inputs, attrs)
    assert name in text
    assert attribute in text


TAKING_ARRAYS = [n for n in TABLE if registry[n].inputs]


@pytest.mark.parametrize("name", TAKING_ARRAYS)
def test_a_missing_array_is_asked_for(name):
    inputs, attrs = example(name)
    op = registry[name]
    formal = op.names_of_inputs(op.call(**attrs).attrs, len(inputs))[len(inputs) - 1]
    text = message("nd", name, inputs[:-1], attrs)
    assert name in text
    assert formal in text


@pytest.mark.parametrize("name", TAKING_ARRAYS)
def test_something_that_is_no_array_is_refused_by_name(name):
    inputs, attrs = example(name)
    formal = registry[name].inputs[0]
    text = message("nd", name, ["text", *inputs[1:]], attrs)
    assert re.search(rf"\b{name}\b.*\b{formal}\b", text, re.DOTALL)


TWO_ALIKE = [
    n for n in TABLE if n.startswith(("elemwise_", "_logical", "_max", "_greater", "add_n"))
]


@pytest.mark.parametrize("name", [n for n in TWO_ALIKE if not n.endswith("scalar")])
def test_shapes_that_do_not_fit_are_shown(name):
    text = message("nd", name, [nd.ones((2, 3)), nd.ones((4, 5))], {})
    assert name in text
    assert "(2, 3)" in text
    assert "(4, 5)" in text


#: operators that write wherever they are told, whatever it was before
WITH_OUTPUT = [n for n in TABLE if not registry[n].mutates]


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_an_out_of_the_wrong_shape_is_refused_and_left_as_it_was(name):
    inputs, attrs = example(name)
    results = several(function(nd, name)(*inputs, **attrs))
    out = [nd.ones((7, 5, 9), dtype=r.dtype) for r in results]
    text = message("nd", name, inputs, {**attrs, "out": out if len(out) > 1 else out[0]})
    assert "(7, 5, 9)" in text
    assert all((x.asnumpy() == 1).all() for x in out)


STEPS = [n for n in TABLE if CASES[n].step and registry[n].inputs[:2] == ("weight", "grad")]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_fails_leaves_weight_and_states_as_they_were(name):
    inputs, attrs = example(name)
    before = [x.asnumpy() for x in inputs]
    shape = (*inputs[1].shape, 2)
    wrong = [inputs[0], nd.ones(shape, dtype=inputs[1].dtype), *inputs[2:]]
    message("nd", name, wrong, {**attrs, "out": inputs[0]})
    for k, (array, value) in enumerate(zip(inputs, before, strict=True)):
        if k != 1:
            np.testing.assert_array_equal(array.asnumpy(), value)
