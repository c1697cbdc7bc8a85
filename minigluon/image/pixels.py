"""Pictures as arrays ``(height, width, channels)``: reading, resizing, cutting, turning."""

from __future__ import annotations

import random
from math import exp, log, sqrt
from pathlib import Path

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, AttributeValueError, DTypeError, ShapeError, four_lines
from ..context import cpu
from ..core.invoke import wrap
from ..io.files import MissingFile
from . import codec

ATTEMPTS = 10
"""How often `random_size_crop` draws before it takes the middle."""


def imread(filename, flag=1, to_rgb=True, out=None):
    """The picture in a file, as by `imdecode`."""
    path = Path(filename)
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise MissingFile(
            four_lines(
                f"imread: '{filename}' couldn't open file: No such file or directory",
                repr(str(filename)),
                "a picture file",
                f"check the path; it was looked for in {Path.cwd()}",
            )
        ) from error
    return _into(codec.decode(content, flag, to_rgb, f"imread {filename}"), out)


def imdecode(buf, flag=1, to_rgb=True, out=None):
    """The picture in encoded bytes, uint8 ``(height, width, 3)``.

    Parameters
    ----------
    buf : bytes, or an array of them.
    flag : 1 for colours, 0 for one channel of grey.
    to_rgb : red first; False puts blue first, as OpenCV does.
    """
    if hasattr(buf, "asnumpy"):
        buf = buf.asnumpy()
    if isinstance(buf, np.ndarray):
        buf = buf.tobytes()
    if not isinstance(buf, bytes | bytearray | memoryview):
        raise ArgumentError(
            four_lines(
                "imdecode: buf must be of type bytes, bytearray or numpy.ndarray",
                f"a {type(buf).__name__}",
                "the content of a picture file",
                "open it with 'rb': open(path, 'rb').read()",
            )
        )
    return _into(codec.decode(bytes(buf), flag, to_rgb), out)


def _into(pixels, out):
    found = wrap(np.ascontiguousarray(pixels), cpu())
    if out is None:
        return found
    out[:] = found
    return out


def imresize(src, w, h, interp=1, out=None):
    """A picture in another size.

    Parameters
    ----------
    interp : 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.
    """
    return nd._internal._cvimresize(src, w=w, h=h, interp=interp, out=out)


def copyMakeBorder(src, top, bot, left, right, type=0, value=0.0, values=(), out=None):
    """A picture with a border around it.

    Parameters
    ----------
    type : 0 for one colour, 1 the edge, 2 mirrored with the edge, 3 the other side, 4 mirrored.
    values : the colour of a border of type 0.
    """
    return nd._internal._cvcopyMakeBorder(
        src,
        top=top,
        bot=bot,
        left=left,
        right=right,
        type=type,
        value=value,
        values=values,
        out=out,
    )


def scale_down(src_size, size):
    """``size`` made small enough to fit into ``src_size``, both width and height, in proportion.

    Examples
    --------
    >>> scale_down((640, 480), (720, 120))
    (640, 106)
    """
    width, height = size
    most_width, most_height = src_size
    if most_height < height:
        width, height = width * most_height / height, most_height
    if most_width < width:
        width, height = most_width, height * most_width / width
    return int(width), int(height)


def interpolation(interp, sizes=()):
    """The number of a way to resize: 9 is what suits the sizes, 10 any.

    Parameters
    ----------
    sizes : old height and width, new height and width.
    """
    if interp == 9:
        if not sizes:
            return 2
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in range(5):
        raise AttributeValueError(
            four_lines(
                f"Unknown interp method {interp}",
                f"interp={interp!r}",
                "0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 what suits, 10 any",
                "pass interp=2",
            )
        )
    return interp


def resize_short(src, size, interp=2):
    """A picture whose shorter side is ``size``, in proportion."""
    height, width = src.shape[:2]
    if height > width:
        new = size * height // width, size
    else:
        new = size, size * width // height
    return imresize(src, new[1], new[0], interpolation(interp, (height, width, *new)))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """The part of a picture that starts at ``(x0, y0)``, resized to ``size`` if that is given."""
    height, width = src.shape[:2]
    for name, start, side, length, limit in (
        ("x0", x0, "w", w, width), ("y0", y0, "h", h, height),
    ):  # fmt: skip
        if start < 0 or length < 1 or start + length > limit:
            raise AttributeValueError(
                four_lines(
                    f"fixed_crop: {name} and {side} leave the picture.",
                    f"{name}={start}, {side}={length} for a {'width' if side == 'w' else 'height'} "
                    f"of {limit}",
                    f"{name} >= 0, {side} >= 1, {name} + {side} <= {limit}",
                    "cut inside the picture, or add a border first: copyMakeBorder",
                )
            )
    part = nd.slice(src, begin=(y0, x0), end=(y0 + h, x0 + w))
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, *size, interpolation(interp, (h, w, size[1], size[0])))


