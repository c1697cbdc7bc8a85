"""Networks of every kind compute what the real MXNet 1.9.1 did when ``freeze_nets.py`` ran it."""

import json
from pathlib import Path

import pytest

import minigluon as mx
import nets

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "nets.json").read_text())
COMPILED = ["mlp", "lenet", "lstm", "gru", "transformer", "mobilenet_v2_0_25", "squeezenet1_1"]
CASES = [(name, False) for name in RECORDED] + [(name, True) for name in COMPILED]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hybrid"), CASES)
def test_nets_compute_what_mxnet_does(name, hybrid):
    dtype = "float32" if name in nets.SINGLE else "float64"
    net, x = nets.ready(mx, name, dtype)
    net.hybridize(hybrid)
    got = nets.sample(nets.run(mx, net, x))
    tolerance = 1e-4 if dtype == "float32" else 1e-6
    for key, values in RECORDED[name].items():
        assert got[key] == pytest.approx(values, rel=tolerance, abs=tolerance), key
