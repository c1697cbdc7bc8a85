"""``ImageRecordIter``: batches of pictures from record files, decoded by several threads."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from .. import ndarray as nd
from .. import recordio
from ..base import ArgumentError, MXNetError, ShapeError, four_lines
from ..context import current_context
from ..core.invoke import wrap
from ..io.desc import DataDesc
from ..io.files import MissingFile, MXDataIter, part_of
from ..kernels import pixels
from . import codec
from .variation import DEFAULTS, Variation

_DTYPES = ("float32", "uint8", "int8")
_MEANS, _STDS = ([f"{what}_{c}" for c in "rgba"] for what in ("mean", "std"))
#: parameters that say how MXNet does its work, and change no result here
_WITHOUT_EFFECT = {
    "aug_seq", "verbose", "device_id", "shuffle_chunk_size", "shuffle_chunk_seed",
    "prefetch_buffer", "ctx", "name",
}  # fmt: skip


class RecordPictures(MXDataIter):
    """What the iterators over record files of pictures have in common."""

    def __init__(
        self, path_imgrec, data_shape, batch_size, path_imglist, path_imgidx, label_width, shuffle,
        seed, seed_aug, round_batch, num_parts, part_index, preprocess_threads, dtype, data_name,
        label_name, settings,
    ):  # fmt: skip
        super().__init__(batch_size, round_batch, data_name, label_name, settings)
        name = type(self).__name__
        if not path_imgrec:
            raise ArgumentError(
                four_lines(
                    f"{name}: must specify image_rec", "no path_imgrec", "a .rec file",
                    "pass path_imgrec='train.rec'",
                )
            )  # fmt: skip
        self.data_shape = tuple(data_shape)
        if len(self.data_shape) != 3 or self.data_shape[0] not in (1, 3, 4):
            raise ShapeError(
                four_lines(
                    f"{name}: Invalid output shape {list(self.data_shape)}", f"{data_shape}",
                    "(channels, height, width) with 1, 3 or 4 channels",
                    "pass data_shape=(3, 224, 224)",
                )
            )  # fmt: skip
        self.dtype = str(dtype if dtype not in (None, "None") else "float32")
        if self.dtype not in _DTYPES:
            raise ArgumentError(
                four_lines(
                    f"{name}: unknown dtype for ImageRecordIter2.", f"dtype={dtype!r}",
                    f"one of {', '.join(_DTYPES)}", "convert batches with astype",
                )
            )  # fmt: skip
        self.label_width = label_width
        self._labels = read_list(path_imglist) if path_imglist else None
        self._paths = str(path_imgrec).split(";")
        places = _places(self._paths, path_imgidx)
        if path_imglist == "" and not places:
            raise _empty(name, path_imgrec)
        first, stop = part_of(len(places), num_parts, part_index)
        self._places = places[first:stop]
        if not self._places:
            raise _empty(name, path_imgrec)
        self._files, self._lock = {}, threading.Lock()
        self._seed, self._shuffle = seed, shuffle
        self._seed_aug = seed if seed_aug in (None, "None") else seed_aug
        self._epoch, self._ahead = 0, None
        self._orders = {}
        self._count = len(self._places)
        self._pool = ThreadPoolExecutor(max(1, preprocess_threads), "pictures")
        self._ctx = current_context()

    def _describe(self, label_shape):
        """Set the descriptions, once the shape of a label is known, and try the first record."""
        data_name, label_name = self._names
        shape = (self.batch_size, *self.data_shape)
        self.provide_data = [DataDesc(data_name, shape, np.dtype(self.dtype).type)]
        self.provide_label = [DataDesc(label_name, (self.batch_size, *label_shape), np.float32)]
        self._sample(0, 0)

    def _order(self, epoch):
        """The records in the order of an epoch."""
        if not self._shuffle:
            return range(self._count)
        if epoch not in self._orders:
            drawn = np.random.default_rng([abs(self._seed), epoch]).permutation(self._count)
            self._orders = {e: o for e, o in self._orders.items() if e >= epoch - 1}
            self._orders[epoch] = drawn.tolist()
        return self._orders[epoch]

    def reset(self):
        """Start the next epoch; without the rows that filled up the last batch of this one."""
        super().reset()
        self._epoch += 1

    def _numbers(self, start):
        """Epoch and record of every row of the batch that begins at ``start``, and the padding."""
        stop, count = start + self.batch_size, self._count
        order = self._order(self._epoch)
        rows = [(self._epoch, order[k]) for k in range(start, min(stop, count))]
        pad = max(0, stop - count)
        if pad and self._round_batch:
            after = self._order(self._epoch + 1)
            rows += [(self._epoch + 1, after[k % count]) for k in range(pad)]
        elif pad:
            rows += [(self._epoch, order[k % count]) for k in range(start - pad, start)]
        return rows, pad

    def iter_next(self):
        """Go on to the next batch; False if there is none."""
        start = self._position
        if start >= self._count:
            return False
        rows, pad = self._numbers(start)
        key, coming = self._ahead or (None, None)
        if key != (self._epoch, start):
            coming = self._submitted(rows)
        self._position = start + self.batch_size
        self._overflow = pad % self._count if self._round_batch else 0
        self._ahead = None
        samples = [future.result() for future in coming]
        if self._position < self._count:  # the next batch is decoded while this one is used
            ahead, _ = self._numbers(self._position)
            self._ahead = (self._epoch, self._position), self._submitted(ahead)
        data = np.stack([sample[0] for sample in samples])
        label = np.stack([sample[1] for sample in samples])
        ids = np.array([sample[2] for sample in samples], np.uint64)
        self._current = wrap(data, self._ctx), wrap(label, self._ctx), pad, ids
        return True

    def _submitted(self, rows):
        return [self._pool.submit(self._sample, epoch, record) for epoch, record in rows]

    def getindex(self):
        """The numbers of the samples of the current batch, as their records tell them."""
        return self._current[3]

    def _record(self, number):
        """Header, bytes of the picture, and where the record stands."""
        which, at = self._places[number]
        path = self._paths[which]
        with self._lock:
            if which not in self._files:
                self._files[which] = recordio._opened(path, False)
            file = self._files[which]
            file.seek(at)
            record = recordio.next_record(file, path)
        if record is None:
            raise MXNetError(
                four_lines(
                    f"{path}, byte {at}: there is no record.", "the end of the file",
                    "a record, as the index says", "make the index anew with im2rec",
                )
            )  # fmt: skip
        return (*recordio.unpack(record), f"{path}, byte {at}")

    def _sample(self, epoch, number):
        """Picture, label and number of a record."""
        header, encoded, place = self._record(number)
        label = self._label_of(header, place)
        rng = np.random.default_rng([abs(self._seed_aug), epoch, number])
        channels = self.data_shape[0]
        try:
            picture = decoded(encoded, channels)
        except MXNetError as error:
            raise MXNetError(f"{place}: {error}") from error
        return (*self._made(picture, label, rng), header.id)

    def _label_of(self, header, place):
        """The label of a record: from the list, if there is one, else its own."""
        if self._labels is not None:
            if header.id not in self._labels:
                raise MXNetError(
                    four_lines(
                        f"fail to find imagelabel for id {header.id}", place,
                        f"a line {header.id} in path_imglist, which has {len(self._labels)}",
                        "give the list the records were made of",
                    )
                )  # fmt: skip
            label = self._labels[header.id]
        else:
            label = np.atleast_1d(np.asarray(header.label, np.float32))
        return label

    def __del__(self):
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        for file in getattr(self, "_files", {}).values():
            file.close()


class ImageRecordIter(RecordPictures):
    """Batches ``(batch, channels, height, width)`` of the pictures of a record file.

    A picture is resized, turned and cut to ``data_shape`` and coloured; then its mean is subtracted
    and it is divided by the deviation. Without options the middle is cut out, and pictures that are
    too small are enlarged. What is random depends on ``seed``, the epoch and the number of the
    record alone. The last batch is filled up with the first pictures of the next epoch, which then
    begins after them; ``round_batch=False`` fills it with those before.

    Parameters
    ----------
    path_imgrec : a ``.rec`` file, or several as ``"a;b"``.
    data_shape : channels, height and width.
    path_imglist : a list file whose labels are used in place of the records' own.
    path_imgidx : the index of the file, which saves looking for the records.
    label_width : how many numbers a label has.
    shuffle, seed : in another order each epoch.
    num_parts, part_index : take only one of several parts.
    preprocess_threads : how many threads decode.
    dtype : ``"float32"``, or ``"uint8"`` and ``"int8"`` for pixels as they are; ``int8`` has the
        mean subtracted.
    mirror, rand_mirror : mirror every picture, or half of them.
    mean_img : file of the mean picture; made of all pictures if it is not there.
    mean_r, mean_g, mean_b, mean_a, std_r, std_g, std_b, std_a, scale : numbers for each colour.
    max_random_contrast, max_random_illumination : factor and addition drawn after the mean.
    seed_aug : the seed of what is done to pictures, if it is another.
    options : see `minigluon.image.variation.DEFAULTS`: ``resize``, ``rand_crop``,
        ``random_resized_crop``, ``max_rotate_angle``, ``random_h`` and so on.
    """

    _dtype = "float32"

    def __init__(
        self, path_imgrec="", data_shape=None, batch_size=None, path_imglist="", path_imgidx="",
        label_width=1, shuffle=False, seed=0, seed_aug=None, round_batch=True, num_parts=1,
        part_index=0, preprocess_threads=4, dtype=None, mirror=False, rand_mirror=False,
        mean_img="", scale=1.0, max_random_contrast=0.0, max_random_illumination=0.0,
        data_name="data", label_name="softmax_label", **options,
    ):  # fmt: skip
        _require(self, data_shape=data_shape, batch_size=batch_size)
        means = [options.pop(name, 0.0) for name in _MEANS]
        stds = [options.pop(name, 1.0) for name in _STDS]
        variation = {k: options.pop(k) for k in list(options) if k in DEFAULTS}
        settings = {k: v for k, v in options.items() if k not in _WITHOUT_EFFECT}
        super().__init__(
            path_imgrec, data_shape, batch_size, path_imglist, path_imgidx, label_width, shuffle,
            seed, seed_aug, round_batch, num_parts, part_index, preprocess_threads,
            self._dtype if dtype in (None, "None") else dtype, data_name, label_name, settings,
        )  # fmt: skip
        channels = self.data_shape[0]
        self._vary = Variation(self.data_shape[1:], variation)
        self._mirror, self._rand_mirror = mirror, rand_mirror
        self._mean = np.array(means[:channels], np.float32)
        self._factor = np.float32(scale) / np.array(stds[:channels], np.float32)
        self._jitter = max_random_contrast, max_random_illumination
        self._mean_image = None
        self._describe(() if label_width == 1 else (label_width,))
        if mean_img:
            self._mean_image = self._mean_of(Path(mean_img))

    def _label_of(self, header, place):
        label = super()._label_of(header, place)
        if label.size != self.label_width and not (
            self._labels is not None and self.label_width == 1
        ):
            source = "rec file" if self._labels is None else "image list"
            raise MXNetError(
                four_lines(
                    f"{source} provide {label.size}-dimensional label but label_width is set to "
                    f"{self.label_width}",
                    f"{label.tolist()} at {place}", f"{self.label_width} numbers",
                    f"pass label_width={label.size}",
                )
            )  # fmt: skip
        return label[0] if self.label_width == 1 else label

    def _made(self, picture, label, rng):
        picture = self._vary(picture, rng)
        if self._mirror or (self._rand_mirror and rng.random() < 0.5):
            picture = picture[:, ::-1]
        if self.dtype == "uint8":
            return channels_first(picture), label
        mean = self._mean if self._mean_image is None else self._mean_image
        if self.dtype == "int8":
            return channels_first(np.clip(picture - mean, -128, 127).astype(np.int8)), label
        contrast, illumination = self._jitter
        if self._mean_image is None and not contrast and not illumination:
            return normalised(picture, mean, self._factor), label
        values = picture - mean
        values = values * np.float32(1 + rng.uniform(-contrast, contrast))
        values += np.float32(rng.uniform(-illumination, illumination))
        return channels_first(values * self._factor), label

    def _mean_of(self, path):
        """The mean picture of a file, which is made of all pictures if it is not there."""
        if path.exists():
            loaded = nd.load(str(path))
            mean = next(iter(loaded.values())) if isinstance(loaded, dict) else loaded[0]
            if mean.shape != self.data_shape:
                raise ShapeError(
                    four_lines(
                        f"{path}: the mean picture has another shape.", f"{mean.shape}",
                        f"{self.data_shape}", "remove the file: it is made anew",
                    )
                )  # fmt: skip
            return mean.asnumpy().transpose(1, 2, 0)
        logging.info("ImageRecordIter: making the mean picture %s", path)
        total = 0
        for number in range(self._count):
            _, encoded, _ = self._record(number)
            rng = np.random.default_rng([abs(self._seed_aug), 0, number])
            total = total + self._vary(decoded(encoded, self.data_shape[0]), rng).astype(float)
        mean = (total / self._count).astype(np.float32)
        mean = nd.array(mean.transpose(2, 0, 1))
        nd.save(str(path), {"mean_img": mean})
        return mean.asnumpy().transpose(1, 2, 0)


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with pixels as uint8."""

    _dtype = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with pixels less their mean as int8."""

    _dtype = "int8"


ImageRecordIter_v1 = ImageRecordIter
ImageRecordUInt8Iter_v1 = ImageRecordUInt8Iter


def decoded(encoded, channels):
    """A picture as uint8 ``(height, width, channels)``, red first."""
    if channels != 4:
        return codec.decode(encoded, int(channels == 3), name="ImageRecordIter")
    pixels = codec.as_read(encoded)
    if pixels.shape[2:] != (4,):
        found = pixels.shape[2] if pixels.ndim == 3 else 1
        raise MXNetError(
            four_lines(
                f"Invalid image. Expected 4 channels, got {found}", f"{pixels.shape}",
                "a picture with transparency", "pass data_shape=(3, height, width)",
            )
        )  # fmt: skip
    return pixels[:, :, [2, 1, 0, 3]]


def channels_first(picture):
    """``(channels, height, width)`` of ``(height, width, channels)``, copied."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1))


