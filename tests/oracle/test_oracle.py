"""Every operator answers as the real MXNet does, dense and on every sparse row."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from differences import excuse
from laws import TABLE
from operators import CASES
from oracle import Oracle, compare, ours, question
from rows import ROWS, sparse_case
from variants import variant

PYTHON = os.environ.get("MINIGLUON_ORACLE")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="MINIGLUON_ORACLE does not name a python with MXNet"),
    pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning"),
    pytest.mark.slow,
]
children = []


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


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(number=st.integers(0, 10**6))
def test_dense_answers_are_those_of_mxnet(name, number):
    case, dtype, odd = variant(CASES[name], name, number)
    check(question(case, dtype, odd=odd, infer=True), case.entry)


@pytest.mark.parametrize("key", ROWS)
@settings(max_examples=max(2, settings.default.max_examples // 10))
@given(seed=st.integers(0, 10**6))
def test_answers_on_sparse_rows_are_those_of_mxnet(key, seed):
    name, row, stypes = ROWS[key]
    case, inputs = sparse_case(name, row, stypes, seed)
    check(question(case, "float32", stypes, inputs), case.entry)
