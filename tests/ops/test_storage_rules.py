"""Storage and dispatch of operators and their gradients are those of MXNet."""

import json
from pathlib import Path

import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.grad import trace
from minigluon.core.infer import storages
from minigluon.core.op import registry
from minigluon.storage import TYPES

STYPES = {"d": "default", "c": "csr", "r": "row_sparse"}
MODES = {"F": "fcompute", "X": "fcompute_ex", "B": "fcompute_fallback"}
RECORDED = [
    line.split()
    for line in (Path(__file__).parent / "storage_rules.txt").read_text().splitlines()
    if not line.startswith("#")
]


def gradient_storages(call, stypes, outputs):
    """The storages of the gradients for inputs stored so; an absent one is zero, stored alike."""
    gradient = trace(call, len(stypes))
    places = [*gradient.inputs, *gradient.outputs, *gradient.heads]
    known = dict(zip(places, [*stypes, *outputs, *outputs], strict=True))
    given = {entry[0]: stype for entry, stype in known.items()}
    found, _ = storages([e for e in gradient.results if e is not None], given)
    return [
        stype if entry is None else known.get(entry) or found[entry]
        for entry, stype in zip(gradient.results, stypes, strict=True)
    ]


@pytest.mark.parametrize("name, attrs, rows", [(n, a, r) for n, a, *r in RECORDED])
def test_storages_and_dispatch_are_those_of_mxnet(name, attrs, rows):
    attrs = {k: tuple(v) if type(v) is list else v for k, v in json.loads(attrs).items()}
    call = registry[name].call(**attrs)
    for row in rows:
        letters, result = row.split(">")
        stypes = [STYPES[letter] for letter in letters]
        dispatch = call.resolve(tuple([TYPES[s] for s in stypes]))
        assert dispatch.stypes == (STYPES[result[0]],), row
        native_for_fallback = result[1] == "B" and dispatch.mode == "fcompute_ex"
        assert native_for_fallback or dispatch.mode == MODES[result[1]], row
        wanted = [STYPES[letter] for letter in result[2:]]
        assert gradient_storages(call, stypes, dispatch.stypes) == wanted, row
