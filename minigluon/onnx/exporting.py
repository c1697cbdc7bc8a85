"""``export_model``: a symbol or a hybrid block as an ONNX file."""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np

from .. import ndarray as nd
from .. import symbol as sym
from ..base import ArgumentError, four_lines
from ..core.graph import Node, topological
from ..dtypes import as_dtype
from ..ndarray.serialize import write_file
from . import arithmetic, recurrent  # noqa: F401 - they fill the table
from .builder import Builder
from .layers import CONVERTERS
from .package import IR_VERSION, OPSET, no_counterpart, onnx

#: what operators take in training only, and files for prediction leave out
_LABELS = ("label",)


def export_model(
    sym, params=None, in_shapes=None, in_types=np.float32, onnx_file_path="model.onnx",
    verbose=False, dynamic=False, dynamic_input_shapes=None, run_shape_inference=False,
    input_type=None, input_shape=None,
):  # fmt: skip
    """Write a network for prediction as an ONNX file (operator set 13), and give the file's name.

    Parameters
    ----------
    sym : a symbol, the path of a ``-symbol.json`` file, or a hybrid block that ran once.
    params : dict of arrays by name, with or without ``arg:`` and ``aux:``, or the path of a
        ``.params`` file; a block has its own.
    in_shapes : shapes of the inputs, in the order of ``list_inputs()``.
    in_types : their type, or a list of types.
    onnx_file_path : the file to write.
    verbose : log every node.
    dynamic : the first axis of the inputs may have any length, or those ``dynamic_input_shapes``
        gives names for.
    dynamic_input_shapes : shapes with text or None for what may have any length.
    run_shape_inference : add the shapes of all tensors to the file.
    input_type, input_shape : older names of ``in_types`` and ``in_shapes``.

    Raises ``NotConvertible``, with all nodes at once, for operators without a counterpart.
    """
    in_shapes = input_shape if in_shapes is None else in_shapes
    in_types = in_types if input_type is None else input_type
    graph, arrays = _network(sym, params)
    inputs = _inputs(graph, arrays)
    shapes = _input_shapes(inputs, in_shapes)
    types = _input_types(inputs, in_types)
    builder = _written(graph, arrays, shapes, types)
    if verbose:
        for node in builder.nodes:
            logging.info("%s %s: %s", node.op_type, node.name, ", ".join(node.input))
    shown = _shown_shapes(inputs, shapes, dynamic, dynamic_input_shapes)
    model = _model(builder, graph, arrays, inputs, types, shown, bool(dynamic))
    package = onnx()
    if run_shape_inference:
        model = package.shape_inference.infer_shapes(model)
    package.checker.check_model(model)
    write_file(onnx_file_path, model.SerializeToString())
    return onnx_file_path


