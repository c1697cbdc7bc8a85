"""``Custom``: operators written in Python by users; ``mx.operator`` is how they are registered."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import ArgumentError, AttributeValueError, MXNetError, ShapeError, attribute_to_string
from ..context import current_context
from ..core.call import Call
from ..core.compose import compose
from ..core.infer import UNKNOWN_SHAPE, Unsettled, known
from ..core.invoke import invoke, wrap, wrappers
from ..core.namespace import trim
from ..core.op import Op, Row, op
from ..core.state import state
from ..core.trace import apply
from ..dtypes import FLAGS

#: what users registered: the name -> the class (or function) that makes a ``CustomOpProp``
makers: dict[str, Any] = {}


class CustomOpError(MXNetError):
    """Something went wrong inside an operator that a user wrote; its error is the cause."""


class CustomOperator(Op):
    """A user's operator with its keywords fixed: what its ``CustomOpProp`` says, as an `Op`.

    Beside the user's outputs there is a hidden one: an array of one object, the `Run`, by which
    backward finds the very ``CustomOp`` that computed forward, in a tape as in a plan.
    """

    def __init__(self, op_type: str, keywords: tuple[tuple[str, str], ...], prop: Any = None):
        self.op_type, self.keywords = op_type, keywords
        self.held: dict[Any, Any] | None = None if prop is None else {}
        self.prop = prop or self.ask("__init__", lambda: makers[op_type](**dict(keywords)))
        names = [
            list(self.ask(f"list_{what}", getattr(self.prop, f"list_{what}"))) for what in _NAMES
        ]
        self.arguments, self.auxiliary, self.results = names
        super().__init__(self.run, name="Custom", mutates=tuple(self.auxiliary))
        self.doc = f"The operator {op_type} that was registered."
        self.inputs = (*self.arguments, *self.auxiliary)
        self.variadic, self.attributes, self.injects = None, {}, ()
        self.outputs, self.hidden_outputs = len(self.results) + 1, 1
        self.output_names = (*self.results, "run")
        self.unsaved = 1
        self.shape_rule, self.dtype_rule, self.grad_rule = (
            self.say_shapes,
            self.say_dtypes,
            self.pull_back,
        )
        self.backward = _Backward(self)

    def instance(self) -> CustomOperator:
        """One for an executor, which as in MXNet has one ``CustomOp`` for all its runs."""
        return CustomOperator(self.op_type, self.keywords, self.prop)

    def ask(self, what: str, question: Any, *given: Any) -> Any:
        """What a method of the user's gives; ``CustomOpError`` if it fails."""
        try:
            return question(*given)
        except Exception as error:
            raise CustomOpError(
                f"Error in {self.op_type}.{what}: {type(error).__name__}: {error}"
            ) from error

    # ---- what the rules say

    def shapes(self, given: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Shapes of arguments, outputs and states, from those of the arguments."""
        got = list(self.ask("infer_shape", self.prop.infer_shape, given))
        return self._parted("infer_shape", got)

    def dtypes(self, given: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Dtypes of arguments, outputs and states, from those of the arguments."""
        got = list(self.ask("infer_type", self.prop.infer_type, [np.dtype(t).type for t in given]))
        return self._parted("infer_type", got)

    def _parted(self, what: str, got: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        wanted = (self.arguments, self.results, self.auxiliary)
        if len(got) not in (2, 3):
            raise CustomOpError(
                f"Error in {self.op_type}.{what}: {len(got)} lists were returned.\n"
                "  expected  two or three: for arguments, outputs, and auxiliary states\n"
                f"  fix       return such lists from {what}"
            )
        parts = [list(part) for part in got] + [[]] * (3 - len(got))
        for kind, part, names in zip(("input", "output", "auxiliary"), parts, wanted, strict=True):
            if len(part) != len(names):
                raise CustomOpError(
                    f"Error in {self.op_type}.{what}: expecting {len(names)} entries for {kind} "
                    f"arrays, got {len(part)}.\n  received  {part}\n"
                    f"  expected  one for each of {', '.join(names) or 'none'}\n"
                    f"  fix       return as many from {what}"
                )
        return parts[0], parts[1], parts[2]

    def say_shapes(self, s: Any) -> None:
        """The shape rule: the user's ``infer_shape``, told [] for what is not known."""
        n, n_out = len(self.arguments), len(self.results)
        if len(s.outs) > n_out:
            s.state(("out", n_out), (1,))
        given = [list(x) if known(x) else [] for x in s.ins[:n]]
        everything = all(known(x) for x in s.ins[:n])
        if given and not any(given):
            raise Unsettled
        try:
            arguments, results, states = self.shapes(given)
        except CustomOpError:
            if everything:
                raise
            raise Unsettled from None
        for k, shape in enumerate((*arguments, *states)):
            if len(shape) or (k < n and s.ins[k] is not UNKNOWN_SHAPE):
                s.state(("in", k), tuple(shape))
        for k, shape in enumerate(results):
            if len(shape) or everything:
                s.state(("out", k), tuple(shape) or (1,))

    def say_dtypes(self, t: Any) -> None:
        """The dtype rule: the user's ``infer_type``, told the first dtype for what is not known."""
        n, n_out = len(self.arguments), len(self.results)
        if len(t.outs) > n_out:
            t.state(("out", n_out), np.dtype(object))
        known_ones = [x for x in t.ins[:n] if x is not None]
        if n and not known_ones:
            return
        given = [known_ones[0] if x is None else x for x in t.ins[:n]]
        arguments, results, states = self.dtypes(given)
        for k, dtype in enumerate((*arguments, *states)):
            t.state(("in", k), dtype)
        for k, dtype in enumerate(results):
            t.state(("out", k), dtype)

    def choose(self, stypes: tuple[str, ...], hint: str | None, attrs: dict[str, Any]) -> Row:
        """Every storage goes to the user's code, which says what storages it gives."""
        given = list(stypes[: len(self.arguments)])
        got = self.ask("infer_storage_type", self.prop.infer_storage_type, given)
        return row(self.run, (*got[1], "default"))

    # ---- running

    def run(self, *data: Any) -> tuple[Any, ...]:
        """The kernel: what the user's ``forward`` puts into new arrays, and the `Run`."""
        n = len(self.arguments)
        if len(data) != len(self.inputs):
            raise ShapeError(
                f"Custom: Operator Custom ({self.op_type}) expects {len(self.inputs)} inputs, but "
                f"got {len(data)} instead.\n  received  {len(data)} arrays\n"
                f"  expected  {', '.join(self.inputs) or 'none'}\n  fix       pass these"
            )
        shapes, out_shapes, _ = self.shapes([list(x.shape) for x in data[:n]])
        _, out_dtypes, _ = self.dtypes([x.dtype for x in data[:n]])
        stypes = [storage.STYPES.get(type(x), "default") for x in data[:n]]
        asked = self.ask("infer_storage_type", self.prop.infer_storage_type, stypes)
        ctx = current_context()
        flags = [FLAGS.get(x.dtype, -1) for x in data]
        shapes = [*map(list, shapes), *[list(x.shape) for x in data[n:]]]
        operator = self.created(ctx, shapes, flags)
        inputs = [wrap(x, ctx) for x in data]
        outputs = [
            wrap(storage.zeros(stype, tuple(shape) or (1,), np.dtype(dtype)), ctx)
            for stype, shape, dtype in zip(asked[1], out_shapes, out_dtypes, strict=True)
        ]
        keywords = {
            "is_train": state.training,
            "req": ["write"] * len(outputs),
            "in_data": inputs[:n],
            "out_data": outputs,
            "aux": inputs[n:],
        }
        state.aside(self.let, operator, "forward", keywords)
        for before, array in zip(data[n:], inputs[n:], strict=True):
            if array._data is not before:
                before[...] = array._data
        held = np.empty(1, object)
        held[0] = Run(operator, inputs[:n], inputs[n:], outputs)
        return (*[x._data for x in outputs], held)

    def created(self, ctx: Any, shapes: list[list[int]], flags: list[int]) -> Any:
        """The ``CustomOp``: a new one, but for an executor."""
        key = (ctx, *map(tuple, shapes), *flags)
        if self.held is not None and key in self.held:
            return self.held[key]
        made = self.ask("create_operator", self.prop.create_operator, ctx, shapes, flags)
        if self.held is not None:
            self.held[key] = made
        return made

    def let(self, operator: Any, what: str, keywords: dict[str, Any]) -> None:
        """Have the user's operator do its work: not recorded, errors as ``CustomOpError``."""
        recording, state.recording = state.recording, False
        try:
            getattr(operator, what)(**keywords)
        except Exception as error:
            raise CustomOpError(
                f"Error in CustomOp.{what} of {self.op_type}: {type(error).__name__}: {error}"
            ) from error
        finally:
            state.recording = recording

    def pull_back(self, F: Any, g: Any, *inputs: Any, out: Any) -> Any:
        """The gradient rule: the user's ``backward``, given what it says it depends on."""
        n, n_out = len(self.arguments), len(self.results)
        if n == 0:
            return None
        chosen = [
            *[x for k, x in enumerate(g[:n_out]) if k in self.backward.needs],
            *[x for k, x in enumerate(inputs[:n], n_out) if k in self.backward.needs],
            *[x for k, x in enumerate(out[:n_out], n_out + n) if k in self.backward.needs],
        ]
        got = apply(self.backward.call(), (out[-1], *chosen))
        return got if isinstance(got, tuple) else (got,)


class Run:
    """One execution of a user's operator: the operator, its states, what its arrays were like."""

    __slots__ = ("in_like", "operator", "out_like", "states")

    def __init__(self, operator: Any, inputs: list[Any], states: list[Any], outputs: list[Any]):
        self.operator = operator
        self.in_like = [_like(x) for x in inputs]
        self.out_like = [_like(x) for x in outputs]
        self.states = states


def _like(array: Any) -> tuple[Any, ...]:
    return storage.STYPES[type(array._data)], array._data.shape, array._data.dtype


_NAMES = ("arguments", "auxiliary_states", "outputs")


class _Backward(Op):
    """The gradients of a user's operator: (the run, what ``backward`` needs) -> one for each."""

    def __init__(self, owner: CustomOperator):
        self.owner = owner
        n, n_out = len(owner.arguments), len(owner.results)
        places = list(range(n_out + n + n_out))
        asked = owner.ask(
            "declare_backward_dependency",
            owner.prop.declare_backward_dependency,
            places[:n_out],
            places[n_out : n_out + n],
            places[n_out + n :],
        )
        self.needs = sorted({int(k) for k in asked})
        super().__init__(self.run, name="_backward_Custom", outputs=n)
        self.variadic, self.attributes, self.injects = "arrays", {}, ()
        self.shape_rule, self.dtype_rule = self.say_shapes, self.say_dtypes

    def say_shapes(self, s: Any) -> None:
        """Nothing is known beforehand: gradient graphs are not inferred."""

    say_dtypes = say_shapes

    def choose(self, stypes: tuple[str, ...], hint: str | None, attrs: dict[str, Any]) -> Row:
        """As the user's ``infer_storage_type_backward`` says."""
        owner = self.owner
        n, n_out = len(owner.arguments), len(owner.results)
        held = ["default"] * (n_out + n + n_out)
        for k, stype in zip(self.needs, stypes[1:], strict=False):
            held[k] = stype
        got = owner.ask(
            "infer_storage_type_backward",
            owner.prop.infer_storage_type_backward,
            held[:n_out],
            held[n_out : n_out + n],
            held[n_out + n :],
            ["undefined"] * n,
            ["default"] * len(owner.auxiliary),
        )
        return row(lambda *data: self.put(data, got[3]), tuple(got[3]))

    def run(self, *data: Any) -> Any:
        """The kernel on dense arrays."""
        return self.put(data, ["default"] * len(self.owner.arguments))

    def put(self, data: tuple[Any, ...], stypes: list[str]) -> Any:
        """What the user's ``backward`` puts into zeros of these storages."""
        owner, run = self.owner, data[0][0]
        n, n_out = len(owner.arguments), len(owner.results)
        ctx = current_context()
        arrays: list[Any] = [None] * (n_out + n + n_out)
        for k, x in zip(self.needs, data[1:], strict=True):
            if k < n_out and x.shape != run.out_like[k][1]:  # no gradient came for this output
                x = np.zeros(run.out_like[k][1], run.out_like[k][2])
            arrays[k] = wrap(x, ctx)
        grads = [
            wrap(storage.zeros(stype, shape, dtype), ctx)
            for stype, (_, shape, dtype) in zip(stypes, run.in_like, strict=False)
        ]
        keywords = {
            "req": ["write"] * n,
            "out_grad": arrays[:n_out],
            "in_data": arrays[n_out : n_out + n],
            "out_data": arrays[n_out + n :],
            "in_grad": grads,
            "aux": run.states,
        }
        state.aside(owner.let, run.operator, "backward", keywords)
        results = tuple([x._data for x in grads])
        return results if n > 1 else results[0]


def row(function: Any, stypes: tuple[str, ...]) -> Row:
    """A row for whatever storages come."""
    made = Row("->", function, None, "fcompute_ex")
    made.outputs = stypes
    return made


# ---- finding and calling them

_known: dict[Any, CustomOperator] = {}


def custom(op_type: Any, keywords: dict[str, str]) -> CustomOperator:
    """The operator of a registered name with these keywords; the same object for the same ones."""
    if not op_type:
        raise AttributeValueError(
            "Custom: Required argument `op_type` is missing.\n  received  no op_type\n"
            "  expected  a name given to mx.operator.register\n  fix       pass op_type='...'"
        )
    if op_type not in makers:
        names = ", ".join(sorted(makers))
        raise AttributeValueError(
            f"Custom: Cannot find custom operator {op_type}.\n  received  op_type={op_type!r}\n"
            f"  expected  one of {names or 'none, for nothing was registered'}\n"
            f"  fix       decorate its CustomOpProp with @mx.operator.register({op_type!r})"
        )
    key = (op_type, makers[op_type], tuple(sorted(keywords.items())))
    found = _known.get(key)
    if found is None:
        if len(_known) > 256:
            _known.clear()
        found = _known[key] = CustomOperator(op_type, key[2])
    return found


def _sorted_out(keywords: dict[str, Any], kind: Any) -> tuple[dict[str, Any], dict[str, str]]:
    arrays = {k: v for k, v in keywords.items() if isinstance(v, kind)}
    texts = {k: attribute_to_string(v) for k, v in keywords.items() if k not in arrays}
    return arrays, texts


def call_on_arrays(*data: Any, op_type: Any = None, **keywords: Any) -> Any:
    """Run a user's operator on arrays: ``nd.Custom(x, op_type="name", ...)``.

    Arguments may be given by name, also one called ``out`` or ``name``; other keywords are passed
    to the ``CustomOpProp`` as text.
    """
    out = keywords.pop("out", None)
    name = keywords.pop("name", None)
    arrays, texts = _sorted_out(keywords, wrappers[np.ndarray])
    operator = custom(op_type, texts)
    for key, value in (("out", out), ("name", name)):
        if key in operator.inputs and len(data) < len(operator.inputs) and value is not None:
            arrays[key] = value
    if out is not None and "out" in arrays:
        out = None
    unknown = set(arrays) - set(operator.inputs)
    if unknown:
        raise ArgumentError(
            f"Custom: {operator.op_type} has no argument {min(unknown)}.\n"
            f"  received  an array as {min(unknown)}\n"
            f"  expected  {', '.join(operator.inputs) or 'none'}\n  fix       use these names"
        )
    inputs = [*data, *[arrays.get(n) for n in operator.inputs[len(data) :]]]
    return invoke(operator.call(), trim(tuple(inputs)), out)


def compose_symbols(*data: Any, op_type: Any = None, **keywords: Any) -> Any:
    """Remember a user's operator on symbols: ``sym.Custom(x, op_type="name", ...)``."""
    plain = {k: keywords.pop(k) for k in ("name", "attr", "out") if k in keywords}
    symbols = {k: v for k, v in (*keywords.items(), *plain.items()) if hasattr(v, "_entries")}
    texts = {k: attribute_to_string(v) for k, v in keywords.items() if k not in symbols}
    operator = custom(op_type, {k: v for k, v in texts.items() if not _is_hidden(k)})
    name, attr = [None if k in symbols else plain.get(k) for k in ("name", "attr")]
    texts["op_type"] = op_type
    return compose(operator, data, {}, name, attr, {**symbols, **texts}, "Custom")


def _is_hidden(key: str) -> bool:
    return key.startswith("__") and key.endswith("__")


def read_custom(attrs: dict[str, str], graphs: list[Any]) -> Call:
    """The Call a symbol file's attributes describe."""
    texts = {k: v for k, v in attrs.items() if not _is_hidden(k) and k != "op_type"}
    return custom(attrs.get("op_type"), texts).call()


@op(aliases=("_npi_Custom",))
def Custom(*data, op_type: str):
    """A user's operator, registered by ``mx.operator.register(op_type)``.

    Further keywords are handed to its ``CustomOpProp`` as text. Arguments may be given by name.
    """
    raise AssertionError("the registered operator runs, not this")


Custom.functions = {"nd": call_on_arrays, "sym": compose_symbols}
for _function in (call_on_arrays, compose_symbols):
    _function.__name__ = _function.__qualname__ = "Custom"
Custom.read = read_custom

__all__ = ["CustomOpError", "CustomOperator", "custom", "makers"]
