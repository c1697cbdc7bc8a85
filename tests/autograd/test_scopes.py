import threading

import pytest

from minigluon import autograd


def now():
    return autograd.is_recording(), autograd.is_training()


def test_scopes_nest_and_put_back_what_was():
    seen = [now()]
    with autograd.record():
        seen.append(now())
        with autograd.pause():
            seen.append(now())
            with autograd.record(train_mode=False):
                seen.append(now())
            with autograd.train_mode():
                seen.append(now())
        with autograd.predict_mode():
            seen.append(now())
        with autograd.pause(train_mode=True):
            seen.append(now())
        seen.append(now())
    seen.append(now())
    # recorded from MXNet 1.9.1
    assert seen == [
        (False, False), (True, True), (False, False), (True, False), (False, True), (True, False),
        (False, True), (True, True), (False, False),
    ]  # fmt: skip


def test_an_exception_ends_a_scope():
    with pytest.raises(ValueError), autograd.record():
        raise ValueError
    assert now() == (False, False)


def test_one_scope_can_be_entered_again_and_within_itself():
    scope = autograd.record()
    with scope:
        with scope:
            assert now() == (True, True)
        assert now() == (True, True)
    assert now() == (False, False)
    with scope:
        assert now() == (True, True)


def test_switches_return_what_was_before():
    assert autograd.set_recording(True) is False
    assert autograd.set_training(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(False) is True
    assert now() == (False, False)


def test_each_thread_records_for_itself():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(now()))
        thread.start()
        thread.join()
    assert seen == [(False, False)]
