"""Sums of products over shifted data, in tiles whose accumulators stay in vector registers.

Both functions see data as vectors: ``x + offsets[k]`` is where the k-th factor of a sum begins, and
vectors that follow each other in memory are different places (or samples) of one sum. So they are
convolutions without a matrix of windows, and matrix products as well. numpy's BLAS reaches 120
GFLOP/s where these reach 270.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import _llvm
from ._llvm import Text

#: sums of fewer terms are not worth being summed up apart
FEWEST_APART = 256


def lanes(dtype: Any) -> int:
    """How many numbers a vector holds."""
    return _llvm.vector_bytes() // np.dtype(dtype).itemsize


def name(dtype: Any) -> str:
    """The name of float32 or float64; numpy's own ``dtype.name`` takes 5 us."""
    return "float32" if dtype.itemsize == 4 else "float64"


def available() -> bool:
    """Whether there is LLVM to compile with."""
    return _llvm.target() is not None


@cache
def tile_sizes(filters: int, columns: int, widest: int = 8) -> tuple[int, int]:
    """``(filters, vectors)`` of the tile that covers so many filters and vectors the quickest.

    Two multiplications and two loads a cycle, and four cycles until a sum can be added to again.
    """
    room = _llvm.registers() - 4
    best: Any = None
    for f in range(1, min(filters, room) + 1):
        for v in range(1, min(columns, room // f, widest) + 1):
            # vectors come from the L2 cache and straddle lines: measured, 2.2 cycles each
            cycles = max(f * v / 2, f / 2 + 2.2 * v, 4) + 0.5
            cost = -(-filters // f) * -(-columns // v) * cycles
            if filters % f:  # two kinds of blocks take two calls
                cost *= 1.04
            if best is None or cost < best[0]:
                best = cost, f, v
    return best[1], best[2]


@cache
def correlation_sizes(filters: int, depth: int) -> tuple[int, int]:
    """``(filters, terms)`` of the tile that covers so many filters and terms the quickest."""
    best: Any = None
    room = 24 if _llvm.registers() == 32 else 9
    for f in range(1, min(filters, 8) + 1):
        for k in range(1, min(depth, room // f) + 1):
            cycles = max(f * k / 2, f / 2 + k, 4) + 1
            cost = -(-filters // f) * -(-depth // k) * cycles
            if best is None or cost < best[0]:
                best = cost, f, k
    return best[1], best[2]


def split(filters: int, most: int) -> list[tuple[int, int]]:
    """``(size, how many)`` of blocks of filters that are as equal as can be.

    >>> split(64, 13)
    [(13, 4), (12, 1)]
    """
    blocks = -(-filters // most)
    small, larger = divmod(filters, blocks)
    return [(n, k) for n, k in ((small + 1, larger), (small, blocks - larger)) if k]


def parts(depth: int) -> tuple[int, int]:
    """``(parts, length)``: long sums in parts, the last of which may be shorter.

    At a depth of 4608 a sum in one go is wrong by 1.2e-6 of its size, and in parts by 3e-7.
    """
    count = max(depth // FEWEST_APART, 1)
    return count, -(-depth // count)


def packed(matrix: Any, most: int, groups: int = 1) -> Any:
    """The rows of a matrix as `products` reads them: each group in blocks as `split` says."""
    sizes = [n for n, many in split(len(matrix) // groups, most) for _ in range(many)] * groups
    made = np.empty(matrix.size, matrix.dtype)
    pack(matrix, made, np.array(sizes))
    return made


def packed_by(matrix: Any, size: int) -> Any:
    """The rows of a matrix in blocks of just this size, each ``(depth, size)``."""
    made = np.empty(matrix.size, matrix.dtype)
    pack(matrix, made, np.full(len(matrix) // size, size))
    return made


def pack(matrix: Any, made: Any, sizes: Any) -> None:
    """The rows of a matrix as the tiles read them: ``(depth, size)`` for each block of rows.

    The matrix has any strides, ``made`` is dense and ``sizes`` are int64.
    """
    packing(name(matrix.dtype))(
        matrix.ctypes.data,
        *matrix.strides,
        matrix.shape[1],
        made.ctypes.data,
        sizes.ctypes.data,
        len(sizes),
    )


@cache
def packing(dtype: str) -> Any:
    """The function behind `pack`, for addresses.

    Its arguments: the matrix, bytes from row to row and from column to column, depth (how many
    columns), where to, the sizes (int64) and how many there are.
    """
    t = Text(dtype)
    t.define("packing", "from row column depth to sizes blocks", "from to sizes")
    t("%whole = and i64 %depth, -4")
    t("br label %block_loop\nblock_loop:")
    t("%block = phi i64 [0, %entry], [%next_block, %block_end]")
    t("%from0 = phi ptr [%from_, %entry], [%from_next, %block_end]")
    t("%to0 = phi ptr [%to_, %entry], [%to_next, %block_end]")
    t("%ps = getelementptr i64, ptr %sizes_, i64 %block\n%size = load i64, ptr %ps")
    t("br label %check4")
    # four columns at a time, and then one: half the time of one at a time
    for step, first, limit, after in (
        (4, "0", "%whole", "check1"),
        (1, "%whole", "%depth", "block_end"),
    ):
        t(f"check{step}:\n%any{step} = icmp slt i64 {first}, {limit}")
        t(f"br i1 %any{step}, label %k{step}_loop, label %{after}\nk{step}_loop:")
        t(f"%k{step} = phi i64 [{first}, %check{step}], [%next_k{step}, %k{step}_end]")
        t.at(f"from{step}", "%from0", index=f"%k{step}", pitch="%column")
        t(f"%place{step} = mul i64 %k{step}, %size")
        t(f"%to{step} = getelementptr {t.kind}, ptr %to0, i64 %place{step}")
        t(f"br label %f{step}_loop\nf{step}_loop:")
        t(f"%f{step} = phi i64 [0, %k{step}_loop], [%next_f{step}, %f{step}_loop]")
        t(f"%source{step}_0 = phi ptr [%from{step}, %k{step}_loop], [%source{step}, %f{step}_loop]")
        t(f"%target{step}_0 = phi ptr [%to{step}, %k{step}_loop], [%target{step}, %f{step}_loop]")
        for j in range(step):
            if j:
                t(f"%source{step}_{j} = getelementptr i8, ptr %source{step}_{j - 1}, i64 %column")
                t(
                    f"%target{step}_{j} = getelementptr {t.kind}, ptr %target{step}_{j - 1}, "
                    "i64 %size"
                )
            t(f"%value{step}_{j} = load {t.kind}, ptr %source{step}_{j}")
            t(f"store {t.kind} %value{step}_{j}, ptr %target{step}_{j}")
        t(f"%source{step} = getelementptr i8, ptr %source{step}_0, i64 %row")
        t(f"%target{step} = getelementptr {t.kind}, ptr %target{step}_0, i64 1")
        t.count(f"f{step}", "%size", f"f{step}_loop", f"k{step}_end")
        t(f"k{step}_end:\n%next_k{step} = add i64 %k{step}, {step}")
        t(f"%end_k{step} = icmp sge i64 %next_k{step}, {limit}")
        t(f"br i1 %end_k{step}, label %{after}, label %k{step}_loop")
    t("block_end:\n%skipped = mul i64 %size, %row")
    t("%from_next = getelementptr i8, ptr %from0, i64 %skipped")
    t("%filled = mul i64 %size, %depth")
    t(f"%to_next = getelementptr {t.kind}, ptr %to0, i64 %filled")
    t.count("block", "%blocks", "block_loop", "done")
    t("done:\nret void\n}")
    return t.function()


@cache
def products(
    dtype: str, filters: int, vectors: int, by_block: bool = False, apart: bool = False
) -> Any:
    """A function: ``out[f, place] = start[f] + sum(w[f, k] * x[place + offsets[k]])``.

    Factors are numbered ``k = i * inner + j``; a sum goes over those i that belong to the row and
    those j that belong to the tile of columns, so that factors known to be zero are left out.

    Its arguments: x, offsets (bytes, int64), depth (how many), w packed as (blocks, depth,
    ``filters``), start, out, pitch (bytes from filter to filter of out), rows, columns (bytes of a
    row, at least ``vectors`` vectors), x_row and out_row (bytes from row to row), blocks, x_block
    (bytes x moves on from block to block), row_range (for each row the first i and the last + 1,
    int64), tile_range (the same of j, for each tile of ``vectors`` columns) and inner. With
    ``by_block`` a block is done with before the next. With ``apart`` the terms of each i are summed
    up apart, and then together, which loses less: see `parts`.
    """
    t = Text(dtype)
    t.define(
        "products",
        "x offsets depth w start out pitch rows columns x_row out_row blocks x_block row_range "
        "tile_range inner",
        "x offsets w start out row_range tile_range",
    )
    width = _llvm.vector_bytes()
    t(f"%more = add i64 %columns, {vectors * width - 1}")
    t(f"%tiles = sdiv i64 %more, {vectors * width}")
    outer = ["block", "row", "tile"] if by_block else ["row", "tile", "block"]
    limits = {"block": "%blocks", "row": "%rows", "tile": "%tiles"}
    previous = "entry"
    for name in outer:
        t(f"br label %{name}_loop\n{name}_loop:")
        t(f"%{name} = phi i64 [0, %{previous}], [%next_{name}, %{name}_end]")
        previous = f"{name}_loop"
    t.clamped("column", "tile", vectors * width, "%columns")
    t.at("x1", "%x_", index="%block", pitch="%x_block")
    t.at("x2", "%x1", index="%row", pitch="%x_row")
    t("%x3 = getelementptr i8, ptr %x2, i64 %column")
    t(f"%first = mul i64 %block, {filters}")
    t.at("o1", "%out_", index="%first", pitch="%pitch")
    t.at("o2", "%o1", index="%row", pitch="%out_row")
    t("%o3 = getelementptr i8, ptr %o2, i64 %column")
    t(f"%started = getelementptr {t.kind}, ptr %start_, i64 %first")
    t("%weights = mul i64 %first, %depth")
    t(f"%w0 = getelementptr {t.kind}, ptr %w_, i64 %weights")
    for f in range(filters):
        t.spread(f"b{f}", "%started", f)
    for name, counter in (("row", "row"), ("tile", "tile")):
        t.at(f"{name}_0", f"%{name}_range_", index=f"%{counter}", pitch="16")
        t(f"%{name}_1 = getelementptr i64, ptr %{name}_0, i64 1")
        t(f"%{name}_first = load i64, ptr %{name}_0")
        t(f"%{name}_last = load i64, ptr %{name}_1")
    t("%nothing = icmp sge i64 %tile_first, %tile_last")
    t("%taps = select i1 %nothing, i64 %row_first, i64 %row_last")
    cells = [(f, v) for f in range(filters) for v in range(vectors)]
    t("br label %taps_loop\ntaps_loop:")
    t(f"%i = phi i64 [%row_first, %{previous}], [%next_i, %taps_end]")
    for f, v in cells:
        last = f"%t{f}_{v}" if apart else f"%n{f}_{v}"
        t(f"%c{f}_{v} = phi {t.vector} [%b{f}, %{previous}], [{last}, %taps_end]")
    t("%is_tap = icmp slt i64 %i, %taps")
    t("br i1 %is_tap, label %tap, label %store\ntap:")
    t("%tap_first = mul i64 %i, %inner")
    t("%k0 = add i64 %tap_first, %tile_first")
    t("%k_end0 = add i64 %tap_first, %tile_last")
    t("%k_end = call i64 @llvm.smin.i64(i64 %k_end0, i64 %depth)")
    t(f"%by_w1 = mul i64 %k0, {filters}")
    t(f"%w00 = getelementptr {t.kind}, ptr %w0, i64 %by_w1")
    t("br label %sum\nsum:")
    t("%k = phi i64 [%k0, %tap], [%next_k, %sum]")
    t("%w1 = phi ptr [%w00, %tap], [%w2, %sum]")
    for f, v in cells:
        first = "zeroinitializer" if apart else f"%c{f}_{v}"
        t(f"%a{f}_{v} = phi {t.vector} [{first}, %tap], [%n{f}_{v}, %sum]")
    t("%po = getelementptr i64, ptr %offsets_, i64 %k")
    t("%offset = load i64, ptr %po")
    t("%x4 = getelementptr i8, ptr %x3, i64 %offset")
    for v in range(vectors):
        t.load(f"x_{v}", "%x4", v)
    for f in range(filters):
        t.spread(f"w_{f}", "%w1", f)
        for v in range(vectors):
            t.fma(f"n{f}_{v}", f"%x_{v}", f"%w_{f}", f"%a{f}_{v}")
    t(f"%w2 = getelementptr {t.kind}, ptr %w1, i64 {filters}")
    t.count("k", "%k_end", "sum", "taps_end")
    t("taps_end:")
    for f, v in cells if apart else []:
        t(f"%t{f}_{v} = fadd {t.vector} %c{f}_{v}, %n{f}_{v}")
    t("%next_i = add i64 %i, 1\nbr label %taps_loop")
    t("store:")
    for f in range(filters):
        t.at(f"r{f}", "%o3", index=str(f), pitch="%pitch")
        for v in range(vectors):
            t(f"%r{f}_{v} = getelementptr i8, ptr %r{f}, i64 {v * width}")
            t(f"store {t.vector} %c{f}_{v}, ptr %r{f}_{v}, align {t.align}")
    for name, after in zip(
        outer[::-1], [f"{n}_end" for n in outer[-2::-1]] + ["done"], strict=True
    ):
        t(f"br label %{name}_end\n{name}_end:")
        t.count(
            name, limits[name], f"{name}_loop", f"{after}_" if after == "done" else f"to_{after}"
        )
        t("done_:\nret void\n}" if after == "done" else f"to_{after}:")
    return t.function()


@cache
def correlations(dtype: str, filters: int, terms: int) -> Any:
    """A function: ``out[f, k] = before[f, k] + sum(g[f, place] * x[place + offsets[k]])``.

    Its arguments: x, offsets (bytes, int64), depth (how many, at least ``terms``), g, pitch (bytes
    from filter to filter of g), count (of filters, at least ``filters``), before, out, rows,
    columns (vectors of a row), x_row and g_row (bytes from row to row), groups, and what x, g and
    before and out move on from group to group, in bytes.
    """
    t = Text(dtype)
    t.define(
        "correlations",
        "x offsets depth g pitch count before out rows columns x_row g_row groups x_group g_group "
        "out_group",
        "x offsets g before out",
    )
    t(f"%more_f = add i64 %count, {filters - 1}")
    t(f"%f_tiles = sdiv i64 %more_f, {filters}")
    t(f"%more_k = add i64 %depth, {terms - 1}")
    t(f"%k_tiles = sdiv i64 %more_k, {terms}")
    previous = "entry"
    for name in ("group", "f_tile", "k_tile"):
        t(f"br label %{name}_loop\n{name}_loop:")
        t(f"%{name} = phi i64 [0, %{previous}], [%next_{name}, %{name}_end]")
        previous = f"{name}_loop"
    t.clamped("f0", "f_tile", filters, "%count")
    t.clamped("k0", "k_tile", terms, "%depth")
    t.at("x1", "%x_", index="%group", pitch="%x_group")
    t.at("g1", "%g_", index="%group", pitch="%g_group")
    t.at("g2", "%g1", index="%f0", pitch="%pitch")
    t.at("before1", "%before_", index="%group", pitch="%out_group")
    t.at("out1", "%out_", index="%group", pitch="%out_group")
    t("%offset0 = getelementptr i64, ptr %offsets_, i64 %k0")
    for k in range(terms):
        t(f"%q{k} = getelementptr i64, ptr %offset0, i64 {k}")
        t(f"%offset_{k} = load i64, ptr %q{k}")
    cells = [(f, k) for f in range(filters) for k in range(terms)]
    t("br label %row_loop\nrow_loop:")
    t(f"%row = phi i64 [0, %{previous}], [%next_row, %row_end]")
    for f, k in cells:
        t(f"%c{f}_{k} = phi {t.vector} [zeroinitializer, %{previous}], [%n{f}_{k}, %row_end]")
    t.at("x2", "%x1", index="%row", pitch="%x_row")
    t.at("g3", "%g2", index="%row", pitch="%g_row")
    t("br label %sum\nsum:")
    t("%place = phi i64 [0, %row_loop], [%next_place, %sum]")
    for f, k in cells:
        t(f"%a{f}_{k} = phi {t.vector} [%c{f}_{k}, %row_loop], [%n{f}_{k}, %sum]")
    width = str(_llvm.vector_bytes())
    t.at("x3", "%x2", index="%place", pitch=width)
    t.at("g4", "%g3", index="%place", pitch=width)
    for k in range(terms):
        t(f"%xk{k} = getelementptr i8, ptr %x3, i64 %offset_{k}")
        t.load(f"x_{k}", f"%xk{k}", 0)
    for f in range(filters):
        t.at(f"gf{f}", "%g4", index=str(f), pitch="%pitch")
        t.load(f"g_{f}", f"%gf{f}", 0)
        for k in range(terms):
            t.fma(f"n{f}_{k}", f"%x_{k}", f"%g_{f}", f"%a{f}_{k}")
    t.count("place", "%columns", "sum", "row_end")
    t("row_end:")
    t.count("row", "%rows", "row_loop", "store")
    t("store:")
    for f in range(filters):
        t(f"%if{f} = add i64 %f0, {f}")
        t(f"%of{f} = mul i64 %if{f}, %depth")
        t(f"%ok{f} = add i64 %of{f}, %k0")
        for k in range(terms):
            t(f"%place{f}_{k} = add i64 %ok{f}, {k}")
            t(f"%pb{f}_{k} = getelementptr {t.kind}, ptr %before1, i64 %place{f}_{k}")
            t(f"%po{f}_{k} = getelementptr {t.kind}, ptr %out1, i64 %place{f}_{k}")
            t(f"%v{f}_{k} = load {t.kind}, ptr %pb{f}_{k}")
            t(
                f"%s{f}_{k} = call reassoc {t.kind} @llvm.vector.reduce.fadd.{t.name}"
                f"({t.kind} %v{f}_{k}, {t.vector} %n{f}_{k})"
            )
            t(f"store {t.kind} %s{f}_{k}, ptr %po{f}_{k}")
    t("br label %k_tile_end\nk_tile_end:")
    t.count("k_tile", "%k_tiles", "k_tile_loop", "f_tile_end")
    t("f_tile_end:")
    t.count("f_tile", "%f_tiles", "f_tile_loop", "group_end")
    t("group_end:")
    t.count("group", "%groups", "group_loop", "done")
    t("done:\nret void\n}")
    return t.function()
