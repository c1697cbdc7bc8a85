"""Are two results equal within what their dtypes allow, and if not, where do they differ most?"""

from __future__ import annotations

import numpy as np

_INTEGERS = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")
_EXACT = {np.dtype(name): 0 for name in _INTEGERS}
_RTOLS = {np.dtype("float16"): 1e-2, np.dtype("float32"): 1e-4, np.dtype("float64"): 1e-5, **_EXACT}
_ATOLS = {
    np.dtype("float16"): 1e-1,
    np.dtype("float32"): 1e-3,
    np.dtype("float64"): 1e-20,
    **_EXACT,
}


def default_rtols():
    """Relative tolerances by dtype."""
    return dict(_RTOLS)


def default_atols():
    """Absolute tolerances by dtype."""
    return dict(_ATOLS)


def default_numeric_eps():
    """Steps for finite differences by dtype."""
    return {
        np.dtype("float16"): 2**-6,
        np.dtype("float32"): 2**-9,
        np.dtype("float64"): 2**-14,
    }


def effective_dtype(dat):
    """The dtype that decides how exactly ``dat`` (array or number) can be compared."""
    return np.dtype(dat.dtype if hasattr(dat, "dtype") else np.asarray(dat).dtype)


def get_tolerance(dat, tol, default_tol):
    """``tol`` if it is a number, else what it, or else ``default_tol``, says for the dtype."""
    if isinstance(tol, int | float | np.number):
        return tol
    dtype = effective_dtype(dat)
    table = default_tol if tol is None else {**default_tol, **tol}
    return table.get(dtype, 0)


def get_tols(x, y, rtol, atol):
    """Relative and absolute tolerance for comparing two results: the wider of what each needs."""
    return (
        max(get_tolerance(x, rtol, _RTOLS), get_tolerance(y, rtol, _RTOLS)),
        max(get_tolerance(x, atol, _ATOLS), get_tolerance(y, atol, _ATOLS)),
    )


def get_rtol(rtol=None, dtype="float64"):
    """``rtol``, or the default relative tolerance of a dtype."""
    return _RTOLS[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol=None, dtype="float64"):
    """``atol``, or the default absolute tolerance of a dtype."""
    return _ATOLS[np.dtype(dtype)] if atol is None else atol


def get_etol(etol=None):
    """The share of elements that may differ: ``etol``, or none."""
    return 0 if etol is None else etol


def as_numpy(value):
    """An NDArray, or anything numpy understands, as a numpy array."""
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def same(a, b):
    """Whether two arrays are equal in every bit that counts (NaN equals nothing)."""
    return np.array_equal(as_numpy(a), as_numpy(b))


def same_array(array1, array2):
    """Whether two NDArrays share their memory: a change of one is seen in the other."""
    return np.shares_memory(array1._data, array2._data)


