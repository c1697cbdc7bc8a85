"""Make a Node of a Call: name it, give it attributes, create the variables it is not given."""

from __future__ import annotations

from typing import Any

from ..attribute import current as current_scope
from ..base import ArgumentTypeError, attribute_to_string, four_lines
from ..name import current as current_names
from .call import Call, intern
from .explain import miscounted, missing_attribute, no_arrays, too_many, unknown_attribute
from .graph import Entry, Node
from .op import REQUIRED, Op

#: attributes any symbol may carry; they come back plain and with underscores
HIDDEN = (
    "ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope",
)  # fmt: skip

#: attributes by which some variadic operators count; the others have num_args in symbol files
COUNTS = ("num_arrays", "num_outputs", "num_tensors", "num_weights")

#: set by the symbol face: from a tuple of entries to what users see
wrap_entries: list[Any] = []


def compose(
    op: Op,
    inputs: Any,
    given: dict[str, Any],
    name: str | None,
    attr: dict[str, str] | None,
    extra: dict[str, Any],
    hint: str,
) -> Any:
    """A Symbol for an operator on Symbols; inputs that are not given become variables."""
    from .namespace import NULL

    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(
            four_lines(f"{op.name}: the name is no text.", f"name={name!r}", "a string", "name='a'")
        )
    arrays = list(inputs)
    user: dict[str, str] = {}
    by_name: dict[str, Any] = {}
    for key, value in extra.items():
        if key == op.variadic:
            arrays.extend(value if isinstance(value, list | tuple) else [value])
        elif hasattr(value, "_entries"):
            by_name[key] = value
        elif key != "num_args":
            user[key] = attribute_to_string(value)
    if len(arrays) == 1 and isinstance(arrays[0], list | tuple):
        arrays = list(arrays[0])
    user = current_scope().get({**user, **(attr or {})})
    texts: dict[str, str] = {}
    values = []
    for attribute, (kind, default) in op.attributes.items():
        value = user.pop(attribute, given.get(attribute, NULL))
        if value is NULL:
            if default is REQUIRED:
                raise missing_attribute(op, attribute)
            values.append(default)
        else:
            values.append(value)
            if isinstance(value, bool) and kind.description.startswith(("an integer", "a number")):
                value = int(value)  # MXNet does not read True as a number
            texts[attribute] = attribute_to_string(value)
    call = intern(op, tuple(values))
    _refuse_unknown(op, user)
    if op.variadic and not any(count in op.attributes for count in COUNTS):
        if not arrays and not by_name and op.input_rule is None:
            raise no_arrays(op)
        texts["num_args"] = str(len(arrays))
    name = current_names().get(name, hint.lower())
    attrs = {**hide(user), **texts}
    names = op.names_of_inputs(call.attrs, len(arrays))
    for count in ("num_arrays", "num_outputs"):
        if op.variadic and call.attrs.get(count) not in (None, len(arrays)):
            raise miscounted(op, count, call.attrs[count], len(arrays))
    entries = _entries(op, arrays, by_name, names, name, attrs)
    node = Node(call, tuple(entries), name, attrs or None)
    return wrap_entries[0](tuple([(node, k) for k in range(call.visible)]))


def _refuse_unknown(op: Op, user: dict[str, str]) -> None:
    """Operators with attributes take no others, but for those any symbol may carry.

    Operators without attributes carry whatever they are given, as in MXNet.
    """
    if not op.attributes:
        return
    for key in user:
        underscored = key.startswith("__") and key.endswith("__")
        known = underscored or key in HIDDEN or key in op.attributes
        if not known and not (key == "ctx" and not op.inputs):
            raise unknown_attribute(op, key)


def with_attributes(call: Call, texts: dict[str, str]) -> Call:
    """The Call with some of its attributes read from text again."""
    _refuse_unknown(call.op, texts)
    changed = {**call.attrs, **{k: v for k, v in texts.items() if k in call.op.attributes}}
    return intern(call.op, tuple(changed.values()))


def hide(attrs: dict[str, str]) -> dict[str, str]:
    """Attributes as nodes hold them: those any symbol may carry between underscores."""
    return {f"__{k}__" if k in HIDDEN else k: v for k, v in attrs.items()}


def _entries(
    op: Op,
    arrays: list[Any],
    by_name: dict[str, Any],
    names: tuple[str, ...],
    name: str,
    attrs: dict[str, str],
) -> list[Entry | None]:
    entries: list[Entry | None] = []
    optional = op.optional if op.input_rule is None else ()
    # attributes may leave inputs in the middle out, so a place tells a name, and not a number
    placed = dict(zip(names if op.variadic else op.inputs, arrays, strict=False))
    for formal in names:
        given = placed.pop(formal, None)
        if given is None:
            given = by_name.pop(formal, None)
        if given is None:
            if formal in optional:
                continue
            made = dict(attrs)
            if op.starts and formal in op.starts:
                made["__init__"] = op.starts[formal]
            entries.append((Node(None, (), f"{name}_{formal}", made or None), 0))
            continue
        found = getattr(given, "_entries", None)
        if found is None:
            raise ArgumentTypeError(
                f"Argument {formal} must be Symbol instances, but got {given!s:.60}\n"
                f"{op.name}: {formal} is not a symbol.\n  received  {type(given).__name__}\n"
                f"  expected  a Symbol for each of {', '.join(names)}\n"
                "  fix       make it one: mx.sym.Variable('name')"
            )
        if len(found) != 1:
            raise ArgumentTypeError(
                f"{op.name}: {formal} is a group of {len(found)} symbols.\n"
                f"  received  outputs {', '.join(given.list_outputs())}\n"
                "  expected  one output\n  fix       choose one, as in symbol[0], or pass them one "
                "by one, as in *symbol"
            )
        entries.append(found[0])
    for key in by_name:
        raise unknown_attribute(op, key)
    if any(left is not None for left in placed.values()):
        raise too_many(op, names, [key for key, left in placed.items() if left is not None])
    return entries
