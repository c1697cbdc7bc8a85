"""Fourier transforms of rows and count sketches (MXNet has these on the GPU only)."""

from __future__ import annotations

import numpy as np

from ..base import IndexOutOfRange, ShapeError
from ..core.infer import UnknownShape
from ..core.op import op

# A complex row of length d is a real one of length 2 d: real and imaginary parts take turns.


def _interleaved(values, dtype):
    result = np.empty((*values.shape[:-1], 2 * values.shape[-1]), dtype)
    result[..., ::2], result[..., 1::2] = values.real, values.imag
    return result


@op()
def _contrib_fft(data, *, compute_size: int = 128):
    """The Fourier transform of each row, real and imaginary parts taking turns.

    Parameters
    ----------
    compute_size : how many rows MXNet transforms at a time; not needed here.

    Examples
    --------
    >>> nd.contrib.fft(nd.array([[1, 0]])).asnumpy()
    array([[1., 0., 1., 0.]], dtype=float32)
    """
    return _interleaved(np.fft.fft(data, axis=-1), data.dtype)


@_contrib_fft.shape
def _(s, **_):
    if not isinstance(s.data, UnknownShape):
        s.out = (*s.data[:-1], s.data[-1] * 2)


@_contrib_fft.grad
def _(F, g, data, *, out, compute_size):
    return F._contrib_ifft(g, compute_size=compute_size)


@op()
def _contrib_ifft(data, *, compute_size: int = 128):
    """The real part of the inverse Fourier transform of each row, times the length of the row.

    Parameters
    ----------
    data : real and imaginary parts taking turns.
    compute_size : how many rows MXNet transforms at a time; not needed here.

    Examples
    --------
    >>> nd.contrib.ifft(nd.array([[1, 0, 1, 0]])).asnumpy()
    array([[2., 0.]], dtype=float32)
    """
    if data.shape[-1] % 2:
        raise ShapeError(
            f"ifft: the rows do not split into real and imaginary parts.\n"
            f"  received  data {data.shape}\n  expected  rows of even length\n"
            "  fix       pass what fft gives"
        )
    values = data[..., ::2] + 1j * data[..., 1::2]
    result = np.fft.ifft(values, axis=-1, norm="forward")
    return np.ascontiguousarray(result.real.astype(data.dtype))


@_contrib_ifft.shape
def _(s, **_):
    if not isinstance(s.data, UnknownShape):
        s.out = (*s.data[:-1], s.data[-1] // 2)


@_contrib_ifft.grad
def _(F, g, data, *, out, compute_size):
    return F._contrib_fft(g, compute_size=compute_size)


@op()
def _contrib_count_sketch(data, h, s, *, out_dim: int, processing_batch_size: int = 32):
    """Rows projected by hashing: column ``i``, times its sign ``s[i]``, is added to ``h[i]``.

    Parameters
    ----------
    h : a column of the result for each column of ``data``.
    s : 1 or -1 for each column of ``data``.
    processing_batch_size : how many rows MXNet takes at a time; not needed here.

    Examples
    --------
    >>> h, s = nd.array([[0, 1, 0]]), nd.array([[1, -1, 1]])
    >>> nd.contrib.count_sketch(nd.array([[1, 2, 3]]), h, s, out_dim=2).asnumpy()
    array([[ 4., -2.]], dtype=float32)
    """
    columns = _columns(h, out_dim)
    flat = data.reshape(-1, data.shape[-1]) * s.reshape(-1)
    result = np.zeros((flat.shape[0], out_dim), data.dtype)
    np.add.at(result, (slice(None), columns), flat)
    return result.reshape(*data.shape[:-1], out_dim)


def _columns(h, out_dim):
    columns = h.reshape(-1).astype(np.int64)
    wrong = columns[(columns < 0) | (columns >= out_dim)]
    if wrong.size:
        raise IndexOutOfRange(
            f"count_sketch: h points outside the result.\n  received  {wrong[0]} in h\n"
            f"  expected  0 to {out_dim - 1}\n  fix       draw h below out_dim={out_dim}"
        )
    return columns


@_contrib_count_sketch.shape
def _(s, *, out_dim, **_):
    data = s.data
    if not isinstance(data, UnknownShape):
        s.out = (*data[:-1], out_dim)


@_contrib_count_sketch.grad
def _(F, g, data, h, s, *, out, out_dim, **_):
    return F._count_sketch_grad(g, h, s), None, None


@op()
def _count_sketch_grad(g, h, s):
    """The columns of ``g`` that each column went to, times its sign."""
    return g[..., _columns(h, g.shape[-1])] * s.reshape(-1)


@_count_sketch_grad.shape
def _(s):
    columns = s.h
    if not isinstance(s.g, UnknownShape) and not isinstance(columns, UnknownShape):
        s.out = (*s.g[:-1], columns[-1])
