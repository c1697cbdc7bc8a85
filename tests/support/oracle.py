"""The real MXNet in a child process, and the comparison of its answers with ours."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import warnings
from pathlib import Path

import numpy as np

import minigluon as mx
from cases import function, several
from differences import excuse_part
from minigluon import MXNetError, autograd, nd, storage, sym
from minigluon.core.invoke import wrap
from minigluon.core.op import registry

CHILD = Path(__file__).parents[1] / "oracle" / "child.py"

#: seconds after which an answer is not waited for
PATIENCE = 20

#: how far results may be apart, by dtype: MXNet computes in another order, and with other libraries
TOLERANCES = {"float16": 1e-2, "float32": 2e-5, "float64": 1e-6}


def pack(array):
    """An array as JSON can hold it."""
    array = np.ascontiguousarray(array)
    return [array.dtype.name, list(array.shape), array.tobytes().hex()]


def unpack(packed):
    """The array that `pack` was given."""
    dtype, shape, text = packed
    return np.frombuffer(bytes.fromhex(text), dtype).reshape(shape)


class Oracle:
    """A process of the python that ``MINIGLUON_ORACLE`` names; it answers until it is closed."""

    def __init__(self, python, child=CHILD, patience=PATIENCE):
        self.python, self.child, self.patience = python, child, patience
        self._start()

    def _start(self):
        environment = {**os.environ, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0"}
        environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [self.python, str(self.child)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, question):
        """What MXNet gives for a question that `question` made; some make it crash or hang."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        if select.select([self.process.stdout], [], [], self.patience)[0]:
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
        self.process.kill()
        self.close()
        self._start()
        return {"error": ["crash", "MXNet ended its process"]}

    def close(self):
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def question(case, dtype, stypes=None, storages=None, odd=None, infer=False):
    """A case as the oracle, or `ours`, answers it, on storages in place of its own arrays if given.

    Head gradients follow from the outputs. ``odd`` is what `variants` made odd about the case, and
    if that is "empty", sizes of zero are meant; ``infer`` asks a symbol for shapes and dtypes too.
    Gradients of whole numbers are not asked for.
    """
    arrays = case.arrays(dtype)
    if storages is not None:
        arrays = [storage.densify(s) for s in storages]
    into = [k for k in case.entry.written(case.attrs) if k < len(arrays)]
    op, mutated, every = registry[case.name], (), case.entry.every
    with contextlib.suppress(MXNetError):  # or else it has no states
        if every or op.mutates:
            mutated = op.names_of_inputs(case.call(dtype).attrs, len(arrays))
    asked = {
        "name": case.name,
        "inputs": [pack(x) for x in arrays],
        "stypes": list(stypes or case.entry.stypes or ["default"] * len(arrays)),
        "attrs": case.attributes(dtype),
        "wanted": case.wanted() if np.dtype(dtype).kind == "f" and not into else [],
        "mutated": [k for k, n in enumerate(mutated) if every or n in op.mutates],
        "into": into,
        "training": case.entry.training,
        "heads": [],
        **({"odd": odd} if odd else {}),
        **({"infer": 1} if infer and not every else {}),
    }
    if asked["wanted"]:
        with mx.util.np_shape(odd == "empty"), contextlib.suppress(MXNetError):
            outputs = several(_run(asked, _inputs(asked)))
            numbers = np.random.default_rng(5)
            heads = [numbers.uniform(0.5, 1.5, o.shape).astype(o.dtype) for o in outputs]
            asked["heads"] = [pack(h) for h in heads]
    return json.loads(json.dumps(asked))


def _inputs(asked):
    arrays = zip(asked["inputs"], asked["stypes"], strict=True)
    return [wrap(storage.cast(unpack(x).copy(), s), mx.cpu()) for x, s in arrays]


def _run(asked, inputs):
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in asked["attrs"].items()}
    if asked["into"]:
        attrs["out"] = [inputs[k] for k in asked["into"]]
        if len(asked["into"]) == 1:
            attrs["out"] = attrs["out"][0]
    return function(nd, asked["name"])(*inputs, **attrs)


def ours(asked):
    """What we give for a question, in the form of the oracle's answers."""
    with mx.util.np_shape(asked.get("odd") == "empty"):
        result = _evaluated(asked)
        if asked.get("infer"):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Cannot decide")  # as is asked on purpose
                result["inferred"] = _inferred(asked)
    return result


