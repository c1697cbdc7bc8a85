"""How parameters of modules meet a key-value store or an updater."""

from __future__ import annotations

from typing import Any

from .. import config
from .. import kvstore as kvs

# beyond so many values a 'local' store would be the slowest part of an update
_BIG_PARAMETER = 16 * 1024 * 1024


def _create_kvstore(kvstore, num_device, arg_params):
    """``(kvstore, whether it updates the parameters)`` for what a user passed as ``kvstore``.

    One device needs no store unless workers share it; a parameter too big for one lock makes the
    devices update each on its own.
    """
    update_on_kvstore = bool(config.get("MXNET_UPDATE_ON_KVSTORE"))
    if kvstore is None:
        return None, False
    if isinstance(kvstore, kvs.KVStoreBase):
        return kvstore, update_on_kvstore and kvstore.is_capable("optimizer")
    if not isinstance(kvstore, str):
        raise TypeError(
            "kvstore must be KVStore, str or None.\n"
            f"  received  {type(kvstore).__name__}\n  expected  a store, its name, or None\n"
            "  fix       pass kvstore='local', or mx.kv.create('local')"
        )
    if num_device == 1 and "dist" not in kvstore:
        return None, False
    store = kvs.create(kvstore)
    if kvstore == "local":
        sizes = (_size(value.shape) for value in arg_params.values())
        update_on_kvstore = update_on_kvstore and max(sizes, default=0) <= _BIG_PARAMETER
    return store, update_on_kvstore and store.is_capable("optimizer")


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for side in shape:
        size *= side
    return size


def _initialize_kvstore(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Tell a store the parameters, and take over the values it starts from."""
    for i, (name, arrays) in enumerate(zip(param_names, param_arrays, strict=True)):
        if not hasattr(kvstore, "init"):
            kvstore.broadcast(name, arg_params[name], out=arrays, priority=-i)
            continue
        kvstore.init(name, arg_params[name])
        if update_on_kvstore:
            kvstore.pull(name, arrays, priority=-i)


def _update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    """Send gradients to the store, which updates, and fetch the parameters.

    A row_sparse parameter is not fetched here: ``Module.prepare`` fetches the rows a batch needs.
    """
    for i, (name, arrays, grads) in enumerate(
        zip(param_names, param_arrays, grad_arrays, strict=True)
    ):
        if grads[0] is not None:
            kvstore.push(name, grads, priority=-i)
            kvstore.pull(name, arrays, priority=-i)


def _update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None, param_names=None):
    """Update the parameters of each device, by gradients summed over all if there is a store.

    The updater sees parameter ``i`` of device ``k`` under the number ``i * num_device + k``.
    """
    updates: list[list[tuple[int, Any, Any]]] = [[] for _ in range(num_device)]
    for i, (arrays, grads) in enumerate(zip(param_arrays, grad_arrays, strict=True)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            name = param_names[i]
            if hasattr(kvstore, "push"):
                kvstore.push(name, grads, priority=-i)
                kvstore.pull(name, grads, priority=-i, ignore_sparse=False)
            else:
                kvstore.pushpull(name, grads, priority=-i)
        for k, (array, grad) in enumerate(zip(arrays, grads, strict=True)):
            updates[k].append((i * num_device + k, grad, array))
    for update in updates:
        if update:
            indices, grads, arrays = zip(*update, strict=True)
            updater(list(indices), list(grads), list(arrays))
