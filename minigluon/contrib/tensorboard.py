"""Metrics as TensorBoard reads them; the event files are written here, nothing else is needed."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

from ..base import ArgumentError, four_lines


class LogMetricsCallback:
    """A batch-end, eval-end or epoch-end callback that writes every value of the metric.

    ``tensorboard --logdir LOGGING_DIR`` shows them by epoch.

    Parameters
    ----------
    logging_dir : folder of the event file, made if need be.
    prefix : what the names of values begin with, such as ``train``.

    Examples
    --------
    >>> seen = LogMetricsCallback("logs/train", prefix="train")  # doctest: +SKIP
    >>> module.fit(data, batch_end_callback=[seen])  # doctest: +SKIP
    """

    def __init__(self, logging_dir: str, prefix: str | None = None):
        self.prefix = prefix
        self.summary_writer = SummaryWriter(logging_dir)

    def __call__(self, param: Any) -> None:
        """Write what a ``BatchEndParam`` carries; nothing if it has no metric."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)


_files = itertools.count()


class SummaryWriter:
    """Appends scalars to an event file in a folder; every one is on disk when the call returns."""

    def __init__(self, logdir: str):
        if not isinstance(logdir, str | os.PathLike):
            raise ArgumentError(
                four_lines("SummaryWriter: no folder.", repr(logdir), "a path", "logdir='logs'")
            )
        folder = Path(logdir)
        folder.mkdir(parents=True, exist_ok=True)
        now = f"{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_files)}"
        self.path = folder / f"events.out.tfevents.{now}"
        self._lock = threading.Lock()
        self._append(_event(version="brain.Event:2"))

    def add_scalar(self, tag: str, value: float, global_step: int = 0) -> None:
        """Write that ``tag`` is ``value`` at this step."""
        self._append(_event(step=global_step, tag=tag, value=float(value)))

    def flush(self) -> None:
        """Nothing: all is on disk already."""

    def close(self) -> None:
        """Nothing: the file is open only while it is written to."""

    def _append(self, event: bytes) -> None:
        length = struct.pack("<Q", len(event))
        record = length + _checksum(length) + event + _checksum(event)
        with self._lock, self.path.open("ab") as file:
            file.write(record)


def _event(
    step: int = 0, tag: str | None = None, value: float = 0.0, version: str | None = None
) -> bytes:
    """A ``tensorflow.Event`` in protocol buffer's wire format."""
    event = b"\x09" + struct.pack("<d", time.time())
    if step:
        event += b"\x10" + _varint(step)
    if version is not None:
        event += _message(0x1A, version.encode())
    if tag is not None:
        scalar = _message(0x0A, tag.encode()) + b"\x15" + struct.pack("<f", value)
        event += _message(0x2A, _message(0x0A, scalar))
    return event


def _message(key: int, content: bytes) -> bytes:
    return bytes([key]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first; negative ones as 64 bits."""
    number &= (1 << 64) - 1
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _table() -> list[int]:
    """What each byte does to a CRC-32C, Castagnoli's polynomial in reversed bits."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _table()


def _checksum(data: bytes) -> bytes:
    """The masked CRC-32C of record files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return struct.pack("<I", masked)


__all__ = ["LogMetricsCallback", "SummaryWriter"]
