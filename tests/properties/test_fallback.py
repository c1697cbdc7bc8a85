"""Every operator takes arrays of every storage, and gives what it gives for dense ones."""

import pytest
from hypothesis import strategies as st

import minigluon as mx
from cases import as_arrays, assert_close, bind, run, run_plan, symbol_of
from laws import TABLE, for_every_operator
from minigluon import storage
from minigluon.core.op import registry
from operators import CASES

pytestmark = pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")

#: operators that refuse some storages, as MXNet does, and why
REFUSING = {
    "BatchNorm": "with fix_gamma it is an error on sparse arrays",
    "_contrib_SyncBatchNorm": "with fix_gamma it is an error on sparse arrays",
}
#: operators that give something else for dense arrays, or nothing to compare
OTHERWISE = {n for n in TABLE if CASES[n].dense is not True or registry[n].mutates}
TAKING = [n for n in TABLE if n not in OTHERWISE and n not in REFUSING]


def stored_somehow(case, data):
    """The arrays of a case and storage types they can have."""
    arrays = case.arrays("float32")
    stypes = []
    for array in arrays:
        options = ["default"]
        if array.ndim == 2:
            options.append("csr")
        if array.ndim > 0:
            options.append("row_sparse")
        stypes.append(data.draw(st.sampled_from(options), label="storage"))
    return arrays, stypes


@for_every_operator(TAKING, rank=2)
def test_any_storages_give_what_dense_arrays_give(case, data):
    arrays, stypes = stored_somehow(case, data)
    wanted = run(case, "float32", as_arrays(arrays))
    eager = run(case, "float32", as_arrays(arrays, stypes))
    planned = run_plan(case, "float32", as_arrays(arrays, stypes))
    inputs = as_arrays(arrays, stypes)
    symbol = symbol_of(case, "float32", stypes)
    executor = bind(case, symbol, inputs)
    mx.random.seed(7)
    bound = executor.forward(is_train=case.entry.training)
    for results in (eager, planned, bound):
        for got, expected in zip(results, wanted, strict=True):
            assert got.dtype == expected.dtype
            assert_close(got, expected, factor=case.entry.factor)
    assert [x.stype for x in planned] == [x.stype for x in bound] == [x.stype for x in eager]


@for_every_operator([n for n in TAKING if registry[n].inputs or registry[n].variadic], rank=2)
def test_inferred_storages_are_those_of_the_results(case, data):
    arrays, stypes = stored_somehow(case, data)
    outputs = run(case, "float32", as_arrays(arrays, stypes))
    types = tuple([storage.TYPES[s] for s in stypes])
    assert list(case.call().resolve(types).stypes[: len(outputs)]) == [o.stype for o in outputs]
