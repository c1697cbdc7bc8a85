"""Every operator answers as the real MXNet does, dense and on every sparse row."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import make
from differences import excuse
from minigluon.core.op import registry
from operators import COMPARED
from oracle import Oracle, compare, ours, question, unpack
from picks import Seeded
from rows import ROWS, sparse_case
from variants import variant

PYTHON = os.environ.get("MINIGLUON_ORACLE")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="MINIGLUON_ORACLE does not name a python with MXNet"),
    pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning"),
    pytest.mark.slow,
]
children = []

#: samplers whose numbers are drawn one by one, and how many of them
DRAWN = [
    n for n in COMPARED if n.startswith(("_random_", "_sample_")) and COMPARED[n].random
    and n != "_sample_unique_zipfian"
]  # fmt: skip
DRAWS = 2000


@pytest.fixture(scope="module", autouse=True)
def _one_child():
    """The oracle process of this module's tests: started on first use, ended after the last."""
    yield
    for child in children:
        child.close()
    children.clear()


def ask(asked):
    """MXNet's answer."""
    if not children:
        children.append(Oracle(PYTHON))
    return children[0].ask(asked)


def check(asked, entry):
    """Compare our answer with MXNet's, unless they may differ."""
    wanted = ask(asked)
    got = ours(asked)
    if excuse(asked, wanted, got) is None:
        compare(asked, got, wanted, entry)


@pytest.mark.parametrize("name", sorted(COMPARED))
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(number=st.integers(0, 10**6))
def test_dense_answers_are_those_of_mxnet(name, number):
    case, dtype, odd = variant(COMPARED[name], name, number)
    check(question(case, dtype, odd=odd, infer=True), case.entry)


@pytest.mark.parametrize("name", DRAWN)
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(number=st.integers(0, 10**6))
def test_numbers_are_distributed_as_those_of_mxnet(name, number):
    case, dtype = many(make(COMPARED[name], name, Seeded(number))), "float64"
    asked = question(case, dtype)
    wanted, got = ask(asked), ours(asked)
    assert "error" not in wanted
    for mine, theirs in zip(columns(got), columns(wanted), strict=True):
        assert distance(mine, theirs) < 0.08  # a hundred thousand draws hardly come so far


def many(case):
    """The case with many draws in place of few: for each element of parameters, if there are."""
    if case.name == "_sample_multinomial":  # MXNet does not divide by what they add up to
        data = case.inputs[0]
        data.values /= data.values.sum(-1, keepdims=True)
    if case.name.endswith("_like"):
        case.inputs[0].values = np.zeros(DRAWS)
    else:
        case.attrs["shape"] = (DRAWS,)
        case.attrs["get_prob"] = False
        case.attrs = {k: v for k, v in case.attrs.items() if k in registry[case.name].attributes}
    return case


def columns(answer):
    """The draws of one distribution each."""
    values = unpack(answer["outputs"][0][1])
    return values.reshape(-1, DRAWS)


def distance(left, right):
    """The largest distance of two empirical distribution functions (Kolmogorov and Smirnov)."""
    places = np.union1d(left, right)
    parts = [np.searchsorted(np.sort(x), places, "right") / x.size for x in (left, right)]
    return abs(parts[0] - parts[1]).max()


@pytest.mark.parametrize("key", ROWS)
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(seed=st.integers(0, 10**6))
def test_answers_on_sparse_rows_are_those_of_mxnet(key, seed):
    name, row, stypes = ROWS[key]
    case, inputs = sparse_case(name, row, stypes, seed)
    check(question(case, "float32", stypes, inputs), case.entry)
