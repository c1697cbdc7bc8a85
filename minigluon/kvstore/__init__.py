"""Stores of parameters by key, shared by devices: ``mx.kv``."""

from .._paths import answer_for_old_modules
from ..base import ArgumentTypeError, MXNetError, four_lines
from .base import KVStoreBase, TestStore
from .local import KVStore


def create(name="local"):
    """A store: ``local``, ``device``, or one made known by ``KVStoreBase.register``.

    Other names give a local store of that type, as in MXNet; names containing ``dist`` are refused.

    Examples
    --------
    >>> create("device").type
    'device'
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(
            four_lines("name must be a string", repr(name), "a kind of store", "create('local')")
        )
    name = name.lower()
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    if "dist" in name:
        raise MXNetError(
            f"kvstore {name!r} is not there yet.\n"
            f"  received  create({name!r})\n"
            "  expected  a store of one process: distributed training belongs to the 'dist' extra, "
            "which is not built yet\n"
            "  fix       train with 'local' or 'device'"
        )
    if name == "nccl":
        raise MXNetError("kvstore 'nccl' needs GPUs; use 'device'.")
    return KVStore(name)


__all__ = ["KVStore", "KVStoreBase", "TestStore", "create"]

answer_for_old_modules(__name__)
