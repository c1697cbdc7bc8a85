"""minigluon/optimizer/pickles.py; the golden files were written by MXNet 1.9.1."""

import collections
import os
import pickle
import pickletools

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd, optimizer
from minigluon.optimizer.pickles import dumps, loads, read

GOLDEN = ["mlp-0002", "lenet-0002", "sparse_linreg-0003", "gluon_trainer"]


class Halving(optimizer.Optimizer):
    """A rule of a user: halves what it is given."""

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        weight[:] = weight / 2


class Unrelated:
    """A class that has nothing to do with optimizers."""


class Call:
    """Pickles to the call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def names_in(data):
    """``module.name`` of everything a pickle looks up."""
    texts, names = [], set()
    for opcode, argument, _ in pickletools.genops(data):
        if isinstance(argument, str):
            texts.append(argument)
        if opcode.name == "STACK_GLOBAL":
            names.add(".".join(texts[-2:]))
        elif opcode.name == "GLOBAL":
            names.add(argument.replace(" ", "."))
    return names


def renamed(data, ours, theirs):
    """A protocol 0 pickle with a module name exchanged."""
    return data.replace(ours.encode(), theirs.encode())


def states_of(rule, steps=1):
    """Updater states after some steps on a weight."""
    updater = optimizer.get_updater(rule)
    weight = nd.ones((2, 3))
    for _ in range(steps):
        updater(0, nd.ones((2, 3)), weight)
    return updater


def test_mxnet_modules_stand_for_ours():
    data = pickle.dumps(({}, optimizer.SGD(learning_rate=0.25)), protocol=0)
    _, loaded = loads(renamed(data, "minigluon.optimizer.sgd", "mxnet.optimizer.optimizer"))
    assert type(loaded) is optimizer.SGD
    assert loaded.learning_rate == 0.25


def test_files_name_what_mxnet_has_in_its_places():
    rule = optimizer.Adam(lr_scheduler=mx.lr_scheduler.CosineScheduler(9), wd=np.float32(0.5))
    states = {**states_of(rule).states, "sparse": nd.ones((2, 2)).tostype("csr")}
    assert names_in(dumps((states, rule))) == {
        "mxnet.ndarray.ndarray.NDArray", "mxnet.ndarray.sparse.CSRNDArray",
        "mxnet.optimizer.optimizer.Adam", "mxnet.lr_scheduler.CosineScheduler",
        "numpy.core.multiarray.scalar", "numpy.dtype", "builtins.bytearray",
    }  # fmt: skip


def test_a_rule_of_the_contrib_module_is_named_there():
    assert names_in(dumps(({}, optimizer.contrib.GroupAdaGrad()))) == {
        "mxnet.optimizer.contrib.GroupAdaGrad"
    }


def test_an_optimizer_is_written_with_every_attribute_mxnets_has():
    texts = [a for _, a, _ in pickletools.genops(dumps(({}, optimizer.SGD()))) if a is not None]
    assert "allow_np_array" in texts


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_python_is_read(protocol):
    states = {
        0: nd.array([1.5, 2.5]), "w": (nd.ones((2, 2)).tostype("row_sparse"), None),
        2: [np.float32(1), np.arange(3.0), np.arange(6).reshape(2, 3).T, {4, 5}, 1 + 2j],
        3: collections.OrderedDict([(1, b"x"), (2, frozenset([3]))]), (1, "a"): bytearray(b"yz"),
    }  # fmt: skip
    rule = optimizer.SGD(momentum=0.5, lr_scheduler=mx.lr_scheduler.FactorScheduler(3))
    got, again = loads(pickle.dumps((states, rule), protocol))
    assert list(got) == list(states)
    assert got[0].asnumpy().tolist() == [1.5, 2.5]
    assert got["w"][0].stype == "row_sparse"
    assert got["w"][1] is None
    np.testing.assert_array_equal(got[2][2], states[2][2])
    assert (got[2][0], got[2][3:], got[3]) == (states[2][0], states[2][3:], states[3])
    assert (again.momentum, again.lr_scheduler.step) == (0.5, 3)


def test_a_rule_the_program_has_defined_is_read():
    _, loaded = loads(dumps(({}, Halving(wd=0.5))))
    assert type(loaded) is Halving
    assert loaded.wd == 0.5


@pytest.mark.parametrize(
    "evil",
    [
        Call(os.system, "true"),
        Call(eval, "1"),
        Call(getattr, "a", "b"),
        Call(os.getenv, "HOME"),
        Call(np.load, "x"),
        Call(np.zeros, 9),
        Call(bytearray, 10**9),
        Call(nd.zeros, (9,)),
        Unrelated(),
        optimizer.get_updater(optimizer.SGD()),
        print,
    ],
    ids=[str(k) for k in range(11)],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_nothing_a_file_names_is_run(evil, protocol):
    with pytest.raises(MXNetError, match=r"no class|made of|not enough values"):
        loads(pickle.dumps({0: evil}, protocol))


def test_attributes_of_classes_cannot_be_set():
    # GLOBAL SGD, (None, {"update": 1}), BUILD
    data = b"\x80\x02}K\x00cminigluon.optimizer.sgd\nSGD\nN}U\x06updateK\x01s\x86bs."
    with pytest.raises(MXNetError, match="attributes for type"):
        loads(data)
    assert callable(optimizer.SGD.update)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04\x95",  # cut in the length of a frame
        b"}r\xff\xff\xff\x7f.",  # a memo of 2**31 places costs nothing
        b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f.",  # bytes that are not there
        b"]" + b"(" * 50 + b".",
        b"\x82\x01.",  # an extension code
        b"P1\n.",  # a persistent id
        b"N" + b"\x85" * 100_000 + b"}\x940.",
        b"}N" + b"\x85" * 100_000 + b"Ns.",  # a key of tuples within tuples
        b"",
        b"hello",
    ],
)
def test_what_is_no_file_of_states_is_refused_without_harm(data):
    try:
        assert loads(data) == {}
    except MXNetError:
        pass


@pytest.mark.parametrize("content", [[1], 5, ({}, 3), None])
def test_states_are_a_dict(content):
    with pytest.raises(MXNetError, match="it holds a"):
        loads(pickle.dumps(content))


def test_a_numpy_array_must_bring_its_values():
    data = pickle.dumps({0: np.arange(3, dtype=np.int8)}, 2)
    damaged = data.replace(b"K\x03\x85", b"K\x07\x85")
    assert damaged != data
    with pytest.raises(MXNetError, match=r"an array of shape \(7,\) in 3 bytes"):
        loads(damaged)


def test_a_message_names_file_byte_and_class(tmp_path):
    path = tmp_path / "w.states"
    path.write_bytes(pickle.dumps({0: Unrelated()}, 4))
    with pytest.raises(MXNetError, match=r"w\.states, byte \d+ of \d+: no class .*Unrelated here"):
        loads(read(path))


def test_a_cut_file_is_named_by_trainer_store_and_module(tmp_path):
    path = str(tmp_path / "cut.states")
    parameter = mx.gluon.Parameter("w", shape=(2,))
    parameter.initialize()
    trainer = mx.gluon.Trainer({"w": parameter}, "adam", kvstore=None)
    trainer.save_states(path)
    data = (tmp_path / "cut.states").read_bytes()
    (tmp_path / "cut.states").write_bytes(data[:-9])
    store = mx.kv.create("local")
    store.set_optimizer(optimizer.SGD())
    for load in (trainer.load_states, store.load_optimizer_states):
        with pytest.raises(MXNetError, match=r"cut\.states, byte"):
            load(path)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files_are_written_again_to_the_byte(golden_folder, name):
    data = (golden_folder / f"{name}.states").read_bytes()
    assert dumps(loads(data)) == data


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files_written_again_are_read_to_the_same(golden_folder, name):
    loaded = loads((golden_folder / f"{name}.states").read_bytes())
    again = loads(dumps(loaded))
    first, second = (x[0] if isinstance(x, tuple) else x for x in (loaded, again))
    assert list(first) == list(second)
    for one, other in zip(first.values(), second.values(), strict=True):
        pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
        assert all((x.asnumpy() == y.asnumpy()).all() for x, y in pairs)
    if isinstance(loaded, tuple):
        assert vars(loaded[1]) == vars(again[1])


def test_golden_trainer_states_are_adams_after_three_steps(golden_folder):
    states, rule = loads((golden_folder / "gluon_trainer.states").read_bytes())
    assert type(rule) is optimizer.Adam
    assert rule.num_update == 3
    for mean, square in states.values():
        assert isinstance(mean, nd.NDArray)
        assert np.isfinite(mean.asnumpy()).all()
        assert (square.asnumpy() >= 0).all()


@pytest.mark.parametrize("name", GOLDEN[:3])
def test_golden_module_states_fit_their_parameters(golden_folder, name):
    states = loads((golden_folder / f"{name}.states").read_bytes())
    shapes = {v.shape for k, v in nd.load(str(golden_folder / f"{name}.params")).items()}
    assert all(state.shape in shapes for state in states.values())


def test_an_updater_goes_on_from_golden_states(golden_folder):
    updater = optimizer.get_updater(optimizer.create("adam"))
    updater.set_states((golden_folder / "gluon_trainer.states").read_bytes())
    index, (mean, _) = next(iter(updater.states.items()))
    weight = nd.zeros(mean.shape, ctx=mx.cpu())
    updater(index, nd.ones(mean.shape), weight)
    assert updater.optimizer._index_update_count[index] == 4
    assert weight.asnumpy().any()


@pytest.mark.parametrize("missing", ["lazy_update"])
def test_a_nag_of_mxnet_has_no_laziness_and_steps(missing):
    updater = states_of(optimizer.NAG(momentum=0.5))
    del vars(updater.optimizer)[missing]
    other = optimizer.get_updater(optimizer.SGD())
    other.set_states(updater.get_states(dump_optimizer=True))
    weight = nd.ones((2, 3))
    other(0, nd.ones((2, 3)), weight)
    assert (weight.asnumpy() < 1).all()
