"""Images on numpy arrays ``(height, width, channels)``: resizing as OpenCV does it, colours.

Every way of resizing is separable: a result row is a weighted sum of a few rows, and the same for
columns. For uint8 OpenCV weighs in whole numbers (11 bits), and so does this, to the last bit.
"""

from __future__ import annotations

import numpy as np

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
BITS = 11


def resize(image, height, width, interp=LINEAR):
    """An image, or several along a leading axis, in another size and in its own dtype."""
    if image.shape[-3:-1] == (height, width):
        return image.copy()
    rows, columns = _ways(image.shape[-3], image.shape[-2], height, width, interp)
    if interp == NEAREST:
        return image[..., rows[0][:, 0], :, :][..., columns[0][:, 0], :]
    if image.dtype == np.uint8 and not _averages(image.shape, height, width, interp):
        return _resize_bytes(image, rows, columns, interp)
    dtype = image.dtype if image.dtype.kind == "f" and image.dtype.itemsize > 2 else np.float32
    found = _weigh(_weigh(image.astype(dtype), columns, -2), rows, -3)
    if image.dtype.kind == "f":
        return found.astype(image.dtype)
    limits = np.iinfo(image.dtype)
    if interp in (LINEAR, AREA) and (height * 2, width * 2) == image.shape[-3:-1]:
        found = np.floor(found + 0.5)  # OpenCV halves in whole numbers
    return np.clip(np.rint(found), limits.min, limits.max).astype(image.dtype)


def resize_grad(g, height, width, interp=LINEAR):
    """The gradient of `resize` for images that were ``height`` by ``width``."""
    if g.shape[-3:-1] == (height, width):
        return g.copy()
    rows, columns = _ways(height, width, g.shape[-3], g.shape[-2], interp)
    dtype = g.dtype if g.dtype.itemsize > 2 else np.float32
    middle = np.zeros((*g.shape[:-3], height, *g.shape[-2:]), dtype)
    _unweigh(middle, g, rows, -3)
    total = np.zeros((*g.shape[:-3], height, width, g.shape[-1]), dtype)
    _unweigh(total, middle, columns, -2)
    return total.astype(g.dtype)


def _averages(shape, height, width, interp):
    """Whether OpenCV averages in floating point: whole cells, or halving both sides."""
    shrinks = height <= shape[-3] and width <= shape[-2]
    halves = (height * 2, width * 2) == shape[-3:-1]
    return (interp == AREA and shrinks) or (interp == LINEAR and halves)


def _ways(height, width, new_height, new_width, interp):
    """Positions and weights for rows and for columns: arrays ``(new, taps)``."""
    shrinks = new_height <= height and new_width <= width
    return (
        _taps(height, new_height, interp, shrinks, sharp=False),
        _taps(width, new_width, interp, shrinks, sharp=True),
    )


