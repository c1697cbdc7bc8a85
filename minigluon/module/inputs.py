"""What a symbol takes from a batch, and how the bound inputs look for another batch."""

from __future__ import annotations

import json
from typing import Any

from ..io import DataDesc

# Their output does not depend on the label, which is asked for to make the gradient only
_LABELLED = {
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "SVMOutput",
    "Softmax",
    "SoftmaxOutput",
}


def described(shapes: list[DataDesc], arrays: Any) -> list[DataDesc]:
    """The bound inputs with the shapes that the arrays of a batch have."""
    return [
        DataDesc(desc.name, array.shape, desc.dtype, desc.layout)
        for desc, array in zip(shapes, arrays, strict=False)
    ]


def of_batch(label: DataDesc, data: DataDesc) -> DataDesc:
    """A label's description for as many samples as a data input has."""
    shape, axis = list(label.shape), DataDesc.get_batch_axis(label.layout)
    data_axis = DataDesc.get_batch_axis(data.layout)
    if axis >= 0 and data_axis >= 0:
        shape[axis] = data.shape[data_axis]
    return DataDesc(label.name, tuple(shape), label.dtype, label.layout)


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