def _network(network: Any, params: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph, and its parameters by name."""
    if hasattr(network, "collect_params"):
        if not network._cached_graph:
            raise ArgumentError(
                four_lines(
                    "export_model: the block has no graph.", type(network).__name__,
                    "a hybridized block that ran once", "net.hybridize(); net(x)",
                )
            )  # fmt: skip
        held = network.collect_params().items()
        return network._cached_graph[1], {name: p._reduce().asnumpy() for name, p in held}
    graph = sym.load(network) if isinstance(network, str | os.PathLike) else network
    if not isinstance(graph, sym.Symbol):
        raise ArgumentError(
            four_lines(
                "export_model: this is no network.", type(network).__name__,
                "a Symbol, a path or a HybridBlock", "pass net.export()'s files, or the symbol",
            )
        )  # fmt: skip
    loaded = nd.load(params) if isinstance(params, str | os.PathLike) else params or {}
    plain = {name.removeprefix("arg:").removeprefix("aux:"): x for name, x in loaded.items()}
    return graph, {name: x.asnumpy() for name, x in plain.items()}


def _inputs(graph: Any, arrays: dict[str, np.ndarray]) -> list[Node]:
    """The variables that are given at every call: no parameters, and no labels."""
    used = set()
    for node in topological(graph._entries):
        if node.call is None:
            continue
        names = node.call.op.names_of_inputs(node.call.attrs, len(node.inputs))
        used.update(
            entry[0]
            for name, entry in zip(names, node.inputs, strict=False)
            if entry is not None and name not in _LABELS
        )
    used.update(entry[0] for entry in graph._entries)
    variables = [n for n in topological(graph._entries) if n.call is None and n in used]
    return [n for n in variables if n.name not in arrays]


def _input_shapes(inputs: list[Node], given: Any) -> dict[str, tuple]:
    names = [node.name for node in inputs]
    given = list(given or ())
    if given and isinstance(given[0], int):
        given = [given]
    if len(given) != len(names):
        raise ArgumentError(
            four_lines(
                "export_model: inputs and shapes do not fit together.",
                f"{len(given)} in_shapes: {given}", f"a shape for each of {', '.join(names)}",
                "pass in_shapes for data, and params for everything else",
            )
        )  # fmt: skip
    return {n: tuple(shape) for n, shape in zip(names, given, strict=True)}


def _input_types(inputs: list[Node], given: Any) -> dict[str, np.dtype]:
    several = given if isinstance(given, list | tuple) else [given] * len(inputs)
    if len(several) != len(inputs):
        raise ArgumentError(
            four_lines(
                "export_model: inputs and types do not fit together.", f"in_types={given}",
                f"one type, or {len(inputs)}", "pass in_types=np.float32",
            )
        )  # fmt: skip
    return {n.name: np.dtype(as_dtype(t)) for n, t in zip(inputs, several, strict=True)}


def _shown_shapes(
    inputs: list[Node], shapes: dict[str, tuple], dynamic: bool, given: Any
) -> dict[str, list]:
    """Shapes as the file declares them: text and None stand for any length."""
    if not dynamic:
        return {name: list(shape) for name, shape in shapes.items()}
    if given is None:
        return {name: ["batch", *shape[1:]] for name, shape in shapes.items()}
    named = zip(inputs, given, strict=True)
    return {n.name: [None if k in (0, -1) else k for k in shape] for n, shape in named}


def _written(
    graph: Any, arrays: dict[str, np.ndarray], shapes: dict[str, tuple],
    types: dict[str, np.dtype],
) -> Builder:  # fmt: skip
    """The builder after every node has been converted."""
    nodes = topological(graph._entries)
    missing = [
        f"{n.name} ({n.call.op.name})" for n in nodes
        if n.call is not None and n.call.op.name not in CONVERTERS
    ]  # fmt: skip
    if missing:
        raise no_counterpart("export_model", missing, CONVERTERS)
    builder = Builder(*_inferred(graph, arrays, shapes, types), arrays)
    for node in nodes:
        if node.call is None:
            builder.fresh(node.name)
            builder.names[node, 0] = node.name
    for node in nodes:
        if node.call is None:
            continue
        builder.node = node
        names = [builder.names.get(e, "") for e in node.inputs if e is not None]
        result = CONVERTERS[node.call.op.name](builder, node.call.attrs, names)
        results = [result] if isinstance(result, str) else result
        builder.names.update({(node, k): name for k, name in enumerate(results)})
    builder.constants.update({n.name: arrays[n.name] for n in nodes if n.name in arrays})
    return builder


def _without_unused(builder: Builder, results: list[str]) -> None:
    """Drop nodes and constants that no result depends on."""
    wanted, kept = set(results), []
    for node in reversed(builder.nodes):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            kept.append(node)
    builder.nodes = kept[::-1]
    builder.constants = {k: x for k, x in builder.constants.items() if k in wanted}


def _inferred(
    graph: Any, arrays: dict[str, np.ndarray], shapes: dict[str, tuple],
    types: dict[str, np.dtype],
) -> tuple[dict, dict]:  # fmt: skip
    """Shapes and types of all entries."""
    inner = graph.get_internals()
    known = set(graph.list_inputs())
    sizes = {n: x.shape for n, x in arrays.items() if n in known}
    kinds = {n: x.dtype for n, x in arrays.items() if n in known}
    found = inner.infer_shape_partial(**sizes, **shapes)[1]
    dtypes = inner.infer_type_partial(**kinds, **types)[1]
    return (
        dict(zip(inner._entries, found, strict=True)),
        dict(zip(inner._entries, dtypes or [None] * len(found), strict=True)),
    )


def _model(
    builder: Builder, graph: Any, arrays: dict[str, np.ndarray], inputs: list[Node],
    types: dict[str, np.dtype], shown: dict[str, list], dynamic: bool,
) -> Any:  # fmt: skip
    """The ONNX model of what the builder holds."""
    helper, numpy_helper = builder.onnx.helper, builder.onnx.numpy_helper

    def declared(name: str, dtype: Any, shape: Any) -> Any:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, shape)

    outputs = []
    for entry, name in zip(graph._entries, graph.list_outputs(), strict=True):
        builder.node = entry[0]
        if entry not in builder.names:
            raise builder.refuse("this output is for training", name, "the first output")
        result = _renamed(builder, builder.names[entry], name)
        shape = builder.shapes.get(entry)
        shape = [None] * len(shape) if dynamic and shape is not None else shape
        outputs.append(declared(result, builder.dtypes.get(entry) or np.float32, shape))
    _without_unused(builder, [output.name for output in outputs])
    made = helper.make_graph(
        builder.nodes,
        graph.name or "network",
        [declared(n.name, types[n.name], shown[n.name]) for n in inputs],
        outputs,
        [
            numpy_helper.from_array(np.ascontiguousarray(x).reshape(x.shape), name)
            for name, x in builder.constants.items()
        ],
    )
    return helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        producer_name="minigluon",
    )  # fmt: skip


def _renamed(builder: Builder, name: str, wanted: str) -> str:
    """Give an output of the network its name, through a node that changes nothing."""
    made = builder.fresh(wanted)
    node = builder.onnx.helper.make_node("Identity", [name], [made], name=made)
    builder.nodes.append(node)
    return made
