"""No operator escapes the laws."""

import pytest

from minigluon.core.op import registry
from operators import CASES, ELSEWHERE, PARTS_OF_GRADIENTS


def test_every_operator_has_cases_or_is_part_of_a_gradient():
    declared = {op.name for op in registry.values()}
    covered = set(CASES) | PARTS_OF_GRADIENTS | set(ELSEWHERE)
    assert declared - covered == set()
    assert covered - declared == set()


def test_only_private_operators_may_be_parts_of_gradients():
    assert not PARTS_OF_GRADIENTS & set(CASES)
    assert all(name.startswith("_") for name in PARTS_OF_GRADIENTS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_operator_says_what_it_is(name):
    op = registry[name]
    first = op.doc.partition("\n")[0]
    assert first.endswith("."), first
    assert op.shape_rule is not None
