"""minigluon/module/sequential_module.py."""

import numpy as np
import pytest

import minigluon as mx


def layer(name, num_hidden):
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=num_hidden, name=name)


def chain():
    first = mx.mod.Module(layer("a", 4), label_names=[])
    second = mx.mod.Module(mx.sym.SoftmaxOutput(layer("b", 3), name="softmax"))
    return mx.mod.SequentialModule().add(first).add(second, take_labels=True, auto_wiring=True)


def test_a_chain_trains_as_the_one_symbol_it_stands_for(small):
    whole = mx.sym.FullyConnected(layer("a", 4), num_hidden=3, name="b")
    one = mx.mod.Module(mx.sym.SoftmaxOutput(whole, name="softmax"))
    given = {
        "a_weight": small.wave(4, 5), "a_bias": small.wave(4),
        "b_weight": small.wave(3, 4), "b_bias": small.wave(3),
    }  # fmt: skip
    given = {name: mx.nd.array(value) for name, value in given.items()}
    found = []
    for module in (one, chain()):
        module.fit(
            small.iterator(), num_epoch=2, arg_params=given,
            optimizer_params={"learning_rate": 0.2, "momentum": 0.9},
        )  # fmt: skip
        found.append((module.get_params()[0], module.score(small.iterator(), "ce")))
    for name in given:
        np.testing.assert_allclose(
            found[1][0][name].asnumpy(), found[0][0][name].asnumpy(), rtol=1e-5, atol=1e-6
        )
    np.testing.assert_allclose(found[0][1][0][1], found[1][1][0][1], rtol=1e-5)


def test_names_and_shapes_are_those_of_the_ends(small):
    module = chain()
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    assert module.data_names == ["data"]
    assert module.output_names == ["softmax_output"]
    assert module.output_shapes == [("softmax_output", (4, 3))]
    assert module.label_shapes == [("softmax_label", (4,))]


def test_an_empty_chain_cannot_be_bound():
    with pytest.raises(AssertionError, match="empty"):
        mx.mod.SequentialModule().bind([("data", (4, 5))])


def test_an_unknown_meta_is_refused():
    with pytest.raises(AssertionError, match="typo"):
        mx.mod.SequentialModule().add(mx.mod.Module(layer("a", 4), label_names=[]), foo=True)


def test_a_parameter_name_used_twice_is_refused():
    module = mx.mod.SequentialModule()
    module.add(mx.mod.Module(layer("a", 5), label_names=[]))
    module.add(mx.mod.Module(layer("a", 5), label_names=[]), auto_wiring=True)
    module.bind([("data", (4, 5))])
    with pytest.raises(AssertionError, match='"a_weight" in layer 1'):
        module.init_params()