def _inferred(asked):
    """What our symbol knows of shapes and dtypes, as `child.inferred` asks MXNet's."""
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in asked["attrs"].items()}
    names = [f"x{k}" for k in range(len(asked["inputs"]))]
    try:
        symbol = function(sym, asked["name"])(*[sym.Variable(n) for n in names], **attrs)
    except MXNetError as error:
        return {"error": [type(error).__name__, str(error)]}
    shapes = {n: tuple(x[1]) for n, x in zip(names, asked["inputs"], strict=True)}
    dtypes = {n: x[0] for n, x in zip(names, asked["inputs"], strict=True)}
    found = []
    for left_out in [None] + (names if len(names) > 1 else []):
        given = [{n: v for n, v in each.items() if n != left_out} for each in (shapes, dtypes)]
        found.append(
            [
                _attempt(lambda given=given: symbol.infer_shape(**given[0])),
                _attempt(lambda given=given: _plain(symbol.infer_type(**given[1]))),
            ]
        )
    return json.loads(json.dumps(found))


def _plain(found):
    return [None if part is None else [np.dtype(t).name for t in part] for part in found]


def _attempt(function):
    try:
        return function()
    except MXNetError as error:
        return {"error": [type(error).__name__, str(error)]}


def _evaluated(asked):
    try:
        inputs = _inputs(asked)
        for k in asked["wanted"]:
            inputs[k].attach_grad()
        with autograd.record(train_mode=asked["training"]):
            outputs = several(_run(asked, inputs))
    except MXNetError as error:
        return {"error": [type(error).__name__, str(error)]}
    result = {"outputs": [described(o) for o in outputs]}
    result["states"] = [described(inputs[k]) for k in asked["mutated"]]
    if asked["wanted"]:
        try:
            heads = [unpack(h) for h in asked["heads"]]
            autograd.backward(outputs, [nd.array(h, dtype=h.dtype) for h in heads])
            result["gradients"] = [described(inputs[k].grad) for k in asked["wanted"]]
        except MXNetError as error:
            result["no_gradient"] = [type(error).__name__, str(error)]
    return result


def coarsest_of(asked, wanted):
    """The least exact floating dtype among the inputs of a question and the outputs."""
    dtypes = {x[0] for x in asked["inputs"]} | {o[1][0] for o in wanted.get("outputs", ())}
    return next((d for d in ("float16", "float32") if d in dtypes), "float64")


def described(x):
    """The storage type and the values of an NDArray."""
    return [x.stype, pack(x.asnumpy())]


def compare(asked, got, wanted, entry):
    """Raise ``AssertionError`` where our answer to a question is not MXNet's.

    ``entry`` says what is promised of the operator's values. Where MXNet has no gradient, or a
    wrong one, we may have one.
    """
    coarsest = coarsest_of(asked, wanted)  # in which MXNet may have computed
    assert ("error" in got) == ("error" in wanted), (got.get("error"), wanted.get("error"))
    for part in ("outputs", "states", "gradients"):
        if part not in wanted or excuse_part(part, asked, wanted):
            continue
        assert part in got, got.get("no_gradient")
        assert len(got[part]) == len(wanted[part]), part
        for k, (one, other) in enumerate(zip(got[part], wanted[part], strict=True)):
            assert one[0] == other[0], f"{part} {k}: stored as {one[0]}, MXNet: {other[0]}"
            left, right = unpack(one[1]), unpack(other[1])
            assert left.dtype == right.dtype, f"{part} {k}: {left.dtype}, MXNet: {right.dtype}"
            assert left.shape == right.shape, f"{part} {k}: {left.shape}, MXNet: {right.shape}"
            if not entry.random:
                tolerance = entry.factor * TOLERANCES.get(left.dtype.name, 0)
                if tolerance:
                    tolerance = max(tolerance, entry.factor * TOLERANCES.get(coarsest, 0))
                np.testing.assert_allclose(left, right, tolerance, tolerance, err_msg=f"{part} {k}")
    compare_inferred(got.get("inferred"), wanted.get("inferred"), asked.get("odd") == "empty")


def compare_inferred(got, wanted, empty=False):
    """Raise ``AssertionError`` where we infer something else than MXNet; we may infer more.

    Unless ``empty``, sizes of zero in what MXNet infers mean that it does not know.
    """
    if wanted is None or isinstance(wanted, dict):
        return
    assert not isinstance(got, dict), got
    for k, (one, other) in enumerate(zip(got, wanted, strict=True)):
        where = f"without input {k - 1}" if k else "of all inputs"
        for what, left, right in zip(("shapes", "dtypes"), one, other, strict=True):
            if isinstance(right, dict):
                continue
            assert not isinstance(left, dict), f"{what} {where}: {left}, MXNet: {right}"
            if all(_known(part, empty) for part in right):
                assert left == right, f"{what} {where}: {left}, MXNet: {right}"


def _known(facts, empty):
    """Whether MXNet knows all of some shapes or dtypes."""
    if facts is None:
        return False
    return empty or not any(isinstance(f, list) and (not f or 0 in f) for f in facts)
