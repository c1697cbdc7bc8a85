"""The functions of ``nd`` and ``sym``: one per operator, made from the table on first use."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from ..context import usable
from .call import Call, intern
from .invoke import invoke, runner, wrap, wrap_many
from .op import REQUIRED, Op, registry
from .state import state
from .store import store


class _Null:
    """The default of attributes in ``sym`` functions: not given."""

    def __repr__(self) -> str:
        return "_Null"

    def __bool__(self) -> bool:
        return False


NULL = _Null()

#: prefix of an operator's name -> the namespace it shows up in without the prefix
PREFIXES = {
    "random": ("_random_", "_sample_"),
    "linalg": ("_linalg_",),
    "contrib": ("_contrib_",),
    "image": ("_image_",),
    "sparse": ("_sparse_",),
}


def find(name: str, space: str = "") -> Op | None:
    """The operator a name means inside a namespace (``""`` for ``nd`` itself)."""
    for prefix in PREFIXES.get(space, ()):
        if prefix + name in registry:
            return registry[prefix + name]
    if space in ("", "_internal", "op", "sparse"):
        return registry.get(name)
    return None


def names(space: str = "") -> list[str]:
    """The public names a namespace gets from the operator table."""
    prefixes = PREFIXES.get(space)
    if prefixes:
        return sorted(n[len(p) :] for n in registry for p in prefixes if n.startswith(p))
    if space == "_internal":
        return sorted(n for n in registry if n.startswith("_"))
    return sorted(n for n in registry if not n.startswith("_"))


def operator_namespace(
    module: dict[str, Any], kind: str, space: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for a module whose functions are operators.

    ``kind`` is "nd" or "sym"; ``module`` the module's globals, where made functions are kept.
    """
    make = make_nd if kind == "nd" else make_sym

    def __getattr__(name: str) -> Any:
        found = None if name.startswith("__") else find(name, space)
        if found is None:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        own = found.functions
        function = module[name] = make(found, name) if own is None else own[kind]
        if own is None:
            function.__module__ = module["__name__"]
        return function

    def __dir__() -> list[str]:
        return sorted({*module, *names(space)})

    return __getattr__, __dir__


def _key(op: Op) -> str:
    """The tuple of attribute values; zeros as text, for 0.0, -0.0 and False are equal."""
    parts = []
    for name, (kind, _) in op.attributes.items():
        parts.append(f"{name} or str({name})" if kind.number else name)
    return "(" + "".join(p + ", " for p in parts) + ")"


def make_nd(op: Op, name: str) -> Callable[..., Any]:
    """The ``nd`` function of an operator: reads its Call from the table and invokes it."""
    environment: dict[str, Any] = {
        "op": op, "calls": op.calls, "intern": intern, "invoke": invoke, "create": create,
        "refuse": _refuse_unknown, "trim": trim, "present": present, "REQUIRED": REQUIRED,
        "gather": _gather, "miscount": _miscount,
    }  # fmt: skip
    for attribute, (_, default) in op.attributes.items():
        environment[f"default_{attribute}"] = default
    shown = {n: f"default_{n}" for n in op.attributes}
    attrs = [f"{n}={shown[n]}" for n in op.attributes]
    if op.variadic:
        parameters = [f"*{op.variadic}", *attrs]
        inputs = f"gather(op, {op.variadic}, extra)"
    else:
        parameters = [*[f"{n}=None" for n in op.inputs], *attrs]
        inputs = "(" + "".join(n + ", " for n in op.inputs) + ")"
        if op.input_rule is not None:
            inputs = f"present(call, {inputs})"
        elif op.optional:
            inputs = f"trim({inputs})"
    lines = []
    if op.attributes:
        key = _key(op)
        lines += [
            f"try: call = calls[{key}]",
            f"except (KeyError, TypeError): call = intern(op, {key})",
        ]
        defaults = [default for _, default in op.attributes.values()]
        if REQUIRED not in defaults and all(d is None or isinstance(d, bool) for d in defaults):
            environment["plain"] = op.call()  # comparing takes 0.05 us less than looking up
            tests = [f"{n} is {default}" for n, (_, default) in op.attributes.items()]
            lines = [f"    {line}" for line in lines]
            lines = [f"if {' and '.join(tests)}: call = plain", "else:", *lines]
    else:
        environment["call"] = op.call()
    if op.variadic:
        lines.append(f"arrays = {inputs}")
        for n in [n for n in COUNTS if n in op.attributes]:
            lines.append(f"if {n} != len(arrays): miscount(op, {n!r}, {n}, arrays)")
        inputs = "arrays"
    lines.append("if extra: refuse(op, extra)")
    tail = [f"{n}=None" for n in ("out", "name") if n not in op.inputs]  # some gradients take `out`
    tail.append("**extra")
    if op.inputs or op.variadic:
        if not op.variadic:  # all of them, and nowhere to put the result: the short way
            environment["run"] = runner(len(op.inputs))
            may_miss = op.inputs[1:] if op.input_rule is not None else op.optional
            tests = [f"{n} is not None" for n in may_miss]
            tests += ["out is None"] if "out" not in op.inputs else []
            tests += [f"call.takes == {len(op.inputs)}"] if op.input_rule is not None else []
            run = f"return run(call, {', '.join(op.inputs)})"
            lines.append(f"if {' and '.join(tests)}: {run}" if tests else run)
        lines.append(f"return invoke(call, {inputs}{', out' if 'out' not in op.inputs else ''})")
    else:
        lines.append("return create(call, ctx, out)")
        # MXNet's order: the context comes before the dtype
        place = list(op.attributes).index("dtype") if "dtype" in op.attributes else len(parameters)
        parameters.insert(place, "ctx=None")
    safe = name if name.isidentifier() and not keyword.iskeyword(name) else "operator"
    body = "\n    ".join(lines)
    text = f"def {safe}({', '.join([*parameters, *tail])}):\n    {body}\n"
    exec(compile(text, f"<nd.{name}>", "exec"), environment)
    return _dressed(environment[safe], op, name)


