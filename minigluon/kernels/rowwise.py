"""Loops over the rows of several matrices that do one computation for every element, compiled.

What is computed is written with the Values of `scalar`, so that gates of recurrent cells have the
vectorised functions that plans have, in one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from . import _llvm, scalar
from .scalar import Block, Value

_KIND = {"float32": scalar.FLOAT, "float64": scalar.DOUBLE}


class Rowwise:
    """A loop over matrices, compiled for a dtype.

    ``body`` gets a Value for every operand that is read, by name, and returns those of the
    operands that are written. Operands may not overlap, unless they are one and the same matrix.
    """

    def __init__(
        self, dtype: str, reads: list[str], writes: list[str],
        body: Callable[[dict[str, Value]], dict[str, Value]],
    ):  # fmt: skip
        self.operands = list(dict.fromkeys([*reads, *writes]))
        kind = _KIND[dtype]
        block = Block()
        values = {n: Value(block, kind, f"%read_{n}") for n in reads}
        results = body(values)
        names = self.operands
        arguments = ", ".join(f"ptr noalias %{n}" for n in names)
        lines = [f"define internal void @row(i64 %columns, {arguments}) noinline {{"]
        lines += ["start:", "br label %loop", "loop:", "%k = phi i64 [0, %start], [%k1, %loop]"]
        for n in names:
            lines.append(f"%at_{n} = getelementptr {kind}, ptr %{n}, i64 %k")
        lines += [f"%read_{n} = load {kind}, ptr %at_{n}" for n in reads]
        lines += block.lines
        lines += [f"store {kind} {results[n].name}, ptr %at_{n}" for n in writes]
        lines += ["%k1 = add i64 %k, 1", "%end = icmp sge i64 %k1, %columns"]
        lines += ["br i1 %end, label %done, label %loop", "done:", "ret void", "}"]
        lines += ["define void @rows(i64 %table_, i64 %rows, i64 %columns) {", "start:"]
        lines += ["%table = inttoptr i64 %table_ to ptr"]
        for place, n in enumerate(names):
            lines += [
                f"%a_{n} = getelementptr i64, ptr %table, i64 {2 * place}",
                f"%p_{n} = load ptr, ptr %a_{n}",
                f"%b_{n} = getelementptr i64, ptr %table, i64 {2 * place + 1}",
                f"%s_{n} = load i64, ptr %b_{n}",
            ]
        lines += ["br label %loop", "loop:", "%r = phi i64 [0, %start], [%r1, %loop]"]
        for n in names:
            lines.append(f"%o_{n} = mul i64 %r, %s_{n}")
            lines.append(f"%q_{n} = getelementptr i8, ptr %p_{n}, i64 %o_{n}")
        passed = ", ".join(f"ptr %q_{n}" for n in names)
        lines += [f"call void @row(i64 %columns, {passed})", "%r1 = add i64 %r, 1"]
        lines += ["%end = icmp sge i64 %r1, %rows", "br i1 %end, label %done, label %loop"]
        lines += ["done:", "ret void", "}"]
        text = scalar.declarations() + "\n" + "\n".join(lines) + "\n"
        self._run = _llvm.Module(text).function("rows", 3)

    def table(self, steps: int, **operands: Any) -> Any:
        """Where operands lie at each step: arrays ``(steps, rows, columns)``, rows dense.

        What has one step is the same for all, and a vector the same for every row as well. The
        caller keeps the arrays alive.
        """
        made = np.empty((steps, len(self.operands), 2), np.int64)
        for place, name in enumerate(self.operands):
            x = operands[name]
            by_step, by_row = (0, 0) if x.ndim == 1 else x.strides[:2]
            by_step = 0 if len(x) == 1 else by_step
            made[:, place, 0] = x.ctypes.data + np.arange(steps) * by_step
            made[:, place, 1] = by_row
        return made

    def delay(self, table: Any, name: str, first: Any) -> None:
        """Have each step see an operand as it was a step before, and the first one a matrix."""
        place = self.operands.index(name)
        table[1:, place] = table[:-1, place].copy()
        table[0, place] = first.ctypes.data, first.strides[0]

    def steps(self, table: Any, rows: int, columns: int) -> list[Any]:
        """What to call for each step of a `table`, on matrices of so many rows and columns."""
        run, first, pitch = self._run, table.ctypes.data, table.strides[0]
        return [partial(run, first + t * pitch, rows, columns) for t in range(len(table))]
