"""Every operator gives the same eagerly, through a symbol, and as a plan."""

import numpy as np
import pytest
from cases import as_arrays, assert_same, cases, run, run_plan, run_symbol, symbol_of
from hypothesis import given, settings
from hypothesis import strategies as st
from minigluon import sym
from minigluon.base import attribute_to_string
from minigluon.core.op import registry
from operators import CASES, PARTS_OF_GRADIENTS

TABLE = sorted(CASES)
#: a tenth of the profile's examples for each operator
over_the_table = settings(max_examples=max(2, settings.default.max_examples // 10))


def test_every_operator_has_cases_or_is_part_of_a_gradient():
    declared = {op.name for op in registry.values()}
    assert declared - set(CASES) - PARTS_OF_GRADIENTS == set()
    assert (set(CASES) | PARTS_OF_GRADIENTS) - declared == set()
    assert not PARTS_OF_GRADIENTS & set(CASES)
    assert all(name.startswith("_") for name in PARTS_OF_GRADIENTS)


@pytest.mark.parametrize("name", TABLE)
@over_the_table
@given(data=st.data())
def test_eager_symbolic_and_planned_runs_agree(name, data):
    case = data.draw(cases(CASES, name))
    dtype = data.draw(st.sampled_from(case.entry.dtypes))
    arrays = case.arrays(dtype)
    eager = run(case, dtype, as_arrays(arrays))
    for other in (run_symbol, run_plan):
        outputs = other(case, dtype, as_arrays(arrays))
        assert len(outputs) == len(eager)
        for got, wanted in zip(outputs, eager, strict=True):
            assert_same(got, wanted, other.__name__)


@pytest.mark.parametrize("name", TABLE)
@over_the_table
@given(data=st.data())
def test_inputs_are_not_written_to_and_results_share_no_memory_with_them(name, data):
    case = data.draw(cases(CASES, name))
    op = registry[name]
    arrays = case.arrays("float32")
    inputs = as_arrays(arrays)
    outputs = run(case, "float32", inputs)
    kept = [k for k, n in enumerate(op.inputs) if n in op.mutates]
    for k, (given_, array) in enumerate(zip(inputs, arrays, strict=True)):
        if k not in kept:
            np.testing.assert_array_equal(given_.asnumpy(), array)
    if not op.view:
        dense = [o._data for o in outputs if o.stype == "default"]
        assert not any(np.shares_memory(x._data, o) for x in inputs for o in dense)


@pytest.mark.parametrize("name", TABLE)
@over_the_table
@given(data=st.data())
def test_out_gets_what_the_operator_gives(name, data):
    case = data.draw(cases(CASES, name))
    arrays = case.arrays("float32")
    wanted = run(case, "float32", as_arrays(arrays))
    out = [x.copy() for x in wanted]
    for x in out:
        if x.stype == "default":
            x[:] = 0
    case.attrs["out"] = out if len(out) > 1 else out[0]
    run(case, "float32", as_arrays(arrays))
    for got, expected in zip(out, wanted, strict=True):
        assert_same(got, expected, "out")


@pytest.mark.parametrize("name", TABLE)
@over_the_table
@given(data=st.data())
def test_attributes_read_back_from_text_are_the_same_call(name, data):
    case = data.draw(cases(CASES, name))
    call = case.call()
    texts = {k: attribute_to_string(v) for k, v in case.attributes("float32").items()}
    assert registry[name].call(**texts) is call


@pytest.mark.parametrize("name", TABLE)
@over_the_table
@given(data=st.data())
def test_a_symbol_read_back_from_its_file_gives_the_same(name, data):
    case = data.draw(cases(CASES, name))
    arrays = case.arrays("float32")
    symbol = symbol_of(case, "float32")
    again = sym.load_json(symbol.tojson())
    assert again.list_arguments() == symbol.list_arguments()
    assert again.tojson() == symbol.tojson()
    wanted = run_symbol(case, "float32", as_arrays(arrays), symbol)
    for got, expected in zip(run_symbol(case, "float32", as_arrays(arrays), again), wanted):
        assert_same(got, expected, "read back")
