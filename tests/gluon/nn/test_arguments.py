"""Sizes that no layer can have are refused where the layer is made."""

import numpy as np
import pytest

from minigluon import gluon
from minigluon.gluon import nn, rnn


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Dense(-1), r"Dense: units is no possible size(.|\n)*units=-1"),
        (lambda: nn.Dense(0), "units=0"),
        (lambda: nn.Dense(2.5), r"units=2\.5"),
        (lambda: nn.Dense("4"), "units='4'"),
        (lambda: nn.Dense(2, in_units=-2), "in_units=-2"),
        (lambda: nn.Embedding(-1, 3), "input_dim=-1"),
        (lambda: nn.Embedding(3, 0), "output_dim=0"),
        (lambda: nn.Conv2D(-3, 3), "Conv2D: channels(.|\n)*channels=-3"),
        (lambda: nn.Conv2D(3, 0), "kernel_size=0"),
        (lambda: nn.Conv2D(3, (3, -1)), r"kernel_size=\(3, -1\)"),
        (lambda: nn.Conv2D(3, 3, strides=0), "strides=0"),
        (lambda: nn.Conv2D(3, 3, padding=-1), "padding=-1"),
        (lambda: nn.Conv2D(3, 3, dilation=(1, 0)), r"dilation=\(1, 0\)"),
        (lambda: nn.Conv2D(3, 3, groups=0), "groups=0"),
        (lambda: nn.Conv1DTranspose(3, 3, in_channels=-4), "in_channels=-4"),
        (lambda: nn.MaxPool2D(-1), "pool_size=-1"),
        (lambda: nn.AvgPool1D(2, strides=-1), "strides=-1"),
        (lambda: nn.GroupNorm(0), "num_groups=0"),
        (lambda: nn.Dropout("x"), "rate='x'"),
        (lambda: nn.Dropout(1.5), r"rate=1\.5"),
        (lambda: rnn.LSTM(-1), "hidden_size=-1"),
        (lambda: rnn.GRU(3, num_layers=0), "num_layers=0"),
        (lambda: rnn.LSTMCell(0), "hidden_size=0"),
        (lambda: gluon.contrib.rnn.LSTMPCell(4, 0), "projection_size=0"),
        (lambda: gluon.contrib.rnn.Conv1DRNNCell((2, 5), -1, 3, 3), "hidden_channels=-1"),
    ],
)
def test_impossible_sizes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sizes_of_numpy_and_unknown_ones_are_fine():
    assert nn.Dense(np.int64(3), in_units=np.int32(2)).weight.shape == (3, 2)
    assert nn.Conv2D(np.int64(3), np.int64(1)).weight.shape == (3, 0, 1, 1)
    assert nn.Dense(3, in_units=0).weight.shape == (3, 0)
