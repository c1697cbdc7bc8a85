"""Every rule gives the weights and states that MXNet 1.9.1 gave on the same three gradients."""

import json
from pathlib import Path

import numpy as np
import pytest

from minigluon import nd, optimizer

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "optimizer" / "recorded.json").read_text()
)
TOLERANCE = {"float16": 2e-3, "float32": 5e-6, "float64": 1e-5}  # MXNet rounds settings to float32


def label(case):
    options = "-".join(f"{k}={v}" for k, v in case["options"].items() if k not in COMMON)
    storage = f"{case['weight_stype']}-{case['grad_stype']}-{case['dtype']}"
    return f"{case['name']}-{options}-{storage}"


COMMON = ("learning_rate", "wd", "rescale_grad", "clip_gradient")


def flat(state):
    if state is None:
        return []
    if isinstance(state, list | tuple):
        return [array for part in state for array in flat(part)]
    return [state.asnumpy()]


@pytest.mark.parametrize("case", RECORDED["cases"], ids=label)
def test_three_steps_give_what_mxnet_gave(case, monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    rule = optimizer.create(case["name"], **case["options"])
    weight = nd.array(RECORDED["weight"], dtype=case["dtype"]).tostype(case["weight_stype"])
    state = rule.create_state_multi_precision(0, weight)
    for values in RECORDED["grads"]:
        grad = nd.array(values, dtype=case["dtype"]).tostype(case["grad_stype"])
        rule.update_multi_precision(0, weight, grad, state)
    tolerance = TOLERANCE[case["dtype"]]
    np.testing.assert_allclose(weight.asnumpy(), case["weight"], rtol=tolerance, atol=tolerance)
    for ours, theirs in zip(flat(state), case["states"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    assert weight.stype == case["weight_stype"]
