"""The key-value store of one process: adds up what devices push, updates, and hands out copies."""

from __future__ import annotations

import numpy as np

from .. import autograd
from .. import ndarray as nd
from .. import optimizer as opt
from ..base import ArgumentError, MXNetError, ShapeError, StorageError
from ..ndarray import NDArray
from ..ndarray.serialize import write_file
from ..optimizer import pickles
from .base import KVStoreBase
from .compression import TwoBit
from .rows import pull_rows, unique_rows


class KVStore(KVStoreBase):
    """Values by key: ``push`` adds up arrays and replaces or updates, ``pull`` copies out.

    Without an updater the sum replaces the value. With one (``set_optimizer``) it is the gradient
    of the value. Keys are all ints or all strings. A list of keys comes with a list of values,
    each an array or a list with one per device.

    Examples
    --------
    >>> store, out = mx.kv.create("local"), nd.zeros((2,))
    >>> store.init("w", nd.ones((2,)))
    >>> store.push("w", [nd.ones((2,)), nd.ones((2,))])
    >>> store.pull("w", out=out)
    >>> out.asnumpy()
    array([2., 2.], dtype=float32)
    """

    def __init__(self, name="local"):
        self._type = name
        self._values = {}
        self._key_type = None
        self._updater = None
        self._compression = None

    @property
    def type(self):
        """The name the store was created by, in lower case."""
        return self._type

    @property
    def rank(self):
        """0: there is one worker."""
        return 0

    @property
    def num_workers(self):
        """1."""
        return 1

    @staticmethod
    def is_capable(capability):
        """It can run an optimizer."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"Unknown capability: {capability}")

    # --- values ---------------------------------------------------------------------------------

    def init(self, key, value):
        """Give new keys their first value; each key once."""
        fresh = {}
        for k, values in self._pairs(key, value):
            if k in self._values:
                raise MXNetError(
                    f"duplicate init of key {k}.\n"
                    f"  received  {_describe(values[0])} for key {k!r}\n"
                    "  expected  a key that is new to the store\n"
                    "  fix       push to change a value; call init or broadcast once a key"
                )
            fresh[k] = values[0].copy()
        self._values.update(fresh)

    def push(self, key, value, priority=0):
        """Add up each key's values; the sum replaces what is stored, or updates it."""
        pairs = list(self._pairs(key, value))
        for k, values in pairs:  # all or nothing
            stored = self._stored(k)
            for array in values:
                if array.shape != stored.shape:
                    raise ShapeError(
                        f"push: the value of key {k!r} has the wrong shape.\n"
                        f"  received  {_describe(array)}\n"
                        f"  expected  {stored.shape}, as the stored value has\n"
                        "  fix       push arrays of the shape given to init"
                    )
        for k, values in pairs:
            stored = self._stored(k)
            if self._compression is not None:
                values = self._compression(k, values)
            total = _sum(values, stored.context)
            if self._updater is not None:
                self._updater(k, total, stored)
            else:
                _write(total, stored)

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copy values out; with ``ignore_sparse`` sparse outs are left as they are."""
        if out is None:
            raise ArgumentError("pull needs out, the arrays to copy into.")
        copies = [
            (self._stored(k), array)
            for k, outs in self._pairs(key, out)
            for array in outs
            if not (ignore_sparse and array.stype != "default")
        ]
        for stored, array in copies:  # all or nothing
            _check_fits(stored, array)
        for stored, array in copies:
            _write(stored, array)

    def pushpull(self, key, value, out=None, priority=0):
        """``push``, then ``pull`` into ``out`` or into the values themselves."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key, value, out, priority=0):
        """``init``, then ``pull``."""
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copy the rows ``row_ids`` of ``row_sparse`` values into ``row_sparse`` outs.

        An out gets each row once, in ascending order; ids may repeat and have any shape. One array
        of ids serves all outs, or there is one for each.
        """
        if out is None or row_ids is None:
            raise ArgumentError("row_sparse_pull needs out and row_ids.")
        if not isinstance(row_ids, NDArray | list | tuple):
            raise ArgumentError(
                f"row_ids should be NDArray or list of NDArray, not {type(row_ids).__name__}"
            )
        for k, pairs in self._with_ids(key, out, row_ids):
            stored = self._stored(k)
            if stored.stype != "row_sparse":
                raise _not_row_sparse(k, "the stored value", stored)
            for array, ids in pairs:
                if array.stype != "row_sparse":
                    raise _not_row_sparse(k, "out", array)
                if array.shape != stored.shape:
                    raise ShapeError(
                        f"row_sparse_pull: out has the wrong shape for key {k!r}.\n"
                        f"  received  {_describe(array)}\n"
                        f"  expected  {stored.shape}, as the stored value has\n"
                        "  fix       make out of the shape given to init"
                    )
                pull_rows(stored, unique_rows(ids, stored.shape[0], k), array)

    def _with_ids(self, key, out, row_ids):
        """``(key, [(out, ids), ...])`` for one key or several."""
        keys = key if isinstance(key, list | tuple) else [key]
        outs = out if isinstance(key, list | tuple) else [out]
        ids = row_ids if isinstance(key, list | tuple) else [row_ids]
        if not isinstance(ids, list | tuple) or not len(keys) == len(outs) == len(ids):
            raise ArgumentError("there must be one out and one row_ids a key.")
        for k, arrays, rows in zip(keys, outs, ids, strict=True):
            arrays = [arrays] if isinstance(arrays, NDArray) else list(arrays)
            rows = [rows] if isinstance(rows, NDArray) else list(rows)
            if len(rows) == 1:
                rows *= len(arrays)
            if len(rows) != len(arrays):
                raise ArgumentError("the number of row_ids doesn't match the number of values")
            yield self._checked(k), list(zip(arrays, rows, strict=True))

    def _pairs(self, key, value):
        """``(key, [array, ...])`` for one key or several; a key may stand several times."""
        if not isinstance(key, list | tuple):
            return [(self._checked(key), _arrays(value))]
        if not isinstance(value, list | tuple) or len(key) != len(value):
            raise ArgumentError(f"{len(key)} keys need a list of as many values.")
        grouped = {}
        for k, v in zip(key, value, strict=True):
            grouped.setdefault(self._checked(k), []).extend(_arrays(v))
        return grouped.items()

    def _checked(self, key):
        kind = str if isinstance(key, str) else int
        if not isinstance(key, str | int | np.integer) or isinstance(key, bool):
            raise ArgumentError(f"unexpected type for keys: {type(key)}")
        if self._key_type is None:
            self._key_type = kind
        elif kind is not self._key_type:
            raise MXNetError(
                "Mixed key types are not allowed.\n"
                f"  received  key {key!r}\n"
                f"  expected  {self._key_type.__name__} keys, as the store already has\n"
                "  fix       name all keys by strings or all by ints"
            )
        return kind(key)

    def _stored(self, key):
        try:
            return self._values[key]
        except KeyError:
            raise MXNetError(
                f"key {key} has not been inited: it doesn't exist. Did you init?\n"
                f"  received  key {key!r}\n"
                f"  expected  one of {list(self._values)[:10]}\n"
                "  fix       call init or broadcast with this key first"
            ) from None

    # --- optimizer ------------------------------------------------------------------------------

    def set_optimizer(self, optimizer):
        """From now on a push is one update of the value by the optimizer."""
        self._set_updater(opt.get_updater(optimizer))

    def _set_updater(self, updater):
        """From now on a push calls ``updater(key, sum of values, stored value)``."""
        self._updater = updater

    def set_gradient_compression(self, compression_params):
        """Quantise what is pushed to two bits a value: ``{"type": "2bit", "threshold": 0.5}``.

        What is lost is kept and added to the next push. For ``device`` stores.
        """
        if "device" not in self._type:
            raise MXNetError("Gradient compression is not supported for this type of kvstore")
        self._compression = TwoBit.from_params(compression_params)

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states (and the optimizer) of ``set_optimizer`` to a file."""
        if self._updater is None:
            raise ArgumentError("Cannot save states for distributed training")
        write_file(fname, self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        """Read what ``save_optimizer_states`` wrote, here or in MXNet."""
        if self._updater is None:
            raise ArgumentError("Cannot load states for distributed training")
        self._updater.set_states(pickles.read(fname))

    # --- what only stores of several processes do -------------------------------------------------

    def barrier(self):
        """Wait for all workers: there is one."""

    _barrier = barrier

    def get_num_dead_node(self, node_id=0, timeout=60):
        """How many other processes do not answer: none are there."""
        return 0

    def _send_command_to_servers(self, head, body):
        """There are no servers; nothing happens."""


def _arrays(value):
    arrays = list(value) if isinstance(value, list | tuple) else [value]
    for array in arrays:
        if not isinstance(array, NDArray):
            raise ArgumentError(f"values are NDArrays or lists of them, not {type(array)}")
    return arrays


def _sum(values, context):
    """The sum of arrays of one shape, on a context; the array itself if it is one."""
    if len(values) == 1:
        return values[0].as_in_context(context)
    values = [v.as_in_context(context) for v in values]
    if all(v.stype == "row_sparse" for v in values):
        total = values[0]
        for v in values[1:]:
            total = nd.sparse.add(total, v)
        return total
    return nd.add_n(*[v if v.stype == "default" else v.tostype("default") for v in values])


def _check_fits(source, target):
    if source.shape != target.shape:
        raise ShapeError(
            f"pull: out has the wrong shape.\n  received  {_describe(target)}\n"
            f"  expected  {source.shape}, as the stored value has\n"
            "  fix       make out of the shape given to init"
        )


def _write(source, target):
    """Copy values over, into whatever storage and dtype the target has; never recorded."""
    with autograd.pause():
        _write_unrecorded(source, target)


def _write_unrecorded(source, target):
    if source.stype != target.stype:
        if "default" not in (source.stype, target.stype):
            source = source.tostype("default")
        source = source.tostype(target.stype)
    if source.dtype != target.dtype:
        source = source.astype(target.dtype)
    source.copyto(target)


def _describe(array):
    return f"{array.shape} {np.dtype(array.dtype).name} {array.stype}"


def _not_row_sparse(key, what, array):
    return StorageError(
        f"row_sparse_pull: {what} of key {key!r} is not row_sparse.\n"
        f"  received  {_describe(array)}\n"
        "  expected  row_sparse storage on both sides\n"
        "  fix       use pull for dense values"
    )
