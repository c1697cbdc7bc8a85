"""An operator as one declaration: the decorated function's signature is the operator's.

Positional parameters are arrays (``= None`` optional, ``*args`` variadic), keyword-only ones are
attributes typed by their annotation; ``out``, ``rng``, ``training`` and ``ctx`` are handed in to
kernels that name them. The body is the dense kernel. Everything else is data attached to the `Op`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .attributes import AttributeType, attribute_type

if TYPE_CHECKING:
    from .call import Call

INJECTED = ("out", "rng", "training", "ctx")
REQUIRED = inspect.Parameter.empty

#: every name and alias -> Op
registry: dict[str, Op] = {}


PLACED, VARIADIC, NAMED = "placed", "variadic", "named"


def parameters(function: Callable[..., Any]) -> Iterator[tuple[str, str, Any, str]]:
    """Name, kind, default and annotation of each parameter; `REQUIRED` where there is no default.

    Read off the code object, as 500 signatures made by ``inspect`` take a tenth of start-up; a
    function with ``__signature__`` is asked for that.
    """
    if hasattr(function, "__signature__"):
        kinds = {"VAR_POSITIONAL": VARIADIC, "POSITIONAL_OR_KEYWORD": PLACED, "KEYWORD_ONLY": NAMED}
        for p in inspect.signature(function).parameters.values():
            yield p.name, kinds[p.kind.name], p.default, str(p.annotation)
        return
    code = function.__code__
    placed, end = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    defaults = function.__defaults__ or ()
    given = dict(zip(names[placed - len(defaults) : placed], defaults, strict=True))
    for name in names[:placed]:
        yield name, PLACED, given.get(name, REQUIRED), ""
    if code.co_flags & inspect.CO_VARARGS:
        yield names[end], VARIADIC, REQUIRED, ""
    given = function.__kwdefaults__ or {}
    for name in names[placed:end]:
        yield name, NAMED, given.get(name, REQUIRED), str(function.__annotations__.get(name, ""))


class Row:
    """One sparse kernel: which storages it takes and gives, when it holds, how it is dispatched."""

    __slots__ = ("function", "inputs", "mode", "outputs", "variadic", "when")

    def __init__(self, signature: str, function: Any, when: Any, mode: str):
        taken, _, given = signature.partition("->")
        patterns = taken.split()
        self.variadic = bool(patterns) and patterns[-1].endswith("*")
        self.inputs = tuple([frozenset(p.rstrip("*").split("|")) for p in patterns])
        self.outputs = tuple(given.split())
        self.function, self.when, self.mode = function, when, mode

    def matches(self, stypes: tuple[str, ...]) -> bool:
        """Whether inputs of these storages are what the row is for."""
        n = len(self.inputs)
        if len(stypes) != n and not (self.variadic and len(stypes) >= n - 1):
            return False
        return all(s in self.inputs[min(k, n - 1)] for k, s in enumerate(stypes))


class Op:
    """A row of the operator table: an array function plus the rules that go with it."""

    # fmt: off
    __slots__ = (
        "__dict__", "__weakref__", "aliases", "attributes", "calls", "choices", "copies_view",
        "dense", "doc", "dtype_rule", "grad_rule", "grad_stype", "hidden_outputs", "hint",
        "injects", "input_rule", "inplace", "inputs", "mutates", "name", "notes", "optional",
        "output_names", "outputs", "preparer", "rows", "scalar", "scalars", "shape_only",
        "shape_rule", "variadic", "view",
    )
    # fmt: on

    #: "nd" and "sym" -> the function users call, for operators that are not called as others are
    functions: Any = None
    #: (attributes, graphs inside) of a node in a symbol file -> its Call, for the same operators
    read: Any = None
    #: how many of the hidden outputs are our own, unknown to MXNet's symbol files
    unsaved = 0
    #: makes the operator that an executor has for itself, if it remembers something between runs
    instance: Any = None
    #: the graphs that the operator runs, as lists of heads
    graphs: Any = ()
    #: input -> what a variable made for it in a symbol asks to start as: an initializer's JSON
    starts: Any = None

    def __init__(self, function: Callable[..., Any], name: str | None = None, **options: Any):
        self.name: str = name or function.__name__
        self.dense = function
        self.doc = inspect.cleandoc(function.__doc__ or "")
        self.calls: dict[Any, Call] = {}
        self.choices: dict[tuple[str, ...], list[Row]] = {}  # by storages
        self.notes: dict[Any, Any] = {}  # what recording takes, for all numbers, see core.note
        self.rows: list[Row] = []
        self.shape_rule: Any = None
        self.dtype_rule: Any = None
        self.input_rule: Any = None
        self.preparer: Any = None
        self.grad_rule: Any = None
        self.grad_stype: str | None = None
        self._read_signature(function)
        self.aliases: tuple[str, ...] = tuple(options.pop("aliases", ()))
        self.outputs: Any = options.pop("outputs", 1)  # a number, or a function of the attributes
        self.hidden_outputs: Any = options.pop("hidden_outputs", 0)
        self.output_names: Any = options.pop("output_names", None)
        self.mutates: tuple[str, ...] = tuple(options.pop("mutates", ()))
        self.view: bool = options.pop("view", False)
        self.copies_view: bool = options.pop("copies_view", False)
        self.inplace: bool | str = options.pop("inplace", False)
        self.hint: str | None = options.pop("hint", None)
        self.scalar: bool = options.pop("scalar", False)
        self.shape_only: tuple[str, ...] = tuple(options.pop("shape_only", ()))
        grad = options.pop("grad", None)
        if grad == "zero":
            self.grad_rule = "zero"
        if options:
            raise TypeError(f"op {self.name}: unknown options {sorted(options)}")

    def _read_signature(self, function: Callable[..., Any]) -> None:
        inputs: list[str] = []
        optional: list[str] = []
        injects: list[str] = []
        scalars: list[str] = []
        self.variadic: str | None = None
        self.attributes: dict[str, tuple[AttributeType, Any]] = {}
        for name, kind, default, annotation in parameters(function):
            if kind == VARIADIC:
                self.variadic = name
            elif kind == PLACED:
                inputs.append(name)
                if default is None:
                    optional.append(name)
            elif name in INJECTED:
                injects.append(name)
            else:
                self.attributes[name] = attribute_type(annotation), default
                if annotation == "Scalar":
                    scalars.append(name)
        self.inputs: tuple[str, ...] = tuple(inputs)
        self.optional: tuple[str, ...] = tuple(optional)
        self.injects: tuple[str, ...] = tuple(injects)
        self.scalars: tuple[str, ...] = tuple(scalars)

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    # ---- what declarations attach

    def kernel(self, signature: str, *, when: Any = None, mode: str = "fcompute_ex") -> Any:
        """Decorate the kernel for inputs of these storages: ``"csr default -> default"``.

        ``when(**attrs)`` limits it to some attribute values. Rows are tried in their order.
        """

        def attach(function: Any) -> Any:
            self.rows.append(Row(signature, function, when, mode))
            return function

        return attach

    def runs_dense(self, *signatures: str, when: Any = None, mode: str = "fcompute_ex") -> None:
        """Say that inputs of these storages go to the dense kernel under this dispatch mode.

        Sparse inputs among them are densified on the way, without a warning.
        """
        for signature in signatures:
            self.rows.append(Row(signature, None, when, mode))

    def shape(self, rule: Any) -> Any:
        """Attach the shape rule: a function ``rule(s, **attrs)`` that states facts on ``s``."""
        self.shape_rule = rule
        return rule

    def dtype(self, rule: Any) -> Any:
        """Attach the dtype rule: ``rule(t, **attrs)`` stating facts on ``t``; absent: all alike."""
        self.dtype_rule = rule
        return rule

    def input_names(self, rule: Any) -> Any:
        """Attach ``rule(**attrs) -> names`` where the attributes decide what is taken."""
        self.input_rule = rule
        return rule

    def prepare(self, rule: Any) -> Any:
        """Attach ``rule(**attrs) -> kernel``: the dense kernel with these attributes worked in.

        For operators of which a few tenths of a microsecond matter; it computes what the body does.
        """
        self.preparer = rule
        return rule

    def grad(self, rule: Any = None, *, stype: str | None = None) -> Any:
        """Attach the gradient rule; ``stype`` fixes the storage its results are given in."""
        if rule is None:
            self.grad_stype = stype
            return self.grad
        self.grad_rule = rule
        return rule

    def choose(
        self, stypes: tuple[str, ...], hint: str | None, attrs: dict[str, Any]
    ) -> Row | None:
        """The first row for inputs of these storages that gives the storage asked for, if any."""
        rows = self.choices.get(stypes)
        if rows is None:
            rows = self.choices[stypes] = [row for row in self.rows if row.matches(stypes)]
        for row in rows:
            if (row.when is None or row.when(**attrs)) and hint in (None, row.outputs[0]):
                return row
        return None

    # ---- filled in by core.call

    @staticmethod
    def intern(op: Op, key: tuple[Any, ...]) -> Call:
        """The Call with these raw attribute values."""
        raise NotImplementedError

    # ---- how gradients are had (core.grad fills these in; graphs have their own)

    @staticmethod
    def gradient_of(call: Call, count: int) -> Any:
        """The traced gradient of a Call on ``count`` inputs."""
        raise NotImplementedError

    @staticmethod
    def pull(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        """Gradients of a tape node's inputs, as storages."""
        raise NotImplementedError

    @staticmethod
    def pull_recorded(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        """Gradients of a tape node's inputs, as recorded arrays."""
        raise NotImplementedError

    # ---- what follows from the declaration

    def call(self, **attrs: Any) -> Call:
        """The Call with these attributes; the same object for the same values."""
        if not attrs.keys() <= self.attributes.keys():
            from .explain import unknown_attribute

            raise unknown_attribute(self, next(n for n in attrs if n not in self.attributes))
        values = [(k, attrs.get(n, default)) for n, (k, default) in self.attributes.items()]
        key = tuple([v or str(v) if k.number else v for k, v in values])  # 0.0 == -0.0 == False
        try:
            return self.calls[key]
        except (KeyError, TypeError):  # new, or not hashable
            return self.intern(self, key)

    def names_of_inputs(self, attrs: dict[str, Any], count: int | None = None) -> tuple[str, ...]:
        """The names of the array inputs under these attributes (``count`` of them if variadic)."""
        ruled = None if self.input_rule is None else self.input_rule(**attrs)
        if ruled is not None:
            return tuple(ruled)
        if self.variadic:
            extra = (count or 0) - len(self.inputs)
            return (*self.inputs, *[f"arg{k}" for k in range(extra)])
        return self.inputs

    def count_outputs(self, attrs: dict[str, Any]) -> int:
        """How many outputs there are, hidden ones included."""
        return self.outputs if isinstance(self.outputs, int) else int(self.outputs(**attrs))

    def count_hidden(self, attrs: dict[str, Any]) -> int:
        """How many trailing outputs users do not see."""
        hidden = self.hidden_outputs
        return hidden if isinstance(hidden, int) else int(hidden(**attrs))

    def names_of_outputs(self, attrs: dict[str, Any]) -> tuple[str, ...]:
        """The suffixes of output names: ``output``, or ``output0``, ``output1``, ..."""
        if self.output_names is not None:
            names = self.output_names
            return tuple(names(**attrs)) if callable(names) else tuple(names)
        n = self.count_outputs(attrs)
        return ("output",) if n == 1 else tuple([f"output{k}" for k in range(n)])


def op(function: Any = None, **options: Any) -> Any:
    """Declare an operator. See the module's first lines for what a signature means.

    Options: ``name`` (else the function's), ``aliases``, ``outputs`` (number, or function of the
    attributes; kernels then return a tuple), ``hidden_outputs`` (trailing outputs users do not see,
    likewise),
    ``mutates`` (inputs written in place: auxiliary states), ``view`` (the result shares the first
    input's memory), ``copies_view`` (the dense kernel may return a view, of which users get a
    copy), ``scalar`` (the result may be 0-d where users see one element),
    ``inplace`` (the kernel may be given an input as ``out``; "reads": it reads what ``out`` holds,
    of any shape), ``hint``
    (the attribute that asks for an output storage), ``shape_only`` (inputs read only for their
    shape), ``grad="zero"``.
    """

    def declare(function: Any) -> Op:
        declared = Op(function, **options)
        for name in (declared.name, *declared.aliases):
            if name in registry:
                raise ValueError(f"operator {name} is declared twice")
            registry[name] = declared
        return declared

    return declare(function) if function is not None else declare
