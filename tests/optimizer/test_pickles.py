"""States written by MXNet 1.9.1 are read, and training goes on from them."""

import pickle

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, optimizer
from minigluon.optimizer.pickles import loads


class Elsewhere:
    pass


def renamed(data, ours, theirs):
    """A protocol 0 pickle with a module name exchanged."""
    return data.replace(ours.encode(), theirs.encode())


def test_mxnet_modules_stand_for_ours():
    data = pickle.dumps(optimizer.SGD(learning_rate=0.25), protocol=0)
    loaded = loads(renamed(data, "minigluon.optimizer.sgd", "mxnet.optimizer.optimizer"))
    assert type(loaded) is optimizer.SGD
    assert loaded.learning_rate == 0.25


def test_classes_from_elsewhere_are_found():
    assert isinstance(loads(pickle.dumps(Elsewhere())), Elsewhere)


def test_a_class_that_is_not_here_is_named():
    data = pickle.dumps(optimizer.SGD(), protocol=0)
    with pytest.raises(pickle.UnpicklingError, match=r"no class mxnet\.optimizer\.nowhere\.SGDX"):
        loads(
            data.replace(b"minigluon.optimizer.sgd", b"mxnet.optimizer.nowhere").replace(
                b"\nSGD\n", b"\nSGDX\n"
            )
        )


def test_golden_trainer_states_are_adams_after_three_steps(golden_folder):
    states, rule = loads((golden_folder / "gluon_trainer.states").read_bytes())
    assert type(rule) is optimizer.Adam
    assert rule.num_update == 3
    for mean, square in states.values():
        assert isinstance(mean, nd.NDArray)
        assert np.isfinite(mean.asnumpy()).all()
        assert (square.asnumpy() >= 0).all()


@pytest.mark.parametrize("name", ["mlp-0002", "lenet-0002", "sparse_linreg-0003"])
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
