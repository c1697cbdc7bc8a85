"""Batches out of lists of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ndarray as nd
from ...base import ArgumentTypeError, ShapeError, four_lines
from ...ndarray import NDArray


def default_batchify_fn(data: list) -> Any:
    """One array with a new first axis out of a list of samples.

    Samples that are tuples give a list of arrays. Numbers and numpy arrays keep their dtype.

    Examples
    --------
    >>> images, labels = default_batchify_fn([(np.zeros((2, 2)), 0), (np.ones((2, 2)), 1)])
    >>> images.shape, labels.asnumpy()
    ((2, 2, 2), array([0, 1]))
    """
    first = data[0]
    if isinstance(first, NDArray):
        _check_shapes(data)
        return nd.stack(*data)
    if isinstance(first, tuple):
        lengths = sorted({len(sample) for sample in data})
        if len(lengths) > 1:
            raise _unlike(f"samples of {' and '.join(map(str, lengths))} values")
        return [default_batchify_fn(list(part)) for part in zip(*data, strict=True)]
    try:
        batch = np.asarray(data)
    except ValueError as error:
        _check_shapes([np.asarray(sample) for sample in data])
        raise _no_array(first) from error
    if batch.dtype.kind not in "biuf":
        raise _no_array(first)
    return nd.array(batch, dtype=batch.dtype)


def default_mp_batchify_fn(data: list) -> Any:
    """`default_batchify_fn`: what workers return goes through shared memory by itself."""
    return default_batchify_fn(data)


def _check_shapes(samples: list) -> None:
    shapes = list(dict.fromkeys(tuple(sample.shape) for sample in samples))
    if len(shapes) > 1:
        raise _unlike(" and ".join(f"shape {shape}" for shape in shapes[:4]))


def _unlike(received: str) -> ShapeError:
    return ShapeError(
        four_lines(
            "default_batchify_fn: the samples of a batch differ.",
            received,
            "the same number of values and the same shapes in all samples",
            "resize or pad them in dataset.transform, or pass DataLoader a batchify_fn",
        )
    )


def _no_array(sample: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        four_lines(
            "default_batchify_fn: these samples do not make an array.",
            f"a sample of type {type(sample).__name__}",
            "arrays, numbers, or tuples of them",
            "change them in dataset.transform, or pass DataLoader a batchify_fn",
        )
    )
