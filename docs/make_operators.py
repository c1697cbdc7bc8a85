"""Write ``docs/operators.md``: the operator table, and how far it was compared with MXNet.

usage: python docs/make_operators.py

The numbers of cases come from ``tests/data/compared.json``, which ``tests/oracle/freeze.py`` writes
when it asks the real MXNet.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from minigluon import _catalogue  # noqa: E402
from minigluon.core.op import Op, Row, registry  # noqa: E402

HEAD = """\
# Operators

{count} operators under {names} names, with the names, arguments and defaults of MXNet 1.9.1.
This page is made by `python docs/make_operators.py`; `minigluon ops NAME` tells about one of them.

Compared with the real MXNet: {compared} operators on {cases} cases, at least {least} for each. A
case is a call with other shapes (sizes of 0 and 1 among them), dtypes, attributes, axes or values;
output and gradients, their dtypes and storages, and what a symbol infers of shapes and dtypes, with
all inputs known and without each of them, have to agree. Samplers are compared by what they infer,
and their numbers by distribution. Where answers may differ says [differences.md](differences.md).

- *Gradient*: yes; no; or zero, if gradients end there.
- *Storages*: the kernels for sparse arrays, of the storages of inputs and outputs; "sparse" is csr
  or row_sparse, "any" is dense as well, ¹ is for some attributes only. Any other combination falls
  back to dense copies, with a warning.
- *Cases*: how many were compared, or what else tests the operator.

| operator | also called | gradient | storages | cases |
| --- | --- | --- | --- | --- |
"""

TAIL = """
## Parts of gradients

These operators are ours alone; the gradients of others are made of them: {parts}.
"""


def page() -> str:
    """The text of ``docs/operators.md``."""
    compared = json.loads((ROOT / "tests/data/compared.json").read_text())
    operators = {op.name: op for op in registry.values()}
    ours = {n: "MXNet has none" for n in operators if not n.startswith("_")}
    compared = {**ours, **compared}
    public = {name: op for name, op in operators.items() if name in compared}
    counts = [n for n in compared.values() if isinstance(n, int) and n]
    head = HEAD.format(
        count=len(public),
        names=sum(1 + len(shown(op)) for op in public.values()),
        compared=len(counts),
        cases=sum(counts),
        least=min(counts),
    )
    rows = [row(op, compared[name]) for name, op in sorted(public.items())]
    parts = ", ".join(f"`{name}`" for name in sorted(operators.keys() - compared.keys()))
    return head + "\n".join(rows) + "\n" + TAIL.format(parts=parts)


def row(op: Op, cases: int | str) -> str:
    """One operator as a line of the table."""
    aliases = ", ".join(f"`{name}`" for name in shown(op))
    storages = "; ".join(dict.fromkeys(storage(r) for r in op.rows if r.function is not None))
    gradient = _catalogue.gradient(op).replace("yes, always default", "yes, dense")
    return f"| `{op.name}` | {aliases} | {gradient} | {storages} | {cases} |"


def shown(op: Op) -> list[str]:
    """The aliases but those of MXNet's numpy interface."""
    return [name for name in op.aliases if not name.startswith("_np")]


NAMES = {
    frozenset(["csr", "row_sparse"]): "sparse",
    frozenset(["csr", "default", "row_sparse"]): "any",
}


def storage(row: Row) -> str:
    """The storages that a sparse kernel takes and gives."""
    taken = [NAMES.get(kinds, "/".join(sorted(kinds))) for kinds in row.inputs]
    several = "..." if row.variadic else ""
    text = f"{', '.join(taken)}{several} → {', '.join(row.outputs)}"
    return text.replace("default", "dense") + ("¹" if row.when else "")


if __name__ == "__main__":
    (ROOT / "docs/operators.md").write_text(page())