def _taps(size, new, interp, shrinks, sharp):
    """Positions and weights along one side; OpenCV gives edges one tap only where ``sharp``."""
    scale = size / new
    at = np.arange(new)
    if interp == NEAREST:
        return np.minimum(np.floor(at * scale).astype(np.intp), size - 1)[:, None], np.ones(
            (new, 1)
        )
    if interp == AREA and shrinks:
        return _cells(size, new)
    if interp == AREA:  # enlarging: linear, with edges kept sharp
        first = np.floor(at * scale).astype(np.intp)
        part = (at + 1) - (first + 1) / scale
        part = np.where(part <= 0, 0, part - np.floor(part)).astype(np.float32)
    else:
        place = ((at + 0.5) * scale - 0.5).astype(np.float32)
        first = np.floor(place).astype(np.intp)
        part = (place - first).astype(np.float32)
    if interp in (LINEAR, AREA):
        if sharp:
            part = np.where((first < 0) | (first >= size - 1), 0, part).astype(np.float32)
            first = np.clip(first, 0, size - 1)
        places = np.clip(np.stack([first, first + 1], axis=1), 0, size - 1)
        return places, np.stack([1 - part, part], axis=1)
    weights = _cubic(part) if interp == CUBIC else _lanczos(part)
    taps = weights.shape[1]
    places = first[:, None] + np.arange(taps) - (taps // 2 - 1)
    return np.clip(places, 0, size - 1), weights


def _cells(size, new):
    """Averages over cells: the share of each position that lies in each cell."""
    scale = size / new
    edges = np.minimum(np.arange(new + 1) * scale, size)
    first = np.floor(edges[:-1]).astype(np.intp)
    taps = int(np.ceil(scale)) + 1
    places = first[:, None] + np.arange(taps)
    shared = np.minimum(places + 1, edges[1:, None]) - np.maximum(places, edges[:-1, None])
    weights = np.maximum(shared, 0) / (edges[1:] - edges[:-1])[:, None]
    return np.minimum(places, size - 1), weights.astype(np.float32)


def _cubic(x):
    a = np.float32(-0.75)
    w0 = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
    w1 = ((a + 2) * x - (a + 3)) * x * x + 1
    w2 = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1
    return np.stack([w0, w1, w2, 1 - w0 - w1 - w2], axis=1).astype(np.float32)


def _lanczos(x):
    """Eight taps of the windowed sinc, normalised."""
    away = x[:, None].astype(np.float64) - (np.arange(8) - 3)
    near = np.abs(away) < 1e-6
    safe = np.where(near, 1, away) * np.pi
    weights = np.where(near, 1, np.sin(safe) * np.sin(safe / 4) / (safe * safe / 4))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def _weigh(image, way, axis):
    places, weights = way
    shape = [1] * image.ndim
    shape[axis] = -1
    total = None
    for tap in range(places.shape[1]):
        weight = weights[:, tap].astype(image.dtype).reshape(shape)
        part = np.take(image, places[:, tap], axis=axis) * weight
        total = part if total is None else np.add(total, part, out=total)
    return total


def _unweigh(total, g, way, axis):
    places, weights = way
    shape = [1] * g.ndim
    shape[axis] = -1
    target, source = np.moveaxis(total, axis, 0), None
    for tap in range(places.shape[1]):
        source = np.moveaxis(g * weights[:, tap].astype(g.dtype).reshape(shape), axis, 0)
        np.add.at(target, places[:, tap], source)


def _resize_bytes(image, rows, columns, interp):
    one = 1 << BITS
    across = _weigh_bytes(image.astype(np.int64), columns, -2, one)
    if interp in (LINEAR, AREA):
        places, weights = rows[0], np.rint(rows[1] * one).astype(np.int64)
        total = 2
        for tap in range(2):
            weight = weights[:, tap].reshape(-1, 1, 1)
            total = total + ((weight * (np.take(across, places[:, tap], axis=-3) >> 4)) >> 16)
        found = total >> 2
    else:
        found = (_weigh_bytes(across, rows, -3, one) + (1 << (2 * BITS - 1))) >> (2 * BITS)
    return np.clip(found, 0, 255).astype(np.uint8)


def _weigh_bytes(image, way, axis, one):
    places, weights = way[0], np.rint(way[1] * one).astype(np.int64)
    shape = [1] * image.ndim
    shape[axis] = -1
    return sum(
        np.take(image, places[:, tap], axis=axis) * weights[:, tap].reshape(shape)
        for tap in range(places.shape[1])
    )


# ---- colours


def saturate(values, dtype):
    """Values in a dtype: cut off to what uint8 holds, fractions dropped."""
    if dtype == np.uint8:
        values = np.clip(values, 0, 255)
    return values.astype(dtype)


def gray(image):
    """The luminance of every pixel of an image of three channels, one channel left."""
    return image @ np.array([[0.299], [0.587], [0.114]], image.dtype)


def turn_hue(image, turns):
    """Colours turned around the circle of hues, lightness and saturation kept."""
    r, g, b = (image[..., k] / 255 for k in range(3))
    high, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    chroma = high - low
    light = (high + low) / 2
    flat = chroma <= np.finfo(np.float32).eps
    width = np.where(flat, 1, chroma)
    hue = np.select(
        [high == r, high == g], [(g - b) / width, (b - r) / width + 2], (r - g) / width + 4
    )
    hue = np.where(flat, 0, hue) + turns * 6
    base = np.where(light < 0.5, high + low, 2 - high - low)
    sat = np.where(flat, 0, chroma / np.where(base == 0, 1, base))
    top = np.where(light <= 0.5, light * (1 + sat), light + sat - light * sat)
    bottom = 2 * light - top
    shift = np.stack([hue + 2, hue, hue - 2], axis=-1) % 6
    ramp = np.clip(np.minimum(shift, 4 - shift), 0, 1)
    return (bottom[..., None] + (top - bottom)[..., None] * ramp) * 255


#: the main directions of colour in ImageNet, times how much images vary along them
COLOUR_DIRECTIONS = np.array(
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ]
)
