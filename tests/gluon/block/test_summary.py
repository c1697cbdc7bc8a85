"""Block.summary: the table of layers as MXNet 1.9.1 prints it."""

import pytest

from minigluon import gluon, nd
from minigluon.gluon import nn

LINE, DOUBLE = "-" * 80, "=" * 80


def test_summary_shows_layers_shapes_and_numbers_of_parameters(capsys):
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu"), nn.Dropout(0.5), nn.Flatten(), nn.Dense(2))
    net.initialize()
    net.summary(nd.ones((1, 4)))
    # recorded from MXNet 1.9.1, without the row it adds for the trace that infers shapes
    assert capsys.readouterr().out.splitlines() == [
        LINE,
        "        Layer (type)                                Output Shape         Param #",
        DOUBLE,
        "               Input                                      (1, 4)               0",
        "        Activation-1                                      (1, 3)               0",
        "             Dense-2                                      (1, 3)              15",
        "           Dropout-3                                      (1, 3)               0",
        "           Flatten-4                                      (1, 3)               0",
        "             Dense-5                                      (1, 2)               8",
        DOUBLE,
        "Parameters in forward computation graph, duplicate included",
        "   Total params: 23",
        "   Trainable params: 23",
        "   Non-trainable params: 0",
        "Shared params in forward computation graph: 0",
        "Unique parameters in model: 23",
        LINE,
    ]


def test_shared_layers_are_counted_once_as_unique(capsys):
    layer = nn.Dense(2)
    net = nn.Sequential()
    net.add(layer, layer)
    net.initialize()
    net.summary(nd.ones((1, 2)))
    text = capsys.readouterr().out
    assert "   Total params: 12" in text
    assert "Shared params in forward computation graph: 6" in text
    assert "Unique parameters in model: 6" in text


def test_nested_outputs_and_none_are_shown(capsys):
    class Pair(gluon.Block):
        def forward(self, x, y):
            return [x, [y, x]], y

    Pair().summary(nd.ones((1, 2)), None)
    text = capsys.readouterr().out
    assert "                                (1, 2), None               0" in text
    assert "[(1, 2), [None, (1, 2)]], None" in text


def test_frozen_parameters_are_counted_apart(capsys):
    layer = nn.Dense(2, in_units=2)
    layer.weight.grad_req = "null"
    layer.initialize()
    layer.summary(nd.ones((1, 2)))
    assert "   Non-trainable params: 4" in capsys.readouterr().out


def test_hybridized_block_has_no_summary_and_keeps_no_hooks():
    layer = nn.Dense(2)
    layer.initialize()
    layer.hybridize()
    with pytest.raises(AssertionError, match="must not be hybridized to print summary"):
        layer.summary(nd.ones((1, 2)))
    assert not layer._forward_hooks
