"""The page itself: an SVG drawing with its own style and script, nothing fetched from anywhere."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from .facts import Box, Graph, Value, graph_of
from .layout import place
from .template import TEMPLATE

_WIDTH, _LINE, _PAD, _CHARACTER = 150.0, 15.0, 9.0, 6.6
#: storage type -> what the style sheet calls it
_CLASSES = {"default": "dense", "csr": "csr", "row_sparse": "rows"}


class Page:
    """A self-contained HTML page; notebooks show it by itself.

    Examples
    --------
    >>> x = mx.sym.var("data")
    >>> page = mx.viz.html(mx.sym.FullyConnected(x, num_hidden=2), shape={"data": (4, 3)})
    >>> "(4, 2)" in str(page)
    True
    """

    def __init__(self, graph: Graph):
        self.graph = graph

    def __str__(self) -> str:
        graph = self.graph
        drawing = _drawing(graph)
        details = [_details(box) for box in graph.boxes]
        parts = {
            "TITLE": html.escape(graph.title),
            "TOTALS": _totals(graph),
            "DRAWING": drawing,
            # '<' cannot end the script
            "DETAILS": json.dumps(details).replace("<", "\\u003c"),
        }
        text = TEMPLATE
        for name, part in parts.items():
            text = text.replace(f"@{name}@", part)
        return text

    def save(self, path: Any) -> Path:
        """Write the page to a file; its path."""
        path = Path(path)
        path.write_text(str(self), encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        """What a notebook shows: the page in a frame of its own."""
        source = html.escape(str(self), quote=True)
        return (
            f'<iframe srcdoc="{source}" sandbox="allow-scripts" '
            'style="width:100%;height:600px;border:1px solid #ccc"></iframe>'
        )


def page(thing: Any, shape: Any = None, dtype: Any = None, title: str | None = None) -> Page:
    """A page that shows a symbol, an executor or a hybrid block: ``mx.viz.html``.

    Every node stands with its shapes, dtypes, storage types (by colour) and dispatch mode; one that
    falls back to dense copies is marked with the bytes they take. Parameters stand in the node that
    uses them. The page needs no network: ``page.save("net.html")``, or let a notebook show it.

    Parameters
    ----------
    thing : a ``Symbol``, an ``Executor`` (arrays tell shapes and storage), or a ``HybridBlock``
        (of the graph it was last called with, or of one input called ``data``).
    shape, dtype : those of the inputs, by name.
    title : the heading; by default the names of the outputs.
    """
    return Page(graph_of(thing, shape, dtype, title))


def size_text(count: int | None) -> str:
    """Bytes as people say them.

    Examples
    --------
    >>> size_text(3 << 20)
    '3.0 MB'
    """
    if count is None:
        return "unknown"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1024 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError(count)


def _lines(box: Box) -> list[tuple[str, str]]:
    """The text in a box: ``(class, text)`` a line."""
    lines = [("name", _short(box.name, 34))]
    if box.op:
        lines.append(("op", _short(f"{box.op}{_main_attrs(box)}", 40)))
        if box.mode:
            lines.append(("mode", box.mode))
    else:
        lines.append(("op", "parameter" if box.is_parameter else "input"))
    lines += [("value", _value(value)) for value in box.outputs[:3]]
    if len(box.outputs) > 3:
        lines.append(("value", f"and {len(box.outputs) - 3} more"))
    lines += [
        (f"parameter {_CLASSES[v.stype]}", _short(f"{v.name} {_value(v)}", 40))
        for v in box.parameters[:4]
    ]
    if len(box.parameters) > 4:
        lines.append(("parameter", f"and {len(box.parameters) - 4} more"))
    if box.fallback is not None:
        lines.append(("warning", f"falls back: {size_text(box.fallback)} of dense copies"))
    return lines


def _main_attrs(box: Box) -> str:
    """The attributes one looks for first."""
    wanted = ("act_type", "pool_type", "num_filter", "num_hidden", "kernel", "stride")
    shown = [box.attrs[k].replace(" ", "") for k in wanted if k in box.attrs]
    return f" {' '.join(shown)}" if shown else ""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shape(value: Value) -> str:
    return "?" if value.shape is None else str(value.shape)


def _value(value: Value) -> str:
    kind = "" if value.dtype == "float32" else f" {value.dtype}"
    stored = "" if value.stype == "default" else f" {value.stype}"
    return f"{_shape(value)}{kind}{stored}"


def _drawing(graph: Graph) -> str:
    """The SVG of a graph."""
    lines = [_lines(box) for box in graph.boxes]
    sizes = [
        (
            max([_WIDTH, *(len(text) * _CHARACTER + 2 * _PAD for _, text in each)]),
            len(each) * _LINE + 2 * _PAD,
        )
        for each in lines
    ]
    links = [(source, box.key, k) for box in graph.boxes for source, k in box.sources]
    placed = place(sizes, [(a, b) for a, b, _ in links])
    out = []
    for (above, below, k), way in zip(links, placed.ways, strict=True):
        value = graph.boxes[above].outputs[k] if k < len(graph.boxes[above].outputs) else None
        stored = "dense" if value is None else _CLASSES[value.stype]
        out.append(
            f'<path class="edge {stored}" data-from="{above}" data-to="{below}" d="{_curve(way)}"/>'
        )
    for box, each, (x, y), (w, h) in zip(graph.boxes, lines, placed.centres, sizes, strict=True):
        out.append(_box(box, each, x - w / 2, y - h / 2, w, h))
    frame = f"{-20:.0f} {-20:.0f} {placed.width + 40:.0f} {placed.height + 40:.0f}"
    return f'<svg id="graph" viewBox="{frame}"><g id="world">{"".join(out)}</g></svg>'


def _box(box: Box, lines: list[tuple[str, str]], x: float, y: float, w: float, h: float) -> str:
    stored = _CLASSES[box.outputs[0].stype] if box.outputs else "dense"
    kind = "operator" if box.op else "variable"
    marks = " fallback" if box.fallback is not None else ""
    texts = "".join(
        f'<text class="{name}" x="{_PAD:.0f}" y="{_PAD + 11 + k * _LINE:.0f}">'
        f"{html.escape(text)}</text>"
        for k, (name, text) in enumerate(lines)
    )
    return (
        f'<g class="box {kind} {stored}{marks}" id="box{box.key}" data-key="{box.key}" '
        f'tabindex="0" transform="translate({x:.1f} {y:.1f})">'
        f'<rect width="{w:.1f}" height="{h:.1f}" rx="{5 if box.op else 14}"/>{texts}</g>'
    )


def _curve(way: list[tuple[float, float]]) -> str:
    """A smooth line through points, leaving and arriving upright."""
    (x, y), *rest = way
    parts = [f"M{x:.1f} {y:.1f}"]
    for u, v in rest:
        middle = (y + v) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {v:.1f}")
        x, y = u, v
    return "".join(parts)


def _details(box: Box) -> dict[str, Any]:
    """What the side of the page tells about a box."""

    def rows(values: list[Value]) -> list[list[str]]:
        return [[v.name, _shape(v), v.dtype, v.stype, size_text(v.bytes)] for v in values]

    return {
        "name": box.name,
        "op": box.op or ("parameter" if box.is_parameter else "input"),
        "mode": box.mode,
        "fallback": None if box.fallback is None else size_text(box.fallback),
        "attrs": box.attrs,
        "outputs": rows(box.outputs),
        "parameters": rows(box.parameters),
        "sources": [source for source, _ in box.sources],
    }


def _totals(graph: Graph) -> str:
    totals = graph.totals()
    shown = []
    for name, count in totals.items():
        if name.startswith("bytes of "):
            shown.append((f"in {name.removeprefix('bytes of ')}", size_text(count)))
        else:
            shown.append((name, f"{count:,}"))
    return "".join(f"<li><b>{html.escape(v)}</b> {html.escape(n)}</li>" for n, v in shown)
