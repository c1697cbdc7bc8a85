from __future__ import annotations

import numpy as np
import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.op import Op, Row, registry


def scaled(data, weight, bias=None, *, scale: float = 1.0, shift: int, out=None):
    """A scaled thing."""


def joined(first, *rest, count: int = 0, training):
    """A joined thing."""


def test_a_signature_says_which_are_arrays_and_which_are_attributes():
    op = Op(scaled)
    assert op.inputs == ("data", "weight", "bias")
    assert op.optional == ("bias",)
    assert list(op.attributes) == ["scale", "shift"]
    assert op.injects == ("out",)
    assert op.variadic is None
    assert op.doc == "A scaled thing."


def test_a_star_parameter_makes_an_operator_variadic():
    op = Op(joined)
    assert (op.inputs, op.variadic, op.injects) == (("first",), "rest", ("training",))
    assert op.names_of_inputs({}, 3) == ("first", "arg0", "arg1")


def test_calls_of_equal_attributes_are_one_object():
    op = Op(scaled)
    assert op.call(scale=2, shift=1) is op.call(scale=2.0, shift="1")
    assert op.call(scale=2, shift=1) is not op.call(scale=3, shift=1)


def test_calls_keep_the_two_zeros_apart():
    op = Op(scaled)
    assert op.call(scale=0.0, shift=0) is not op.call(scale=-0.0, shift=0)


def test_a_missing_attribute_and_an_unknown_one_are_named():
    op = Op(scaled)
    with pytest.raises(ValueError, match="scaled: Required parameter shift is not presented"):
        op.call(scale=1)
    with pytest.raises(ValueError, match="scaled: Cannot find argument 'shape'"):
        op.call(shift=1, shape=2)


def test_an_unknown_option_is_a_mistake_of_the_declaration():
    with pytest.raises(TypeError, match="unknown options"):
        Op(scaled, colour="red")


def test_a_name_cannot_be_declared_twice():
    from minigluon.core.op import op

    with pytest.raises(ValueError, match="declared twice"):
        op(scaled, name="relu")


def test_outputs_may_depend_on_attributes():
    split = registry["SliceChannel"]
    assert split.count_outputs({"num_outputs": 3, "axis": 1, "squeeze_axis": False}) == 3
    assert split.names_of_outputs({"num_outputs": 1, "axis": 1, "squeeze_axis": False}) == (
        "output0",
    )


def test_every_alias_leads_to_the_operator_that_declares_it():
    wrong = [n for n, op in registry.items() if n != op.name and n not in op.aliases]
    assert wrong == []


def test_every_operator_is_documented():
    assert [n for n, op in registry.items() if not op.doc] == []


@pytest.mark.parametrize(
    ("signature", "stypes", "matches"),
    [
        ("csr default -> default", ("csr", "default"), True),
        ("csr default -> default", ("default", "csr"), False),
        ("csr default -> default", ("csr",), False),
        ("csr|row_sparse -> default", ("row_sparse",), True),
        ("row_sparse* -> row_sparse", ("row_sparse",) * 3, True),
        ("row_sparse* -> row_sparse", ("row_sparse", "default"), False),
        ("default row_sparse* -> default", ("default",), True),
    ],
)
def test_a_row_is_for_the_storages_its_signature_names(signature, stypes, matches):
    assert Row(signature, None, None, "fcompute_ex").matches(stypes) is matches


def test_a_call_survives_pickling_as_itself():
    import pickle

    call = registry["sum"].call(axis=(0,))
    assert pickle.loads(pickle.dumps(call)) is call


def test_a_call_shows_its_attributes():
    assert repr(registry["clip"].call(a_min=0, a_max=1)) == "<Call clip(a_min=0.0, a_max=1.0)>"


def test_dense_kernels_get_attributes_and_what_they_ask_for():
    seen = []

    def kernel(data, *, scale: float = 1.0, training):
        seen.append((scale, training))
        return data

    call = Op(kernel).call(scale=3)
    call.kernel((np.ndarray,))(np.ones(1))
    assert seen == [(3.0, False)]
