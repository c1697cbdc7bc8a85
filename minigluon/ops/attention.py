"""Attention over interleaved projections: products of queries, keys and values of many heads."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.infer import UnknownShape
from ..core.op import op
from ._shared import at_least

# Projections are (length, batch, heads * parts * width): queries, keys and values of one head lie
# side by side. ``_heads_of`` takes one of them out as (batch * heads, length, width), queries
# divided by sqrt(width); ``_heads_into`` is its transpose. Everything else is batch_dot.


def _check(name, shape, heads, parts):
    at_least(name, "heads", heads, 1)
    if len(shape) != 3 or (isinstance(shape[2], int) and shape[2] % (heads * parts)):
        raise ShapeError(
            f"{name}: the projections do not split into heads.\n"
            f"  received  an array {shape}, heads={heads}\n"
            f"  expected  (length, batch, n) where n is a multiple of {heads * parts}\n"
            "  fix       check heads and the axes of the projections"
        )


def _take_head(data, heads, parts, part, scaled):
    length, batch, wide = data.shape
    width = wide // (heads * parts)
    picked = data.reshape(length, batch * heads, parts, width)[:, :, part].transpose(1, 0, 2)
    if scaled:
        return picked * data.dtype.type(1 / np.sqrt(width))
    return picked


@op(copies_view=True)
def _heads_of(data, *, heads: int, parts: int, part: int, scaled: bool = False):
    """One of the interleaved projections, heads in front."""
    return _take_head(data, heads, parts, part, scaled)


@_heads_of.shape
def _(s, *, heads, parts, part, scaled):
    if not isinstance(s.data, UnknownShape):
        length, batch, wide = s.data
        s.out = (batch * heads, length, wide // (heads * parts))


@_heads_of.grad
def _(F, h, data, *, out, **attrs):
    return F._heads_into(h, **attrs)


@op()
def _heads_into(data, *, heads: int, parts: int, part: int, scaled: bool = False):
    """Heads back among interleaved projections, the other ones zero."""
    many, length, width = data.shape
    result = np.zeros((length, many, parts, width), data.dtype)
    result[:, :, part] = data.transpose(1, 0, 2)
    if scaled:
        result[:, :, part] *= data.dtype.type(1 / np.sqrt(width))
    return result.reshape(length, many // heads, heads * parts * width)


@_heads_into.shape
def _(s, *, heads, parts, part, scaled):
    if not isinstance(s.data, UnknownShape):
        many, length, width = s.data
        s.out = (length, many // heads, heads * parts * width)


@_heads_into.grad
def _(F, h, data, *, out, **attrs):
    return F._heads_of(h, **attrs)


def _scores(queries, keys):
    return np.matmul(queries, keys.transpose(0, 2, 1))


@op()
def _contrib_interleaved_matmul_selfatt_qk(queries_keys_values, *, heads: int):
    """Scores of self-attention: queries times keys over the root of the width, heads in front.

    Parameters
    ----------
    queries_keys_values : (length, batch, heads * 3 * width), the three of a head side by side.

    Examples
    --------
    >>> x = nd.ones((2, 1, 3))
    >>> nd.contrib.interleaved_matmul_selfatt_qk(x, heads=1).shape
    (1, 2, 2)
    """
    _check("interleaved_matmul_selfatt_qk", queries_keys_values.shape, heads, 3)
    return _scores(
        _take_head(queries_keys_values, heads, 3, 0, True),
        _take_head(queries_keys_values, heads, 3, 1, False),
    )


@_contrib_interleaved_matmul_selfatt_qk.shape
def _(s, *, heads):
    shape = s.queries_keys_values
    if not isinstance(shape, UnknownShape):
        _check("interleaved_matmul_selfatt_qk", shape, heads, 3)
        s.out = (shape[1] * heads, shape[0], shape[0])


@_contrib_interleaved_matmul_selfatt_qk.grad
def _(F, g, projections, *, out, heads):
    by_queries, by_keys = _score_gradients(F, g, projections, projections, heads, 3, 3, 1)
    return by_queries + by_keys


def _score_gradients(F, g, queries, keys, heads, query_parts, key_parts, key_part):
    query = {"heads": heads, "parts": query_parts, "part": 0, "scaled": True}
    key = {"heads": heads, "parts": key_parts, "part": key_part}
    by_queries = F.batch_dot(g, F._heads_of(keys, **key))
    by_keys = F.batch_dot(g, F._heads_of(queries, **query), transpose_a=True)
    return F._heads_into(by_queries, **query), F._heads_into(by_keys, **key)


def _weighted(values, attention, heads):
    """Attention times values, heads back behind the batch."""
    result = np.matmul(attention, values)
    many, length, width = result.shape
    return result.transpose(1, 0, 2).reshape(length, many // heads, heads * width)


def _value_gradients(F, g, values, attention, heads, parts, part):
    place = {"heads": heads, "parts": parts, "part": part}
    g = F._heads_of(g, heads=heads, parts=1, part=0)
    by_values = F.batch_dot(attention, g, transpose_a=True)
    by_attention = F.batch_dot(g, F._heads_of(values, **place), transpose_b=True)
    return F._heads_into(by_values, **place), by_attention


@op()
def _contrib_interleaved_matmul_selfatt_valatt(queries_keys_values, attention, *, heads: int):
    """What self-attention gives: attention times values, as (length, batch, heads * width).

    Parameters
    ----------
    queries_keys_values : (length, batch, heads * 3 * width).
    attention : (batch * heads, length, length), made of the scores.
    """
    _check("interleaved_matmul_selfatt_valatt", queries_keys_values.shape, heads, 3)
    return _weighted(_take_head(queries_keys_values, heads, 3, 2, False), attention, heads)


@_contrib_interleaved_matmul_selfatt_valatt.shape
def _(s, *, heads):
    shape = s.queries_keys_values
    if not isinstance(shape, UnknownShape):
        _check("interleaved_matmul_selfatt_valatt", shape, heads, 3)
        length, batch, wide = shape
        s.attention = (batch * heads, length, length)
        s.out = (length, batch, wide // 3)


@_contrib_interleaved_matmul_selfatt_valatt.grad
def _(F, g, projections, attention, *, out, heads):
    return _value_gradients(F, g, projections, attention, heads, 3, 2)


@op()
def _contrib_interleaved_matmul_encdec_qk(queries, keys_values, *, heads: int):
    """Scores between a decoder and an encoder: queries times keys over the root of the width.

    Parameters
    ----------
    queries : (query length, batch, heads * width).
    keys_values : (key length, batch, heads * 2 * width), the two of a head side by side.
    """
    _check("interleaved_matmul_encdec_qk", queries.shape, heads, 1)
    _check("interleaved_matmul_encdec_qk", keys_values.shape, heads, 2)
    return _scores(
        _take_head(queries, heads, 1, 0, True), _take_head(keys_values, heads, 2, 0, False)
    )


@_contrib_interleaved_matmul_encdec_qk.shape
def _(s, *, heads):
    queries, keys = s.queries, s.keys_values
    if isinstance(queries, UnknownShape) or isinstance(keys, UnknownShape):
        return
    _check("interleaved_matmul_encdec_qk", queries, heads, 1)
    _check("interleaved_matmul_encdec_qk", keys, heads, 2)
    s.keys_values = (keys[0], queries[1], queries[2] * 2)
    s.out = (queries[1] * heads, queries[0], keys[0])


@_contrib_interleaved_matmul_encdec_qk.grad
def _(F, g, queries, keys_values, *, out, heads):
    return _score_gradients(F, g, queries, keys_values, heads, 1, 2, 0)


@op()
def _contrib_interleaved_matmul_encdec_valatt(keys_values, attention, *, heads: int):
    """What attention over an encoder gives, as (query length, batch, heads * width).

    Parameters
    ----------
    keys_values : (key length, batch, heads * 2 * width).
    attention : (batch * heads, query length, key length), made of the scores.
    """
    _check("interleaved_matmul_encdec_valatt", keys_values.shape, heads, 2)
    return _weighted(_take_head(keys_values, heads, 2, 1, False), attention, heads)


@_contrib_interleaved_matmul_encdec_valatt.shape
def _(s, *, heads):
    keys, attention = s.keys_values, s.attention
    if isinstance(keys, UnknownShape) or isinstance(attention, UnknownShape):
        return
    _check("interleaved_matmul_encdec_valatt", keys, heads, 2)
    s.attention = (keys[1] * heads, attention[1], keys[0])
    s.out = (attention[1], keys[1], keys[2] // 2)


@_contrib_interleaved_matmul_encdec_valatt.grad
def _(F, g, keys_values, attention, *, out, heads):
    return _value_gradients(F, g, keys_values, attention, heads, 2, 1)
