"""Every sparse kernel row of every operator gives what the dense kernel gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigluon as mx
from cases import assert_close, bind, gradients, heads_for, run, run_plan, symbol_of
from minigluon import storage
from minigluon.core.graph import topological
from minigluon.core.infer import storages
from minigluon.core.invoke import wrap
from minigluon.core.op import registry
from operators import CASES
from rows import ROWS, sparse_case

# dense references and backward passes may meet storages that they fall back from
QUIET = pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")


def arrays_of(storages_):
    """NDArrays of copies of storages."""
    return [wrap(s.copy(), mx.cpu()) for s in storages_]


def densified(storages_):
    """Dense NDArrays of storages."""
    return [wrap(storage.densify(s).copy(), mx.cpu()) for s in storages_]


def in_float32(name, seed):
    """The dtype most laws are tried in."""
    return "float32"


def in_any_float(name, seed):
    """One of the dtypes that the operator may be run in."""
    dtypes = CASES[name].dtypes
    return dtypes[seed % len(dtypes)]


def law_over_rows(names=None, dtype=in_float32):
    def decorate(law):
        @pytest.mark.parametrize("key", [k for k in ROWS if names is None or names(ROWS[k][0])])
        @settings(max_examples=max(2, settings.default.max_examples // 10))
        @given(seed=st.integers(0, 10**6))
        def check(key, seed):
            name, row, stypes = ROWS[key]
            law(*sparse_case(name, row, stypes, seed, dtype(name, seed)), row, stypes)

        check.__name__ = check.__qualname__ = law.__name__
        check.__module__ = law.__module__
        return check

    return decorate


@law_over_rows()
def test_a_sparse_row_gives_its_storage_in_order(case, inputs, row, stypes):
    given_ = arrays_of(inputs)
    outputs = run(case, "float32", given_)
    symbol = symbol_of(case, "float32", stypes)
    variables = {f"x{k}": s for k, s in enumerate(stypes)}
    nodes = {n: variables[n.name] for n in topological(symbol._entries) if n.call is None}
    found, _ = storages(symbol._entries, nodes)
    for entry, output in zip(symbol._entries, outputs, strict=True):
        assert output.stype == found[entry]
        if output.stype != "default":
            output.check_format()
    assert outputs[0].stype == row.outputs[0]


@QUIET
@law_over_rows(lambda name: CASES[name].dense is True and not CASES[name].random, in_any_float)
def test_a_sparse_row_gives_what_the_dense_kernel_gives(case, inputs, row, stypes):
    dtype = next((x.dtype.name for x in inputs if x.dtype.kind == "f"), "float32")
    outputs = run(case, dtype, arrays_of(inputs))
    wanted = run(case, dtype, densified(inputs))
    for got, expected in zip(outputs, wanted, strict=True):
        assert got.dtype == expected.dtype
        assert_close(got, expected)


@law_over_rows()
def test_a_sparse_row_runs_alike_eagerly_symbolically_and_planned(case, inputs, row, stypes):
    eager_inputs = arrays_of(inputs)
    outputs = run(case, "float32", eager_inputs)
    planned = run_plan(case, "float32", arrays_of(inputs))
    symbol_inputs = arrays_of(inputs)
    executor = bind(case, symbol_of(case, "float32", stypes), symbol_inputs)
    bound = executor.forward(is_train=case.entry.training)
    for others in (planned, bound):
        for got, wanted in zip(others, outputs, strict=True):
            assert got.stype == wanted.stype
            np.testing.assert_array_equal(got.asnumpy(), wanted.asnumpy())
    for one, other in zip(eager_inputs, symbol_inputs, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@QUIET
@law_over_rows(lambda name: CASES[name].dense is True and registry[name].grad_rule is not None)
def test_gradients_of_a_sparse_row_are_those_of_the_dense_kernel(case, inputs, row, stypes):
    if not case.wanted() or CASES[case.name].slopes is not True:
        return
    heads = heads_for(run(case, "float32", densified(inputs)), np.random.default_rng(3))
    wanted = gradients(case, "float32", densified(inputs), heads)
    found = gradients(case, "float32", arrays_of(inputs), heads)
    for got, expected in zip(found, wanted, strict=True):
        if got.stype != "default":
            got.check_format()
        assert_close(got, expected)


LAZY = [k for k in ROWS if CASES[ROWS[k][0]].step]


@pytest.mark.parametrize("key", LAZY)
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(seed=st.integers(0, 10**6))
def test_a_sparse_step_is_the_dense_one_in_rows_with_a_gradient(key, seed):
    name, row, stypes = ROWS[key]
    case, inputs = sparse_case(name, row, stypes, seed)
    _, grad = inputs[:2]
    sparse, dense = arrays_of(inputs), densified(inputs)
    before = sparse[0].asnumpy()
    result = run(case, "float32", sparse)[0].asnumpy()
    wanted = run(case, "float32", dense)[0].asnumpy()
    touched = grad.indices if isinstance(grad, storage.RowSparse) else np.arange(grad.shape[0])
    assert_close(result[touched], wanted[touched])
    untouched = np.setdiff1d(np.arange(grad.shape[0]), touched)
    lazy = case.attrs.get("lazy_update", True) and (
        name == "_sparse_adagrad_update" or len({stypes[0], *stypes[2:]}) == 1
    )
    if name == "ftrl_update" and stypes[0] == "default":  # as in MXNet
        lazy = False
    assert_close(result[untouched], before[untouched] if lazy else wanted[untouched])
    for state, other in zip(sparse[2:], dense[2:], strict=True):
        assert_close(state.asnumpy()[touched], other.asnumpy()[touched])
