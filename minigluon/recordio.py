"""``mx.recordio``: files of records, their index, and records that are pictures with labels."""

from __future__ import annotations

import os
import struct
import threading
import warnings
from numbers import Number
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .base import ArgumentError, ArgumentTypeError, AttributeValueError, MXNetError, four_lines
from .io.files import MissingFile

MAGIC = struct.pack("<I", 0xCED7230A)
LARGEST = (1 << 29) - 1
"""The length of a chunk has 29 bits; the other three say whether a record goes on."""
WHOLE, FIRST, MIDDLE, LAST = range(4)

_HEADER = struct.Struct("<IfQQ")


class MissingRecord(MXNetError, KeyError):
    """A key that the index does not have."""

    __str__ = Exception.__str__  # KeyError would show the message quoted


class MXRecordIO:
    """A file of records, read or written one after the other.

    Every record is in the file as soon as ``write`` returns, so nothing is lost if a writer is
    never closed. An open reader can be pickled: its copy starts again at the first record.

    Parameters
    ----------
    uri : path of the file.
    flag : ``"r"`` reads, ``"w"`` writes a new file.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/letters.rec"
    >>> writer = MXRecordIO(path, "w")
    >>> writer.write(b"alpha")
    >>> writer.close()
    >>> reader = MXRecordIO(path, "r")
    >>> reader.read(), reader.read()
    (b'alpha', None)
    >>> reader.close()
    """

    def __init__(self, uri, flag):
        self.uri = os.fspath(uri)
        self.flag = flag
        self.handle = None
        self.is_open = False
        self.open()

    def open(self):
        """Open the file; whoever makes one need not call it."""
        if self.flag not in ("r", "w"):
            raise ArgumentError(
                four_lines(
                    f"Invalid flag {self.flag}",
                    f"flag={self.flag!r} for {self.uri}",
                    "'r' to read or 'w' to write",
                    "pass flag='r'; to append, write a new file",
                )
            )
        self.writable = self.flag == "w"
        self.handle = _opened(self.uri, self.writable)
        self.pid = os.getpid()
        self.is_open = True

    def close(self):
        """Close the file; closing twice does no harm."""
        if self.is_open:
            self.handle.close()
            self.is_open = False

    def reset(self):
        """Start again: a reader at the first record, a writer with an empty file."""
        self.close()
        self.open()

    def __del__(self):
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self):
        if self.writable and self.is_open:
            raise ArgumentTypeError(
                four_lines(
                    f"{type(self).__name__}: an open writer cannot be pickled.",
                    f"a writer of {self.uri}",
                    "a reader: a copy of a writer would empty the file",
                    "close it first, or open the file where it is written",
                )
            )
        return {**self.__dict__, "handle": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()

    def _check(self, writable, verb):
        if not self.is_open:
            raise MXNetError(
                four_lines(
                    f"{verb}: the file is closed.",
                    f"{verb} on {self.uri}",
                    "an open file",
                    "call reset() to open it again",
                )
            )
        if self.writable != writable:
            raise ArgumentError(
                four_lines(
                    f"{verb}: the file was not opened for this.",
                    f"{verb} on {self.uri}, which has flag={self.flag!r}",
                    f"flag={'w' if writable else 'r'!r}",
                    f"open it again with flag={'w' if writable else 'r'!r}",
                )
            )
        if self.pid != os.getpid():
            if writable:
                raise MXNetError(
                    four_lines(
                        "Forbidden operation in multiple processes",
                        f"{verb} on {self.uri}, opened by process {self.pid}",
                        "the process that opened the file",
                        "open a file of its own in each process",
                    )
                )
            self.reset()  # the position is shared with the process that opened the file

    def write(self, buf):
        """Append one record."""
        self._check(True, "write")
        if not isinstance(buf, bytes | bytearray | memoryview):
            raise ArgumentTypeError(
                four_lines(
                    "write: a record is bytes.",
                    type(buf).__name__,
                    "bytes, as pack() makes them",
                    "encode text: text.encode()",
                )
            )
        self.handle.write(framed(bytes(buf)))

    def read(self):
        """The next record, or None after the last.

        Raises ``MXNetError`` where the file is not one of records or ends in the middle of one.
        """
        self._check(False, "read")
        return next_record(self.handle, self.uri)


class MXIndexedRecordIO(MXRecordIO):
    """A file of records with a second file that says where each begins.

    Parameters
    ----------
    idx_path : path of the index, lines of key, tab and position.
    uri, flag : as for `MXRecordIO`.
    key_type : what the keys are made of: ``int``, or ``str`` for names.

    Attributes
    ----------
    keys : the keys in the order of the index.
    idx : the position of the record of each key.
    """

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path = os.fspath(idx_path)
        self.key_type = key_type
        self.idx, self.keys = {}, []
        self.fidx = None
        self._lock = threading.Lock()
        super().__init__(uri, flag)

    def open(self):
        """Open both files, and read the index if they are to be read."""
        super().open()
        self.idx, self.keys = {}, []
        try:
            if self.writable:
                self.fidx = _opened(self.idx_path, True)
            else:
                self._read_index()
        except BaseException:
            self.close()
            raise

    def _read_index(self):
        with _opened(self.idx_path, False) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    key, position = line.decode().strip().split("\t")
                    key, position = self.key_type(key), int(position)
                    if not 0 <= position < 1 << 63:
                        raise ValueError("no position in a file")
                except ValueError as error:
                    raise ArgumentError(
                        four_lines(
                            f"{self.idx_path}, line {number}: not a line of an index.",
                            repr(line[:60]),
                            f"a key that {self.key_type.__name__}() reads, a tab and a position",
                            "check that this is the .idx file, or pass key_type=str for names",
                        )
                    ) from error
                self.idx[key] = position
                self.keys.append(key)

    def close(self):
        """Close both files."""
        super().close()
        if self.fidx is not None:
            self.fidx.close()
            self.fidx = None

    def __getstate__(self):
        return {**super().__getstate__(), "_lock": None}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._lock = threading.Lock()

    def seek(self, idx):
        """Go to the record with this key."""
        self._check(False, "seek")
        if idx not in self.idx:
            raise MissingRecord(
                four_lines(
                    f"{self.idx_path} has no key {idx!r}.",
                    f"{idx!r}, a {type(idx).__name__}",
                    f"one of {len(self.keys)} keys"
                    + (f", {self.keys[0]!r} to {self.keys[-1]!r}" if self.keys else ""),
                    "look at .keys; key_type says whether they are numbers or names",
                )
            )
        self.handle.seek(self.idx[idx])

    def tell(self):
        """The position in the file: where the next record will be written or read."""
        self._check(self.writable, "tell")
        return self.handle.tell()

    def read_idx(self, idx):
        """The record with this key; several threads may read at once."""
        with self._lock:
            self.seek(idx)
            record = self.read()
        if record is None:
            raise MXNetError(
                four_lines(
                    f"{self.uri}: the file ends before the record the index names.",
                    f"key {idx!r} at byte {self.idx[idx]}",
                    f"a record there, as {self.idx_path} says",
                    "make the index anew: it belongs to another file",
                )
            )
        return record

    def write_idx(self, idx, buf):
        """Append one record, and its key to the index."""
        self._check(True, "write_idx")
        key, position = self.key_type(idx), self.tell()
        self.write(buf)
        self.fidx.write(f"{key}\t{position}\n".encode())
        self.idx[key] = position
        self.keys.append(key)


def _opened(path, writable):
    """A file: unbuffered for writing, so that it is whole whenever the process ends."""
    try:
        return Path(path).open("wb", buffering=0) if writable else Path(path).open("rb")
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else MXNetError
        raise kind(
            four_lines(
                f"{path}: {error.strerror}",
                repr(path),
                f"a file that can be {'written' if writable else 'read'}",
                f"check the path; it was looked for in {Path.cwd()}",
            )
        ) from error


def framed(record):
    """A record as it stands in the file, cut where it holds the magic word on a boundary.

    Examples
    --------
    >>> framed(b"abcde")
    b'\\n#\\xd7\\xce\\x05\\x00\\x00\\x00abcde\\x00\\x00\\x00'
    """
    if len(record) > LARGEST:
        raise ArgumentError(
            four_lines(
                "write: the record is too long.",
                f"{len(record)} bytes",
                f"at most {LARGEST}",
                "split it into several records",
            )
        )
    pieces, start, at = [], 0, record.find(MAGIC)
    while at >= 0:
        if at % 4 == 0:
            pieces.append(record[start:at])
            start = at + 4
        at = record.find(MAGIC, at + (4 if at % 4 == 0 else 1))
    pieces.append(record[start:])
    last = len(pieces) - 1
    parts = []
    for number, piece in enumerate(pieces):
        place = WHOLE if not last else FIRST if not number else LAST if number == last else MIDDLE
        parts += [
            MAGIC,
            struct.pack("<I", place << 29 | len(piece)),
            piece,
            b"\0" * (-len(piece) % 4),
        ]
    return b"".join(parts)


def positions(path):
    """Where every record of a file begins, without reading what they hold.

    Raises ``MXNetError`` with file and byte where something else than a record stands.
    """
    found, at = [], 0
    with _opened(path, False) as file:
        size = os.fstat(file.fileno()).st_size
        while at < size:
            file.seek(at)
            place, length = _chunk(file.read(8), path, at)
            if place in (WHOLE, FIRST):
                found.append(at)
            at += 8 + length + -length % 4
        if at > size:
            raise _damaged(path, size, "the file ends inside a record", f"{at - size} bytes less")
    return found


def _chunk(head, path, at):
    """The mark and the length of the chunk that begins with these eight bytes."""
    if len(head) < 8:
        raise _damaged(path, at, "the file ends inside a record", f"{len(head)} bytes of 8")
    if head[:4] != MAGIC:
        raise _damaged(path, at, "Invalid RecordIO File", f"{head[:4].hex(' ')} as magic word")
    (word,) = struct.unpack("<I", head[4:])
    return word >> 29, word & LARGEST


def next_record(file, path):
    """The record at the file's position, or None at its end."""
    pieces = []
    size = os.fstat(file.fileno()).st_size
    while True:
        at = file.tell()
        head = file.read(8)
        if not head and not pieces:
            return None
        place, length = _chunk(head, path, at)
        padded = length + -length % 4
        if at + 8 + padded > size:
            raise _damaged(
                path, at, "the file ends inside a record",
                f"{size - at - 8} bytes of {padded}",
            )  # fmt: skip
        if place not in ((MIDDLE, LAST) if pieces else (WHOLE, FIRST)):
            raise _damaged(path, at, "a part of a record is out of place", f"its mark is {place}")
        pieces.append(file.read(padded)[:length])
        if place in (WHOLE, LAST):
            return MAGIC.join(pieces)


def _damaged(path, position, what, received):
    return MXNetError(
        four_lines(
            f"{path}, byte {position}: {what}.",
            received,
            "a whole record: magic word 0a 23 d7 ce, length, data",
            "copy the file again; if an index was used, check that it belongs to the file",
        )
    )


class IRHeader(NamedTuple):
    """What stands before the picture in a record.

    Parameters
    ----------
    flag : how many labels follow the header, 0 for one in it; `pack` sets it.
    label : a number, or an array of them.
    id, id2 : numbers of the picture.
    """

    flag: int
    label: object
    id: int
    id2: int

    def __repr__(self):  # as MXNet shows it
        return f"HEADER(flag={self.flag}, label={self.label!r}, id={self.id}, id2={self.id2})"


def pack(header, s):
    """A record of a header and bytes.

    Labels are float32 in the file: a whole number above 2**24 or a number above 3.4e38 may not fit,
    of which a ``UserWarning`` tells.

    Examples
    --------
    >>> unpack(pack(IRHeader(0, [1, 2], 7, 0), b"picture"))
    (HEADER(flag=2, label=array([1., 2.], dtype=float32), id=7, id2=0), b'picture')
    """
    header = IRHeader(*header)
    if isinstance(header.label, Number):
        labels, header = b"", header._replace(flag=0)
        _as_float32(header.label)
    else:
        array = _as_float32(header.label)
        labels, header = array.tobytes(), header._replace(flag=array.size, label=0)
    try:
        head = _HEADER.pack(header.flag, _clipped(header.label), header.id, header.id2)
    except struct.error as error:
        raise AttributeValueError(
            four_lines(
                f"pack: the header does not fit: {error}.",
                repr(header),
                "id and id2 from 0 to 2**64 - 1",
                "number records from 0",
            )
        ) from error
    return head + labels + s


def _as_float32(label):
    """Labels as the file holds them; warns where they become others."""
    exact = np.asarray(label, np.float64)
    with np.errstate(over="ignore"):
        array = exact.astype("<f4")
    whole = (exact == np.rint(exact)) & (array != exact)
    if whole.any():
        warnings.warn(
            f"pack: the label {exact[whole].flat[0]:.17g} does not fit into float32 and becomes "
            f"{array[whole].flat[0]:.9g}; keep large numbers in id or id2",
            UserWarning,
            stacklevel=3,
        )
    return array


def _clipped(label):
    with np.errstate(over="ignore"):
        return float(np.float32(label))


def unpack(s):
    """Header and bytes of a record that `pack` made."""
    if len(s) >= _HEADER.size:
        header = IRHeader(*_HEADER.unpack_from(s))
        end = _HEADER.size + 4 * header.flag
        if len(s) >= end:
            if header.flag:
                labels = np.frombuffer(s, "<f4", header.flag, _HEADER.size).astype(np.float32)
                header = header._replace(label=labels)
            return header, s[end:]
    else:
        end = _HEADER.size
    raise ArgumentError(
        four_lines(
            "unpack: the record is too short.",
            f"{len(s)} bytes",
            f"{end} bytes or more: a header of {_HEADER.size}, and its labels",
            "this record was not made by pack: use the bytes that read() gives",
        )
    )


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """A record of a header and an encoded picture.

    Parameters
    ----------
    img : array ``(height, width)`` or ``(height, width, channels)``, colours in the order blue,
        green, red, as in MXNet.
    quality : for JPEG 1 to 100, for PNG how hard to compress, 0 to 9.
    img_fmt : ``".jpg"``, ``".png"`` or another suffix that Pillow knows.
    """
    from .image.codec import encode

    return pack(header, encode(img, quality, img_fmt))


def unpack_img(s, iscolor=-1):
    """Header and picture of a record that `pack_img` made.

    Parameters
    ----------
    iscolor : 1 for colours (blue, green, red), 0 for grey, -1 for what the file holds.
    """
    from .image.codec import as_read

    header, picture = unpack(s)
    return header, as_read(picture, iscolor)
