"""From a failure to a message: operator, argument, what came, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import storage
from ..base import (
    ArgumentError,
    ArgumentTypeError,
    AttributeValueError,
    DTypeError,
    IndexOutOfRange,
    MXNetError,
    ShapeError,
    StorageError,
    attribute_to_string,
)

if TYPE_CHECKING:
    from .call import Call
    from .graph import Node
    from .op import Op


def describe(name: str, data: Any) -> str:
    """``data (2, 3) float32 default``, for one input of a message."""
    stype = storage.STYPES.get(type(data))
    if stype is None:
        return f"{name} of type {type(data).__name__}"
    return f"{name} {data.shape} {data.dtype} {stype}"


def received(call: Call, data: Any) -> str:
    """The line that shows every input and the attributes that were set."""
    names = call.op.names_of_inputs(call.attrs, len(data))
    if len(names) < len(data):
        names = (*names, *[f"arg{k}" for k in range(len(names), len(data))])
    parts = [describe(n, d) for n, d in zip(names, data, strict=False)]
    return ", ".join([*parts, *attributes_set(call)])


def explain(call: Call, inputs: Any, error: Exception) -> Exception:
    """The exception to raise for a call that failed with ``error``."""
    if isinstance(error, Warning):  # which somebody made an error: it says enough itself
        return error
    op = call.op
    data = []
    names = op.names_of_inputs(call.attrs, len(inputs))
    for k, x in enumerate(inputs):
        if not hasattr(x, "_data"):
            known = names if k < len(names) else op.inputs
            name = known[k] if k < len(known) else f"arg{k}"
            got = "nothing" if x is None else f"{type(x).__name__} {str(x)[:60]}"
            return ArgumentTypeError(
                f"Argument {name} must have NDArray type, but got {x!s:.60}\n"
                f"{op.name}: {name} is not an array.\n  received  {got}\n"
                f"  expected  an NDArray for each of {', '.join(names)}\n"
                "  fix       wrap it: mx.nd.array(...); attributes are best given by name"
            )
        data.append(x._data)
    if isinstance(error, MXNetError) and (
        "\n  received" in str(error) or type(error) not in _PLAIN
    ):
        return error
    optional = op.optional if op.input_rule is None else ()
    missing = len([n for n in names if n not in optional]) - len(data)
    if missing > 0 and not op.variadic:
        return ShapeError(
            f"{op.name}: too few arrays.\n  received  {received(call, data) or 'none'}\n"
            f"  expected  {', '.join(names)}\n  fix       pass {', '.join(names[len(data) :])}"
        )
    inferred = _what_rules_say(call, data)
    if isinstance(inferred, MXNetError):
        inferred.__cause__ = error
        return inferred
    purpose = op.doc.partition("\n")[0]
    expected = f"  expected  inputs that {op.name} is defined for: {purpose}\n"
    if isinstance(error, MXNetError):
        return type(error)(
            f"{_titled(op, error)}\n  received  {received(call, data)}\n"
            f"{expected}  fix       see the documentation: help(mx.nd.{op.name})"
        )
    shape = call.attrs.get("shape")
    if isinstance(shape, tuple) and any(n is not None and n < 0 for n in shape):
        return ShapeError(
            f"{op.name}: a length is negative.\n  received  {received(call, data)}\n"
            "  expected  lengths of at least 0\n  fix       give the shape in full"
        )
    if isinstance(error, ValueError) and "read-only" in str(error):
        return ArgumentError(
            f"{op.name}: a read-only array cannot be written to.\n"
            f"  received  {received(call, data)}\n"
            "  expected  an array of one's own: what Function.backward is given belongs to others\n"
            "  fix       compute a new array (g = g * 2), or write to g.copy()"
        )
    kind = ShapeError if isinstance(error, ValueError | IndexError) else MXNetError
    return kind(
        f"{op.name}: the inputs cannot be computed with.\n  received  {received(call, data)}\n"
        f"{expected}  fix       {type(error).__name__}: {error}"
    )


def too_many(op: Op, names: Sequence[str], extra: Sequence[str]) -> ArgumentError:
    """The exception for arrays that an operator does not take with its attributes as they are."""
    return ArgumentError(
        f"{op.name}: too many arrays.\n  received  {', '.join(extra)} as well\n"
        f"  expected  {', '.join(names) or 'none'}, with the attributes as they are\n"
        f"  fix       leave {', '.join(extra)} out, or set the attribute that asks for it"
    )


def no_arrays(op: Op) -> ArgumentError:
    """The exception for a variadic operator on nothing."""
    return ArgumentError(
        f"{op.name}: value 0 for Parameter num_args should be greater equal to 1.\n"
        f"  received  no arrays\n  expected  one or more\n  fix       pass {op.variadic}"
    )


def miscounted(op: Op, count: str, value: Any, number: int) -> ArgumentError:
    """The exception for another number of arrays than an attribute says."""
    return ArgumentError(
        f"{op.name}: the number of arrays does not fit.\n"
        f"  received  {number} arrays, {count}={value}\n"
        f"  expected  as many arrays as {count} says\n  fix       pass {count}={number}"
    )


#: errors whose only argument is their message, which may be completed
_PLAIN = (
    MXNetError, ShapeError, DTypeError, StorageError, AttributeValueError, ArgumentError,
    IndexOutOfRange,
)  # fmt: skip


def _titled(op: Op, error: Exception) -> str:
    """The message with the operator's name in front."""
    text = str(error)
    return text if text.startswith(op.name) else f"{op.name}: {text}"


