"""Optimizer updates: whole arrays in one pass, or only the rows that a row_sparse gradient has.

==================================================  ===========================================
``sgd(weight, grad, out, *, ...)``                  weight written to ``out`` (may be ``weight``)
``sgd_momentum(weight, grad, momentum, out, ...)``  state changed in place, as are all states
``adam(weight, grad, mean, var, out, ...)``
``adagrad(weight, grad, history, out, ...)``
``ftrl(weight, grad, z, n, out, ...)``
``sgd_rows / sgd_momentum_rows / adam_rows /``      the lazy forms: ``grad`` is RowSparse, weight
``adagrad_rows / ftrl_rows``                        and states are dense or RowSparse, in any mix
``group_adagrad_rows(weight, grad, history, ...)``  lazy only: one number of history a row
==================================================  ===========================================

Attributes are Python floats and keyword-only: ``lr``, ``wd``, ``rescale_grad``,
``clip_gradient`` (none if negative), and those of the rule. Every attribute is rounded to the
dtype of the weight first and every operation is rounded in MXNet's order, so float32 agrees with
MXNet 1.9.1 bit for bit. (MXNet rounds attributes to float32 for float64 weights too, and float16
after every operation; here float16 is computed in float32 and rounded once.)

A lazy form changes only rows in the gradient, weight decay and decay of states included. It writes
into dense operands and into RowSparse ones that store the rows already, and returns the tuple
``(weight, *states)``: where rows had to be added these are new storages to be assigned by the
caller. MXNet refuses weights that lack a row; here absent rows are zeros.

``all_rows(rule, weight, grad, *states, ...)`` is a dense rule (``lazy_update=False``) for operands
of any storage.

Few elements stay on numpy: Adam on 100 elements takes 8 us there and 3 us compiled, but loading
numba takes a script of a few steps 0.4 s. Both ways give equal bits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..storage import RowSparse
from . import _jit, distinct, row_sparse
from ._jit import jit

#: below this many elements numpy updates
SMALL = 2048
#: rows of up to so many elements are brought together, updated as one array, and taken back: their
#: cache misses then overlap (Adam on 5k rows of 2 out of 1M: 78 us against 130); longer rows are
#: updated where they lie
NARROW = 8


def sgd(weight, grad, out, *, lr, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """``(1 - lr wd) w - lr clip(rescale g)``."""
    return _dense(_sgd, _sgd_small, (weight, grad, out), (lr, wd, rescale_grad, clip_gradient))


def sgd_momentum(
    weight, grad, momentum_state, out, *, lr, momentum=0.0, wd=0.0, rescale_grad=1.0,
    clip_gradient=-1.0,
):  # fmt: skip
    """``m = momentum m - lr wd w - lr clip(rescale g)``; ``w + m``."""
    attributes = (lr, momentum, wd, rescale_grad, clip_gradient)
    return _dense(_momentum, _momentum_small, (weight, grad, momentum_state, out), attributes)


def adam(
    weight, grad, mean, var, out, *, lr, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0,
    rescale_grad=1.0, clip_gradient=-1.0,
):  # fmt: skip
    """``g = clip(rescale g + wd w)``; means of g and g^2; ``w - lr mean / (sqrt(var) + epsilon)``.

    The bias correction is the caller's: it belongs into ``lr``.
    """
    attributes = (lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient)
    return _dense(_adam, _adam_small, (weight, grad, mean, var, out), attributes)


def adagrad(
    weight, grad, history, out, *, lr, epsilon=1e-7, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0
):
    """``g = clip(rescale g)``; ``h += g^2``; ``w - lr (g / sqrt(h + epsilon) + wd w)``."""
    attributes = (lr, epsilon, wd, rescale_grad, clip_gradient)
    return _dense(_adagrad, _adagrad_small, (weight, grad, history, out), attributes)


def ftrl(
    weight, grad, z, n, out, *, lr, lamda1=0.01, beta=1.0, wd=0.0, rescale_grad=1.0,
    clip_gradient=-1.0,
):  # fmt: skip
    """Follow the regularised leader: weights that ``lamda1`` outweighs become exact zeros."""
    attributes = (lr, lamda1, beta, wd, rescale_grad, clip_gradient)
    return _dense(_ftrl, _ftrl_small, (weight, grad, z, n, out), attributes)


def _dense(
    compiled: Any, small: Any, arrays: tuple[np.ndarray, ...], attributes: tuple[float, ...]
) -> np.ndarray:
    """Run a rule on ``(weight, grad, *states, out)``."""
    weight, out = arrays[0], arrays[-1]
    if weight.dtype.char == "e":  # float16; comparing dtypes takes 0.2 us longer
        wide = tuple(a.astype(np.float32) for a in arrays)
        _dense(compiled, small, wide, attributes)
        for array, result in zip(arrays[2:], wide[2:], strict=True):
            array[...] = result
    elif weight.size >= SMALL and _all_contiguous(arrays) and _jit.has_numba():
        if out is not weight:
            out[...] = weight
        flat = [a.reshape(-1) for a in (out, *arrays[1:-1])]
        compiled(*flat, *[float(a) for a in attributes])
    else:
        small(*arrays, *_typed(weight.dtype.type, attributes))
    return out


@lru_cache(maxsize=256)
def _typed(kind: type, attributes: tuple[float, ...]) -> list[np.ndarray]:
    """Attributes in the dtype of the weight, as 0-d arrays: ufuncs need not convert them."""
    return [np.array(a, kind) for a in attributes]


def _all_contiguous(arrays):
    return all(a.flags.c_contiguous for a in arrays)


def sgd_rows(weight, grad, *, lr, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """Lazy ``sgd``."""
    return _lazy(
        _sgd_rows, _sgd, _sgd_small, grad, (weight,), (lr, wd, rescale_grad, clip_gradient)
    )


def sgd_momentum_rows(
    weight, grad, momentum_state, *, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0
):
    """Lazy ``sgd_momentum``: momentum of rows without a gradient neither decays nor acts."""
    attributes = (lr, momentum, wd, rescale_grad, clip_gradient)
    return _lazy(
        _momentum_rows, _momentum, _momentum_small, grad, (weight, momentum_state), attributes
    )


def adam_rows(
    weight, grad, mean, var, *, lr, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0,
    rescale_grad=1.0, clip_gradient=-1.0,
):  # fmt: skip
    """Lazy ``adam``."""
    attributes = (lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient)
    return _lazy(_adam_rows, _adam, _adam_small, grad, (weight, mean, var), attributes)


def adagrad_rows(
    weight, grad, history, *, lr, epsilon=1e-7, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0
):
    """Lazy ``adagrad``."""
    attributes = (lr, epsilon, wd, rescale_grad, clip_gradient)
    return _lazy(_adagrad_rows, _adagrad, _adagrad_small, grad, (weight, history), attributes)


def ftrl_rows(
    weight, grad, z, n, *, lr, lamda1=0.01, beta=1.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0
):
    """Lazy ``ftrl``."""
    attributes = (lr, lamda1, beta, wd, rescale_grad, clip_gradient)
    return _lazy(_ftrl_rows, _ftrl, _ftrl_small, grad, (weight, z, n), attributes)


def group_adagrad_rows(weight, grad, history, *, lr, epsilon, rescale_grad=1.0, clip_gradient=-1.0):
    """``g = clip(rescale g)``; ``h += mean(g^2)`` of a row; ``w - lr g / sqrt(h + epsilon)``.

    ``history`` has one number a row. All are stored alike.
    """
    if grad.indices.size == 0:
        return weight, history
    (weight, w, at), (history, h, history_at) = (
        _rows_for(x, grad.indices) for x in (weight, history)
    )
    attributes = lr, epsilon, rescale_grad, clip_gradient
    g = np.ascontiguousarray(grad.values).reshape(grad.indices.size, -1)
    if g.size >= SMALL and g.dtype.char in "fd" and _all_contiguous((w, h)) and _jit.has_numba():
        flat = w.reshape(w.shape[0], -1), at, h.reshape(-1), history_at
        _group_adagrad_rows(g, *flat, *[float(a) for a in attributes])
    else:
        rows, sums = w[at].reshape(g.shape), h.reshape(-1)[history_at]
        wide = np.float32 if g.dtype == np.float16 else g.dtype.type
        typed = [wide(a) for a in attributes]
        _group_adagrad_small(rows, g.astype(wide, copy=False), sums, *typed)
        w[at], h.reshape(-1)[history_at] = rows.reshape(-1, *w.shape[1:]), sums
    return weight, history


def _rows_for(storage: Any, ids: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """A storage with these rows, the array that holds them, and where they are in it."""
    if type(storage) is RowSparse:
        storage, at = row_sparse.row_positions(storage, ids)
        return storage, storage.values, at
    return storage, storage, ids


def _lazy(
    compiled: Any,
    dense: Any,
    small: Any,
    grad: RowSparse,
    storages: tuple[Any, ...],
    attributes: tuple,
) -> tuple[Any, ...]:
    """Bring the rows of ``grad`` together in every storage and update them."""
    ids, results, arrays, places = grad.indices, [], [], []
    if ids.size == 0:
        return storages
    for storage in storages:
        result, array, at = _rows_for(storage, ids)
        results.append(result)
        arrays.append(array)
        places.append(at)
    g = grad.values
    if g.size >= SMALL and g.dtype != np.float16 and _all_contiguous(arrays) and _jit.has_numba():
        flat = [a.reshape(a.shape[0], -1) for a in arrays]
        g = np.ascontiguousarray(g).reshape(ids.size, -1)
        if g.shape[1] <= NARROW:
            rows = [
                _take_rows(a, at, np.empty(g.shape, a.dtype))
                for a, at in zip(flat, places, strict=True)
            ]
            _dense(dense, small, (rows[0], g, *rows[1:], rows[0]), attributes)
            for array, at, row in zip(flat, places, rows, strict=True):
                _put_rows(array, at, row)
            return tuple(results)
        moved = [x for pair in zip(flat, places, strict=True) for x in pair]
        compiled(g, *moved, *[float(a) for a in attributes])
    elif ids.size == 1:  # a single row is updated where it lies: 2 us less than out and back
        rows = [a[k : k + 1] for a, k in zip(arrays, [int(at[0]) for at in places], strict=True)]
        _dense(None, small, (rows[0], g, *rows[1:], rows[0]), attributes)
    else:
        rows = [distinct.gather(a, at) for a, at in zip(arrays, places, strict=True)]
        _dense(None, small, (rows[0], g, *rows[1:], rows[0]), attributes)
        for array, at, row in zip(arrays, places, rows, strict=True):
            array[at] = row
    return tuple(results)


def all_rows(
    rule: Any, weight: Any, grad: Any, *states: Any, **attributes: float
) -> tuple[Any, ...]:
    """Update every row by a dense ``rule``; ``(weight, *states)``, dense ones changed in place.

    RowSparse operands store all rows afterwards: new storages, unless they did so before.
    """
    results = tuple(
        row_sparse.with_all_rows(s) if type(s) is RowSparse else s for s in (weight, *states)
    )
    weight, *states = (s.values if type(s) is RowSparse else s for s in results)
    grad = row_sparse.densify(grad) if type(grad) is RowSparse else grad
    rule(weight, grad, *states, weight, **attributes)
    return results


# The rules on numpy. Attributes are scalars of the arrays' dtype; ``out`` may be ``weight``.


def _sgd_small(weight, grad, out, lr, wd, rescale, clip):
    step = _step(grad, lr, rescale, clip)
    np.multiply(weight, 1 - lr * wd, out=out)
    out -= step


def _step(grad, lr, rescale, clip):
    """``lr clip(rescale g)``; without a clip the two factors are multiplied first."""
    if clip >= 0:
        step = grad * rescale
        np.clip(step, -clip, clip, out=step)
        step *= lr
        return step
    return grad * (lr * rescale)


def _momentum_small(weight, grad, state, out, lr, momentum, wd, rescale, clip):
    step = _step(grad, lr, rescale, clip)
    state *= momentum
    state -= weight * (lr * wd)
    state -= step
    np.add(weight, state, out=out)


def _adam_small(weight, grad, mean, var, out, lr, beta1, beta2, epsilon, wd, rescale, clip):
    g = grad * rescale
    g += weight * wd
    if clip >= 0:
        np.clip(g, -clip, clip, out=g)
    mean *= beta1
    part = g * (1 - beta1)
    mean += part
    var *= beta2
    np.multiply(g, 1 - beta2, out=part)
    part *= g
    var += part
    np.sqrt(var, out=part)
    part += epsilon
    np.divide(np.multiply(mean, lr, out=g), part, out=part)
    np.subtract(weight, part, out=out)


def _adagrad_small(weight, grad, history, out, lr, epsilon, wd, rescale, clip):
    g = grad * rescale
    if clip >= 0:
        np.clip(g, -clip, clip, out=g)
    history += g * g
    part = np.sqrt(history + epsilon)
    np.divide(g, part, out=part)
    part += wd * weight
    part *= lr
    np.subtract(weight, part, out=out)


def _ftrl_small(weight, grad, z, n, out, lr, lamda1, beta, wd, rescale, clip):
    g = grad * rescale
    if clip >= 0:
        np.clip(g, -clip, clip, out=g)
    root = np.sqrt(n)
    n += g * g
    new_root = np.sqrt(n)
    z += g - (new_root - root) * weight / lr
    kept = np.abs(z) > lamda1
    np.divide(np.copysign(lamda1, z) - z, (beta + new_root) / lr + wd, out=out)
    out *= kept


def _group_adagrad_small(weight, grad, history, lr, epsilon, rescale, clip):
    g = grad * rescale
    if clip >= 0:
        np.clip(g, -clip, clip, out=g)
    history += (g * g).mean(axis=1)
    weight -= lr * g / np.sqrt(history + epsilon)[:, None]


@jit
def _take_rows(source, at, out):
    """The rows ``at`` of a matrix."""
    if source.shape[1] == 2:  # spelled out, as a loop of two costs more than its body
        for k in range(at.size):
            row = np.uint64(at[k])
            out[k, 0], out[k, 1] = source[row, 0], source[row, 1]
    else:
        for k in range(at.size):
            row = np.uint64(at[k])
            for c in range(source.shape[1]):
                out[k, c] = source[row, c]
    return out


@jit
def _put_rows(target, at, rows):
    """Write ``rows`` to the rows ``at`` of a matrix."""
    if target.shape[1] == 2:
        for k in range(at.size):
            row = np.uint64(at[k])
            target[row, 0], target[row, 1] = rows[k, 0], rows[k, 1]
    else:
        for k in range(at.size):
            row = np.uint64(at[k])
            for c in range(target.shape[1]):
                target[row, c] = rows[k, c]


# The same compiled: the rule for one element, and two loops for each. Products and sums are grouped
# as above, so the bits are equal. The weight is changed in place: with an ``out`` that may be the
# weight LLVM cannot vectorise (Adam on 1M elements: 3.2 ms against 0.7). Rows are addressed by two
# indices, as views of rows cost 20 ns each.


@jit
def _clipped(value, limit):
    """NaN passes through; ``limit`` is infinite for no clipping."""
    return -limit if value < -limit else (limit if value > limit else value)


@jit
def _limit(clip):
    return clip if clip >= 0 else np.inf


@jit
def _sgd(weight, grad, lr, wd, rescale, clip):
    """Flat contiguous arrays of one dtype."""
    typed = weight.dtype.type
    keep, limit = typed(1) - typed(lr) * typed(wd), typed(_limit(clip))
    after = typed(lr) if clip >= 0 else typed(1)
    before = typed(rescale) if clip >= 0 else typed(lr) * typed(rescale)
    for i in range(weight.size):
        weight[i] = keep * weight[i] - after * _clipped(before * grad[i], limit)


@jit
def _sgd_rows(grad, weight, at, lr, wd, rescale, clip):
    """Row ``at[k]`` of ``weight`` by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    keep, limit = typed(1) - typed(lr) * typed(wd), typed(_limit(clip))
    after = typed(lr) if clip >= 0 else typed(1)
    before = typed(rescale) if clip >= 0 else typed(lr) * typed(rescale)
    for k in range(at.size):
        a = np.uint64(at[k])
        for c in range(grad.shape[1]):
            weight[a, c] = keep * weight[a, c] - after * _clipped(before * grad[k, c], limit)


