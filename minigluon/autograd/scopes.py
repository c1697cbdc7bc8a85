"""The ``with`` blocks that switch recording and training mode of the running thread."""

from __future__ import annotations

from typing import Any

from ..core.state import state


class _Scope:
    """Sets recording and training (None leaves as it is) and puts both back."""

    __slots__ = ("_before", "_recording", "_training")

    def __init__(self, recording: bool | None, training: bool | None):
        self._recording, self._training = recording, training
        self._before: Any = None  # (recording, training, and those of the same scope further out)

    def __enter__(self) -> None:
        self._before = (state.recording, state.training, self._before)
        if self._recording is not None:
            state.recording = self._recording
        if self._training is not None:
            state.training = self._training

    def __exit__(self, *exception: object) -> None:
        state.recording, state.training, self._before = self._before


def record(train_mode: bool = True) -> _Scope:
    """Record what is computed inside, in training mode unless ``train_mode=False``."""
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> _Scope:
    """Do not record what is computed inside."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """Compute as in training (dropout is on), without changing whether it is recorded."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """Compute as in prediction (dropout is off), without changing whether it is recorded."""
    return _Scope(None, False)


def is_recording() -> bool:
    """Whether this thread is recording."""
    return state.recording


def is_training() -> bool:
    """Whether this thread computes in training mode."""
    return state.training


def set_recording(is_recording: bool) -> bool:
    """Switch recording on or off; what it was before."""
    before, state.recording = state.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Switch training mode on or off; what it was before."""
    before, state.training = state.training, bool(train_mode)
    return before
