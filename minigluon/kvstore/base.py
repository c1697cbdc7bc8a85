"""What a key-value store is, the registry of stores, and the store that only adds."""

from __future__ import annotations

import warnings
from typing import ClassVar

from ..ndarray import NDArray


class KVStoreBase:
    """What a store must do so that ``gluon.Trainer`` can train with it.

    Derive from it and decorate with ``KVStoreBase.register`` to make a store of your own known to
    ``create``.
    """

    #: the capability of running an optimizer on the stored values
    OPTIMIZER = "optimizer"
    #: lower-cased class name -> class
    kv_registry: ClassVar[dict[str, type[KVStoreBase]]] = {}

    @staticmethod
    def register(klass):
        """Class decorator: makes a store known under its lower-cased class name."""
        name = klass.__name__.lower()
        known = KVStoreBase.kv_registry.get(name)
        if known is not None:
            warnings.warn(
                f"WARNING: New kvstore {klass.__module__}.{klass.__name__} is overriding existing "
                f"kvstore {known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        KVStoreBase.kv_registry[name] = klass
        return klass

    @staticmethod
    def is_capable(capability):
        """Whether the store can do something more, such as ``KVStoreBase.OPTIMIZER``."""
        raise NotImplementedError

    @property
    def type(self):
        """The name the store was created by."""
        raise NotImplementedError

    @property
    def rank(self):
        """Which of the workers this is, from 0."""
        raise NotImplementedError

    @property
    def num_workers(self):
        """How many workers share the store."""
        raise NotImplementedError

    def broadcast(self, key, value, out, priority=0):
        """Give every worker the first one's value."""
        raise NotImplementedError

    def pushpull(self, key, value, out=None, priority=0):
        """Add up the values of all devices and workers, into ``out`` or in place."""
        raise NotImplementedError

    def set_optimizer(self, optimizer):
        """Let the store update its values by pushed gradients."""
        raise NotImplementedError

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the optimizer's states to a file."""
        raise NotImplementedError

    def load_optimizer_states(self, fname):
        """Read the optimizer's states from a file."""
        raise NotImplementedError


@KVStoreBase.register
class TestStore(KVStoreBase):
    """Adds and copies without keeping anything: the least a trainer needs (``"teststore"``)."""

    __test__ = False  # pytest: not a test class

    @staticmethod
    def is_capable(capability):
        """It has no optimizer."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    @property
    def type(self):
        """``"teststore"``."""
        return "teststore"

    @property
    def rank(self):
        """0: there is one worker."""
        return 0

    @property
    def num_workers(self):
        """1."""
        return 1

    def broadcast(self, key, value, out, priority=0):
        """Copy a value into one array or each of a list."""
        for array in out if isinstance(out, list | tuple) else [out]:
            if array is not value:
                value.copyto(array)

    def pushpull(self, key, value, out=None, priority=0):
        """Write the sum of the values into ``out``, or into the values themselves."""
        values = [value] if isinstance(value, NDArray) else list(value)
        total = values[0].copy()
        for array in values[1:]:
            total += array.as_in_context(total.context)
        self.broadcast(key, total, value if out is None else out)
