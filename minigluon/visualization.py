"""``mx.viz``: a symbol as a table of layers, as a drawing, and as a page to look around in."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from math import prod

import numpy as np

from .base import ArgumentTypeError, ShapeError, four_lines
from .graphview import page as html
from .symbol import Symbol
from .symbol.facts import is_complete

__all__ = ["html", "plot_network", "print_summary"]

#: what an operator calls the inputs that are learnt
_LEARNT = {"weight", "bias", "gamma", "beta", "parameters"}

#: how the names of variables end that a drawing leaves out
_HIDDEN = (
    "_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var",
    "_running_mean",
)  # fmt: skip

_VARIABLE, _OTHER = "#8dd3c7", "#fccde5"
_COLORS = {
    "Convolution": "#fb8072",
    "FullyConnected": "#fb8072",
    "BatchNorm": "#bebada",
    "Activation": "#ffffb3",
    "LeakyReLU": "#ffffb3",
    "Pooling": "#80b1d3",
    "Concat": "#fdb462",
    "Flatten": "#fdb462",
    "Reshape": "#fdb462",
}
_NODE = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled"}


def print_summary(symbol, shape=None, line_length=120, positions=(0.44, 0.64, 0.74, 1.0)):
    """Print a table of a symbol's layers: output shapes, parameters, what each is made from.

    Shapes leave out the batch. Parameters are counted by their shapes, so layers count fully that
    MXNet counts in part or not at all: ``FullyConnected`` on a picture, ``Deconvolution``,
    ``LayerNorm``, ``RNN``; one that layers share is counted once in the total.

    Parameters
    ----------
    shape : the shapes of the inputs by name; without it only what needs no input is known.
    line_length : the width of the table in characters.
    positions : where the columns end, as parts of the width or in characters.
    """
    _checked(symbol, "print_summary")
    shapes = _shapes(symbol, shape, "print_summary")
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    nodes = symbol._nodes()
    shown = [n for n in nodes if n.call is not None or n is nodes[0]]

    print("_" * line_length)
    print(_row(("Layer (type)", "Output Shape", "Param #", "Previous Layer"), positions))
    print("=" * line_length)
    learnt = {}
    for node in shown:
        own = _learnt(node, shapes)
        learnt.update(own)
        kind = "null" if node.call is None else node.call.op.name
        size = shapes.get((node, 0)) if shape is not None and _outputs(node) == 1 else None
        first, *others = _made_from(node, nodes[0]) or [""]
        name = f"{node.name}({kind})"
        print(_row((name, _by_x((size or ())[1:]), sum(own.values()), first), positions))
        for other in others:
            print(_row(("", "", "", other), positions))
        print(("=" if node is shown[-1] else "_") * line_length)
    print(f"Total params: {sum(learnt.values())}")
    print("_" * line_length)


def _row(fields, positions):
    line = ""
    for field, end in zip(fields, positions, strict=True):
        line = (line + str(field))[:end].ljust(end)
    return line


def _made_from(node, first):
    """The names of the layers a node is made from; parameters are no layers."""
    entries = [e for e in node.inputs if e is not None]
    return [n.name for n, _ in entries if n.call is not None or n is first]


def _learnt(node, shapes):
    """The parameters of a layer and how many numbers each has, 0 where that is unknown."""
    if node.call is None:
        return {}
    names = node.call.op.names_of_inputs(node.call.attrs, len(node.inputs))
    found = {}
    for name, entry in zip(names, node.inputs, strict=False):
        if name in _LEARNT and entry is not None and entry[0].call is None:
            found[entry[0]] = prod(shapes.get(entry) or (0,))
    return found


def _outputs(node):
    return 1 if node.call is None else node.call.visible


def _by_x(dimensions):
    """``3x8x8``."""
    return "x".join(map(str, dimensions))


def _checked(symbol, name):
    if not isinstance(symbol, Symbol):
        raise ArgumentTypeError(
            four_lines(
                f"{name}: symbol must be Symbol", f"a {type(symbol).__name__}",
                "a symbol, the network's output", "pass net(mx.sym.var('data')) for a block",
            )
        )  # fmt: skip


def _by_name(value, name, argument):
    if not isinstance(value, dict):
        raise ArgumentTypeError(
            four_lines(
                f"{name}: {argument} is not a mapping.", f"{argument}={value!r}",
                "a dictionary by names of inputs", f"pass {argument}={{'data': ...}}",
            )
        )  # fmt: skip
    return value


def _shapes(symbol, shape, name):
    """The shape of every output in the graph that is known; all must be if ``shape`` is given."""
    internals = symbol.get_internals()
    given = {} if shape is None else _by_name(shape, name, "shape")
    found = dict(zip(internals._entries, internals.infer_shape_partial(**given)[1], strict=True))
    missing = [n.name for n in symbol._variables() if not is_complete(found[(n, 0)])]
    if shape is not None and missing:
        raise ShapeError(
            four_lines(
                f"{name}: Input shape is incomplete", f"shape={shape}",
                f"shapes from which those of {', '.join(missing)} follow",
                f"add {missing[0]!r} to shape",
            )
        )  # fmt: skip
    return found


def plot_network(
    symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs=None,
    hide_weights=True,
):  # fmt: skip
    """A drawing of a symbol, a graphviz ``Digraph``: ``plot_network(net).render("net")``.

    It needs the package graphviz (``pip install minigluon[viz]``), and its program ``dot`` to
    become a picture.

    Parameters
    ----------
    title : the name of the drawing, and of its file.
    save_format : ``"pdf"``, ``"png"``, ``"svg"``.
    shape : the shapes of the inputs by name; edges then show shapes without the batch.
    dtype : the dtypes of the inputs by name; edges then show dtypes.
    node_attrs : graphviz attributes for all nodes.
    hide_weights : leave out weights and other learnt variables.
    """
    try:
        from graphviz import Digraph
    except ImportError as error:
        raise ImportError(
            four_lines(
                "plot_network: drawings are made by graphviz, which is not installed.",
                error,
                "the package graphviz",
                "pip install minigluon[viz]",
            )
        ) from error
    _checked(symbol, "plot_network")
    style = {
        **_NODE,
        **_by_name({} if node_attrs is None else node_attrs, "plot_network", "node_attrs"),
    }
    nodes = symbol._nodes()
    _warn_of_repeated_names(nodes)
    label = _labels(symbol, shape, dtype)
    drawing = Digraph(name=title, format=save_format)
    hidden = {n for n in nodes if hide_weights and n.call is None and n.name.endswith(_HIDDEN)}
    drawn = [n for n in nodes if n not in hidden]
    for node in drawn:
        if node.call is None:
            look = {**style, "shape": "oval", "fillcolor": _VARIABLE}
        else:
            look = {**style, "fillcolor": _COLORS.get(node.call.op.name, _OTHER)}
        drawing.node(name=node.name, label=_caption(node), **look)
    for node in drawn:
        for entry in node.inputs:
            if entry is not None and entry[0] not in hidden:
                drawing.edge(
                    tail_name=node.name, head_name=entry[0].name, label=label(entry),
                    dir="back", arrowtail="open",
                )  # fmt: skip
    return drawing


def _warn_of_repeated_names(nodes):
    repeated = [name for name, times in Counter(n.name for n in nodes).items() if times > 1]
    if repeated:
        warnings.warn(
            "There are multiple variables with the same name in your graph, this may result in "
            f"cyclic graph. Repeated names: {','.join(repeated)}",
            RuntimeWarning,
            stacklevel=3,
        )


def _labels(symbol, shape, dtype):
    """The function that says what stands at the edge of an output."""
    shapes = {} if shape is None else _shapes(symbol, shape, "plot_network")
    dtypes = {}
    if dtype is not None:
        internals = symbol.get_internals()
        found = internals.infer_type_partial(**_by_name(dtype, "plot_network", "dtype"))[1]
        dtypes = dict(zip(internals._entries, found, strict=True))

    def label(entry):
        kind = dtypes.get(entry)
        text = _by_x((shapes.get(entry) or ())[1:])
        return text if kind is None else f"{text}({np.dtype(kind).name})"

    return label


def _caption(node):
    """What stands in a node: its name, or for the best known layers what they are."""
    if node.call is None:
        return node.name
    attrs, kind = node.attrs or {}, node.call.op.name

    def numbers(key):
        return _by_x(re.findall(r"\d+", attrs.get(key, "")))

    if kind == "Convolution":
        return f"Convolution\n{numbers('kernel')}/{numbers('stride') or 1}, {attrs['num_filter']}"
    if kind == "FullyConnected":
        return f"FullyConnected\n{attrs['num_hidden']}"
    if kind == "Activation":
        return f"Activation\n{attrs['act_type']}"
    if kind == "LeakyReLU":
        return f"LeakyReLU\n{attrs.get('act_type', 'Leaky')}"
    if kind == "Pooling":
        window = numbers("kernel") or "global"
        return f"Pooling\n{attrs.get('pool_type', 'max')}, {window}/{numbers('stride') or 1}"
    return node.name