def _what_rules_say(call: Call, data: Any) -> Any:
    """What the shape rule finds wrong with these inputs, as an exception, or None."""
    from .infer import check_shapes

    try:
        check_shapes(call, [d.shape for d in data])
    except MXNetError as error:
        text = _titled(call.op, error)
        shown = f"\n  received  {received(call, data)}\n  expected"
        head, found, _ = text.partition("\n  received")
        if not found:
            text = text.replace("\n  expected", shown, 1)
        elif found and "\n  expected" in text:
            text = head + shown + text.partition("\n  expected")[2]
        return type(error)(text)
    except Exception:
        return None  # the rule itself could not cope; the first failure is what is told
    return None


def contradiction(
    node: Node, where: tuple[str, int], old: Any, new: Any, inputs: Sequence[Any]
) -> MXNetError:
    """A shape or dtype of one input or output that is not what follows from the others.

    ``inputs`` is what is known of the node's inputs.
    """
    call = node.call
    assert call is not None
    side, k = where
    names = list(call.op.names_of_inputs(call.attrs, len(inputs)))
    shapes = isinstance(new, tuple | list)
    kind = "shape" if shapes else "dtype"
    what = "the output"
    given = list(inputs)
    if side == "in":
        what = names[k]
        given[k] = old
        source = node.inputs[k] if k < len(node.inputs) else None
        if source is not None and source[0].call is None and source[0].name not in ("", what):
            what += f" ({source[0].name})"
    shown = [f"{n} {'?' if x is None else x}" for n, x in zip(names, given, strict=False)]
    attributes = attributes_set(call)
    reasons = [
        text
        for j, (text, known) in enumerate(zip(shown, given, strict=False))
        if known is not None and (side, k) != ("in", j)
    ] + attributes
    received = [*shown, *attributes] if side == "in" else [*shown, *attributes, f"output {old}"]
    wanted = tuple(new) if shapes else new
    fix = f"give {what} that {kind}" if side == "in" else f"change an input whose {kind} decides it"
    if call.attrs and shapes:
        fix += f", or change {next(iter(call.attrs))}"
    return (ShapeError if shapes else DTypeError)(
        f"{call.op.name}: {what} has the wrong {kind}.\n"
        f"  received  {', '.join(received)}\n"
        f"  expected  {what} {wanted}, as follows from {', '.join(reasons) or 'the operator'}\n"
        f"  fix       {fix}"
    )


def in_node(node: Node, error: Exception) -> Exception:
    """An error with the name of the graph's node in front, of the same class."""
    text = str(error)
    if type(error) not in _PLAIN or not node.name or text.startswith("Error in operator"):
        return error
    assert node.call is not None
    return type(error)(f"Error in operator {node.name}: {_titled(node.call.op, error)}")


def attributes_set(call: Call) -> list[str]:
    """``name=value`` for each attribute that differs from its default."""
    parts = []
    for name, (_, default) in call.op.attributes.items():
        value = call.attrs[name]
        if value is not default and value != default:
            parts.append(f"{name}={attribute_to_string(value)}")
    return parts


def mixed_dtypes(call: Call, data: Any) -> DTypeError:
    """Inputs of an operator that wants one element type have several."""
    first = data[0].dtype
    return DTypeError(
        f"{call.op.name}: the inputs have different dtypes.\n  received  {received(call, data)}\n"
        f"  expected  one dtype for all inputs, here {first} as the first has\n"
        f"  fix       convert with x.astype('{first}')"
    )


def unknown_attribute(op: Op, name: str) -> AttributeValueError:
    """A keyword the operator does not have."""
    return AttributeValueError(
        f"{op.name}: Cannot find argument '{name}'.\n  received  {name}=...\n"
        f"  expected  arrays {', '.join(op.inputs) or op.variadic}; "
        f"attributes {', '.join(op.attributes) or 'none'}\n  fix       remove or rename it"
    )


def missing_attribute(op: Op, name: str) -> AttributeValueError:
    """A required attribute that was not given."""
    kind = op.attributes[name][0]
    return AttributeValueError(
        f"{op.name}: Required parameter {name} is not presented.\n  received  nothing for {name}\n"
        f"  expected  {kind.description}\n  fix       pass {name}=..."
    )


def recorded_write(what: str) -> MXNetError:
    """A write into an array the tape depends on."""
    return MXNetError(
        f"{what}: Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with "
        "autograd.\n  received  a write into an array that gradients depend on\n"
        "  expected  writes outside autograd.record(), or into arrays that are not recorded\n"
        "  fix       compute a new array (x = x + y), or write under autograd.pause()"
    )


def not_differentiable(call: Call) -> MXNetError:
    """A gradient was asked of an operator that has none."""
    return MXNetError(
        f"{call.op.name}: Operator {call.op.name} is non-differentiable.\n"
        "  received  a gradient to pass back through it\n"
        "  expected  an operator with a gradient on the way to what gradients are wanted of\n"
        "  fix       detach its inputs, or wrap it in mx.nd.BlockGrad"
    )
