import threading
import warnings

import numpy as np
import pytest

from minigluon.context import Context
from minigluon.core.state import generator, seed, state


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