def normalised(picture, mean, factor):
    """A picture as float32 planes: less the mean of its channel, times its factor."""
    height, width, channels = picture.shape
    out = np.empty((channels, height, width), np.float32)
    return pixels.planes(np.ascontiguousarray(picture), mean, factor, out)


def read_list(path):
    """The labels of an image list by record number: lines of number, labels and path."""
    labels = {}
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingFile(
            four_lines(
                f"{path}: No such file or directory", f"path_imglist={path!r}", "a .lst file",
                f"check the path; it was looked for in {Path.cwd()}",
            )
        ) from error  # fmt: skip
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        fields = line.strip().split("\t")
        try:
            labels[int(fields[0])] = np.array(fields[1:-1], np.float32)
            if len(fields) < 3:
                raise ValueError("fewer than three fields")
        except ValueError as error:
            raise ArgumentError(
                four_lines(
                    f"{path}, line {number}: not a line of an image list.", repr(line[:60]),
                    "number, tab, labels with tabs between, tab, path", "make it with im2rec",
                )
            ) from error  # fmt: skip
    return labels


def _places(paths, index):
    """File number and position of every record."""
    if index and len(paths) == 1:
        reader = recordio.MXIndexedRecordIO(index, paths[0], "r")
        found = sorted(reader.idx.values())
        reader.close()
        return [(0, at) for at in found]
    return [(k, at) for k, path in enumerate(paths) for at in recordio.positions(path)]


def _require(iterator, **arguments):
    for name, value in arguments.items():
        if value is None:
            what = f"{type(iterator).__name__}: required parameter {name} is missing."
            raise ArgumentError(four_lines(what, "nothing", name, f"pass {name}=..."))


def _empty(name, path):
    return ArgumentError(
        four_lines(
            f"{name}: there are no records.", f"{path}", "at least one record in each part",
            "check the path and num_parts",
        )
    )  # fmt: skip
