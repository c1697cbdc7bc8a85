"""Files made here open in the real MXNet, and mean the same there."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, optimizer, recordio, sym

PYTHON = os.environ.get("MINIGLUON_ORACLE")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="MINIGLUON_ORACLE does not name a python with MXNet"),
    pytest.mark.slow,
]
SCRIPT = Path(__file__).with_name("opens.py")
DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64"]


def numbers(shape, dtype="float32"):
    values = np.random.default_rng(1).random(shape) * 4 - (0 if dtype == "uint8" else 2)
    return nd.array(values * (values > 0.5), dtype=dtype)


ARRAYS = {
    **{dtype: numbers((2, 3), dtype) for dtype in DTYPES},
    "bool": numbers((3,)) > 0,
    "one": numbers((1,)),
    "csr": numbers((4, 5)).tostype("csr"),
    "csr64": numbers((4, 5), "float64").tostype("csr"),
    "empty csr": nd.sparse.zeros("csr", (3, 4)),
    "rows": numbers((5, 2, 2)).tostype("row_sparse"),
    "no rows": nd.sparse.zeros("row_sparse", (3, 4)),
    "größe": numbers((2, 1, 2, 1, 2)),
}
RECORDS = {0: b"", 3: b"abc", 5: b"\n#\xd7\xce" * 3, 6: b"x\n#\xd7\xceabc\n#\xd7\xce"}


def graphs():
    x = sym.var("data", shape=(0, 3), init=mx.init.Normal(0.01), lr_mult=2)
    with mx.AttrScope(ctx_group="dev1"):
        net = sym.FullyConnected(x, num_hidden=4, name="fc1")
    net = sym.BatchNorm(sym.Activation(net, act_type="relu"), name="bn", fix_gamma=False)
    parts = sym.SliceChannel(net, num_outputs=2, name="parts")
    picture = sym.Convolution(sym.var("p"), kernel=(3, 3), num_filter=2, no_bias=True, name="c")
    picture = sym.Pooling(picture, pool_type="max", kernel=(2, 2), name="pool")
    step = sym.contrib.foreach(lambda a, s: (a + s, a * s), sym.var("a"), sym.var("s"))
    return {
        "net": sym.SoftmaxOutput(parts[0] + parts[1], name="softmax"),
        "group": sym.Group([parts[1], sym.LeakyReLU(picture, act_type="prelu", name="l")]),
        "loop": sym.Group([step[0], step[1]]),
        "sparse": sym.dot(sym.var("s", stype="csr"), sym.var("w", stype="row_sparse")),
    }


def rules():
    made = {
        n: c() for n, c in optimizer.Optimizer.opt_registry.items() if n not in ("test", "sgld")
    }
    made["sgd"] = optimizer.SGD(momentum=0.9, lr_scheduler=mx.lr_scheduler.PolyScheduler(10))
    made["adam"] = optimizer.Adam(lr_scheduler=mx.lr_scheduler.MultiFactorScheduler([1, 2]), wd=0.1)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of files of every kind."""
    root = tmp_path_factory.mktemp("files")
    nd.save(root / "dict.params", ARRAYS)
    nd.save(root / "list.params", list(ARRAYS.values()))
    with mx.util.np_shape(True):
        nd.save(root / "np_dict.params", {"scalar": nd.ones(()), "none": nd.ones((0, 2))})
    for name, graph in graphs().items():
        graph.save(str(root / f"{name}.json"))
    for name, rule in rules().items():
        updater = optimizer.get_updater(rule)
        updater(0, nd.ones((2, 3)) / 2, nd.ones((2, 3)))
        (root / f"{name}.states").write_bytes(updater.get_states(dump_optimizer=True))
    writer = recordio.MXIndexedRecordIO(root / "all.idx", root / "all.rec", "w")
    for key, record in RECORDS.items():
        writer.write_idx(key, record)
    writer.write_idx(7, recordio.pack(recordio.IRHeader(0, [1, 2.5], 9, 0), b"picture"))
    writer.close()
    return root


@pytest.fixture(scope="module")
def opened(folder):
    """What MXNet finds in them."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [PYTHON, str(SCRIPT), str(folder)], capture_output=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


def told(x):
    values = x.asnumpy()
    return [x.stype, values.dtype.name, list(x.shape), values.astype(float).ravel().tolist()]


def test_arrays_are_those_that_were_saved(opened):
    assert opened["dict.params"] == {name: told(x) for name, x in ARRAYS.items()}
    assert opened["list.params"] == [told(x) for x in ARRAYS.values()]


def test_scalars_and_empty_arrays_are_read_under_numpy_shapes(opened):
    assert opened["np_dict.params"] == {
        "scalar": ["default", "float32", [], [1.0]], "none": ["default", "float32", [0, 2], []],
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(graphs()))
def test_a_symbol_is_written_again_by_mxnet_to_the_byte(folder, opened, name):
    assert opened[f"{name}.json"] == (folder / f"{name}.json").read_text()


@pytest.mark.parametrize("name", sorted(rules()))
def test_training_goes_on_from_states(folder, opened, name):
    updater = optimizer.get_updater(optimizer.create(name))
    updater.set_states((folder / f"{name}.states").read_bytes())
    weight = nd.ones((2, 3))
    updater(0, nd.ones((2, 3)), weight)
    kind, (_, _, _, values) = opened[f"{name}.states"]
    assert kind == type(updater.optimizer).__name__
    np.testing.assert_allclose(weight.asnumpy().ravel(), values, 1e-5)


def test_records_are_those_that_were_written(opened):
    found, labels, number, content = opened["all.rec"]
    assert {int(k): bytes.fromhex(v) for k, v in found.items() if k != "7"} == RECORDS
    assert (labels, number, bytes.fromhex(content)) == ([1.0, 2.5], 9, b"picture")