def checkShapes(a, b):
    """Raise ``AssertionError`` unless the shapes are the same."""
    if a.shape != b.shape:
        raise AssertionError(
            f"\nItems are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal"
            f"\n ACTUAL: {as_numpy(a)!r}\n DESIRED: {as_numpy(b)!r}"
        )


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Whether ``|a - b| <= atol + rtol * |b|`` everywhere.

    As in MXNet the default tolerances are those of float64, whatever the dtypes are.
    """
    tolerances = get_rtol(rtol), get_atol(atol)
    try:
        assert_almost_equal(a, b, *tolerances, equal_nan=equal_nan, use_broadcast=use_broadcast)
    except AssertionError:
        return False
    return True


def almost_equal_ignore_nan(a, b, rtol=None, atol=None):
    """Whether two arrays are almost equal where neither is NaN."""
    return almost_equal(*_without_nan(a, b), rtol, atol)


def assert_almost_equal(
    a,
    b,
    rtol=None,
    atol=None,
    names=("a", "b"),
    equal_nan=False,
    use_broadcast=True,
    mismatches=(10, 10),
):
    """Raise ``AssertionError`` unless ``|a - b| <= atol + rtol * |b|`` everywhere.

    Parameters
    ----------
    rtol, atol : numbers, or dicts from dtype to number; None takes the defaults of the dtypes.
    names : how the message calls the two.
    use_broadcast : False demands equal shapes.
    mismatches : ``mismatches[0]`` is how many of the largest errors the message lists.

    Examples
    --------
    >>> assert_almost_equal(np.ones(2), np.array([1.0, 1.5]), names=("mine", "theirs"))
    Traceback (most recent call last):
    AssertionError:
    Items are not equal:
    Error 33333.333333 exceeds tolerance rtol=1.000000e-05, atol=1.000000e-20 (mismatch ...%).
    Location of maximum error: (1,), mine=1.00000000, theirs=1.50000000
    ...
    """
    _compare(a, b, rtol, atol, 0, names, equal_nan, use_broadcast, mismatches)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """``assert_almost_equal`` where neither array is NaN."""
    assert_almost_equal(*_without_nan(a, b), rtol, atol, names)


def assert_almost_equal_with_err(
    a,
    b,
    rtol=None,
    atol=None,
    etol=None,
    names=("a", "b"),
    equal_nan=False,
    mismatches=(10, 10),
):
    """``assert_almost_equal`` that lets a share ``etol`` of the elements differ."""
    _compare(a, b, rtol, atol, get_etol(etol), names, equal_nan, True, mismatches)


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """numpy's ``assert_allclose``, for NDArrays too."""
    np.testing.assert_allclose(as_numpy(a), as_numpy(b), rtol, atol, equal_nan)


def locationError(a, b, index, names, maxError=False):
    """How a message tells where two arrays differ."""
    where = "maximum error" if maxError else "error"
    return (
        f"Location of {where}: {tuple(int(i) for i in index)}, "
        f"{names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"
    )


def _without_nan(a, b):
    a, b = np.copy(as_numpy(a)), np.copy(as_numpy(b))
    missing = np.isnan(a) | np.isnan(b)
    a[missing] = b[missing] = 0
    return a, b


def _compare(a, b, rtol, atol, share, names, equal_nan, use_broadcast, mismatches):
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = as_numpy(a), as_numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    wrong = ~_close(a, b, rtol, atol, equal_nan)
    if wrong.mean() <= share if share else not wrong.any():
        return
    a_full, b_full = np.broadcast_arrays(a, b)
    error = _error(a_full, b_full, rtol, atol)
    error[~wrong] = -1
    worst = [
        np.unravel_index(k, error.shape)
        for k in np.argsort(-error, axis=None, kind="stable")[: mismatches[0]]
        if wrong.flat[k]
    ]
    listed = "".join(
        f"\n{k:3}: Error {error[index]:f}  {locationError(a_full, b_full, index, names)}"
        for k, index in enumerate(worst, 1)
    )
    raise AssertionError(
        f"\nItems are not equal:\nError {error[worst[0]]:f} exceeds tolerance rtol={rtol:e}, "
        f"atol={atol:e} (mismatch {100 * wrong.mean():f}%).\n"
        f"{locationError(a_full, b_full, worst[0], names, maxError=True)}"
        f"\n ACTUAL: {a!r}\n DESIRED: {b!r}\nLargest errors:{listed}"
    )


def _close(a, b, rtol, atol, equal_nan):
    if rtol == 0 and atol == 0:
        equal = np.equal(a, b)
        return equal | ((a != a) & (b != b)) if equal_nan else equal
    return np.isclose(a, b, rtol, atol, equal_nan)


def _error(a, b, rtol, atol):
    """The distance in units of the tolerance; NaN counts as infinitely far."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(a - b) / (atol + rtol * np.abs(b) + np.finfo(np.float64).tiny)
    return np.where(np.isnan(error), np.inf, error)
