"""``ImageIter``: batches of pictures from record files, lists and folders."""

from __future__ import annotations

import random
from numbers import Number
from pathlib import Path

import numpy as np

from .. import recordio
from ..base import ArgumentError, MXNetError, ShapeError, four_lines
from ..context import cpu
from ..core.invoke import wrap
from ..dtypes import as_dtype
from ..io import DataBatch, DataDesc, DataIter
from ..io.files import MissingFile
from .augmenters import CreateAugmenter
from .pixels import imdecode

_LAST = ("pad", "discard", "roll_over")
_DTYPES = ("float32", "float64", "int32", "int64")


class ImageIter(DataIter):
    """Batches ``(batch, channels, height, width)`` of pictures with labels.

    Parameters
    ----------
    data_shape : channels, height and width of the pictures after the augmenters.
    label_width : how many numbers the label of a picture has.
    path_imgrec : a record file, as `recordio.pack_img` fills it.
    path_imgidx : its index; only with one can records be shuffled or split into parts.
    path_imglist : a file of lines ``number, labels, path``, separated by tabs.
    imglist : a list of lists ``[label, path]`` instead.
    path_root : the folder of the pictures in lists.
    shuffle : in another order each epoch.
    part_index, num_parts : take only one of several parts.
    aug_list : augmenters; without it those of ``CreateAugmenter(data_shape, **kwargs)``.
    dtype : checked, but batches are float32, as in MXNet.
    last_batch_handle : ``"pad"`` fills the last batch from the start, ``"discard"`` leaves it out,
        ``"roll_over"`` begins the next epoch with it.
    """

    def __init__(
        self, batch_size, data_shape, label_width=1, path_imgrec=None, path_imglist=None,
        path_root=None, path_imgidx=None, shuffle=False, part_index=0, num_parts=1, aug_list=None,
        imglist=None, data_name="data", label_name="softmax_label", dtype="float32",
        last_batch_handle="pad", **kwargs,
    ):  # fmt: skip
        super().__init__(batch_size)
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise _wrong(
                "there are no pictures.", "no source", "path_imgrec, path_imglist or imglist"
            )
        if as_dtype(dtype).name not in _DTYPES:
            raise _wrong(f"{dtype} label not supported", f"dtype={dtype!r}", ", ".join(_DTYPES))
        if last_batch_handle not in _LAST:
            raise _wrong(
                "last_batch_handle is not valid.", repr(last_batch_handle), ", ".join(_LAST)
            )
        if not 0 <= part_index < num_parts:
            raise _wrong(
                "there is no such part.", f"part_index={part_index}, num_parts={num_parts}",
                "0 <= part_index < num_parts",
            )  # fmt: skip
        self.check_data_shape(data_shape)
        self.imgrec = self.imglist = self.seq = None
        if path_imglist:
            self.imglist = _listed(path_imglist, label_width)
        elif isinstance(imglist, list):
            self.imglist = _given(imglist)
        if path_imgrec and path_imgidx:
            self.imgrec = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.seq = list(self.imgrec.keys)
        elif path_imgrec:
            self.imgrec = recordio.MXRecordIO(path_imgrec, "r")
            if shuffle or num_parts > 1:
                raise _wrong(
                    "records can be shuffled or split only with their index.",
                    f"shuffle={shuffle}, num_parts={num_parts}", "path_imgidx",
                )  # fmt: skip
        if self.imglist is not None and (self.imgrec is None or self.seq is not None):
            self.seq = list(self.imglist)
        if num_parts > 1:
            share = len(self.seq) // num_parts
            self.seq = self.seq[part_index * share : (part_index + 1) * share]
        self.path_root, self.shuffle = path_root, shuffle
        self.data_shape, self.label_width = tuple(data_shape), label_width
        self.dtype, self.last_batch_handle = np.float32, last_batch_handle
        self.num_image = None if self.seq is None else len(self.seq)
        self.auglist = self._usual(data_shape, **kwargs) if aug_list is None else aug_list
        label_shape = (batch_size,) if label_width in (1, None) else (batch_size, label_width)
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape), self.dtype)]
        self.provide_label = [DataDesc(label_name, label_shape, self.dtype)]
        self.cur, self._left, self._ended = 0, None, False
        self.reset()

    _usual = staticmethod(CreateAugmenter)

    def reset(self):
        """Start again, in another order if pictures are shuffled."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._ended = False

    def hard_reset(self):
        """Start again, and forget what ``"roll_over"`` left."""
        self._left = None
        self.reset()

    def _rewind(self):
        self.cur = 0
        if self.imgrec is not None and self.seq is None:
            self.imgrec.reset()

    def next_sample(self):
        """Label and encoded picture of the next sample; ``StopIteration`` after the last."""
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            header, picture = recordio.unpack(record)
            return header.label, picture
        if self.cur >= len(self.seq):
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is not None:
            header, picture = recordio.unpack(self.imgrec.read_idx(key))
            return header.label if self.imglist is None else self.imglist[key][0], picture
        label, name = self.imglist[key]
        return label, self.read_image(name)

    def next(self):
        """The next batch; ``StopIteration`` after the last."""
        data, labels = self._left or ([], [])
        self._left, pad = None, len(data)
        while len(data) < self.batch_size and not self._ended:
            self._ended = not self._take(data, labels)
        missing = self.batch_size - len(data)
        if missing and (not data or self.last_batch_handle == "discard"):
            raise StopIteration
        if missing and self.last_batch_handle == "roll_over":
            self._left = data, labels
            raise StopIteration
        if missing:
            pad = missing
            self._fill(data, labels)
        arrays = np.stack(data), self._stacked(labels)
        data, label = (wrap(np.ascontiguousarray(x), cpu()) for x in arrays)
        return DataBatch([data], [label], pad)

    def _fill(self, data, labels):
        """Samples from the start until the batch is full, again and again if they are few."""
        while len(data) < self.batch_size:  # ends, for data holds a sample: an epoch gives some
            self._rewind()
            while len(data) < self.batch_size and self._take(data, labels):
                pass

    def _take(self, data, labels):
        """Add the next sample; False if there is none."""
        try:
            label, picture = self.next_sample()
        except StopIteration:
            return False
        pair = self._sample(label, picture)
        if pair is not None:
            data.append(pair[0])
            labels.append(pair[1])
        return True

    def _sample(self, label, encoded):
        """Arrays of picture and label, or None for a sample to leave out."""
        found = self.augmentation_transform(self._decoded(encoded))
        return self._picture(found), self._label(label)

    def _decoded(self, encoded):
        found = self.imdecode(encoded)
        self.check_valid_image([found])
        return found

    def _stacked(self, labels):
        stacked = np.stack(labels)
        return stacked[:, 0] if self.label_width == 1 else stacked

    def _picture(self, found):
        found = self.postprocess_data(found)
        if found.shape != self.data_shape:
            raise ShapeError(
                four_lines(
                    f"{type(self).__name__}: a picture has the wrong shape after the augmenters.",
                    f"{found.shape} (channels, height, width)", f"data_shape={self.data_shape}",
                    "end aug_list with a crop or ForceResizeAug of data_shape's width and height",
                )
            )  # fmt: skip
        return found.asnumpy().astype(self.dtype, copy=False)

    def _label(self, label):
        array = np.asarray(label, self.dtype).reshape(-1)
        if len(array) != self.label_width:
            raise _wrong(
                "a label has the wrong length.", f"{array}", f"label_width={self.label_width}"
            )
        return array

    def check_data_shape(self, data_shape):
        """Raise ``ValueError`` unless this is channels, height and width of colour pictures."""
        if len(data_shape) != 3 or data_shape[0] != 3:
            raise _wrong(
                "data_shape should have length 3, with dimensions CxHxW, and 3 channels.",
                f"data_shape={data_shape}", "(3, height, width)",
            )  # fmt: skip

    def check_valid_image(self, data):
        """Raise ``RuntimeError`` for an empty picture."""
        if len(data[0].shape) == 0:
            raise MXNetError("Data shape is wrong")

    def imdecode(self, s):
        """The picture in encoded bytes; an error names the sample."""
        try:
            return imdecode(s)
        except MXNetError as error:
            place = self.cur - 1 if self.seq is not None else "?"
            name = self.seq[place] if self.seq is not None else "of the record file"
            if self.imglist is not None and self.seq is not None:
                name = self.imglist[name][1]
            raise type(error)(f"Broken image filename: sample {place}, {name}\n{error}") from error

    def read_image(self, fname):
        """The bytes of a picture file below ``path_root``."""
        path = Path(self.path_root or "", fname)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise MissingFile(
                four_lines(
                    f"{path}: No such file or directory", repr(fname), "a picture of the list",
                    f"check path_root={self.path_root!r} and the list",
                )
            ) from error  # fmt: skip

    def augmentation_transform(self, data):
        """A picture after all augmenters."""
        for augment in self.auglist:
            data = augment(data)
        return data

    def postprocess_data(self, datum):
        """A picture with its channels first."""
        return datum.transpose((2, 0, 1))


def _wrong(what, received, expected):
    return ArgumentError(
        four_lines(f"ImageIter: {what}", received, expected, "see help(mx.image.ImageIter)")
    )


def _listed(path, label_width):
    """The lines of a list: number -> (labels, name)."""
    found = {}
    try:
        lines = Path(path).read_text().splitlines()
    except FileNotFoundError as error:
        raise MissingFile(
            four_lines(
                f"{path}: No such file or directory", repr(str(path)), "a list of pictures",
                "check path_imglist",
            )
        ) from error  # fmt: skip
    for number, line in enumerate(lines, 1):
        fields = line.strip().split("\t")
        try:
            key, labels = int(fields[0]), np.array(fields[1:-1], np.float32)
            if label_width is not None and len(labels) != label_width:
                raise ValueError(f"{len(labels)} labels")
        except ValueError as error:
            raise ArgumentError(
                four_lines(
                    f"{path}, line {number}: not a line of a list of pictures.",
                    f"{line[:60]!r} ({error})",
                    f"number, {label_width or 'all'} labels (label_width), path, with tabs",
                    "make the list with tabs, or pass the label_width it has",
                )
            ) from error
        found[key] = labels, fields[-1]
    return found


def _given(entries):
    """A list ``[label, path]`` or ``[label, label, path]``, numbered."""
    found = {}
    for number, (*labels, name) in enumerate(entries):
        only = labels[0] if len(labels) == 1 and not isinstance(labels[0], Number) else labels
        found[number] = np.asarray(only, np.float32), name
    return found
