"""What a symbol takes from a batch, and how inputs are described."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..io import DataBatch, DataDesc

# Their output does not depend on the label, which is asked for to make the gradient only
_LABELLED = {
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "SVMOutput",
    "Softmax",
    "SoftmaxOutput",
}


def labels_of_losses(symbol: Any) -> set[str]:
    """The variables that loss heads take as labels.

    They are no parameters even if a module does not name them, as for prediction only.
    """
    nodes = json.loads(symbol.tojson())["nodes"]
    labels = [
        nodes[node["inputs"][1][0]]
        for node in nodes
        if node["op"] in _LABELLED and len(node["inputs"]) > 1
    ]
    return {label["name"] for label in labels if label["op"] == "null"}


def as_desc(entry: Any) -> DataDesc:
    """The description of an input given as one, or as ``(name, shape, ...)``."""
    if isinstance(entry, DataDesc):
        return entry
    if not isinstance(entry, list | tuple) or len(entry) < 2 or not _is_shape(entry[1]):
        shown = (
            [type(part).__name__ for part in entry] if isinstance(entry, list | tuple) else entry
        )
        raise TypeError(
            f"bind: not the description of an input.\n  received  {shown}\n"
            "  expected  a DataDesc or a pair (name, shape)\n"
            "  fix       pass [('data', (32, 100))], or an iterator's provide_data"
        )
    return DataDesc(*entry)


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list | tuple) and all(
        isinstance(side, int | np.integer) for side in shape
    )


def shapes_of(batch: Any, data: list[DataDesc], label: list[DataDesc] | None) -> tuple[Any, Any]:
    """Descriptions of data and labels for a batch: its own, or the bound ones in its shapes."""
    if len(batch.data) != len(data):
        raise ValueError(
            "forward: wrong number of data arrays.\n"
            f"  received  {len(batch.data)}\n"
            f"  expected  {len(data)}: {', '.join(desc.name for desc in data)}\n"
            "  fix       give the batch one array for each of the module's data_names"
        )
    data = getattr(batch, "provide_data", None) or _described(data, batch.data)
    declared, arrays = getattr(batch, "provide_label", None), getattr(batch, "label", None)
    if declared or not label:
        return data, declared
    if arrays:
        return data, _described(label, arrays)
    first = as_desc(data[0])
    return data, [_of_batch(desc, first) for desc in label]


def _described(shapes: list[DataDesc], arrays: Any) -> list[DataDesc]:
    """The bound inputs with the shapes that the arrays of a batch have."""
    return [
        DataDesc(desc.name, array.shape, desc.dtype, desc.layout)
        for desc, array in zip(shapes, arrays, strict=False)
    ]


def _of_batch(label: DataDesc, data: DataDesc) -> DataDesc:
    """A label's description for as many samples as a data input has."""
    shape, axis = list(label.shape), DataDesc.get_batch_axis(label.layout)
    data_axis = DataDesc.get_batch_axis(data.layout)
    if axis >= 0 and data_axis >= 0:
        shape[axis] = data.shape[data_axis]
    return DataDesc(label.name, tuple(shape), label.dtype, label.layout)


def joined(batches: list[Any], data_axes: list[int], label_axes: list[int]) -> DataBatch:
    """One batch of several that each hold a part of it."""
    return DataBatch(
        _joined([batch.data for batch in batches], data_axes),
        _joined([batch.label or () for batch in batches], label_axes),
    )


def _joined(arrays: list[Any], axes: list[int]) -> list[Any]:
    return [
        nd.concat(*[part.as_in_context(parts[0].context) for part in parts], dim=axis)
        for parts, axis in zip(zip(*arrays, strict=True), axes, strict=False)
    ]
