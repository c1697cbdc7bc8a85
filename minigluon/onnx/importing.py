"""``import_model``: an ONNX file as a symbol and its parameters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import ndarray as nd
from .. import symbol as sym
from ..base import MXNetError, four_lines
from ..context import cpu
from ..ndarray.serialize import read_file
from . import places, recurrent  # noqa: F401 - they fill the table
from .package import no_counterpart, onnx
from .reader import Reader
from .readers import READERS

_WITHOUT_SYMBOLS = ("Constant", "Shape")


def import_model(model_file):
    """The network in an ONNX file: ``(symbol, arg_params, aux_params)``.

    Operator sets 7 and later of networks that are trees of known operators; shapes that are
    computed in the graph must not depend on data.

    Raises ``NotConvertible``, with all nodes at once, for operators that have no counterpart, and
    ``MXNetError`` for a file that is none.
    """
    graph, parameters, _ = _read(model_file)
    auxiliary = set(graph.list_auxiliary_states())
    arrays = {name: nd.array(x, dtype=_dtype(x)) for name, x in parameters.items()}
    known = set(graph.list_inputs())
    return (
        graph,
        {name: x for name, x in arrays.items() if name in known and name not in auxiliary},
        {name: x for name, x in arrays.items() if name in auxiliary},
    )


def import_to_gluon(model_file, ctx=None):
    """The network in an ONNX file as a ``SymbolBlock`` with its parameters on ``ctx``."""
    from ..gluon import SymbolBlock

    graph, parameters, inputs = _read(model_file)
    block = SymbolBlock(graph, [sym.var(name) for name in inputs])
    contexts = ctx if isinstance(ctx, list) else [ctx or cpu()]
    for name, param in block.collect_params().items():
        array = nd.array(parameters[name], dtype=_dtype(parameters[name]))
        param._load_init(array, contexts)
    return block


def get_model_metadata(model_file):
    """Names and shapes of what goes in and comes out of an ONNX file.

    Returns a dict of ``input_tensor_data`` and ``output_tensor_data``, lists of
    ``(name, shape)``; a length that may be any is text, or 0.
    """
    graph = _loaded(model_file).graph
    constants = {t.name for t in graph.initializer}
    return {
        "input_tensor_data": [_described(v) for v in graph.input if v.name not in constants],
        "output_tensor_data": [_described(v) for v in graph.output],
    }


def _described(value: Any) -> tuple[str, tuple]:
    dims = value.type.tensor_type.shape.dim
    return value.name, tuple(d.dim_param or d.dim_value for d in dims)


def _dtype(array: np.ndarray) -> np.dtype:
    return np.dtype(np.float32) if array.dtype == np.float32 else array.dtype


def _loaded(path: Any) -> Any:
    """The ONNX model in a file."""
    package = onnx()
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"the name of a file is text, not {type(path).__name__}")
    content = read_file(path)
    try:
        model = package.load_model_from_string(content)
        package.external_data_helper.load_external_data_for_model(
            model, str(Path(path).resolve().parent)
        )
        package.checker.check_model(model)
    except Exception as error:  # the package has errors of its own, and those of protobuf
        first = str(error).strip().partition("\n")[0]
        raise MXNetError(
            four_lines(
                f"import_model: {path}: this is no ONNX file, or a damaged one.",
                f"{type(error).__name__}: {first}", f"a model, in {len(content)} bytes",
                "check the path, and that the file was copied or downloaded completely",
            )
        ) from error  # fmt: skip
    return model


def _read(path: Any) -> tuple[Any, dict[str, np.ndarray], list[str]]:
    """The symbol of a file, its parameters and the names of its inputs."""
    model = _loaded(path)
    missing = [
        f"{n.name or n.output[0]} ({n.domain + '.' if n.domain else ''}{n.op_type})"
        for n in model.graph.node
        if n.op_type not in (*READERS, *_WITHOUT_SYMBOLS) or n.domain not in ("", "ai.onnx")
    ]
    if missing:
        raise no_counterpart("import_model", missing, READERS)
    reader = Reader(model)
    for node in model.graph.node:
        reader.begin(node)
        try:
            if not reader.fold():
                _keep(reader, node, READERS[node.op_type](reader))
        except (MXNetError, MemoryError):
            raise
        except Exception as error:
            raise reader.refuse(
                f"{type(error).__name__}: {error}", f"{node.op_type} {dict(reader.attrs)}",
                "attributes and inputs as its operator set says",
            ) from error  # fmt: skip
    heads = []
    for value in model.graph.output:
        if value.name not in reader.symbols:
            reader.begin(onnx().helper.make_node("Identity", [value.name], [value.name]))
            reader.symbol()
        heads.append(reader.symbols[value.name])
    graph = heads[0] if len(heads) == 1 else sym.Group(heads)
    return graph, reader.parameters, [v.name for v in reader.inputs]


def _keep(reader: Reader, node: Any, result: Any) -> None:
    several = result if isinstance(result, list) else list(result)
    for name, made in zip(node.output, several, strict=False):
        if name:
            reader.symbols[name] = made
