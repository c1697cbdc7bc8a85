"""``mx.log``: loggers whose lines say level, time, process and place, as MXNet's do."""

from __future__ import annotations

import logging
import sys
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

__all__ = [
    "CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger",
]  # fmt: skip

_COLOURS = {"W": 31, "E": 31, "C": 31, "I": 32, "D": 34}


class _Formatter(logging.Formatter):
    """``I1130 15:32:23 18274 script.py:main:4] message``, coloured where ``colored`` says so."""

    def __init__(self, colored: bool = True):
        super().__init__(datefmt="%m%d %H:%M:%S")
        self._colored = colored

    def format(self, record: logging.LogRecord) -> str:
        letter = record.levelname[0]
        time = self.formatTime(record, self.datefmt)
        place = f"{record.filename}:{record.funcName}:{record.lineno}"
        head = f"{letter}{time} {record.process} {place}]"
        if self._colored:
            head = f"\x1b[{_COLOURS.get(letter, 34)}m{head}\x1b[0m"
        text = f"{head} {record.getMessage()}"
        if record.exc_info:
            text += f"\n{self.formatException(record.exc_info)}"
        return text


def get_logger(
    name: str | None = None,
    filename: str | None = None,
    filemode: str | None = None,
    level: int = WARNING,
) -> logging.Logger:
    """A logger with MXNet's line format on stderr, or one that writes bare messages to a file.

    The root logger (no name) is returned as it is. A named logger gets its handler once; asking
    for it again only sets the level.
    """
    logger = logging.getLogger(name)
    if name is None:
        return logger
    if not getattr(logger, "_has_mxnet_handler", False):
        if filename:
            handler: logging.Handler = logging.FileHandler(filename, filemode or "a")
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Formatter(colored=sys.stderr.isatty()))
        logger.addHandler(handler)
        logger._has_mxnet_handler = True  # type: ignore[attr-defined]
    logger.setLevel(level)
    return logger


def getLogger(
    name: str | None = None,
    filename: str | None = None,
    filemode: str | None = None,
    level: int = WARNING,
) -> logging.Logger:
    """The old name of `get_logger`; warns that it is old."""
    warnings.warn(
        "getLogger is deprecated, Use get_logger instead.", DeprecationWarning, stacklevel=2
    )
    return get_logger(name, filename, filemode, level)
