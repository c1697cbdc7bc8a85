"""BatchNorm inside compiled plans: normalization and slopes are loops, states are moved once."""

import numpy as np
import pytest

from minigluon import autograd, gluon, nd
from minigluon.core.plan import cache

pytestmark = pytest.mark.skipif(not cache.available(), reason="plans cannot be compiled here")


class Normalized(gluon.HybridBlock):
    """Something before BatchNorm and something after it."""

    def __init__(self, axis, **options):
        super().__init__()
        self.norm = gluon.nn.BatchNorm(axis=axis, in_channels=3, **options)

    def hybrid_forward(self, F, x):
        """Twice the rectified normalized tangents."""
        return F.relu(self.norm(F.tanh(x))) * 2


def outcome(hybrid, shape, axis, **options):
    """Values, gradients and states after two steps and a prediction."""
    net = Normalized(axis, **options)
    net.initialize()
    numbers = np.random.default_rng(2)
    for p in net.collect_params(".*(gamma|beta)").values():
        p.set_data(nd.array(numbers.normal(size=3)))
    if hybrid:
        net.hybridize()
    seen = []
    for _ in range(2):
        x = nd.array(numbers.normal(size=shape))
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward(nd.array(numbers.normal(size=shape)))
        seen += [y, x.grad.copy()]
    seen += [p.grad().copy() for p in net.collect_params(".*(gamma|beta)").values()
             if p.grad_req != "null"]  # fmt: skip
    seen += [net.norm.running_mean.data(), net.norm.running_var.data(), net(x)]
    if hybrid:
        plans = [c.plan for c in net._cached_op.op.planned.values()]
        text = "\n".join(p.describe() for p in plans)
        assert "BatchNorm has no compiled form" not in text
        assert "_batch_norm_grad" not in text
    return [s.asnumpy() for s in seen]


@pytest.mark.parametrize(
    "options",
    [{}, {"scale": False}, {"center": False}, {"use_global_stats": True}, {"momentum": 0.5}],
    ids=str,
)
@pytest.mark.parametrize(("shape", "axis"), [((4, 3, 5), 1), ((6, 3), 1), ((2, 4, 5, 3), -1)])
def test_compiled_steps_are_those_of_the_kernels(shape, axis, options):
    compiled = outcome(True, shape, axis, **options)
    plain = outcome(False, shape, axis, **options)
    for got, wanted in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)


def test_states_are_moved_once_a_step():
    net = Normalized(1)
    net.initialize()
    net.hybridize()
    x = nd.array(np.random.default_rng(0).normal(size=(8, 3)))
    with autograd.record():
        y = net(x)
    y.backward()
    mean = np.tanh(x.asnumpy()).mean(0)
    np.testing.assert_allclose(net.norm.running_mean.data().asnumpy(), 0.1 * mean, rtol=1e-4)
