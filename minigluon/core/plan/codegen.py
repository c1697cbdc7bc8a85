"""LLVM instructions for parts of a plan: one C function a part, called by Python as a builtin.

The function is handed the arguments as Python passes them. It returns None unless each array it
reads is a C-contiguous one of the shape and type the plan was made for; else it makes the results,
runs the loops and returns a tuple. Everything that differs between processes (addresses) comes from
a table, so that the object code can be kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels import scalar
from ...kernels.scalar import DOUBLE, FLOAT, INT, Block, Value
from . import blas
from .loops import (
    Array,
    Loop,
    Shape,
    collapse,
    elements,
    operand_strides,
    ordered,
    result_strides,
    schedule,
)  # fmt: skip
from .prelude import LAYOUT, PRELUDE, TABLE, THREADS

_TYPE_NUMBERS = {FLOAT: 11, DOUBLE: 12}
_WIDTH = {FLOAT: 4, DOUBLE: 8, INT: 4}
#: scratch beyond this is taken from the heap, and loops beyond this let other threads run
_STACK, _ALONE = 1 << 15, 1 << 17
#: loops that compute so many numbers are shared out between threads: starting one takes 20 us, and
#: 4 million numbers take 70 (sums of products) to 110 (exponentials and sines)
SHARED = 1 << 22


class Part:
    """A part of a plan to be compiled.

    ``count`` arguments are passed; ``inputs`` are those that are read, by number. ``results`` are
    Arrays, the number of an argument that is handed back, or None. ``targets`` are Arrays that are
    written into arguments, by number; these must not share memory with any other argument.
    """

    __slots__ = ("count", "inputs", "joins", "loops", "results", "targets")

    def __init__(
        self, count: int, inputs: dict[int, Array], results: Sequence[Array | int | None],
        targets: dict[int, Array] | None = None,
    ):  # fmt: skip
        self.count, self.inputs, self.results = count, inputs, list(results)
        self.targets = targets or {}
        made = [r for r in self.results if isinstance(r, Array)]
        self.loops = schedule([*made, *self.targets.values()])
        self.joins = [a for a in ordered([*made, *self.targets.values()]) if a.role == "join"]

    @property
    def size(self) -> int:
        """How many elements the loops go over, in all."""
        return sum(loop.work for loop in self.loops)


def storage_kind(array: Array) -> str:
    """The type an array is stored in: sums as they were added up, maxima as what was compared."""
    if array.role == "reduce":
        return DOUBLE if array.detail[0] == "sum" else INT
    return array.kind


def module(part: Part) -> str:
    """The text of a module with the function ``@part``."""
    shapes: dict[Shape, str] = {}
    text = _Function(part, shapes).text()
    constants = [
        f"@{name} = private constant [{max(len(shape), 1)} x i64] "
        f"[{', '.join(f'i64 {d}' for d in shape or (0,))}]"
        for shape, name in shapes.items()
    ]
    return "\n".join([*constants, PRELUDE, text])


class _Function:
    """The text of one part: guards, results, scratch, loops, and the tuple."""

    def __init__(self, part: Part, shapes: dict[Shape, str]):
        self.part, self.shapes = part, shapes
        self.lines: list[str] = []
        self.stack: list[str] = []  # scratch in the first block, where LLVM finds it
        self.places: dict[int, str] = {}  # id of an Array with memory -> its pointer
        self.made: dict[int, str] = {}  # id of a result's Array -> the new array
        self.flag = ""  # not zero where a loop refuses
        self.numbers = 0

    def say(self, text: str) -> None:
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        self.numbers += 1
        self.say(f"%t{self.numbers} = {text}")
        return f"%t{self.numbers}"

    def entry(self, what: str) -> str:
        return self.new(f"call ptr @entry(ptr %table, i64 {TABLE.index(what)})")

    def shape(self, shape: Shape) -> str:
        return self.shapes.setdefault(shape, f"shape{len(self.shapes)}")

    def text(self) -> str:
        loops = [
            self._loop(k, loop) if loop.product is None else None
            for k, loop in enumerate(self.part.loops)
        ]
        bodies = [loop.text for loop in loops if loop is not None]
        self.say("%tablep = getelementptr i8, ptr %self, i64 16")
        self.say("%table = load ptr, ptr %tablep")
        self._guard()
        self._results()
        heap = self._scratch()
        for join in self.part.joins:
            self.places.update({id(part): self.places[id(join)] for part in join.sources})
        large = self.part.size > _ALONE
        if large:
            saved = self.new(f"call ptr {self.entry('PyEval_SaveThread')}()")
        self._run(loops)
        if large:
            self.say(f"call void {self.entry('PyEval_RestoreThread')}(ptr {saved})")
        if heap:
            self.say(f"call void {self.entry('PyMem_RawFree')}(ptr {heap})")
        self._finish()
        body = "\n".join([*self.stack, *self.lines])
        head = "define ptr @part(ptr %self, ptr %args, i64 %count) {\nstart:"
        none = TABLE.index("None")
        tail = (
            f"refuse:\n  %none = call ptr @entry(ptr %table, i64 {none})\n"
            f"  %inc = call ptr @entry(ptr %table, i64 {TABLE.index('Py_IncRef')})\n"
            "  call void %inc(ptr %none)\n  ret ptr %none\nfail:\n  ret ptr null\n}"
        )
        return "\n".join([*bodies, f"{head}\n{body}\n{tail}\n"])

    def _branch(self, condition: str, otherwise: str) -> None:
        self.numbers += 1
        label = f"go{self.numbers}"
        self.say(f"br i1 {condition}, label %{label}, label %{otherwise}")
        self.lines.append(f"{label}:")

    def argument(self, k: int) -> str:
        place = self.new(f"getelementptr ptr, ptr %args, i64 {k}")
        return self.new(f"load ptr, ptr {place}")

    def data(self, array: str) -> str:
        place = self.new(f"getelementptr i8, ptr {array}, i64 {LAYOUT['data']}")
        return self.new(f"load ptr, ptr {place}")

    def _guard(self) -> None:
        self._branch(self.new(f"icmp eq i64 %count, {self.part.count}"), "refuse")
        if not self.part.inputs and not self.part.targets:
            return
        kind = self.entry("ndarray")
        descr = {FLOAT: self.entry("float32"), DOUBLE: self.entry("float64")}
        for k, array in {**self.part.inputs, **self.part.targets}.items():
            x = self.argument(k)
            fits = self.new(
                f"call i1 @fits(ptr {x}, ptr {kind}, ptr {descr[array.kind]}, "
                f"i32 {len(array.shape)}, ptr @{self.shape(array.shape)})"
            )
            self._branch(fits, "refuse")
            self.places[id(array)] = self.data(x)
            if k in self.part.targets:
                place = self.new(f"getelementptr i8, ptr {x}, i64 {LAYOUT['flags']}")
                flags = self.new(f"load i32, ptr {place}")
                writable = self.new(f"and i32 {flags}, 1024")
                self._branch(self.new(f"icmp ne i32 {writable}, 0"), "refuse")
        self._guard_apart()

    def _guard_apart(self) -> None:
        """Refuse targets that overlap with each other or with inputs."""
        targets = list(self.part.targets.values())
        if not targets:
            return
        arrays = [*targets, *self.part.inputs.values()]
        self.stack.append(f"  %memory = alloca [{len(arrays)} x ptr], align 16")
        for k, array in enumerate(arrays):
            place = self.new(f"getelementptr ptr, ptr %memory, i64 {k}")
            self.say(f"store ptr {self.places[id(array)]}, ptr {place}")
        sizes = tuple([elements(a.shape) * _WIDTH[a.kind] for a in arrays])
        apart = self.new(
            f"call i1 @apart(ptr %memory, ptr @{self.shape(sizes)}, i64 {len(targets)}, "
            f"i64 {len(arrays)})"
        )
        self._branch(apart, "refuse")

    def _results(self) -> None:
        arrays = {id(r): r for r in self.part.results if isinstance(r, Array)}.values()
        if not arrays:
            return
        make, kind = self.entry("PyArray_New"), self.entry("ndarray")
        for array in arrays:
            x = self.new(
                f"call ptr {make}(ptr {kind}, i32 {len(array.shape)}, "
                f"ptr @{self.shape(array.shape)}, i32 {_TYPE_NUMBERS[array.kind]}, ptr null, "
                "ptr null, i32 0, i32 0, ptr null)"
            )
            self._branch(self.new(f"icmp ne ptr {x}, null"), "fail")
            self.made[id(array)] = x
            self.places[id(array)] = self.data(x)

    def _scratch(self) -> str | None:
        """Memory for what is stored but not a result; the pointer to give back, if any."""
        offsets: list[tuple[Array, int]] = []
        total = 0
        made = [a for loop in self.part.loops for a in loop.arrays if a.into is None]
        for array in [*made, *self.part.joins]:
            if array.stored and id(array) not in self.places:
                offsets.append((array, total))
                size = elements(array.shape) * _WIDTH[storage_kind(array)]
                total += -(-size // 64) * 64
        if not total:
            return None
        if total <= _STACK:
            for array, _ in offsets:  # one each, so that small ones end up in registers
                size, name = elements(array.shape), f"%s{len(self.stack)}"
                self.stack.append(f"  {name} = alloca [{size} x {storage_kind(array)}], align 64")
                self.places[id(array)] = name
            return None
        heap = self.new(f"call ptr {self.entry('PyMem_RawMalloc')}(i64 {total})")
        self._branch(self.new(f"icmp ne ptr {heap}, null"), "fail")
        for array, offset in offsets:
            self.places[id(array)] = self.new(f"getelementptr i8, ptr {heap}, i64 {offset}")
        return heap

    def _run(self, loops: Sequence[_Written | None]) -> None:
        for k, loop in enumerate(loops):
            if loop is None:
                self._multiply(self.part.loops[k].arrays[0])
                continue
            for array in self.part.loops[k].arrays:
                if array.role == "reduce":
                    self._start(array)
            pointers = [self.places[id(a)] for a in loop.touched]
            if loop.length:
                outcome = self._share(k, pointers, loop.length)
            else:
                outcome = self.new(f"call i32 @loop{k}({', '.join(f'ptr {p}' for p in pointers)})")
            if loop.beyond:
                self.flag = self.new(f"or i32 {self.flag}, {outcome}") if self.flag else outcome

    def _multiply(self, product: Array) -> None:
        """Have BLAS compute a product: of a matrix and a vector, if one of them is one."""
        products = blas.found()
        assert products is not None
        whole, kind = products[0], product.kind
        letter = "s" if kind == FLOAT else "d"
        (rows, columns), (a, b) = product.shape, product.sources
        inner, (how_a, how_b) = a.shape[1], product.detail
        zero, one = f"{kind} 0.0", f"{kind} 1.0"
        x, y = self._place(a), self._place(b)
        out = f"ptr {self.places[id(product)]}"
        mode = {False: f"i32 {blas.PLAIN}", True: f"i32 {blas.TURNED}"}
        if rows > 1 and columns > 1:
            self.say(
                f"call void {self.entry(letter + 'gemm')}(i32 {blas.ROWS}, {mode[how_a[0]]}, "
                f"{mode[how_b[0]]}, {whole} {rows}, {whole} {columns}, {whole} {inner}, {one}, "
                f"ptr {x}, {whole} {how_a[1]}, ptr {y}, {whole} {how_b[1]}, {zero}, {out}, "
                f"{whole} {columns})"
            )
            return
        # some BLAS multiply what is there by zero, were it NaN
        width = elements(product.shape) * _WIDTH[kind]
        self.say(f"call void @llvm.memset.p0.i64({out}, i8 0, i64 {width}, i1 false)")
        # the matrix lies in rows of `step`, of which the vector is multiplied with all or across
        if columns == 1:
            matrix, vector, (turned, step), high, wide = x, y, how_a, rows, inner
            gap = how_b[1] if not how_b[0] else 1
        else:
            matrix, vector, (turned, step), high, wide = (
                y,
                x,
                (not how_b[0], how_b[1]),
                columns,
                inner,
            )
            gap = how_a[1] if how_a[0] else 1
        if turned:
            high, wide = wide, high
        self.say(
            f"call void {self.entry(letter + 'gemv')}(i32 {blas.ROWS}, {mode[turned]}, "
            f"{whole} {high}, {whole} {wide}, {one}, ptr {matrix}, {whole} {step}, ptr {vector}, "
            f"{whole} {gap}, {zero}, {out}, {whole} 1)"
        )

    def _place(self, x: Array) -> str:
        """A pointer to the first element of an array in memory."""
        place = self.places[id(x.root)]
        if not x.offset():
            return place
        return self.new(f"getelementptr {x.kind}, ptr {place}, i64 {x.offset()}")

    def _share(self, number: int, pointers: Sequence[str], length: int) -> str:
        """Run a loop in as many threads as there are, each from one place of its first axis on."""
        width = 3 + len(pointers)
        self.stack.append(f"  %jobs{number} = alloca [{width * THREADS} x ptr], align 64")
        for k, pointer in enumerate(pointers):
            place = self.new(f"getelementptr ptr, ptr %jobs{number}, i64 {3 + k}")
            self.say(f"store ptr {pointer}, ptr {place}")
        count = self.new(f"ptrtoint ptr {self.entry('threads')} to i64")
        most = self.new(f"call i64 @llvm.umin.i64(i64 {count}, i64 {min(THREADS, length)})")
        return self.new(
            f"call i32 @share(ptr %table, ptr @worker{number}, ptr %jobs{number}, "
            f"i64 {8 * width}, i64 {length}, i64 {most})"
        )

    def _start(self, array: Array) -> None:
        """The first value of a reduction."""
        kind, size, place = storage_kind(array), elements(array.shape), self.places[id(array)]
        if array.detail[0] == "sum":
            width = size * _WIDTH[kind]
            self.say(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {width}, i1 false)")
            return
        self.say(f"call void @fill(ptr {place}, i64 {size}, i32 {scalar.LOWEST})")

    def _finish(self) -> None:
        if self.flag:
            self._give_up_if_beyond()
        items = self.part.results
        tuple_ = self.new(f"call ptr {self.entry('PyTuple_New')}(i64 {len(items)})")
        self._branch(self.new(f"icmp ne ptr {tuple_}, null"), "fail")
        put = self.entry("PyTuple_SetItem")
        made = dict(self.made)
        for k, item in enumerate(items):
            x = made.pop(id(item), None) if isinstance(item, Array) else None
            if x is None:
                if isinstance(item, Array):
                    x = self.made[id(item)]
                else:
                    x = self.entry("None") if item is None else self.argument(item)
                self.say(f"call void {self.entry('Py_IncRef')}(ptr {x})")
            self.new(f"call i32 {put}(ptr {tuple_}, i64 {k}, ptr {x})")
        self.say(f"ret ptr {tuple_}")

    def _give_up_if_beyond(self) -> None:
        good = self.new(f"icmp eq i32 {self.flag}, 0")
        self.say(f"br i1 {good}, label %within, label %toofar")
        self.lines.append("toofar:")
        down = self.entry("Py_DecRef")
        for x in self.made.values():
            self.say(f"call void {down}(ptr {x})")
        self.say("br label %refuse")
        self.lines.append("within:")

    # ---- one loop

    def _loop(self, number: int, loop: Loop) -> _Written:
        """A loop as a function of the arrays it touches."""
        touched: dict[int, Array] = {}
        moves: list[Shape] = []
        offsets: list[int] = []
        places: dict[tuple[int, Shape, int], int] = {}
        here = {id(a) for a in loop.arrays}

        def move(array: Array, strides: Shape, offset: int = 0) -> int:
            if array.role != "positions":
                touched.setdefault(id(array), array)
            key = (id(array), strides, offset)
            if key not in places:
                places[key] = len(moves)
                moves.append(strides)
                offsets.append(offset)
            return places[key]

        reads: dict[int, tuple[Array, int]] = {}
        for array in loop.arrays:
            for source in array.sources:
                if id(source) not in here or source.role == "reduce":
                    strides = operand_strides(source, loop.shape)
                    place = move(source.root, strides, source.offset())
                    reads[id(source)] = (source.root, place)
        writes = [
            (a, move(a, result_strides(a), a.into[1] if a.into else 0))
            for a in loop.arrays
            if a.stored
        ]
        reorder = any(a.role == "reduce" for a in loop.arrays)
        sizes, steps = collapse(loop.shape, moves, reorder)
        names = {key: f"%p{k}" for k, key in enumerate(touched)}
        # the first axis can be shared out if no sum goes along it
        sums = [m for a, m in writes if a.role == "reduce"]
        work = elements(sizes) * len(loop.arrays)
        shared = work >= SHARED and all(steps[m][0] for m in sums)
        body = _Body(sizes, steps, offsets, names, shared)
        text = body.text(loop.arrays, reads, writes)
        parameters = [f"ptr noalias {n}" for n in names.values()]
        if shared:
            parameters = ["i64 %from", "i64 %to", *parameters]
        head = f"define internal i32 @loop{number}({', '.join(parameters)}) {{\nstart:"
        text = f"{head}\n{text}\n}}"
        if shared:
            text += _worker(number, len(names))
        length = sizes[0] if shared else 0
        return _Written(text, list(touched.values()), bool(body.block.beyond), length)


def _worker(number: int, count: int) -> str:
    """What a thread runs of a loop, from a job: where to begin and end, the outcome, pointers."""
    lines = [f"\ndefine internal ptr @worker{number}(ptr %job) {{", "start:"]
    lines += ["  %from = load i64, ptr %job", "  %q1 = getelementptr i64, ptr %job, i64 1"]
    lines += ["  %to = load i64, ptr %q1", "  %some = icmp ult i64 %from, %to"]
    lines += ["  br i1 %some, label %run, label %done", "run:"]
    for k in range(count):
        lines.append(f"  %a{k} = getelementptr ptr, ptr %job, i64 {3 + k}")
        lines.append(f"  %p{k} = load ptr, ptr %a{k}")
    given = ", ".join(["i64 %from", "i64 %to", *[f"ptr %p{k}" for k in range(count)]])
    lines += [f"  %r = call i32 @loop{number}({given})", "  %wide = zext i32 %r to i64"]
    lines += ["  %q2 = getelementptr i64, ptr %job, i64 2", "  store i64 %wide, ptr %q2"]
    lines += ["  br label %done", "done:", "  ret ptr null", "}"]
    return "\n".join(lines)


class _Written:
    """The text of a loop, the arrays it is given, whether it may refuse, and how long its first
    axis is if that can be shared out between threads (else 0)."""

    __slots__ = ("beyond", "length", "text", "touched")

    def __init__(self, text: str, touched: list[Array], beyond: bool, length: int):
        self.text, self.touched, self.beyond, self.length = text, touched, beyond, length


class _Body:
    """The nest of loops around the instructions for one element."""

    def __init__(
        self, sizes: Shape, steps: list[Shape], offsets: list[int], names: dict[int, str],
        shared: bool,
    ):  # fmt: skip
        self.sizes, self.steps, self.offsets, self.names = sizes, steps, offsets, names
        self.shared = shared  # whether the first axis goes from %from to %to
        self.block = Block()

    def offset(self, move: int) -> str:
        """How many elements from an array's first one the loops are."""
        block, offset = self.block, str(self.offsets[move])
        for k, step in enumerate(self.steps[move]):
            if step:
                term = f"%i{k}"
                if step != 1:
                    term = block.emit("i64", f"mul nuw nsw i64 %i{k}, {step}").name
                if offset != "0":
                    term = block.emit("i64", f"add nuw nsw i64 {offset}, {term}").name
                offset = term
        return offset

    def address(self, array: Array, move: int) -> str:
        """A pointer to an array's element."""
        kind, pointer = storage_kind(array), self.names[id(array)]
        text = f"getelementptr {kind}, ptr {pointer}, i64 {self.offset(move)}"
        return self.block.emit("ptr", text).name

    def load(self, array: Array, move: int) -> Value:
        kind = storage_kind(array)
        if array.role == "positions":
            return self.block.emit(kind, f"uitofp i64 {self.offset(move)} to {kind}")
        value = self.block.emit(kind, f"load {kind}, ptr {self.address(array, move)}")
        return scalar.from_order_key(value) if kind == INT else value.to(array.kind)

    def text(
        self, arrays: list[Array], reads: dict[int, tuple[Array, int]],
        writes: list[tuple[Array, int]],
    ) -> str:  # fmt: skip
        block, depth = self.block, len(self.sizes)
        values: dict[int, Value] = {}
        target = {id(a): move for a, move in writes}
        held: list[tuple[Array, int, str]] = []  # reductions along the innermost axis
        for array in arrays:
            got = [
                self.load(*reads[id(s)]) if id(s) in reads else values[id(s)] for s in array.sources
            ]
            if array.role == "map":
                if callable(array.detail):
                    value = array.detail(*got)
                else:
                    value = block.number(array.detail, array.kind)
                values[id(array)] = value
                if array.stored:
                    self.store(array, target[id(array)], value)
            else:
                move = target[id(array)]
                inner = depth > 0 and self.steps[move][-1] == 0
                register = f"%r{len(held)}" if inner else self.address(array, move)
                if inner:
                    held.append((array, move, register))
                self.accumulate(array, register, got[0])
        if block.beyond:
            self._remember()
        return self._nest(held)

    def store(self, array: Array, move: int, value: Value) -> None:
        self.block.lines.append(f"store {value.kind} {value.name}, ptr {self.address(array, move)}")

    def accumulate(self, array: Array, register: str, value: Value) -> None:
        block, kind = self.block, storage_kind(array)
        number = len(block.lines)
        block.lines.append(f"%v{number} = load {kind}, ptr {register}")
        before = Value(block, kind, f"%v{number}")
        if array.detail[0] == "sum":
            text = f"fadd reassoc {kind} {before.name}, {value.to(kind).name}"
            after = block.emit(kind, text)
        else:
            after = scalar.larger(scalar.order_key(value), before)
        block.lines.append(f"store {kind} {after.name}, ptr {register}")

    def _remember(self) -> None:
        lines = self.block.lines
        for condition in self.block.beyond:
            n = len(lines)
            lines.append(f"%v{n} = load i32, ptr %beyond")
            lines.append(f"%v{n + 1} = zext i1 {condition.name} to i32")
            lines.append(f"%v{n + 2} = or i32 %v{n}, %v{n + 1}")
            lines.append(f"store i32 %v{n + 2}, ptr %beyond")

    def _nest(self, held: list[tuple[Array, int, str]]) -> str:
        block, depth = self.block, len(self.sizes)
        body, block.lines = block.lines, []
        first = []
        if block.beyond:
            first += ["%beyond = alloca i32", "store i32 0, ptr %beyond"]
        first += [f"{r} = alloca {storage_kind(a)}" for a, _, r in held]
        # the registers of inner reductions are filled before the innermost loop and emptied after
        before: list[str] = []
        after: list[str] = []
        for k, (array, move, register) in enumerate(held):
            kind = storage_kind(array)
            place = self._outer_address(array, move, f"x{k}", before)
            before += [f"%xl{k} = load {kind}, ptr {place}", f"store {kind} %xl{k}, ptr {register}"]
            after += [f"%xs{k} = load {kind}, ptr {register}", f"store {kind} %xs{k}, ptr {place}"]
        lines = list(first)
        previous = "start"
        for k in range(depth):
            if k == depth - 1:
                lines += before
            lines += [f"br label %h{k}", f"h{k}:"]
            begin = "%from" if self.shared and k == 0 else "0"
            lines.append(f"%i{k} = phi i64 [{begin}, %{previous}], [%n{k}, %e{k}]")
            previous = f"h{k}"
        lines += body
        for k in reversed(range(depth)):
            lines += [f"br label %e{k}", f"e{k}:", f"%n{k} = add nuw nsw i64 %i{k}, 1"]
            end = "%to" if self.shared and k == 0 else self.sizes[k]
            lines.append(f"%c{k} = icmp eq i64 %n{k}, {end}")
            lines += [f"br i1 %c{k}, label %d{k}, label %h{k}", f"d{k}:"]
            if k == depth - 1:
                lines += after
        if block.beyond:
            lines += ["%outcome = load i32, ptr %beyond", "ret i32 %outcome"]
        else:
            lines.append("ret i32 0")
        return "\n".join(("" if line.endswith(":") else "  ") + line for line in lines)

    def _outer_address(self, array: Array, move: int, name: str, lines: list[str]) -> str:
        offset = "0"
        for k, step in enumerate(self.steps[move][:-1]):
            if step:
                lines.append(f"%{name}m{k} = mul nuw nsw i64 %i{k}, {step}")
                lines.append(f"%{name}a{k} = add nuw nsw i64 {offset}, %{name}m{k}")
                offset = f"%{name}a{k}"
        pointer = self.names[id(array)]
        kind = storage_kind(array)
        lines.append(f"%{name} = getelementptr {kind}, ptr {pointer}, i64 {offset}")
        return f"%{name}"
