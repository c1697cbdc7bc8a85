"""LibSVM text to arrays: ``label[,label...] [qid:n] index[:value] ... [# comment]`` lines.

``parse(text)`` reads bytes into a ``Parsed(labels, label_indptr, indptr, indices, values)``. Column
indices are kept as they come (zero-based, any order); an index without a value means 1. Values are
float32. What cannot be read is a ``FormatError`` that names the line: MXNet 1.9.1 reads ``x`` and
``0:`` as 0, and some malformed files end its process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import MXNetError
from . import _jit
from ._jit import jit

#: texts shorter than this are read by Python, which does 12 MB/s without loading numba
SMALL = 1 << 16

_BAD_LABEL, _BAD_FEATURE, _NEGATIVE = 1, 2, 3
_EXPECTED = {
    _BAD_LABEL: "a label that is a number, or numbers with commas between them",
    _BAD_FEATURE: "features like 3:0.5, an index and a number",
    _NEGATIVE: "column indices of 0 and more",
}
_WORD = {_BAD_LABEL: "label", _BAD_FEATURE: "feature", _NEGATIVE: "negative column index"}


class FormatError(MXNetError, ValueError):
    """LibSVM text that cannot be read."""


class Parsed(NamedTuple):
    """The rows of a LibSVM text; row ``i`` has labels ``label_indptr[i]:label_indptr[i + 1]``."""

    labels: np.ndarray
    label_indptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


def parse(text: bytes, first_line: int = 1) -> Parsed:
    """Read whole lines; ``first_line`` is the number of the first one, for errors."""
    if len(text) < SMALL or not _jit.has_numba():
        return _parse_plainly(text, first_line)
    rows = text.count(b"\n") + 1
    # a feature needs a blank before it and a label needs a comma or a line: room for all of them
    room = text.count(b" ") + text.count(b"\t")
    labels = np.empty(rows + text.count(b","), np.float32)
    label_indptr, indptr = np.zeros(rows + 1, np.int64), np.zeros(rows + 1, np.int64)
    indices, values = np.empty(room, np.int64), np.empty(room, np.float32)
    letters = np.frombuffer(text, np.uint8)
    rows, problem, at = _parse(letters, labels, label_indptr, indptr, indices, values)
    if problem:
        start = text.rfind(b"\n", 0, at) + 1
        line = text.count(b"\n", 0, at) + first_line
        raise _error(problem, line, text[start:].split(b"\n", 1)[0])
    count = indptr[rows]
    return Parsed(
        labels[: label_indptr[rows]].copy(),
        label_indptr[: rows + 1],
        indptr[: rows + 1],
        indices[:count],
        values[:count],
    )


def _error(problem: int, line: int, text: bytes) -> FormatError:
    shown = text.strip()[:60].decode("latin-1")
    return FormatError(
        f"LibSVM: line {line} has a {_WORD[problem]} that cannot be read.\n"
        f"  received  {shown!r}\n  expected  {_EXPECTED[problem]}\n"
        "  fix       correct the line, or start it with # to leave it out"
    )


def _parse_plainly(text: bytes, first_line: int) -> Parsed:
    labels: list[float] = []
    values: list[float] = []
    indices: list[int] = []
    label_indptr, indptr = [0], [0]
    for number, line in enumerate(text.split(b"\n"), first_line):
        tokens = line.split(b"#", 1)[0].split()
        if not tokens:
            continue
        problem = _BAD_LABEL
        try:
            labels += map(_number, tokens[0].split(b","))
            problem = _BAD_FEATURE
            for token in tokens[1:]:
                if token.startswith(b"qid:"):
                    continue
                index, colon, value = token.partition(b":")
                if index[:1] == b"-" and index[1:].isdigit():
                    problem = _NEGATIVE
                if not index.isdigit() or len(index) > 18:
                    raise ValueError
                indices.append(int(index))
                values.append(_number(value) if colon else 1.0)
        except ValueError:
            raise _error(problem, number, line) from None
        label_indptr.append(len(labels))
        indptr.append(len(indices))
    with np.errstate(over="ignore"):
        return Parsed(
            np.array(labels, np.float64).astype(np.float32),
            np.array(label_indptr, np.int64),
            np.array(indptr, np.int64),
            np.array(indices, np.int64),
            np.array(values, np.float64).astype(np.float32),
        )


def _number(text: bytes) -> float:
    if b"_" in text:
        raise ValueError
    return float(text)


@jit
def _parse(letters, labels, label_indptr, indptr, indices, values):
    """One pass; the number of rows, what is wrong (0 if nothing) and where."""
    rows, count, label_count, at, size = 0, 0, 0, 0, letters.size
    while at < size:
        letter = letters[at]
        if letter == 10 or is_blank(letter):
            at += 1
            continue
        if letter == 35:  # a comment
            at = end_of_line(letters, at)
            continue
        while True:
            value, at, good = number(letters, at)
            if not good:
                return rows, 1, at
            labels[label_count] = value
            label_count += 1
            if at == size or letters[at] != 44:  # a comma
                break
            at += 1
        if not at_end(letters, at):
            return rows, 1, at
        while at < size and letters[at] != 10:
            letter = letters[at]
            if is_blank(letter):
                at += 1
                continue
            if letter == 35:
                at = end_of_line(letters, at)
                break
            if is_query(letters, at):
                while not at_end(letters, at):
                    at += 1
                continue
            if letter == 45:
                return rows, 3 if at + 1 < size and is_digit(letters[at + 1]) else 2, at
            index, start = 0, at
            while at < size and is_digit(letters[at]):
                index = index * 10 + np.int64(letters[at] - 48)
                at += 1
            if at == start or at - start > 18:
                return rows, 2, at
            value = 1.0
            if at < size and letters[at] == 58:  # a colon
                at += 1
                if at + 1 < size and is_digit(letters[at]) and letters[at + 1] <= 32:
                    value = np.float64(letters[at] - 48)  # half of all data sets hold just 0 and 1
                    at += 1
                else:
                    value, at, good = number(letters, at)
                    if not good:
                        return rows, 2, at
            if not at_end(letters, at):
                return rows, 2, at
            indices[count] = index
            values[count] = value
            count += 1
        rows += 1
        indptr[rows] = count
        label_indptr[rows] = label_count
    return rows, 0, 0


@jit
def is_blank(letter):
    """Space, tab, carriage return and the rarer two."""
    return letter == 32 or letter == 9 or letter == 13 or letter == 11 or letter == 12


@jit
def is_digit(letter):
    """0 to 9."""
    return 48 <= letter <= 57


@jit
def at_end(letters, at):
    """Whether a token cannot go on here."""
    return at >= letters.size or letters[at] == 10 or letters[at] == 35 or is_blank(letters[at])


@jit
def is_query(letters, at):
    """Whether ``qid:`` starts here."""
    return (
        at + 3 < letters.size
        and letters[at] == 113
        and letters[at + 1] == 105
        and letters[at + 2] == 100
        and letters[at + 3] == 58
    )


@jit
def end_of_line(letters, at):
    """Where the line ends."""
    while at < letters.size and letters[at] != 10:
        at += 1
    return at


@jit
def number(letters, at):
    """``(value, where it ends, whether there is one)`` of a decimal number, inf or nan.

    Up to 19 digits exactly, then one multiplication or division by a power of ten.
    """
    size = letters.size
    negative = at < size and letters[at] == 45
    if at < size and (negative or letters[at] == 43):
        at += 1
    mantissa, scale, digits, kept = np.uint64(0), 0, 0, 0
    while at < size and is_digit(letters[at]):
        if kept < 19:
            mantissa = mantissa * np.uint64(10) + np.uint64(letters[at] - 48)
            kept += mantissa != 0
        else:
            scale += 1
        digits += 1
        at += 1
    if at < size and letters[at] == 46:  # the point
        at += 1
        while at < size and is_digit(letters[at]):
            if kept < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(letters[at] - 48)
                kept += mantissa != 0
                scale -= 1
            digits += 1
            at += 1
    if digits == 0:
        return word(letters, at, negative)
    if at < size and (letters[at] | 32) == 101:  # e
        at += 1
        down = at < size and letters[at] == 45
        if at < size and (down or letters[at] == 43):
            at += 1
        if at == size or not is_digit(letters[at]):
            return 0.0, at, False
        exponent = 0
        while at < size and is_digit(letters[at]):
            exponent = min(exponent * 10 + np.int64(letters[at] - 48), 99999)
            at += 1
        scale += -exponent if down else exponent
    value = np.float64(mantissa)
    if scale < -300:
        value = value / 1e300 * 10.0 ** max(scale + 300, -300)
    elif scale < 0:
        value /= 10.0 ** (-scale)
    elif scale > 0 and value != 0:
        value *= 10.0 ** min(scale, 400)
    return -value if negative else value, at, True


@jit
def word(letters, at, negative):
    """``inf``, ``infinity`` and ``nan`` in any case, as ``number`` returns them."""
    if at + 3 > letters.size:
        return 0.0, at, False
    first, second, third = letters[at] | 32, letters[at + 1] | 32, letters[at + 2] | 32
    if first == 110 and second == 97 and third == 110:
        return np.nan, at + 3, True
    if first != 105 or second != 110 or third != 102:
        return 0.0, at, False
    at += 3
    if at + 5 <= letters.size:
        tail = 0
        for k in range(5):
            tail = tail * 256 + np.int64(letters[at + k] | 32)
        if tail == 0x696E697479:  # "inity"
            at += 5
    return -np.inf if negative else np.inf, at, True