@jit
def _momentum(weight, grad, state, lr, momentum, wd, rescale, clip):
    """Flat contiguous arrays of one dtype."""
    typed = weight.dtype.type
    momentum, decay, limit = typed(momentum), typed(lr) * typed(wd), typed(_limit(clip))
    after = typed(lr) if clip >= 0 else typed(1)
    before = typed(rescale) if clip >= 0 else typed(lr) * typed(rescale)
    for i in range(weight.size):
        step = after * _clipped(before * grad[i], limit)
        state[i] = momentum * state[i] - decay * weight[i] - step
        weight[i] += state[i]


@jit
def _momentum_rows(grad, weight, at, state, state_at, lr, momentum, wd, rescale, clip):
    """Row ``at[k]`` of ``weight`` and row ``state_at[k]`` of ``state`` by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    momentum, decay, limit = typed(momentum), typed(lr) * typed(wd), typed(_limit(clip))
    after = typed(lr) if clip >= 0 else typed(1)
    before = typed(rescale) if clip >= 0 else typed(lr) * typed(rescale)
    for k in range(at.size):
        a, b = np.uint64(at[k]), np.uint64(state_at[k])
        for c in range(grad.shape[1]):
            step = after * _clipped(before * grad[k, c], limit)
            state[b, c] = momentum * state[b, c] - decay * weight[a, c] - step
            weight[a, c] += state[b, c]


@jit
def _adam(weight, grad, mean, var, lr, beta1, beta2, epsilon, wd, rescale, clip):
    """Flat contiguous arrays of one dtype."""
    typed = weight.dtype.type
    lr, wd, epsilon, rescale = typed(lr), typed(wd), typed(epsilon), typed(rescale)
    beta1, beta2, limit = typed(beta1), typed(beta2), typed(_limit(clip))
    rest1, rest2 = typed(1) - beta1, typed(1) - beta2
    for i in range(weight.size):
        g = _clipped(rescale * grad[i] + wd * weight[i], limit)
        mean[i] = beta1 * mean[i] + rest1 * g
        var[i] = beta2 * var[i] + rest2 * g * g
        weight[i] -= lr * mean[i] / (np.sqrt(var[i]) + epsilon)


@jit
def _adam_rows(
    grad, weight, at, mean, mean_at, var, var_at, lr, beta1, beta2, epsilon, wd, rescale, clip
):
    """Row ``at[k]`` of ``weight``, with its states, by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    lr, wd, epsilon, rescale = typed(lr), typed(wd), typed(epsilon), typed(rescale)
    beta1, beta2, limit = typed(beta1), typed(beta2), typed(_limit(clip))
    rest1, rest2 = typed(1) - beta1, typed(1) - beta2
    for k in range(at.size):
        a, b, d = np.uint64(at[k]), np.uint64(mean_at[k]), np.uint64(var_at[k])
        for c in range(grad.shape[1]):
            g = _clipped(rescale * grad[k, c] + wd * weight[a, c], limit)
            mean[b, c] = beta1 * mean[b, c] + rest1 * g
            var[d, c] = beta2 * var[d, c] + rest2 * g * g
            weight[a, c] -= lr * mean[b, c] / (np.sqrt(var[d, c]) + epsilon)