def make_sym(op: Op, name: str) -> Callable[..., Any]:
    """The ``sym`` function of an operator: makes a Node and names it after the function."""
    from .compose import compose

    environment: dict[str, Any] = {"op": op, "compose": compose, "NULL": NULL}
    attrs = [f"{n}=NULL" for n in op.attributes]
    if op.variadic:
        parameters = [f"*{op.variadic}", *attrs]
        inputs = op.variadic
    else:
        parameters = [*[f"{n}=None" for n in op.inputs], *attrs]
        inputs = "(" + "".join(n + ", " for n in op.inputs) + ")"
    given = "{" + ", ".join(f"{n!r}: {n}" for n in op.attributes) + "}"
    safe = name if name.isidentifier() and not keyword.iskeyword(name) else "operator"
    tail = [f"{n}=None" for n in ("name", "attr", "out") if n not in op.inputs]
    text = (
        f"def {safe}({', '.join([*parameters, *tail, '**extra'])}):\n"
        f"    return compose(op, {inputs}, {given}, name, attr, extra, {name!r})\n"
    )
    exec(compile(text, f"<sym.{name}>", "exec"), environment)
    return _dressed(environment[safe], op, name)


def _dressed(function: Any, op: Op, name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.doc
    return function  # type: ignore[no-any-return]


def trim(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs without those left out at the end."""
    n = len(inputs)
    while n and inputs[n - 1] is None:
        n -= 1
    return inputs[:n]


def present(call: Call, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs that are given, of an operator whose attributes say which these are."""
    given = tuple([x for x in inputs if x is not None])
    if len(given) != call.takes and all(hasattr(x, "_data") for x in given):
        from .explain import explain, too_many

        if len(given) < call.takes:
            raise explain(call, given, ValueError("there are too few arrays"))
        names = call.op.names_of_inputs(call.attrs)
        raise too_many(call.op, names, [n for n in call.op.inputs if n not in names])
    return given


#: attributes that say how many arrays a variadic operator is given
COUNTS = ("num_arrays", "num_outputs", "num_args")


def _miscount(op: Op, count: str, value: Any, arrays: tuple[Any, ...]) -> None:
    """Another number of arrays than an attribute says is an error."""
    from .explain import miscounted

    given = value is not REQUIRED and not (count == "num_args" and value == 0)
    if given and int(value) != len(arrays):
        raise miscounted(op, count, value, len(arrays))


def _gather(op: Op, arrays: tuple[Any, ...], extra: dict[str, Any]) -> tuple[Any, ...]:
    """The arrays of a variadic operator, given one by one or as one list (``data=[a, b]``)."""
    count = extra.pop("num_args", None)
    named = extra.pop(op.variadic or "", None)
    if named is not None:
        arrays = (*arrays, *(named if isinstance(named, list | tuple) else (named,)))
    if len(arrays) == 1 and isinstance(arrays[0], list | tuple):
        arrays = tuple(arrays[0])
    if count is not None:
        _miscount(op, "num_args", count, arrays)
    return arrays


def _refuse_unknown(op: Op, extra: dict[str, Any]) -> None:
    """Unknown keywords are an error, except on operators without attributes, as in MXNet."""
    from .explain import unknown_attribute

    extra.pop("attr", None)
    if extra.get("dtype", op) is None:
        del extra["dtype"]  # np.mean(x) asks for x.mean(axis=None, dtype=None, out=None)
    if extra and op.attributes:
        raise unknown_attribute(op, next(iter(extra)))


def create(call: Call, ctx: Any, out: Any) -> Any:
    """Run an operator that takes no arrays, on a context."""
    if out is not None:
        ctx = out._ctx if not isinstance(out, list | tuple) else out[0]._ctx
    ctx = usable(ctx)
    with ctx:
        kernel = call.memo.get(()) or call.kernel(())
        try:
            if call.op.inplace and out is not None:
                state.quietly(kernel, out=out._data)
                return out
            result = state.quietly(kernel)
        except Exception as error:
            from .explain import explain

            raise explain(call, (), error) from error
    if out is not None:
        several = isinstance(out, list | tuple)
        for x, r in zip(out, result, strict=False) if several else ((out, result),):
            store(x, r)
        return out
    if type(result) is tuple:
        return wrap_many(result[: call.visible], ctx, None)
    return wrap(result, ctx)
