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


def find(name, module=mx.nd):
    for space in (module, module._internal, module.op):
        if hasattr(space, name):
            return getattr(space, name)
    for prefix, space in PREFIXES.items():
        if name.startswith(prefix):
            return getattr(getattr(module, space), name[len(prefix) :])
    raise LookupError(name)


def make(packed, stype):
    array = read(packed)
    return mx.nd.array(array, dtype=array.dtype).tostype(stype)


def described(x):
    return [x.stype, write(x.asnumpy())]


def inferred(case, attrs):
    """What a symbol knows of shapes and dtypes: of all inputs, and of all but one."""
    names = [f"x{k}" for k in range(len(case["inputs"]))]
    symbol = find(case["name"], mx.sym)(*[mx.sym.Variable(n) for n in names], **attrs)
    shapes = {n: tuple(x[1]) for n, x in zip(names, case["inputs"])}
    dtypes = {n: x[0] for n, x in zip(names, case["inputs"])}
    found = []
    for left_out in [None] + (names if len(names) > 1 else []):
        given = [{n: v for n, v in each.items() if n != left_out} for each in (shapes, dtypes)]
        found.append(
            [
                attempt(symbol.infer_shape, given[0]),
                attempt(types_of, {"symbol": symbol, "given": given[1]}),
            ]
        )
    return found


def types_of(symbol, given):
    found = symbol.infer_type(**given)
    return [None if part is None else [np.dtype(t).name for t in part] for part in found]


def attempt(function, keywords=None):
    try:
        return function(**(keywords or {}))
    except Exception as error:
        return {"error": kind(error)}


def answer(case):
    with mx.util.np_shape(case.get("odd") == "empty"):
        return computed(case)


def computed(case):
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in case["attrs"].items()}
    inferences = attempt(lambda: inferred(case, attrs)) if case.get("infer") else None
    result = attempt(lambda: evaluated(case, attrs))
    if inferences is not None:
        result["inferred"] = inferences
    return result


def evaluated(case, attrs):
    inputs = [make(x, s) for x, s in zip(case["inputs"], case["stypes"])]
    if case["into"]:
        attrs["out"] = [inputs[k] for k in case["into"]]
        if len(case["into"]) == 1:
            attrs["out"] = attrs["out"][0]
    for k in case["wanted"]:
        inputs[k].attach_grad()
    with mx.autograd.record(train_mode=case["training"]):
        outputs = find(case["name"])(*inputs, **attrs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    outputs = [o for o in outputs if o is not None]
    result = {"outputs": [described(o) for o in outputs]}
    result["states"] = [described(inputs[k]) for k in case["mutated"]]
    if case["wanted"]:
        try:
            heads = [mx.nd.array(read(h), dtype=o.dtype) for o, h in zip(outputs, case["heads"])]
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
    attempt(mx.nd.waitall)  # a late error belongs to this case, not to the next
    answers.write(json.dumps(said) + "\n")
    answers.flush()
