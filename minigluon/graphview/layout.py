"""Where boxes stand: in rows from inputs to outputs, few crossings, edges routed between boxes.

The layered drawing of Sugiyama, Tagawa and Toda (1981): rows by longest path, places in a row by
medians of neighbours, edges over several rows by way of invisible boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP, ROW_GAP, LANE = 28.0, 46.0, 10.0
SWEEPS = 8


@dataclass
class Placed:
    """Centres of boxes, ways of edges (points from top to bottom), and the size of it all."""

    centres: list[tuple[float, float]]
    ways: list[list[tuple[float, float]]]
    width: float
    height: float


def place(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Placed:
    """Places for boxes of these sizes, in topological order, with edges ``(above, below)``."""
    if not sizes:
        return Placed([], [], 0.0, 0.0)
    rank = _ranks(len(sizes), edges)
    widths = [w for w, _ in sizes]
    chains: list[list[int]] = []
    ranks = list(rank)
    links: list[tuple[int, int]] = []
    for above, below in edges:
        chain = [above]
        for level in range(rank[above] + 1, rank[below]):
            chain.append(len(ranks))
            ranks.append(level)
            widths.append(LANE)
        chain.append(below)
        chains.append(chain)
        links += pairwise(chain)
    rows = _ordered(ranks, links)
    x = _across(rows, widths, links)
    tops, heights = _down(rows, sizes)
    left = min(x[k] - widths[k] / 2 for k in range(len(x)))
    centre = [(x[k] - left, tops[ranks[k]]) for k in range(len(x))]
    ways = [_way(chain, centre, sizes, ranks, heights) for chain in chains]
    width = max(c[0] + w / 2 for c, w in zip(centre, widths, strict=True))
    height = max(c[1] + size[1] / 2 for c, size in zip(centre, sizes, strict=False))
    return Placed(centre[: len(sizes)], ways, width, height)


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The row of every box: one below the lowest of those above; inputs just above their users."""
    rank = [0] * count
    for above, below in sorted(edges, key=lambda e: e[1]):
        rank[below] = max(rank[below], rank[above] + 1)
    with_source = {below for _, below in edges}
    first_use: dict[int, int] = {}
    for above, below in edges:
        first_use[above] = min(first_use.get(above, rank[below]), rank[below])
    return [
        first_use[k] - 1 if k not in with_source and k in first_use else r
        for k, r in enumerate(rank)
    ]


def _ordered(ranks: Sequence[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The boxes of each row, in an order with few crossings."""
    rows: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for k, r in enumerate(ranks):
        rows[r].append(k)
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for a, b in links:
        above.setdefault(b, []).append(a)
        below.setdefault(a, []).append(b)
    place = {k: i for row in rows for i, k in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours, order = (above, rows) if sweep % 2 == 0 else (below, rows[::-1])
        for row in order:
            row.sort(key=lambda k: _middle([place[n] for n in neighbours.get(k, [k])]))
            place.update((k, i) for i, k in enumerate(row))
    return rows


def _middle(values: list[int]) -> float:
    return sum(values) / len(values)


def _across(
    rows: list[list[int]], widths: Sequence[float], links: Sequence[tuple[int, int]]
) -> list[float]:
    """The centres along a row: near those of the neighbours, and not over each other."""
    x = [0.0] * len(widths)
    for row in rows:
        edge = 0.0
        for k in row:
            x[k] = edge + widths[k] / 2
            edge += widths[k] + GAP
        for k in row:
            x[k] -= edge / 2
    near: list[list[int]] = [[] for _ in widths]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    for sweep in range(4 * SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = [sum(x[n] for n in near[k]) / len(near[k]) if near[k] else x[k] for k in row]
            _spread(row, wanted, x, widths)
    return x


def _spread(row: list[int], wanted: list[float], x: list[float], widths: Sequence[float]) -> None:
    """Move the boxes of a row to where they want to be; those that collide share the middle."""
    groups: list[tuple[float, float, list[int]]] = []  # sum of wishes, offset of the last, members
    for k, wish in zip(row, wanted, strict=True):
        members, total, offset = [k], wish, 0.0
        while groups:
            before_total, before_offset, before = groups[-1]
            step = before_offset + (widths[before[-1]] + widths[members[0]]) / 2 + GAP
            start = before_total / len(before)
            if start + step <= total / len(members):
                break
            groups.pop()
            total = before_total + total - step * len(members)
            offset = step + offset
            members = [*before, *members]
        groups.append((total, offset, members))
    for total, _, members in groups:
        position = total / len(members)
        x[members[0]] = position
        for left, right in pairwise(members):
            position += (widths[left] + widths[right]) / 2 + GAP
            x[right] = position


def _down(
    rows: list[list[int]], sizes: Sequence[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """The middle of each row, and its height."""
    middles, heights, top = [], [], 0.0
    for row in rows:
        height = max([sizes[k][1] for k in row if k < len(sizes)] + [0.0])
        middles.append(top + height / 2)
        heights.append(height)
        top += height + ROW_GAP
    return middles, heights


def _way(
    chain: list[int], centre: list[tuple[float, float]], sizes: Sequence[tuple[float, float]],
    ranks: Sequence[int], heights: Sequence[float],
) -> list[tuple[float, float]]:  # fmt: skip
    """From the lower side of the first box to the upper side of the last, upright past boxes."""
    (x, y), (u, v) = centre[chain[0]], centre[chain[-1]]
    inner = []
    for k in chain[1:-1]:
        (a, b), half = centre[k], heights[ranks[k]] / 2
        inner += [(a, b - half), (a, b + half)]
    return [(x, y + sizes[chain[0]][1] / 2), *inner, (u, v - sizes[chain[-1]][1] / 2)]
