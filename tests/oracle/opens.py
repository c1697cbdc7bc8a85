"""Opens files of a folder with the real MXNet and says in JSON what is in them.

Run by the python that has MXNet, so it imports nothing of this project. Arrays are told as
``[stype, dtype, shape, values]``.
"""

import json
import os
import pickle
import sys
from pathlib import Path

answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what MXNet prints must not come between

import mxnet as mx  # noqa: E402


def told(x):
    if isinstance(x, mx.nd.NDArray):
        values = x.asnumpy()
        return [x.stype, values.dtype.name, list(x.shape), values.astype(float).ravel().tolist()]
    if isinstance(x, dict):
        return {str(k): told(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [told(v) for v in x]
    return x if x is None or isinstance(x, (int, float, str)) else type(x).__name__


def params(path):
    if path.name.startswith("np_"):
        with mx.util.np_shape(True):
            return told(mx.nd.load(str(path)))
    return told(mx.nd.load(str(path)))


def symbol(path):
    return mx.sym.load(str(path)).tojson()


def states(path):
    """One more step from the states on a weight of ones, and the class of the optimizer."""
    data = path.read_bytes()
    rule = pickle.loads(data)[1]
    updater = mx.optimizer.get_updater(rule)
    updater.set_states(data)
    weight = mx.nd.ones((2, 3))
    several = updater.aggregate_updates
    index, grad, array = 0, mx.nd.ones((2, 3)), weight
    updater(*([[index], [grad], [array]] if several else [index, grad, array]))
    return [type(updater.optimizer).__name__, told(weight)]


def record(path):
    reader = mx.recordio.MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "r")
    found = {key: reader.read_idx(key).hex() for key in reversed(reader.keys)}
    header, content = mx.recordio.unpack(bytes.fromhex(found[reader.keys[-1]]))
    return [found, [float(x) for x in header.label], header.id, content.hex()]


KINDS = {".params": params, ".json": symbol, ".states": states, ".rec": record}
found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    if path.suffix in KINDS:
        found[path.name] = KINDS[path.suffix](path)
answer.write(json.dumps(found))
