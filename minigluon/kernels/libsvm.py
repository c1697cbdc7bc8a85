"""LibSVM text to arrays: ``label[,label...] [qid:n] index[:value] ... [# comment]`` lines.

``parse(text)`` reads bytes into a ``Parsed(labels, label_indptr, indptr, indices, values)``. Column
indices are kept as they come (zero-based, any order); an index without a value means 1. Values are
float32. What cannot be read is a ``FormatError`` that names the line: MXNet 1.9.1 reads ``x`` and
``0:`` as 0, and some malformed files end its process.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from ..base import MXNetError
from . import _jit
from ._jit import jit
from .distinct import trailing_zeros

#: texts shorter than this are read by Python, which does 12 MB/s without loading numba
SMALL = 1 << 16

_TENS = 10.0 ** np.arange(8)
_BAD_LABEL, _BAD_FEATURE, _NEGATIVE, _NO_ROOM = 1, 2, 3, 4
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


def parse(text: bytes, name: str = "", first_line: int = 1) -> Parsed:
    """Read whole lines; ``first_line`` is the number of the first one and ``name`` the file's name,
    for errors.
    """
    if len(text) < SMALL or not _jit.has_numba():
        return _parse_plainly(bytes(text), name, first_line)
    letters = np.frombuffer(text, np.uint8)
    # what starts at each place, eight letters in one number: digits are read all at once
    starts = max(letters.size - 7, 0) if sys.byteorder == "little" else 0
    words = np.ndarray((starts,), np.uint64, letters, 0, (1,))
    lines, features = _expected(text)
    labels, label_indptr = np.empty(lines, np.float32), np.zeros(lines + 1, np.int64)
    indptr = np.zeros(lines + 1, np.int64)
    indices, values = np.empty(features, np.int64), np.empty(features, np.float32)
    rows, problem, at = 0, _NO_ROOM, 0
    while True:
        rows, problem, at = _parse(
            letters, words, at, rows, labels, label_indptr, indptr, indices, values
        )
        if problem != _NO_ROOM:
            break
        left = letters.size / at if at else 2.0
        labels = _longer(labels, label_indptr[rows], left)
        label_indptr, indptr = _longer(label_indptr, rows, left), _longer(indptr, rows, left)
        indices = _longer(indices, indptr[rows], left)
        values = _longer(values, indptr[rows], left)
    if problem:
        content = letters.tobytes()
        start = content.rfind(b"\n", 0, at) + 1
        line = content.count(b"\n", 0, at) + first_line
        raise _error(problem, name, line, content[start:].split(b"\n", 1)[0])
    count, label_count = int(indptr[rows]), int(label_indptr[rows])
    return Parsed(
        *[_trimmed(x, n) for x, n in ((labels, label_count), (label_indptr, rows + 1))],
        *[_trimmed(x, n) for x, n in ((indptr, rows + 1), (indices, count), (values, count))],
    )


def _expected(text: bytes) -> tuple[int, int]:
    """How many lines and features there may be, by how many the start has."""
    sample = bytes(text[: 1 << 16]) or b" "
    share = len(text) / len(sample) * 1.02
    lines, features = sample.count(b"\n"), sample.count(b" ") + sample.count(b"\t")
    return int(lines * share) + 16, int(features * share) + 16


def _longer(array: np.ndarray, used: int, factor: float) -> np.ndarray:
    """A longer array that starts with what is used: so much longer as the text that is left is."""
    longer = np.empty(int(max(array.size, used) * max(factor, 1.0) * 1.05) + 1024, array.dtype)
    longer[: used + 1] = array[: used + 1]
    return longer


def _trimmed(array: np.ndarray, size: int) -> np.ndarray:
    """The first ``size`` elements; copied where a view would hold on to much more."""
    part = array[:size]
    return part if size * 5 >= array.size * 4 else part.copy()


def _error(problem: int, name: str, line: int, text: bytes) -> FormatError:
    shown = text.strip()[:60].decode("latin-1")
    where = f"{name}, line {line}" if name else f"line {line}"
    return FormatError(
        f"LibSVM: {where} has a {_WORD[problem]} that cannot be read.\n"
        f"  received  {shown!r}\n  expected  {_EXPECTED[problem]}\n"
        "  fix       correct the line, or start it with # to leave it out"
    )


def _parse_plainly(text: bytes, name: str, first_line: int) -> Parsed:
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
            raise _error(problem, name, number, line) from None
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


def line_of_row(text: bytes, row: int) -> int:
    """The number, from 1, of the line that a row came from; others hold comments or nothing."""
    for number, line in enumerate(bytes(text).split(b"\n"), 1):
        if line.split(b"#", 1)[0].strip():
            if row == 0:
                return number
            row -= 1
    raise IndexError(row)


def _number(text: bytes) -> float:
    if b"_" in text:
        raise ValueError
    return float(text)


@jit
def _parse(letters, words, at, rows, labels, label_indptr, indptr, indices, values):
    """One pass from ``at`` with ``rows`` read; the number of rows, what is wrong and where.

    0 if nothing is; 4 if an array is full, and then where the line starts that did not fit.
    """
    size, count, label_count = letters.size, indptr[rows], label_indptr[rows]
    while at < size:
        letter = letters[at]
        if letter == 10 or is_blank(letter):
            at += 1
            continue
        if letter == 35:  # a comment
            at = end_of_line(letters, at)
            continue
        line = at
        if rows + 1 >= indptr.size:
            return rows, 4, line
        while True:
            if label_count == labels.size:
                return rows, 4, line
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
            if not is_digit(letter):
                if letter == 35:
                    at = end_of_line(letters, at)
                    break
                if not is_query(letters, at):
                    negative = letter == 45 and at + 1 < size and is_digit(letters[at + 1])
                    return rows, 3 if negative else 2, at
                while not at_end(letters, at):
                    at += 1
                continue
            if count == indices.size:
                return rows, 4, line
            digits = leading_digits(words[at]) if at < words.size else 0
            if 0 < digits < 8:
                index = np.int64(number_of(words[at], digits))
                at += digits
            else:
                index, at = whole(letters, at)
                if index < 0:
                    return rows, 2, at
            value = 1.0
            if at < size and letters[at] == 58:  # a colon
                at += 1
                if at + 1 < size and is_digit(letters[at]) and letters[at + 1] <= 32:
                    value = np.float64(letters[at] - 48)  # half of all data sets hold just 0 and 1
                    at += 1
                else:
                    value, length = short_number(letters, words, at)
                    at += length
                    if length == 0:
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
def leading_digits(word):
    """How many of eight letters are digits before the first that is none."""
    value = word ^ np.uint64(0x3030303030303030)
    others = (value & np.uint64(0x7F7F7F7F7F7F7F7F)) + np.uint64(0x7676767676767676)
    return trailing_zeros((others | value) & np.uint64(0x8080808080808080)) >> 3


@jit
def number_of(word, digits):
    """The number that the first digits (1 to 8) of eight letters make."""
    value = (word & np.uint64(0x0F0F0F0F0F0F0F0F)) << np.uint64(64 - 8 * digits)
    value = value * np.uint64(2561) >> np.uint64(8)
    value = (value & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
    return (value & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)


@jit
def short_number(letters, words, at):
    """``(value, length)`` of up to 7 digits before and after the point; length 0 for all others."""
    negative = np.int64(letters[at] == 45) if at < words.size else 0
    start = at + negative
    digits = leading_digits(words[start]) if start < words.size else 0
    if digits == 0 or digits == 8:
        return 0.0, 0
    value, end = np.float64(number_of(words[start], digits)), start + digits
    if letters[end] == 46 and end + 1 < words.size:  # the point
        places = leading_digits(words[end + 1])
        if places == 0 or places == 8:
            return 0.0, 0
        # digits and power of ten are exact, so that the quotient is rounded once
        scale = _TENS[places]
        value = (value * scale + np.float64(number_of(words[end + 1], places))) / scale
        end += 1 + places
    if letters[end] > 32:
        return 0.0, 0
    return -value if negative else value, end - at


@jit
def whole(letters, at):
    """``(value, where it ends)`` of a whole number, letter by letter; -1 beyond 18 digits."""
    value, start = 0, at
    while at < letters.size and is_digit(letters[at]):
        value = value * 10 + np.int64(letters[at] - 48)
        at += 1
    return value if at - start <= 18 else -1, at


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
