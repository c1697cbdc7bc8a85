"""Operators have the names, arrays and attributes that MXNet 1.9.1 documents."""

import ast
import gzip
import json
import re
from pathlib import Path

import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.op import REQUIRED, registry

RECORDED = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "data" / "signatures.json.gz").read_bytes())
)

#: attributes that callers hand in otherwise: contexts, and how many arrays there are
ELSEWHERE = {"ctx", "num_args"}

#: what is documented as something else than it is
OTHERWISE = {
    "_cond", "_foreach", "_while_loop",  # they take graphs, not numbers of inputs
    "_linspace",  # documented with the attributes of _arange, takes its own
    "Custom",  # whatever users say
}  # fmt: skip

#: arrays beyond those documented: states that change
STATES = {
    "BatchNorm_v1": ["moving_mean", "moving_var"],
    "IdentityAttachKLSparseReg": ["moving_avg"],
}

#: a default that has no effect: MXNet refuses it, or it is the number of arrays
DEFAULTS = {
    "_full shape", "_ravel_multi_index shape", "_unravel_index shape", "smooth_l1 scalar",
    "_rnn_param_concat num_args",
}  # fmt: skip

KINDS = {
    "boolean": "True or False",
    "boolean or None": "True or False",
    "int": "an integer",
    "int (non-negative)": "an integer",
    "long": "an integer",
    "long (non-negative)": "an integer",
    "float": "a number",
    "double": "a number",
    "Shape(tuple)": "an integer or a tuple",
    "Shape or None": "an integer or a tuple",
    "int or None": "an integer",
    "float or None": "a number",
    "double or None": "a number",
    "real_t": "a number",
    "tuple of <float>": "a number or a tuple",
    "tuple of <double>": "a number or a tuple",
    "": "a",
    "string": "text",
}


@pytest.mark.parametrize("name", sorted(RECORDED.keys() - OTHERWISE))
def test_names_arrays_and_attributes_are_mxnets(name):
    op, recorded = registry[name], RECORDED[name]
    assert {registry.get(n) for n in recorded["names"]} == {op}
    arrays = [*op.inputs, *([op.variadic] if op.variadic else [])]
    assert arrays == recorded["arrays"] + STATES.get(name, [])
    wanted = [a for a in recorded["attributes"] if a[0] not in ELSEWHERE or a[0] in op.attributes]
    assert list(op.attributes) == [a[0] for a in wanted]
    for attribute, kind, default in wanted:
        mine, value = op.attributes[attribute]
        if kind.startswith("{"):
            words = set(re.findall(r"'([^']*)'", kind))
            is_dtype = {"float32", "int32"} & words
            assert is_dtype or set(re.findall(r"'([^']*)'", mine.description)) >= words
            assert mine.optional == ("None" in kind)
        else:
            assert mine.description.startswith(KINDS[kind]), attribute
        if f"{name} {attribute}" not in DEFAULTS:
            assert same_default(value, default), (attribute, value, default)


def same_default(value, text):
    """Whether a default is the one that a documentation's text means."""
    if text is None or value is REQUIRED:
        return text is None and value is REQUIRED
    if value is None or isinstance(value, str):
        return text in ("None", "", value)
    if isinstance(value, bool):
        return bool(int(text)) == value
    if isinstance(value, tuple):
        if text == "None":
            return value == ()
        return tuple(ast.literal_eval(text)) == pytest.approx(value)
    if isinstance(value, int | float):
        return float(text) == pytest.approx(value, rel=1e-6)
    return getattr(value, "name", str(value)) == text
