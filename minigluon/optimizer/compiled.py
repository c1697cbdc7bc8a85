"""One compiled call that updates many parameters: dense ones, or rows of sparse ones.

An optimizer whose rule is one of `kernels.steps` says so by ``_rule``. The compiled functions look
at all their arrays first and refuse, having written nothing, if one is not as expected (another
type, not contiguous, another size, a row that is not stored). The operators do then what is left,
with the same results to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.plan import cache
from ..core.plan.codegen import LAYOUT, PRELUDE, TABLE
from ..kernels import steps
from ..kernels.scalar import DOUBLE, FLOAT
from ..storage import RowSparse

_KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}
_INT64 = np.dtype(np.int64)
#: the step from which on it is compiled: a short script need not wait 30 ms for a compiler
USES = 3


class Stepper:
    """Updates lists of parameters, and remembers what the last lists were like."""

    __slots__ = ("_numbers", "_parts", "_rule", "_run", "_settings", "_uses")

    def __init__(self) -> None:
        self._rule: Any = None
        self._run: Callable[..., int] | None = None
        self._parts: Any = None  # the numbers of the dense parameters, and of the sparse ones
        self._numbers: Any = None
        self._settings: Any = None
        self._uses = 0

    def __reduce__(self) -> Any:
        return Stepper, ()  # a copy finds out anew

    def step(
        self, optimizer: Any, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
        states: Sequence[Any],
    ) -> Sequence[int]:  # fmt: skip
        """Update what can be; the numbers of the parameters that were left alone."""
        self._uses += 1
        own = "update" in optimizer.__dict__ or "update_multi_precision" in optimizer.__dict__
        found = optimizer._rule() if self._uses >= USES and not own else None
        if found is None:
            return range(len(indices))
        rule, others, lazily = found
        before = optimizer.num_update
        for again in (False, True):
            if again or self._run is None or self._rule is not rule:
                if not self._prepare(rule, len(others), lazily, weights, grads, states):
                    break
                again = True
            count = len(self._parts[0]) + len(self._parts[1])
            if count != len(indices):
                continue
            lrs, wds = optimizer._rates(indices)
            numbers = (lrs, wds, others)
            if numbers != self._numbers:
                self._set(*numbers)
            try:
                done = self._run(weights, grads, states, *self._settings)
            except (AttributeError, TypeError, ValueError):  # other kinds of arrays than before
                done = 0
            left = self._parts[1] if done == 1 else range(len(indices)) if done == 0 else ()
            if not left:
                return left
            optimizer._uncount(
                [indices[k] for k in left],
                before,
                [indices[k] for k in range(count) if k not in left],
            )
            if done or again:
                return left
        return range(len(indices))

    def _prepare(
        self, rule: steps.Rule, others: int, lazily: tuple[type, ...], weights: Sequence[Any],
        grads: Sequence[Any], states: Sequence[Any],
    ) -> bool:  # fmt: skip
        """Choose the functions for lists like these; False if they are not for such arrays."""
        self._run = self._numbers = None
        self._rule = rule
        looks = [
            _look(w._data, g._data, s, lazily)
            for w, g, s in zip(weights, grads, states, strict=True)
        ]
        held = rule.__code__.co_argcount - 4 - others  # the rule's own states
        if any(look is None or look[1] != held for look in looks):
            return False
        kinds = {_KINDS.get(w._data.dtype) for w in weights}
        if None in kinds or len(kinds) != 1 or not cache.available():
            return False
        dense = [k for k, look in enumerate(looks) if look[0] == "dense"]  # type: ignore[index]
        sparse = [k for k, look in enumerate(looks) if look[0] != "dense"]  # type: ignore[index]
        self._parts = (dense, sparse)
        self._run = _runner(rule, kinds.pop(), tuple(looks))
        return self._run is not None

    def _set(self, lrs: Any, wds: Any, others: Any) -> None:
        """Rows of settings, a parameter each, the dense ones first."""
        order = [*self._parts[0], *self._parts[1]]
        self._numbers = (lrs, wds, others)
        rows = np.array([(lrs[k], wds[k], *others) for k in order], np.float64)
        cut = len(self._parts[0])
        self._settings = (rows[:cut], rows[cut:])


def _look(weight: Any, grad: Any, state: Any, lazily: tuple[type, ...]) -> Any:
    """How a parameter is stored, and how many states there are; None for what stays as it is."""
    held = () if state is None else state if type(state) is tuple else (state,)
    kinds = {type(getattr(x, "_data", None)) for x in held}
    shape = (len(held), type(state) is tuple)
    if type(grad) is type(weight) is np.ndarray and kinds <= {np.ndarray}:
        if any(np.may_share_memory(weight, x) for x in (grad, *[s._data for s in held])):
            return None  # the loops take it that arrays lie apart
        return ("dense", *shape)
    if type(grad) is RowSparse and type(weight) in lazily and kinds <= {type(weight)}:
        return ("rows" if type(weight) is np.ndarray else "row_sparse", *shape)
    return None


@lru_cache(maxsize=256)
def _runner(rule: steps.Rule, kind: str, looks: tuple[Any, ...]) -> Callable[..., int] | None:
    """``run(weights, grads, states, settings, settings)``: 0, or 1 if the dense ones were updated.

    2 if all were. It is made from text, so that reading forty arrays takes two microseconds.
    """
    states = looks[0][1]
    calls: dict[bool, list[str]] = {True: [], False: []}
    for k, (storage, count, packed) in enumerate(looks):
        held = [f"s{k}[{j}]" if packed else f"s{k}" for j in range(count)]
        whole = [f"{x}._data" for x in (f"w{k}", f"g{k}", *held)]
        if storage == "dense":
            calls[True] += whole
            continue
        calls[False] += [f"{whole[1]}.values", f"{whole[1]}.indices"]
        for x in (whole[0], *whole[2:]):
            calls[False] += [f"{x}.values", f"{x}.indices"] if storage != "rows" else [x, "None"]
    names = [", ".join(f"{x}{k}" for k in range(len(looks))) for x in "wgs"]
    lines = [f"{names[0]}, = weights", f"{names[1]}, = grads", f"{names[2]}, = states"]
    try:
        space = {
            "dense": cache.builtin(_module(rule, states, kind, _dense_part))
            if calls[True]
            else None,
            "rows": cache.builtin(_module(rule, states, kind, _rows_part))
            if calls[False]
            else None,
            "int64": _INT64,
        }
    except cache.CannotCompile:
        return None
    # what is not stored as it was shows before anything is changed
    lines += [f"d = {', '.join(calls[True])}," if calls[True] else "d = ()"]
    lines += [f"r = {', '.join(calls[False])}," if calls[False] else "r = ()"]
    if calls[True]:
        lines.append("if dense(settings, *d) is None: return 0")
    if calls[False]:
        lines.append(f"if rows(others, int64, *r) is None: return {int(bool(calls[True]))}")
    lines.append("return 2")
    body = "\n    ".join(lines)
    exec(f"def run(weights, grads, states, settings, others):\n    {body}\n", space)
    run: Callable[..., int] = space["run"]  # type: ignore[assignment]
    return run


def _module(rule: steps.Rule, states: int, kind: str, shape: Callable[..., str]) -> str:
    """A module with the function ``@part``, which updates the parameters it is called with."""
    arity = rule.__code__.co_argcount - 2 - states
    setting = "".join(
        f"  %cp{k} = getelementptr double, ptr %row, i64 {k}\n  %cd{k} = load double, ptr %cp{k}\n"
        + (
            f"  %c{k} = fptrunc double %cd{k} to float\n"
            if kind == FLOAT
            else f"  %c{k} = fadd double %cd{k}, 0x8000000000000000\n"
        )
        for k in range(arity)
    )
    row = (
        f"  %r0 = mul i64 %p, {arity}\n  %row = getelementptr double, ptr %settings, i64 %r0\n"
        f"{setting}"
    )
    numbers = ", ".join(f"{kind} %c{k}" for k in range(arity))
    loop = steps.loop(rule, states, arity, kind)
    return "\n".join([PRELUDE, _HELPERS, loop, shape(kind, states, row, numbers)])


_HELPERS = f"""
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i1 @plain(ptr %x, ptr %type, ptr %descr, i32 %needed) alwaysinline {{
start:
  %p0 = getelementptr i8, ptr %x, i64 {LAYOUT["type"]}
  %t = load ptr, ptr %p0
  %c0 = icmp eq ptr %t, %type
  br i1 %c0, label %array, label %no
array:
  %p1 = getelementptr i8, ptr %x, i64 {LAYOUT["descr"]}
  %d = load ptr, ptr %p1
  %c1 = icmp eq ptr %d, %descr
  %p3 = getelementptr i8, ptr %x, i64 {LAYOUT["flags"]}
  %f = load i32, ptr %p3
  %g = and i32 %f, %needed
  %c3 = icmp eq i32 %g, %needed
  %c = and i1 %c1, %c3
  ret i1 %c
no:
  ret i1 false
}}

