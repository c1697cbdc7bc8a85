"""Every operator gives the same eagerly, through a symbol, and as a plan."""

import numpy as np
from hypothesis import strategies as st

from cases import as_arrays, assert_same, run, run_plan, run_symbol, symbol_of
from laws import for_every_operator
from minigluon import sym
from minigluon.base import attribute_to_string
from minigluon.core.op import registry


@for_every_operator()
def test_eager_symbolic_and_planned_runs_agree(case, data):
    dtype = data.draw(st.sampled_from(case.entry.dtypes))
    arrays = case.arrays(dtype)
    eager = run(case, dtype, as_arrays(arrays))
    for other in (run_symbol, run_plan):
        outputs = other(case, dtype, as_arrays(arrays))
        for got, wanted in zip(outputs, eager, strict=True):
            assert_same(got, wanted, other.__name__)


@for_every_operator()
def test_inputs_are_left_alone_and_results_share_no_memory_with_them(case, data):
    op = registry[case.name]
    arrays = case.arrays("float32")
    inputs = as_arrays(arrays)
    outputs = run(case, "float32", inputs)
    states = [k for k, n in enumerate(op.inputs) if n in op.mutates]
    for k, (given, array) in enumerate(zip(inputs, arrays, strict=True)):
        if k not in states:
            np.testing.assert_array_equal(given.asnumpy(), array)
    if not op.view:
        dense = [o._data for o in outputs if o.stype == "default"]
        assert not any(np.shares_memory(x._data, o) for x in inputs for o in dense)


@for_every_operator()
def test_out_gets_what_the_operator_gives(case, data):
    arrays = case.arrays("float32")
    wanted = run(case, "float32", as_arrays(arrays))
    out = [x.copy() for x in wanted]
    for x in out:
        if x.stype == "default":
            x[:] = 1
    case.attrs["out"] = out if len(out) > 1 else out[0]
    run(case, "float32", as_arrays(arrays))
    for got, expected in zip(out, wanted, strict=True):
        assert_same(got, expected, "out")


@for_every_operator()
def test_attributes_read_back_from_text_are_the_same_call(case, data):
    texts = {k: attribute_to_string(v) for k, v in case.attributes("float32").items()}
    assert registry[case.name].call(**texts) is case.call()


@for_every_operator()
def test_a_symbol_read_back_from_its_file_gives_the_same(case, data):
    arrays = case.arrays("float32")
    symbol = symbol_of(case, "float32")
    again = sym.load_json(symbol.tojson(remove_amp_cast=False))
    assert again.list_arguments() == symbol.list_arguments()
    assert again.list_auxiliary_states() == symbol.list_auxiliary_states()
    assert again.tojson(remove_amp_cast=False) == symbol.tojson(remove_amp_cast=False)
    wanted = run_symbol(case, "float32", as_arrays(arrays), symbol)
    got = run_symbol(case, "float32", as_arrays(arrays), again)
    for one, other in zip(got, wanted, strict=True):
        assert_same(one, other, "read back")
