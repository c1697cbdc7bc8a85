"""The storages and dispatch modes that binding infers are those of MXNet, for every operator."""

import json
from pathlib import Path

import pytest

import minigluon as mx
from minigluon import sym
from minigluon.core.graph import topological
from minigluon.core.infer import storages
from minigluon.core.op import registry

STYPES = {"d": "default", "c": "csr", "r": "row_sparse", "-": None}
MODES = {"F": "fcompute", "X": "fcompute_ex", "B": "fcompute_fallback"}
FILE = Path(__file__).parent / "data" / "storage_inference.txt"
RECORDED = [line.split() for line in FILE.read_text().splitlines() if not line.startswith("#")]

#: recorded operators that there are none of yet; an operator that comes leaves this list
ABSENT: set[str] = set()


def name_of(name):
    """The operator's name in the table: some were recorded under that of a namespace."""
    return name if name in registry else f"_contrib_{name}"


def test_every_recorded_operator_is_there_or_listed():
    recorded = {name for name, *_ in RECORDED}
    missing = {name for name in recorded if name_of(name) not in registry}
    assert missing == ABSENT


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
@pytest.mark.parametrize(
    "name, attrs, shapes, rows",
    [(n, a, s, r) for n, a, s, *r in RECORDED if n not in ABSENT],
)
def test_inferred_storages_and_dispatch_are_those_of_mxnet(name, attrs, shapes, rows):
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(attrs).items()}
    for row in rows:
        given, result = row.split(">")
        stypes = [STYPES[letter] for letter in given]
        variables = [
            sym.var(f"v{k}", stype=stype, shape=tuple(shape))
            for k, (stype, shape) in enumerate(zip(stypes, json.loads(shapes), strict=True))
        ]
        symbol = getattr(sym._internal, name_of(name))(*variables, **attrs)
        node = symbol._entries[0][0]
        nodes = {n: n.name for n in topological(symbol._entries) if n.call is None}
        by_name = {f"v{k}": stype for k, stype in enumerate(stypes)}
        known = {n: by_name.get(called, "default") for n, called in nodes.items()}
        _, dispatches = storages(symbol._entries, known)
        mode = next(letter for letter in result if letter in MODES)
        outputs, _, gradients = result.partition(mode)
        assert [STYPES[o] for o in outputs] == list(dispatches[node].stypes), row
        native = mode == "B" and dispatches[node].mode == "fcompute_ex"
        assert native or dispatches[node].mode == MODES[mode], row
        if gradients.strip("-"):
            bound = symbol.simple_bind(mx.cpu(), grad_req="write")
            stored = [None if g is None else g.stype for g in bound.grad_arrays]
            assert stored == [STYPES[g] for g in gradients], row
