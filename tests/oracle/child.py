"""Answers cases with the real MXNet, one JSON line for each on standard output.

Run by the python that has it (numpy 1.23 at most), so it imports nothing of this project. Arrays
travel as ``[dtype, shape, hexadecimal bytes]``.
"""

import json
import os
import sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what MXNet prints must not come between the answers

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402


def read(packed):
    dtype, shape, text = packed
    return np.frombuffer(bytes.fromhex(text), dtype).reshape(shape)


def write(array):
    array = np.ascontiguousarray(array)
    return [array.dtype.name, list(array.shape), array.tobytes().hex()]


PREFIXES = {
    "_contrib_": "contrib",
    "_linalg_": "linalg",
    "_image_": "image",
    "_sparse_": "sparse",
    "_random_": "random",
    "_np_": "op",
}


def find(name):
    for space in (mx.nd, mx.nd._internal, mx.nd.op):
        if hasattr(space, name):
            return getattr(space, name)
    for prefix, space in PREFIXES.items():
        if name.startswith(prefix):
            return getattr(getattr(mx.nd, space), name[len(prefix) :])
    raise LookupError(name)


def make(packed, stype):
    array = read(packed)
    return mx.nd.array(array, dtype=array.dtype).tostype(stype)


def described(x):
    return [x.stype, write(x.asnumpy())]


def answer(case):
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in case["attrs"].items()}
    inputs = [make(x, s) for x, s in zip(case["inputs"], case["stypes"])]
    if case["step"]:
        attrs["out"] = inputs[0]
    for k in case["wanted"]:
        inputs[k].attach_grad()
    with mx.autograd.record(train_mode=case["training"]):
        outputs = find(case["name"])(*inputs, **attrs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    result = {"outputs": [described(o) for o in outputs]}
    result["states"] = [described(inputs[k]) for k in case["mutated"]]
    if case["wanted"]:
        try:
            heads = [mx.nd.array(read(h), dtype=read(h).dtype) for h in case["heads"]]
            mx.autograd.backward(outputs, heads)
            result["gradients"] = [described(inputs[k].grad) for k in case["wanted"]]
        except Exception as error:
            result["no_gradient"] = kind(error)
    return result


def kind(error):
    return [type(error).__name__, " ".join(str(error).split())[-300:]]


for line in sys.stdin:
    try:
        said = answer(json.loads(line))
    except Exception as error:
        said = {"error": kind(error)}
    answers.write(json.dumps(said) + "\n")
    answers.flush()
