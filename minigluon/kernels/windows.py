"""The largest element, the sum, or a weighted sum of every window of images: as many windows at a
time as a vector register has lanes.

numba's loops over windows become no vectors: 1.8 ms where these take 0.3.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from . import tiles
from ._llvm import Text

#: wider windows, whose elements are written out, are left to other kernels
WIDEST = 8

_ARGUMENTS = (
    "data out extra start planes channels height width places_y places_x kernel_y stride_y "
    "dilate_y pad_y pad_x"
)


def can(dtype: Any, kernel_x: int) -> bool:
    """Whether there is such a kernel."""
    return dtype.char in "fd" and kernel_x <= WIDEST and tiles.available()


@cache
def largest(dtype: str, winner_bytes: int, kernel_x: int, stride_x: int) -> Any:
    """A function that fills in maxima and which element of its window each is.

    Its arguments: data (planes, height, width), the maxima (planes, places_y, places_x), the
    numbers of the elements, 0, then the sizes named in ``_ARGUMENTS``. Padding takes no part.
    """
    return _Windows(dtype, kernel_x, stride_x).largest(winner_bytes * 8)


@cache
def sums(dtype: str, kernel_x: int, stride_x: int) -> Any:
    """A function that fills in the sums of windows times a factor for each place of a plane.

    Its arguments are those of `largest`, with the factors for the numbers.
    """
    return _Windows(dtype, kernel_x, stride_x).sums()


@cache
def weighted(dtype: str, kernel_x: int, stride_x: int, dilate_x: int) -> Any:
    """A function that fills in sums of windows, each element times a weight of the channel.

    Its arguments are those of `largest`, with weights (channels, kernel_y, ``kernel_x``) for the
    numbers, and what sums start from (channels) behind them. Planes are of one channel after the
    other.
    """
    return _Windows(dtype, kernel_x, stride_x, dilate_x).weighted()


class _Windows:
    """The loops over planes, rows and vectors of windows, and over the rows of a window."""

    def __init__(self, dtype: str, kernel_x: int, stride_x: int, dilate_x: int = 1):
        self.t = Text(dtype)
        self.kernel_x, self.stride, self.dilate = kernel_x, stride_x, dilate_x
        self.bits = f"<{self.t.lanes} x i1>"
        self.places = f"<{self.t.lanes} x i64>"

    def largest(self, winner_bits: int) -> Any:
        t, n = self.t, self.t.lanes
        number = f"<{n} x i{32 if t.kind == 'float' else 64}>"
        lowest = f"<{', '.join([f'{t.kind} 0xFFF0000000000000'] * n)}>"
        self._open([("best", t.vector, lowest), ("number", number, "zeroinitializer")], lowest)
        kind = number[number.index("i") :].rstrip(">")
        t(f"%first_ = mul i64 %i, {self.kernel_x}")
        t(
            f"%first = trunc i64 %first_ to {kind}"
            if kind == "i32"
            else "%first = add i64 %first_, 0"
        )
        for j in range(self.kernel_x):
            before = ("%best", "%number") if j == 0 else (f"%best{j - 1}", f"%number{j - 1}")
            value = self._load(j)
            t(f"%num{j} = add {kind} %first, {j}")
            t(f"%numi{j} = insertelement {number} poison, {kind} %num{j}, i32 0")
            t(
                f"%nums{j} = shufflevector {number} %numi{j}, {number} poison, "
                f"<{n} x i32> zeroinitializer"
            )
            t(f"%more{j} = fcmp ogt {t.vector} {value}, {before[0]}")
            t(f"%best{j} = select {self.bits} %more{j}, {t.vector} {value}, {t.vector} {before[0]}")
            t(f"%number{j} = select {self.bits} %more{j}, {number} %nums{j}, {number} {before[1]}")
        self._next_row(["best", "number"])
        stored = f"<{n} x i{winner_bits}>"
        self._store("%best", t.vector, t.kind, "out")
        if stored != number:
            t(f"%short = trunc {number} %number to {stored}")
        self._store("%short" if stored != number else "%number", stored, f"i{winner_bits}", "extra")
        return self._close("largest", [t.vector, stored])

    def sums(self) -> Any:
        t = self.t
        self._open([("sum", t.vector, "zeroinitializer")], "zeroinitializer")
        for j in range(self.kernel_x):
            value = self._load(j)
            t(f"%sum{j} = fadd {t.vector} {value}, {'%sum' if j == 0 else f'%sum{j - 1}'}")
        self._next_row(["sum"])
        t("%row_at = mul i64 %y, %places_x")
        t("%factor_at = add i64 %row_at, %x")
        t(f"%pf = getelementptr {t.kind}, ptr %extra_, i64 %factor_at")
        t(
            f"%factor = call {t.vector} @llvm.masked.load.{t.name}.p0(ptr %pf, i32 {t.align}, "
            f"{self.bits} %stored, {t.vector} zeroinitializer)"
        )
        t(f"%result = fmul {t.vector} %sum, %factor")
        self._store("%result", t.vector, t.kind, "out")
        return self._close("sums", [t.vector])

    def weighted(self) -> Any:
        t = self.t
        self._open([("sum", t.vector, "%begun")], "zeroinitializer")
        t("%weight_at = add i64 %weights, %i")
        t(f"%weight_first = mul i64 %weight_at, {self.kernel_x}")
        t(f"%weight = getelementptr {t.kind}, ptr %extra_, i64 %weight_first")
        for j in range(self.kernel_x):
            value = self._load(j)
            t.spread(f"w{j}", "%weight", j)
            t.fma(f"sum{j}", value, f"%w{j}", "%sum" if j == 0 else f"%sum{j - 1}")
        self._next_row(["sum"])
        self._store("%sum", t.vector, t.kind, "out")
        return self._close("weighted", [t.vector])

    def _open(self, values: list[tuple[str, str, str]], outside: str) -> None:
        """Everything up to the body for row ``i`` of the windows; values go round its loop."""
        t, n = self.t, self.t.lanes
        self.values, self.outside = values, outside
        t.define("windows", _ARGUMENTS, "data out extra start")
        previous = "entry"
        for name in ("plane", "y", "tile"):
            t(f"br label %{name}_loop\n{name}_loop:")
            t(f"%{name} = phi i64 [0, %{previous}], [%next_{name}, %{name}_end]")
            previous = f"{name}_loop"
            if name == "plane" and values[0][2] == "%begun":
                t("%channel = urem i64 %plane, %channels")
                t("%weights = mul i64 %channel, %kernel_y")
                t(f"%beginning = getelementptr {t.kind}, ptr %start_, i64 %channel")
                t.spread("begun", "%beginning", 0)
        t(f"%x = mul i64 %tile, {n}")
        t("%left_ = sub i64 %places_x, %x")
        lanes = ", ".join(f"i64 {k}" for k in range(n))
        self._spread("%left_", "left")
        t(f"%stored = icmp slt {self.places} <{lanes}>, %left")
        t(f"%begin_ = mul i64 %x, {self.stride}")
        t("%begin = sub i64 %begin_, %pad_x")
        self._spread("%begin", "begins")
        self._spread("%width", "widths")
        for name, shift, step in self._reads():
            steps = ", ".join(f"i64 {shift + k * step}" for k in range(n))
            t(f"%c_{name} = add {self.places} %begins, <{steps}>")
            t(f"%m_{name} = icmp ult {self.places} %c_{name}, %widths")
        t("%top_ = mul i64 %y, %stride_y")
        t("%top = sub i64 %top_, %pad_y")
        t("%above0 = sub i64 0, %top")
        t("%above = call i64 @llvm.smax.i64(i64 %above0, i64 0)")
        t("%below = sub i64 %height, %top")
        t("%round = sub i64 %dilate_y, 1")
        t("%above1 = add i64 %above, %round\n%i0 = sdiv i64 %above1, %dilate_y")
        t("%below1 = add i64 %below, %round\n%below2 = sdiv i64 %below1, %dilate_y")
        t("%i_end = call i64 @llvm.smin.i64(i64 %below2, i64 %kernel_y)")
        t("br label %i_loop\ni_loop:")
        t("%i = phi i64 [%i0, %tile_loop], [%next_i, %i_body]")
        for name, kind, start in values:
            t(f"%{name} = phi {kind} [{start}, %tile_loop], [%{name}{self.kernel_x - 1}, %i_body]")
        t("%inside = icmp slt i64 %i, %i_end")
        t("br i1 %inside, label %i_body, label %store\ni_body:")
        t("%row0 = mul i64 %plane, %height")
        t("%row1 = add i64 %row0, %top")
        t("%down = mul i64 %i, %dilate_y")
        t("%row2 = add i64 %row1, %down")
        t("%row3 = mul i64 %row2, %width")
        t("%row4 = add i64 %row3, %begin")
        t(f"%row = getelementptr {t.kind}, ptr %data_, i64 %row4")
        for name, shift, step in self._reads():
            if step == 1:
                t(f"%q_{name} = getelementptr {t.kind}, ptr %row, i64 {shift}")
                t(
                    f"%r_{name} = call {t.vector} @llvm.masked.load.{t.name}.p0(ptr %q_{name}, "
                    f"i32 {t.align}, {self.bits} %m_{name}, {t.vector} {outside})"
                )
            else:
                steps = ", ".join(f"i64 {shift + k * step}" for k in range(n))
                pointers = f"<{n} x ptr>"
                t(f"%q_{name} = getelementptr {t.kind}, ptr %row, {self.places} <{steps}>")
                t(
                    f"%r_{name} = call {t.vector} @llvm.masked.gather.{t.name}.v{n}p0({pointers} "
                    f"%q_{name}, i32 {t.align}, {self.bits} %m_{name}, {t.vector} {outside})"
                )

    def _reads(self) -> list[tuple[str, int, int]]:
        """What is read of a row: name, first column, step from lane to lane."""
        n, at = self.t.lanes, [j * self.dilate for j in range(self.kernel_x)]
        if self.stride == 2:  # pairs of vectors: their even and their odd elements
            pairs = sorted({a - a % 2 for a in at})
            return [(f"{a}_{half}", a + half * n, 1) for a in pairs for half in (0, 1)]
        return [(f"{a}", a, self.stride) for a in at]

    def _load(self, j: int) -> str:
        """The name of the elements ``j`` of the windows."""
        at = j * self.dilate
        if self.stride != 2:
            return f"%r_{at}"
        t, n = self.t, self.t.lanes
        chosen = ", ".join(f"i32 {2 * k + at % 2}" for k in range(n))
        pair = at - at % 2
        t(
            f"%e_{j} = shufflevector {t.vector} %r_{pair}_0, {t.vector} %r_{pair}_1, "
            f"<{n} x i32> <{chosen}>"
        )
        return f"%e_{j}"

    def _spread(self, number: str, name: str) -> None:
        n = self.t.lanes
        self.t(f"%{name}_i = insertelement {self.places} poison, i64 {number}, i32 0")
        self.t(
            f"%{name} = shufflevector {self.places} %{name}_i, {self.places} poison, "
            f"<{n} x i32> zeroinitializer"
        )

    def _next_row(self, values: list[str]) -> None:
        self.t("%next_i = add i64 %i, 1\nbr label %i_loop\nstore:")
        self.t("%o0 = mul i64 %plane, %places_y")
        self.t("%o1 = add i64 %o0, %y")
        self.t("%o2 = mul i64 %o1, %places_x")
        self.t("%o3 = add i64 %o2, %x")

    def _store(self, value: str, vector: str, kind: str, to: str) -> None:
        size = {"float": 4, "double": 8}.get(kind) or int(kind[1:]) // 8
        self.t(f"%to_{to} = getelementptr {kind}, ptr %{to}_, i64 %o3")
        short = kind.replace("float", "f32").replace("double", "f64")
        self.t(
            f"call void @llvm.masked.store.v{self.t.lanes}{short}.p0({vector} {value}, "
            f"ptr %to_{to}, i32 {size}, {self.bits} %stored)"
        )

    def _close(self, name: str, stored: list[str]) -> Any:
        t, n = self.t, self.t.lanes
        t("br label %tile_end\ntile_end:")
        t("%next_tile = add i64 %tile, 1")
        t(f"%done_x = add i64 %x, {n}")
        t("%end_tile = icmp sge i64 %done_x, %places_x")
        t("br i1 %end_tile, label %y_end, label %tile_loop\ny_end:")
        t.count("y", "%places_y", "y_loop", "plane_end")
        t("plane_end:")
        t.count("plane", "%planes", "plane_loop", "done")
        t("done:\nret void\n}")
        head = [
            "declare i64 @llvm.smax.i64(i64, i64)",
            f"declare {t.vector} @llvm.masked.load.{t.name}.p0(ptr, i32, {self.bits}, {t.vector})",
            f"declare {t.vector} @llvm.masked.gather.{t.name}.v{n}p0"
            f"(<{n} x ptr>, i32, {self.bits}, {t.vector})",
        ]
        for vector in dict.fromkeys(stored):
            kind = vector.split(" x ")[1].rstrip(">")
            short = kind.replace("float", "f32").replace("double", "f64")
            head.append(
                f"declare void @llvm.masked.store.v{n}{short}.p0({vector}, ptr, i32, {self.bits})"
            )
        return t.function("\n".join(head))
