"""``docs/operators.md`` tells of the operators that are there, and how they were compared."""

import importlib.util
import json
from pathlib import Path

import pytest

from operators import COMPARED, ELSEWHERE

ROOT = Path(__file__).parents[1]
COUNTS = json.loads((ROOT / "tests/data/compared.json").read_text())

#: what MXNet 1.9.1 cannot compute on a CPU, or not as a function of arrays
BEYOND_MXNET = {
    "_contrib_fft": "on a GPU only",
    "_contrib_ifft": "on a GPU only",
    "_contrib_count_sketch": "on a GPU only",
    "BatchNorm_v1": "its function takes no states",
    "_zeros_without_dtype": "in symbols only",
}


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_operators", ROOT / "docs/make_operators.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs/operators.md").read_text()
    assert written == module.page(), "run: python docs/make_operators.py"


@pytest.mark.parametrize("name", sorted(COMPARED.keys() & COUNTS.keys()))
def test_every_operator_was_compared_with_mxnet_on_eight_cases_or_more(name):
    assert name in BEYOND_MXNET or COUNTS[name] >= 8


def test_what_was_not_compared_is_tested_elsewhere():
    assert {
        n for n, c in COUNTS.items() if isinstance(c, str)
    } == ELSEWHERE.keys() - COMPARED.keys()
