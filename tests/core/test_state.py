import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.context import Context
from minigluon.core.op import registry
from minigluon.core.state import generator, quiet, seed, state


@pytest.fixture(autouse=True)
def seeded():
    seed(5)


def draw(ctx=None):
    return generator(ctx).random()


def test_every_context_has_a_stream_of_its_own():
    first, second = Context("cpu", 0), Context("cpu", 1)
    undisturbed = [draw(first), draw(first)]
    seed(5)
    disturbed = [draw(first)]
    draw(second)
    seed(9, second)
    disturbed.append(draw(first))
    assert disturbed == undisturbed
    seed(5)
    assert draw(first) != draw(second)


def test_seeding_one_context_repeats_its_numbers_only():
    first, second = Context("cpu", 0), Context("cpu", 1)
    seed(3, first)
    ours, theirs = draw(first), draw(second)
    seed(3, first)
    assert draw(first) == ours
    assert draw(second) != theirs


def test_kernels_run_without_numpys_warnings_and_leave_its_settings_alone():
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(state.quietly(np.log, np.array([-1.0])))[0]
        with pytest.raises(RuntimeWarning):
            np.log(np.array([-1.0]))
    assert np.geterr() == before


def test_modes_belong_to_the_thread():
    seen = []
    state.recording = state.training = True
    try:
        thread = threading.Thread(target=lambda: seen.append((state.recording, state.training)))
        thread.start()
        thread.join()
    finally:
        state.recording = state.training = False
    assert seen == [(False, False)]


def in_a_thread(function):
    """The result of a function that another thread runs."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append(function()))
    thread.start()
    thread.join()
    return seen[0]


def recorded_log():
    x = nd.array([-1.0, 0.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.log(x) * 2
    y.backward()
    return np.stack([y.asnumpy(), x.grad.asnumpy()])


@pytest.mark.parametrize("where", [lambda f: f(), in_a_thread])
def test_operators_run_quietly_while_a_kernel_of_another_one_runs(where):
    wanted = [[np.nan, -np.inf, 2 * np.log(2.0)], [-2, np.inf, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(quiet.run(where, recorded_log), wanted, rtol=1e-6)
        np.testing.assert_allclose(where(recorded_log), wanted, rtol=1e-6)


def test_the_context_for_one_thread_is_used_while_there_is_one_only():
    alone = quiet.run
    begun, end = threading.Event(), threading.Event()

    def work():
        assert nd.ones(2).sum().asscalar() == 2
        begun.set()
        end.wait()

    def use():
        state.recording  # noqa: B018  (the thread is seen when its state is first looked at)
        work()

    thread = threading.Thread(target=use)
    thread.start()
    begun.wait()
    assert quiet.run is not alone
    np.testing.assert_array_equal((nd.ones(2) + 1).asnumpy(), [2, 2])
    end.set()
    thread.join()
    assert quiet.run is alone


@pytest.mark.slow
def test_a_program_whose_threads_outlive_it_ends_in_silence():
    program = (
        "import threading, time\nimport minigluon as mx\n"
        "def work():\n    while True: mx.nd.ones(2).sum(); time.sleep(0.001)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "for _ in range(100): mx.nd.ones(2) + 1\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_fails_on_the_short_way_is_done_once_more_on_the_general_one(monkeypatch):
    call = registry["broadcast_add"].call()
    nd.ones(2) + nd.ones(2)  # chooses the kernel
    tried = []
    monkeypatch.setattr(call, "dense", lambda x, y: tried.append(x) or 1 / 0)
    assert (nd.ones(2) + nd.ones(2)).asnumpy().tolist() == [2, 2]
    assert len(tried) == 1


def test_recording_in_one_thread_does_not_record_in_another():
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record():
        assert in_a_thread(lambda: (x * 2)._entry) is None
        assert (x * 2)._entry is not None