define internal i64 @size(ptr %x) {{
start:
  %p0 = getelementptr i8, ptr %x, i64 {LAYOUT["ndim"]}
  %n32 = load i32, ptr %p0
  %n = sext i32 %n32 to i64
  %p1 = getelementptr i8, ptr %x, i64 {LAYOUT["shape"]}
  %dims = load ptr, ptr %p1
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %next
next:
  %i = phi i64 [0, %start], [%i1, %next]
  %m = phi i64 [1, %start], [%m1, %next]
  %q = getelementptr i64, ptr %dims, i64 %i
  %d = load i64, ptr %q
  %m1 = mul i64 %m, %d
  %i1 = add i64 %i, 1
  %last = icmp eq i64 %i1, %n
  br i1 %last, label %done, label %next
done:
  %r = phi i64 [1, %start], [%m1, %next]
  ret i64 %r
}}

define internal i1 @alike(ptr %x, ptr %y) {{
start:
  %p0 = getelementptr i8, ptr %x, i64 {LAYOUT["ndim"]}
  %q0 = getelementptr i8, ptr %y, i64 {LAYOUT["ndim"]}
  %n = load i32, ptr %p0
  %m = load i32, ptr %q0
  %same = icmp eq i32 %n, %m
  %wide = sext i32 %n to i64
  br i1 %same, label %look, label %no
look:
  %p1 = getelementptr i8, ptr %x, i64 {LAYOUT["shape"]}
  %q1 = getelementptr i8, ptr %y, i64 {LAYOUT["shape"]}
  %s = load ptr, ptr %p1
  %t = load ptr, ptr %q1
  br label %next
next:
  %i = phi i64 [0, %look], [%i1, %more]
  %over = icmp eq i64 %i, %wide
  br i1 %over, label %yes, label %more
more:
  %p2 = getelementptr i64, ptr %s, i64 %i
  %q2 = getelementptr i64, ptr %t, i64 %i
  %d = load i64, ptr %p2
  %e = load i64, ptr %q2
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %d, %e
  br i1 %c, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i64 @length(ptr %x) {{
start:
  %p0 = getelementptr i8, ptr %x, i64 {LAYOUT["ndim"]}
  %n = load i32, ptr %p0
  %none = icmp eq i32 %n, 0
  br i1 %none, label %zero, label %some
some:
  %p1 = getelementptr i8, ptr %x, i64 {LAYOUT["shape"]}
  %dims = load ptr, ptr %p1
  %d = load i64, ptr %dims
  ret i64 %d
zero:
  ret i64 -1
}}

define internal ptr @data(ptr %x) alwaysinline {{
  %p = getelementptr i8, ptr %x, i64 {LAYOUT["data"]}
  %d = load ptr, ptr %p
  ret ptr %d
}}

define internal ptr @argument(ptr %args, i64 %k) alwaysinline {{
  %p = getelementptr ptr, ptr %args, i64 %k
  %x = load ptr, ptr %p
  ret ptr %x
}}

define internal i64 @find(ptr %ids, i64 %n, i64 %id) {{
start:
  %in = icmp ult i64 %id, %n
  %whole = icmp eq ptr %ids, null
  br i1 %whole, label %direct, label %look
direct:
  %r = select i1 %in, i64 %id, i64 -1
  ret i64 %r
look:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %missing, label %guess
guess:
  %n1 = sub i64 %n, 1
  %lastp = getelementptr i64, ptr %ids, i64 %n1
  %last = load i64, ptr %lastp
  %all = icmp eq i64 %last, %n1
  br i1 %all, label %direct, label %search
search:
  %low = phi i64 [0, %guess], [%low1, %half]
  %high = phi i64 [%n, %guess], [%high1, %half]
  %open = icmp ult i64 %low, %high
  br i1 %open, label %half, label %found
half:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %mp = getelementptr i64, ptr %ids, i64 %mid
  %mv = load i64, ptr %mp
  %less = icmp slt i64 %mv, %id
  %mid1 = add i64 %mid, 1
  %low1 = select i1 %less, i64 %mid1, i64 %low
  %high1 = select i1 %less, i64 %high, i64 %mid
  br label %search
found:
  %inside = icmp ult i64 %low, %n
  br i1 %inside, label %compare, label %missing
compare:
  %fp = getelementptr i64, ptr %ids, i64 %low
  %fv = load i64, ptr %fp
  %same = icmp eq i64 %fv, %id
  %at = select i1 %same, i64 %low, i64 -1
  ret i64 %at
missing:
  ret i64 -1
}}
"""

# C-contiguous, aligned, and for what is written to: writable
_READ, _WRITE = 0x101, 0x501


def _entry(what: str) -> str:
    return f"call ptr @entry(ptr %table, i64 {TABLE.index(what)})"


def _frame(kind: str, first: int, each: int, check: str, run: str) -> str:
    """Two rounds over the parameters, ``each`` arguments long: look, then change."""
    float_type = "float32" if kind == FLOAT else "float64"
    return f"""
define ptr @part(ptr %self, ptr %args, i64 %count) {{
start:
  %tablep = getelementptr i8, ptr %self, i64 16
  %table = load ptr, ptr %tablep
  %ndarray = {_entry("ndarray")}
  %descr = {_entry(float_type)}
  %nothing = {_entry("None")}
  %inc = {_entry("Py_IncRef")}
  %given = call ptr @argument(ptr %args, i64 0)
  %settings = call ptr @data(ptr %given)
  %other = call ptr @argument(ptr %args, i64 1)
  %arrays = sub i64 %count, {first}
  %n = udiv i64 %arrays, {each}
  br label %check
check:
  %k = phi i64 [0, %start], [%k1, %checked]
  %k0 = mul i64 %k, {each}
  %base = add i64 %k0, {first}
  %at = getelementptr ptr, ptr %args, i64 %base
{check}
checked:
  %k1 = add i64 %k, 1
  %lastk = icmp eq i64 %k1, %n
  br i1 %lastk, label %change, label %check
change:
  %p = phi i64 [0, %checked], [%p1, %changed]
  %b0 = mul i64 %p, {each}
  %b1 = add i64 %b0, {first}
  %of = getelementptr ptr, ptr %args, i64 %b1
{run}
changed:
  %p1 = add i64 %p, 1
  %lastp = icmp eq i64 %p1, %n
  br i1 %lastp, label %done, label %change
done:
  call void %inc(ptr %given)
  ret ptr %given
refuse:
  call void %inc(ptr %nothing)
  ret ptr %nothing
}}
"""


def _dense_part(kind: str, states: int, row: str, numbers: str) -> str:
    """Arguments: settings, then weight, gradient and states of each parameter."""
    check, run = [], []
    for j in range(2 + states):
        needed = _READ if j == 1 else _WRITE
        check += [
            f"  %x{j} = call ptr @argument(ptr %at, i64 {j})",
            f"  %ok{j} = call i1 @plain(ptr %x{j}, ptr %ndarray, ptr %descr, i32 {needed})",
            f"  br i1 %ok{j}, label %fit{j}, label %refuse",
            f"fit{j}:",
            f"  %m{j} = call i64 @size(ptr %x{j})",
        ]
        if j:
            check += [
                f"  %e{j} = call i1 @alike(ptr %x{j}, ptr %x0)",
                f"  br i1 %e{j}, label %even{j}, label %refuse",
                f"even{j}:",
            ]
        run += [
            f"  %y{j} = call ptr @argument(ptr %of, i64 {j})",
            f"  %d{j} = call ptr @data(ptr %y{j})",
        ]
    pointers = ", ".join(f"ptr %d{j}" for j in range(2 + states))
    run += ["  %size = call i64 @size(ptr %y0)", row]
    run.append(f"  call void @step({pointers}, i64 %size, {numbers})\n  br label %changed")
    check.append("  br label %checked")
    return _frame(kind, 1, 2 + states, "\n".join(check), "\n".join(run))


def _rows_part(kind: str, states: int, row: str, numbers: str) -> str:
    """Arguments: settings, int64's dtype, then for each parameter values and ids of the gradient,
    of the weight and of the states; None instead of ids where all rows are there.
    """
    held = range(1 + states)
    check = [
        "  %g = call ptr @argument(ptr %at, i64 0)",
        "  %i = call ptr @argument(ptr %at, i64 1)",
        f"  %gok = call i1 @plain(ptr %g, ptr %ndarray, ptr %descr, i32 {_READ})",
        "  br i1 %gok, label %gfit, label %refuse",
        "gfit:",
        f"  %iok = call i1 @plain(ptr %i, ptr %ndarray, ptr %other, i32 {_READ})",
        "  br i1 %iok, label %ifit, label %refuse",
        "ifit:",
        "  %r = call i64 @size(ptr %i)",
        "  %gl = call i64 @length(ptr %g)",
        "  %same = icmp eq i64 %r, %gl",
        "  br i1 %same, label %counted, label %refuse",
        "counted:",
        "  %all = call i64 @size(ptr %g)",
        "  %empty = icmp eq i64 %r, 0",
        "  br i1 %empty, label %checked, label %some",
        "some:",
        "  %c = udiv i64 %all, %r",
        "  %ids = call ptr @data(ptr %i)",
    ]
    run = [
        "  %yg = call ptr @argument(ptr %of, i64 0)",
        "  %yi = call ptr @argument(ptr %of, i64 1)",
        "  %count1 = call i64 @size(ptr %yi)",
        "  %void = icmp eq i64 %count1, 0",
        "  br i1 %void, label %changed, label %rows",
        "rows:",
        "  %total = call i64 @size(ptr %yg)",
        "  %width = udiv i64 %total, %count1",
        "  %gd = call ptr @data(ptr %yg)",
        "  %id = call ptr @data(ptr %yi)",
        row,
    ]
    for j in held:
        check += _check_held(j)
        run += _held_pointers(j)
    run += [
        "  br label %each",
        "each:",
        "  %q = phi i64 [0, %" + f"known{states}" + "], [%q1, %each]",
        "  %idp = getelementptr i64, ptr %id, i64 %q",
        "  %idv = load i64, ptr %idp",
        "  %go = mul i64 %q, %width",
        f"  %gp = getelementptr {kind}, ptr %gd, i64 %go",
        *_prefetches(kind, held),
    ]
    for j in held:
        run += [
            f"  %pos{j} = call i64 @find(ptr %hi{j}, i64 %hn{j}, i64 %idv)",
            f"  %o{j} = mul i64 %pos{j}, %width",
            f"  %hp{j} = getelementptr {kind}, ptr %hd{j}, i64 %o{j}",
        ]
    pointers = ", ".join(["ptr %hp0", "ptr %gp", *[f"ptr %hp{j}" for j in held[1:]]])
    run += [
        f"  call void @step({pointers}, i64 %width, {numbers})",
        "  %q1 = add i64 %q, 1",
        "  %lastq = icmp eq i64 %q1, %count1",
        "  br i1 %lastq, label %changed, label %each",
    ]
    check.append("  br label %checked")
    return _frame(kind, 2, 2 * (2 + states), "\n".join(check), "\n".join(run))


#: so many rows ahead memory is asked for what is updated
_AHEAD = 16


def _prefetches(kind: str, held: range) -> list[str]:
    """Ask for both ends of a row to come, for the case that all rows are stored.

    Rows lie far apart, and a step is too long for the processor to look ahead by itself: Ftrl on
    5k rows of 2 out of 1M takes half the time.
    """
    lines = [
        f"  %ahead = add i64 %q, {_AHEAD}",
        "  %inside = icmp ult i64 %ahead, %count1",
        "  %near = select i1 %inside, i64 %ahead, i64 %q",
        "  %nidp = getelementptr i64, ptr %id, i64 %near",
        "  %nid = load i64, ptr %nidp",
        "  %first = mul i64 %nid, %width",
        "  %beyond = add i64 %first, %width",
        "  %last = sub i64 %beyond, 1",
    ]
    for j in held:
        for end in ("first", "last"):
            at = f"%n{end}{j}"
            lines += [
                f"  {at} = getelementptr {kind}, ptr %hd{j}, i64 %{end}",
                f"  call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)",
            ]
    return lines


def _check_held(j: int) -> list[str]:
    """Whether values and ids of the weight or of a state fit, and every row is there."""
    v, i = 2 + 2 * j, 3 + 2 * j
    return [
        f"  %v{j} = call ptr @argument(ptr %at, i64 {v})",
        f"  %h{j} = call ptr @argument(ptr %at, i64 {i})",
        f"  %vok{j} = call i1 @plain(ptr %v{j}, ptr %ndarray, ptr %descr, i32 {_WRITE})",
        f"  br i1 %vok{j}, label %vfit{j}, label %refuse",
        f"vfit{j}:",
        f"  %vl{j} = call i64 @length(ptr %v{j})",
        f"  %vs{j} = call i64 @size(ptr %v{j})",
        f"  %vw{j} = mul i64 %vl{j}, %c",
        f"  %vc{j} = icmp eq i64 %vw{j}, %vs{j}",
        f"  br i1 %vc{j}, label %wide{j}, label %refuse",
        f"wide{j}:",
        f"  %whole{j} = icmp eq ptr %h{j}, %nothing",
        f"  br i1 %whole{j}, label %ready{j}, label %listed{j}",
        f"listed{j}:",
        f"  %hok{j} = call i1 @plain(ptr %h{j}, ptr %ndarray, ptr %other, i32 {_READ})",
        f"  br i1 %hok{j}, label %hfit{j}, label %refuse",
        f"hfit{j}:",
        f"  %hs{j} = call i64 @size(ptr %h{j})",
        f"  %hc{j} = icmp eq i64 %hs{j}, %vl{j}",
        f"  %hd{j}c = call ptr @data(ptr %h{j})",
        f"  br i1 %hc{j}, label %ready{j}, label %refuse",
        f"ready{j}:",
        f"  %where{j} = phi ptr [null, %wide{j}], [%hd{j}c, %hfit{j}]",
        f"  br label %row{j}",
        f"row{j}:",
        f"  %z{j} = phi i64 [0, %ready{j}], [%z{j}n, %there{j}]",
        f"  %zp{j} = getelementptr i64, ptr %ids, i64 %z{j}",
        f"  %zv{j} = load i64, ptr %zp{j}",
        f"  %zf{j} = call i64 @find(ptr %where{j}, i64 %vl{j}, i64 %zv{j})",
        f"  %zm{j} = icmp sge i64 %zf{j}, 0",
        f"  br i1 %zm{j}, label %there{j}, label %refuse",
        f"there{j}:",
        f"  %z{j}n = add i64 %z{j}, 1",
        f"  %zl{j} = icmp eq i64 %z{j}n, %r",
        f"  br i1 %zl{j}, label %held{j}, label %row{j}",
        f"held{j}:",
    ]


def _held_pointers(j: int) -> list[str]:
    v, i = 2 + 2 * j, 3 + 2 * j
    return [
        f"  %hv{j} = call ptr @argument(ptr %of, i64 {v})",
        f"  %hx{j} = call ptr @argument(ptr %of, i64 {i})",
        f"  %hn{j} = call i64 @length(ptr %hv{j})",
        f"  %hd{j} = call ptr @data(ptr %hv{j})",
        f"  %hw{j} = icmp eq ptr %hx{j}, %nothing",
        f"  br i1 %hw{j}, label %known{j}, label %ids{j}",
        f"ids{j}:",
        f"  %hxd{j} = call ptr @data(ptr %hx{j})",
        f"  br label %known{j}",
        f"known{j}:",
        f"  %hi{j} = phi ptr [null, %{'rows' if j == 0 else f'known{j - 1}'}], [%hxd{j}, %ids{j}]",
    ]
