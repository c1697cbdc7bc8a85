"""Keeping freed memory."""

import ctypes

import pytest

from minigluon.kernels import _memory


def test_a_library_that_cannot_is_left_alone(monkeypatch):
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert not _memory.keep_freed_memory()


@pytest.mark.parametrize("answers, wanted", [((1, 1), True), ((1, 0), False), ((0, 1), False)])
def test_both_thresholds_are_set(monkeypatch, answers, wanted):
    asked = []

    class Library:
        def mallopt(self, parameter, value):
            asked.append(parameter)
            return answers[len(asked) - 1]

    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    assert _memory.keep_freed_memory() is wanted
    assert asked[0] == -3


def test_what_the_environment_says_stands(monkeypatch):
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "1000")
    assert not _memory.keep_freed_memory()
