"""Damaged files: whatever is done to a good one, reading it ends in a value or one clear error."""

from __future__ import annotations

import json
import random
import struct
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np

import minigluon as mx
from minigluon import MXNetError, nd, optimizer, recordio, sym

DATA = Path(__file__).parents[1] / "data"
#: what numbers in files are changed to
EDGES = [0, 1, 2, 3, 7, 8, 12, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40,
         2**62, 2**63 - 1, 2**63, 2**64 - 1]  # fmt: skip
#: bytes that reading may take beyond twice the file: messages, tables, parsers
ALLOWANCE = 4_000_000


def good_params():
    """Files of arrays of every version."""
    ones = nd.ones((3, 4))
    sparse = {"w": ones, "c": ones.tostype("csr"), "r": ones.tostype("row_sparse")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.params"
        nd.save(path, sparse)
        files = [path, *sorted((DATA / "params").glob("*.params"))]
        return [file.read_bytes() for file in files]


def good_records():
    """Record files, with split records and headers."""
    return [p.read_bytes() for p in sorted((DATA / "recordio").glob("*.rec"))]


def good_states():
    """States of optimizers in several protocols."""
    import pickle

    found = []
    for rule in (optimizer.SGD(momentum=0.9), optimizer.Adam(), optimizer.LBSGD()):
        updater = optimizer.get_updater(rule)
        updater(0, nd.ones((2, 3)), nd.ones((2, 3)))
        found.append(updater.get_states(dump_optimizer=True))
        content = {0: updater.states[0], 1: np.arange(3), "x": (None, [1.5, {2}])}
        found += [pickle.dumps((content, rule), protocol) for protocol in (0, 2, 5)]
    return found


def good_symbols():
    """Symbol files of several layouts."""
    x = sym.var("data", shape=(0, 3))
    net = sym.BatchNorm(sym.FullyConnected(x, num_hidden=4, name="fc"), name="bn")
    parts = sym.SliceChannel(net, num_outputs=2, name="parts")
    step = sym.contrib.foreach(lambda a, s: (a + s, a * s), sym.var("a"), sym.var("s"))
    graphs = [sym.SoftmaxOutput(parts[0] + parts[1]), sym.Group([step[0], step[1]]),
              sym.Convolution(x, kernel=(3, 3), num_filter=2)]  # fmt: skip
    texts = [graph.tojson() for graph in graphs]
    old = json.loads(texts[2])
    for node in old["nodes"]:
        node["param"] = node.pop("attrs", {})
        node["inputs"] = [i[:2] for i in node["inputs"]]
    return [t.encode() for t in [*texts, json.dumps(old)]]


def good_libsvm():
    """Text of sparse rows."""
    return [
        b"1 0:1.5 3:2\n-2.0 1:0.25\n+1 \n0 2:1e-3 4:7 # comment\n",
        b"1.0 qid:3 0:1 1:2\n2 qid:4 2:3\n", b"0.5 1 2 3\n1 4\n", b"1 0:1\r\n2 1:2\r\n",
    ]  # fmt: skip


def good_safetensors():
    """A file of tensors."""
    from minigluon.ndarray import safetensors

    content = {"w": np.ones((2, 3), np.float32), "i": np.arange(4), "e": np.zeros((0, 2))}
    return [safetensors.dumps(content)]


def read_params(path):
    with mx.util.np_shape(path.read_bytes()[24:28] == struct.pack("<I", 0xF993FACA)):
        loaded = nd.load(str(path))
    for array in loaded.values() if isinstance(loaded, dict) else loaded:
        assert isinstance(array, nd.NDArray)
        if array.stype != "default":
            array.check_format(full_check=False)


def read_records(path):
    reader = recordio.MXRecordIO(path, "r")
    try:
        while (record := reader.read()) is not None:
            _unpack(record)
        recordio.positions(path)
    finally:
        reader.close()


def _unpack(record):
    """A record knows no file; what is wrong with one is told in its own words."""
    try:
        recordio.unpack(record)
    except MXNetError as error:
        assert "\n  fix       " in str(error), f"the error has no remedy: {error}"


def read_states(path):
    from minigluon.optimizer import pickles

    loaded = pickles.loads(pickles.read(path))
    assert isinstance(loaded, dict | tuple)


def read_symbol(path):
    graph = sym.load(str(path))
    graph.list_arguments()
    assert sym.load_json(graph.tojson()).tojson() == graph.tojson()


def read_libsvm(path):
    batches = mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(8,), batch_size=2)
    for batch in batches:
        batch.data[0].check_format()


#: format -> good files, how to read one, and the suffix
FORMATS = {
    "params": (good_params, read_params, ".params"),
    "rec": (good_records, read_records, ".rec"),
    "states": (good_states, read_states, ".states"),
    "json": (good_symbols, read_symbol, "-symbol.json"),
    "libsvm": (good_libsvm, read_libsvm, ".libsvm"),
    "safetensors": (good_safetensors, nd.load, ".safetensors"),
}


def damaged(data, rng):
    """A file with a few mistakes: bits, numbers, pieces cut, doubled, moved or put in."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if not data:
            break
        kind, at = rng.randrange(8), rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            width = rng.choice((1, 2, 4, 8))
            value = rng.choice(EDGES) % (1 << 8 * width)
            at -= at % rng.choice((1, 4))
            data[at : at + width] = value.to_bytes(width, "little")
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            del data[at : at + rng.choice((1, 2, 4, 8, 64))]
        elif kind == 5:
            piece = data[at : at + rng.choice((1, 4, 8, 32, 200))]
            where = rng.randrange(len(data) + 1)
            data[where:where] = piece
        elif kind == 6:
            data[at:at] = rng.choice((b"\0" * 8, b"\xff" * 8, b"9" * 12, b"-1", b"[[", b'"', b"\n"))
        else:
            digits = [k for k, c in enumerate(data) if 48 <= c <= 57]
            if digits:
                at = rng.choice(digits)
                data[at : at + 1] = str(rng.choice((*EDGES, -1, 1.5, "1e999", "NaN"))).encode()
    return bytes(data)


def outcome(name, data, folder, traced=False):
    """``"value"`` or the error's first line; ``AssertionError`` for anything that is wrong."""
    _, read, suffix = FORMATS[name]
    path = folder / f"damaged{suffix}"
    path.write_bytes(data)
    if traced:
        tracemalloc.start()
    try:
        read(path)
        result = "value"
    except MXNetError as error:
        text = str(error)
        assert path.name in text, f"the error does not name the file: {text}"
        assert "\n  fix       " in text, f"the error has no remedy: {text}"
        result = text.partition("\n")[0]
    finally:
        if traced:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    if traced:
        assert peak < 4 * len(data) + ALLOWANCE, f"{peak} bytes for a file of {len(data)}"
    return result


def run(name, count, seed, folder, traced=False):
    """How often damaged files of a format ended in a value; raises with the file that did wrong.

    Without a seed the files are others every time.
    """
    seed = random.randrange(10**9) if seed is None else seed
    rng = random.Random(f"{name} {seed}")
    files = FORMATS[name][0]()
    values = 0
    for number in range(count):
        data = damaged(rng.choice(files), rng)
        try:
            values += outcome(name, data, folder, traced) == "value"
        except Exception as error:
            kept = folder / f"found-{name}-{seed}-{number}{FORMATS[name][2]}"
            kept.write_bytes(data)
            raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
    return values
