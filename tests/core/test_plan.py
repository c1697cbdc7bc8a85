import threading

import numpy as np

from minigluon import sym
from minigluon.core.plan.plan import Plan


def plan(symbol, *names, wanted=None, like=None):
    """A plan of a symbol on dense variables of these names."""
    internals = symbol.get_internals()
    arguments = [internals[n]._entries[0] for n in names]
    return Plan(arguments, symbol._entries, [np.ndarray] * len(names), wanted, like)


def two_layers():
    x, v, w = sym.var("x"), sym.var("v"), sym.var("w")
    return sym.dot(sym.tanh(sym.dot(x, v)), w)


def arrays(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=s).astype(np.float32) for s in ((3, 4), (4, 5), (5, 1))]


def expected(x, v, w, g):
    """Output and gradients of v and w by the chain rule, in float64."""
    x, v, w, g = (a.astype(np.float64) for a in (x, v, w, g))
    hidden = np.tanh(x @ v)
    inner = (g @ w.T) * (1 - hidden**2)
    return hidden @ w, x.T @ inner, hidden.T @ g


def test_forward_and_backward_follow_the_chain_rule():
    made = plan(two_layers(), "x", "v", "w", wanted=[False, True, True])
    data = arrays()
    out, *kept = made.forward.run(*data)
    head = np.ones((3, 1), np.float32)
    grads = made.backward((np.ndarray,)).run(head, *kept, *data)
    want_out, want_v, want_w = expected(*data, head)
    assert grads[0] is None
    np.testing.assert_allclose(out, want_out, rtol=1e-5)
    np.testing.assert_allclose(grads[1], want_v, rtol=1e-5)
    np.testing.assert_allclose(grads[2], want_w, rtol=1e-5)


def test_without_gradients_nothing_is_kept():
    made = plan(two_layers(), "x", "v", "w")
    assert made.kept == []
    assert made.wanted is None
    assert len(made.forward.run(*arrays())) == 1


def test_only_what_the_gradients_read_is_kept():
    x, w = sym.var("x"), sym.var("w")
    made = plan(sym.dot(x, w) + 1, "x", "w", wanted=[False, True])
    assert made.kept == []


def test_a_plan_knows_which_arguments_have_a_gradient():
    x, y = sym.var("x"), sym.var("y")
    made = plan(x * 2 + sym.BlockGrad(y), "x", "y", wanted=[True, True])
    assert made.has_gradient == (True, False)


def test_losses_do_not_read_the_gradients_of_heads():
    x = sym.var("x")
    assert not plan(sym.make_loss(x * 2), "x", wanted=[True]).reads_heads
    assert plan(x * 2, "x", wanted=[True]).reads_heads


def test_the_description_names_the_operators():
    text = plan(two_layers(), "x", "v", "w", wanted=[False, True, True]).describe()
    assert text.count("def ") == 2
    for name in ("dot", "tanh"):
        assert name in text


def test_one_plan_runs_in_many_threads_at_once():
    made = plan(two_layers(), "x", "v", "w", wanted=[False, True, True])
    backward = made.backward((np.ndarray,)).run
    head = np.ones((3, 1), np.float32)
    wrong = []

    def run(seed):
        data = arrays(seed)
        want_out, want_v, _ = expected(*data, head)
        for _ in range(100):
            out, *kept = made.forward.run(*data)
            grads = backward(head, *kept, *data)
            if not (np.allclose(out, want_out, 1e-4) and np.allclose(grads[1], want_v, 1e-4, 1e-5)):
                wrong.append(seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_results_of_two_runs_do_not_share_memory():
    made = plan(two_layers(), "x", "v", "w", wanted=[False, True, True])
    data = arrays()
    first, second = made.forward.run(*data), made.forward.run(*data)
    for a, b in zip(first, second, strict=True):
        assert not np.shares_memory(a, b)
