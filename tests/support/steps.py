"""How to draw inputs and attributes for the steps of optimizers."""

from __future__ import annotations

from entries import (
    Entry,
    update,
)

CASES: dict[str, Entry] = {}

# ---- optimizer steps


def _step(**more):
    def attributes(pick):
        attrs = {
            "lr": pick.choice([0.1, 0.5]),
            "wd": pick.choice([0.0, 0.1]),
            "rescale_grad": pick.choice([1.0, 0.5]),
            "clip_gradient": pick.choice([-1.0, 0.5]),
        }
        attrs.update({name: pick.choice(options) for name, options in more.items()})
        return attrs

    return attributes


LAZY = "rows without a gradient are left alone"
_LAZY = {"lazy_update": [False, True]}
CASES["sgd_update"] = update(0, _step(**_LAZY), dense=LAZY)
CASES["sgd_mom_update"] = update(1, _step(momentum=[0.9, 0.0], **_LAZY), dense=LAZY)
CASES["adam_update"] = update(2, _step(beta1=[0.9], epsilon=[1e-6], **_LAZY), dense=LAZY)
CASES["_sparse_adagrad_update"] = update(1, _step(), dense=LAZY)
CASES["ftrl_update"] = update(2, _step(lamda1=[0.01], beta=[1.0]), dense=LAZY)
