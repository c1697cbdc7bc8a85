"""Pictures from encoded bytes and back: the one place that knows Pillow, or OpenCV in its place."""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np

from ..base import ArgumentError, AttributeValueError, MXNetError, four_lines


@lru_cache(maxsize=1)
def _opencv():
    """OpenCV where it is installed and Pillow is not; else None."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        try:
            import cv2
        except ImportError:
            return None
        return cv2
    return None


def pillow():
    """Pillow's ``Image`` module, or an ``ImportError`` that says how to get it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            four_lines(
                "pictures are read and written by Pillow, which is not installed.",
                str(error),
                "the package pillow, or opencv-python",
                "pip install minigluon[image]",
            )
        ) from error
    return Image


def decode(data, flag=1, to_rgb=True, name="imdecode"):
    """A picture as uint8 ``(height, width, 3)``, or one channel with ``flag=0``."""
    if not isinstance(flag, int | np.integer) or flag < 0:
        raise AttributeValueError(
            four_lines(
                f"{name}: flag is not valid.", f"flag={flag!r}", "1 for colours, 0 for grey",
                "pass flag=1",
            )
        )  # fmt: skip
    if _opencv() is not None:
        pixels = _by_opencv(data, name, int(bool(flag)))
        return pixels[:, :, None] if not flag else pixels[:, :, ::-1] if to_rgb else pixels
    image = opened(data, name, gray=not flag)
    if not flag:
        return _gray(image)[:, :, None]
    pixels = _colors(image)
    return pixels if to_rgb else pixels[:, :, ::-1]


def as_read(data, flag=-1):
    """A picture as OpenCV gives it: blue first; as it is with ``flag=-1``, else as by `decode`."""
    if _opencv() is not None:
        return _by_opencv(data, "unpack_img", flag)
    image = opened(data, "unpack_img", gray=flag == 0)
    bare = image.mode in ("1", "L", "I;16", "I", "F")
    if flag == 0 or (flag < 0 and bare):
        return _gray(image)
    if flag < 0 and "A" in image.getbands():
        return np.array(image.convert("RGBA"))[:, :, [2, 1, 0, 3]]
    return np.ascontiguousarray(_colors(image)[:, :, ::-1])


def opened(data, name, gray=False):
    """A decoded Pillow image; ``MXNetError`` if the bytes are not one or are cut short."""
    Image = pillow()
    if not len(data):
        raise ArgumentError(_not_an_image(name, data, "Input cannot be an empty buffer"))
    try:
        image = Image.open(io.BytesIO(data))
        if gray:
            image.draft("L", image.size)  # JPEG holds its own grey
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        what = "Decoding failed. Invalid image file"
        raise MXNetError(_not_an_image(name, data, what, error)) from error
    return image


def _by_opencv(data, name, flag):
    """A picture with blue first, not turned by what its file says, as by Pillow."""
    cv2 = _opencv()
    if not len(data):
        raise ArgumentError(_not_an_image(name, data, "Input cannot be an empty buffer"))
    way = cv2.IMREAD_UNCHANGED if flag < 0 else flag | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), way)
    except cv2.error as error:
        raise MXNetError(_not_an_image(name, data, "Decoding failed", error)) from error
    if found is None:
        raise MXNetError(_not_an_image(name, data, "Decoding failed. Invalid image file"))
    return found


def _not_an_image(name, data, what, error=None):
    shown = f"{len(data)} bytes that begin with {bytes(data[:8])!r}"
    return four_lines(
        f"{name}: not an image: {what}",
        f"{shown} ({error})" if error else shown,
        "the whole content of a JPEG, PNG or other picture file",
        "check that the file is a picture and was copied completely",
    )


def _colors(image):
    return np.array(image.convert("RGB"))


def _gray(image):
    """Grey as OpenCV's readers weigh colours: in 15 bits, cut off; JPEG keeps its own grey."""
    if image.mode == "L":
        return np.array(image)
    pixels = _colors(image).astype(np.int64)
    red, green, blue = pixels[:, :, 0], pixels[:, :, 1], pixels[:, :, 2]
    return ((red * 9797 + green * 19234 + blue * 3737) >> 15).astype(np.uint8)


def encode(picture, quality, suffix):
    """The bytes of a picture file; ``picture`` has blue first."""
    pixels = picture.asnumpy() if hasattr(picture, "asnumpy") else np.asarray(picture)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or pixels.shape[2:] not in ((), (3,), (4,)):
        raise ArgumentError(
            four_lines(
                "pack_img: img is not a picture.",
                f"img {pixels.shape} {pixels.dtype}",
                "(height, width) or (height, width, channels) with 1, 3 or 4 channels",
                "put the channels last: img.transpose(1, 2, 0)",
            )
        )
    if pixels.dtype != np.uint8:
        pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    if _opencv() is not None:
        return _encoded_by_opencv(pixels, quality, suffix.lower())
    Image = pillow()
    if pixels.ndim == 3:
        pixels = pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]]
    form = Image.registered_extensions().get(suffix.lower())
    if form not in Image.SAVE:
        raise _no_format(suffix)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    out = io.BytesIO()
    if form == "JPEG":
        image = image.convert("RGB") if image.mode == "RGBA" else image
        image.save(out, form, quality=int(quality))
    elif form == "PNG":
        image.save(out, form, compress_level=min(int(quality), 9))
    else:
        image.save(out, form)
    return out.getvalue()


def _encoded_by_opencv(pixels, quality, suffix):
    """The bytes of a picture file, written by OpenCV."""
    cv2 = _opencv()
    if suffix in (".jpg", ".jpeg"):
        options = [cv2.IMWRITE_JPEG_QUALITY, int(quality)]
    else:
        options = [cv2.IMWRITE_PNG_COMPRESSION, min(int(quality), 9)] if suffix == ".png" else []
    try:
        done, found = cv2.imencode(suffix, np.ascontiguousarray(pixels), options)
    except cv2.error as error:
        raise _no_format(suffix) from error
    if not done:
        raise _no_format(suffix)
    return found.tobytes()


def _no_format(suffix):
    return AttributeValueError(
        four_lines(
            "pack_img: there is no such format.",
            f"img_fmt={suffix!r}",
            "'.jpg', '.png' or another suffix that Pillow writes",
            "pass img_fmt='.png'",
        )
    )
