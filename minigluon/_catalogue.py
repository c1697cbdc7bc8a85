"""The operator table as text: what ``minigluon ops`` prints."""

from __future__ import annotations

import difflib

from . import ops as _declarations  # noqa: F401  (declaring is what fills the registry)
from .base import MXNetError
from .core.op import REQUIRED, Op, Row, registry


def overview() -> str:
    """One line an operator: its name and what its documentation begins with."""
    operators = {op.name: op for op in registry.values()}
    width = max(map(len, operators), default=0)
    return "\n".join(
        f"{name:{width}}  {first_line(op)}".rstrip() for name, op in sorted(operators.items())
    )


def first_line(op: Op) -> str:
    """What an operator is, in one line."""
    return op.doc.partition("\n")[0]


def details(name: str) -> str:
    """Everything the declaration of an operator says, for a name or an alias.

    Raises ``MXNetError`` with similar names when there is no such operator.
    """
    op = registry.get(name)
    if op is None:
        similar = difflib.get_close_matches(name, registry, n=5)
        raise MXNetError(
            f"ops: there is no operator {name}.\n  received  {name!r}\n"
            f"  expected  one of {len(registry)} names and aliases\n"
            f"  fix       {'try ' + ', '.join(similar) if similar else 'list them: minigluon ops'}"
        )
    lines = [signature(op)]
    if op.aliases:
        lines.append(f"  also called  {', '.join(op.aliases)}")
    if op.mutates:
        lines.append(f"  writes to    {', '.join(op.mutates)}")
    lines.append(f"  gradient     {gradient(op)}")
    lines += [f"  storages     {storages(row)}" for row in op.rows]
    if op.attributes:
        lines.append("  attributes")
        for attribute, (kind, default) in op.attributes.items():
            given = "required" if default is REQUIRED else f"default {default!r}"
            lines.append(f"    {attribute}: {kind.description}, {given}")
    return "\n".join([*lines, "", op.doc]).rstrip()


def signature(op: Op) -> str:
    """An operator as one would call it: ``dot(lhs, rhs, *, transpose_a=False)``."""
    inputs = [f"{name}=None" if name in op.optional else name for name in op.inputs]
    if op.variadic:
        inputs.append(f"*{op.variadic}")
    attributes = [
        name if default is REQUIRED else f"{name}={default!r}"
        for name, (_, default) in op.attributes.items()
    ]
    if attributes and not op.variadic:
        attributes.insert(0, "*")
    return f"{op.name}({', '.join([*inputs, *attributes])})"


def gradient(op: Op) -> str:
    """Whether an operator has a gradient, and in which storage if that is fixed."""
    if op.grad_rule is None:
        return "none"
    if op.grad_rule == "zero":
        return "zero"
    return f"yes, always {op.grad_stype}" if op.grad_stype else "yes"


def storages(row: Row) -> str:
    """A sparse kernel as it was declared: ``csr default -> default (fcompute_ex)``."""
    inputs = " ".join("|".join(sorted(accepted)) for accepted in row.inputs)
    condition = ", for some attributes" if row.when is not None else ""
    star = "*" if row.variadic else ""
    return f"{inputs}{star} -> {' '.join(row.outputs)} ({row.mode}{condition})"