def center_crop(src, size, interp=2):
    """The middle of a picture in ``size``, width and height, and where it was.

    A picture that is too small is cut in proportion and enlarged.
    """
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x0, y0 = (width - w) // 2, (height - h) // 2
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_crop(src, size, interp=2):
    """A random part of a picture in ``size``, width and height, and where it was."""
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """A part of random size, shape and place, resized to ``size``, and where it was.

    Parameters
    ----------
    area : least and largest part of the picture's area; one number is the least.
    ratio : least and largest width to height.
    """
    area = kwargs.pop("min_area", area)  # what it was called once
    if kwargs:
        raise ArgumentError(
            four_lines(
                "random_size_crop: unexpected keyword arguments.", ", ".join(kwargs),
                "src, size, area, ratio, interp", f"leave out {next(iter(kwargs))}",
            )
        )  # fmt: skip
    if not isinstance(area, tuple | list):
        area = area, 1.0
    height, width = src.shape[:2]
    for _ in range(ATTEMPTS):
        wanted = random.uniform(*area) * height * width
        shape = exp(random.uniform(log(ratio[0]), log(ratio[1])))
        w, h = round(sqrt(wanted * shape)), round(sqrt(wanted / shape))
        if w <= width and h <= height:
            x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def color_normalize(src, mean, std=None):
    """``(src - mean) / std``, written to ``src``, as in MXNet; None leaves a step out."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Pictures ``(channels, height, width)``, or several, turned around their middle.

    Parameters
    ----------
    rotation_degrees : one angle, or an array of one for each picture.
    zoom_in : enlarge until no border is seen; otherwise it is black.
    zoom_out : shrink until no corner is cut off.
    """
    if zoom_in and zoom_out:
        raise ArgumentError(
            four_lines(
                "`zoom_in` and `zoom_out` cannot be both True", "zoom_in=True, zoom_out=True",
                "one of them, or none", "leave one out",
            )
        )  # fmt: skip
    if src.dtype != np.float32:
        raise DTypeError(
            four_lines(
                "Only `float32` images are supported by this function",
                f"src {src.shape} {np.dtype(src.dtype).name}", "float32", "src.astype('float32')",
            )
        )  # fmt: skip
    if src.ndim not in (3, 4):
        raise ShapeError(
            four_lines(
                "imrotate: src is not a picture.", f"src {src.shape}",
                "(channels, height, width) or several of them", "put the channels first",
            )
        )  # fmt: skip
    pictures = src if src.ndim == 4 else src.expand_dims(0)
    angles = rotation_degrees
    if hasattr(angles, "asnumpy"):
        angles = angles.asnumpy()
    angles = np.asarray(angles, np.float64).reshape(-1)
    if len(angles) not in (1, len(pictures)):
        raise ShapeError(
            four_lines(
                "imrotate: there must be an angle for each picture.",
                f"{len(angles)} angles, {len(pictures)} pictures", "as many, or one number",
                "pass one number to turn all alike",
            )
        )  # fmt: skip
    angles = np.broadcast_to(angles, len(pictures))
    grid = wrap(_turned(pictures.shape, angles, zoom_in, zoom_out), src.ctx)
    turned = nd.BilinearSampler(pictures, grid)
    return turned if src.ndim == 4 else turned[0]


def _turned(shape, angles, zoom_in, zoom_out):
    """Where to look in each picture, ``(pictures, 2, height, width)``, from -1 to 1."""
    height, width = shape[2:]
    cos = np.cos(np.deg2rad(angles))[:, None, None]
    sin = np.sin(np.deg2rad(angles))[:, None, None]
    across, down = (width - 1) / 2, (height - 1) / 2
    y, x = np.mgrid[-down : down + 1 : 1, -across : across + 1 : 1][:, :height, :width]
    look_x, look_y = (cos * x - sin * y) / across, (sin * x + cos * y) / down
    if zoom_in or zoom_out:
        cos, sin = np.abs(cos), np.abs(sin)
        factor = np.maximum(cos + sin * height / width, cos + sin * width / height)
        look_x, look_y = (v / factor if zoom_in else v * factor for v in (look_x, look_y))
    return np.stack([look_x, look_y], axis=1).astype(np.float32)


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """`imrotate` by a random angle between two; several pictures each by their own."""
    count = src.shape[0] if src.ndim == 4 else 1
    angles = np.random.uniform(*angle_limits, size=count)
    return imrotate(src, angles, zoom_in=zoom_in, zoom_out=zoom_out)
