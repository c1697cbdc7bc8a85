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
from minigluon.core.op import Op, registry  # noqa: E402

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
- *Storages*: the kernels for sparse arrays. Any other combination is computed on dense copies,
  with a warning.
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
        names=sum(1 + len(op.aliases) for op in public.values()),
        compared=len(counts),
        cases=sum(counts),
        least=min(counts),
    )
    rows = [row(op, compared[name]) for name, op in sorted(public.items())]
    parts = ", ".join(f"`{name}`" for name in sorted(operators.keys() - compared.keys()))
    return head + "\n".join(rows) + "\n" + TAIL.format(parts=parts)


def row(op: Op, cases: int | str) -> str:
    """One operator as a line of the table."""
    aliases = ", ".join(f"`{name}`" for name in op.aliases)
    storages = "; ".join(dict.fromkeys(storage(r) for r in op.rows if r.function is not None))
    cells = [f"`{op.name}`", aliases, _catalogue.gradient(op), storages, str(cases)]
    return "| " + " | ".join(cell.replace("|", " or ") for cell in cells) + " |"


def storage(row: object) -> str:
    """A sparse kernel as it was declared, without how it is dispatched."""
    return _catalogue.storages(row).replace(" (fcompute_ex)", "").replace("fcompute_ex, ", "")


if __name__ == "__main__":
    (ROOT / "docs/operators.md").write_text(page())