@jit
def _adagrad(weight, grad, history, lr, epsilon, wd, rescale, clip):
    """Flat contiguous arrays of one dtype."""
    typed = weight.dtype.type
    lr, wd, epsilon, rescale = typed(lr), typed(wd), typed(epsilon), typed(rescale)
    limit = typed(_limit(clip))
    for i in range(weight.size):
        g = _clipped(rescale * grad[i], limit)
        history[i] += g * g
        weight[i] -= lr * (g / np.sqrt(history[i] + epsilon) + wd * weight[i])


@jit
def _adagrad_rows(grad, weight, at, history, history_at, lr, epsilon, wd, rescale, clip):
    """Row ``at[k]`` of ``weight``, with its state, by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    lr, wd, epsilon, rescale = typed(lr), typed(wd), typed(epsilon), typed(rescale)
    limit = typed(_limit(clip))
    for k in range(at.size):
        a, b = np.uint64(at[k]), np.uint64(history_at[k])
        for c in range(grad.shape[1]):
            g = _clipped(rescale * grad[k, c], limit)
            history[b, c] += g * g
            weight[a, c] -= lr * (g / np.sqrt(history[b, c] + epsilon) + wd * weight[a, c])


@jit
def _ftrl(weight, grad, z, n, lr, lamda1, beta, wd, rescale, clip):
    """Flat contiguous arrays of one dtype."""
    typed = weight.dtype.type
    lr, lamda1, beta, wd = typed(lr), typed(lamda1), typed(beta), typed(wd)
    rescale, limit = typed(rescale), typed(_limit(clip))
    for i in range(weight.size):
        g = _clipped(rescale * grad[i], limit)
        root = np.sqrt(n[i])
        n[i] += g * g
        new_root = np.sqrt(n[i])
        z[i] += g - (new_root - root) * weight[i] / lr
        kept = typed(1) if abs(z[i]) > lamda1 else typed(0)
        weight[i] = (np.copysign(lamda1, z[i]) - z[i]) / ((beta + new_root) / lr + wd) * kept


@jit
def _ftrl_rows(grad, weight, at, z, z_at, n, n_at, lr, lamda1, beta, wd, rescale, clip):
    """Row ``at[k]`` of ``weight``, with its states, by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    lr, lamda1, beta, wd = typed(lr), typed(lamda1), typed(beta), typed(wd)
    rescale, limit = typed(rescale), typed(_limit(clip))
    for k in range(at.size):
        a, b, d = np.uint64(at[k]), np.uint64(z_at[k]), np.uint64(n_at[k])
        for c in range(grad.shape[1]):
            g = _clipped(rescale * grad[k, c], limit)
            root = np.sqrt(n[d, c])
            n[d, c] += g * g
            new_root = np.sqrt(n[d, c])
            z[b, c] += g - (new_root - root) * weight[a, c] / lr
            kept = typed(1) if abs(z[b, c]) > lamda1 else typed(0)
            step = (np.copysign(lamda1, z[b, c]) - z[b, c]) / ((beta + new_root) / lr + wd)
            weight[a, c] = step * kept


@jit
def _group_adagrad_rows(grad, weight, at, history, history_at, lr, epsilon, rescale, clip):
    """Row ``at[k]`` of ``weight``, with its one number of ``history``, by row ``k`` of ``grad``."""
    typed = weight.dtype.type
    lr, epsilon, rescale = typed(lr), typed(epsilon), typed(rescale)
    limit, width = typed(_limit(clip)), grad.shape[1]
    for k in range(at.size):
        a, b = np.uint64(at[k]), np.uint64(history_at[k])
        total = 0.0
        for c in range(width):
            g = np.float64(_clipped(rescale * grad[k, c], limit))
            total += g * g
        history[b] += typed(total / width)
        root = np.sqrt(history[b] + epsilon)
        for c in range(width):
            weight[a, c] -= lr * _clipped(rescale * grad[k, c], limit) / root
