"""Applies an optimizer to a network's parameters after ``backward``."""

from __future__ import annotations

from .. import config
from .. import kvstore as kvs
from .. import optimizer as opt
from ..base import ArgumentError, four_lines
from ..ndarray.serialize import write_file
from ..optimizer import pickles
from .parameter import Parameter, ParameterDict


class Trainer:
    """Updates parameters from their gradients, on one device or several.

    On several devices, or with ``row_sparse`` parameters, gradients are added up in a key-value
    store, and the store updates the values if it can (``update_on_kvstore``); else each device
    updates its own copy. On one device there is no store.

    Parameters
    ----------
    params : ``Block.collect_params()``, a dict, or a list of ``Parameter``.
    optimizer : name or ``Optimizer``.
    optimizer_params : options of a named optimizer.
    kvstore : name, store, or None.
    compression_params : what the store's ``set_gradient_compression`` takes.
    update_on_kvstore : None lets the trainer decide.

    Examples
    --------
    >>> net = gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    >>> with autograd.record():
    ...     loss = net(nd.ones((4, 2))).sum()
    >>> loss.backward()
    >>> trainer.step(batch_size=4)
    """

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params=None,
        kvstore="device",
        compression_params=None,
        update_on_kvstore=None,
    ):
        self._params = _as_list(params)
        self._contains_sparse_weight = any(p._stype != "default" for p in self._params)
        self._contains_sparse_grad = any(p._grad_stype != "default" for p in self._params)
        self._param2idx = {p.name: i for i, p in enumerate(self._params)}
        for p in self._params:
            p._set_trainer(self)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._reset_kvstore()

    def _check_contexts(self):
        contexts = None
        for p in self._params:
            ctx = p.list_ctx()
            if contexts is not None and ctx != contexts:
                raise ArgumentError(
                    "All Parameters must be initialized on the same set of contexts, but "
                    f"Parameter {p.name} is initialized on {ctx} while previous Parameters are "
                    f"initialized on {contexts}.\n"
                    f"  received  {p.name} on {ctx}\n"
                    f"  expected  {contexts}\n"
                    "  fix       initialize the whole network with one ctx"
                )
            contexts = ctx
        return contexts or []

    def _init_optimizer(self, optimizer, optimizer_params):
        parameters = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            if optimizer_params:
                raise ArgumentError(
                    "optimizer_params must be None if optimizer is an instance of Optimizer "
                    "instead of str\n"
                    f"  received  {type(optimizer).__name__} and {optimizer_params}\n"
                    "  expected  options with a name only\n"
                    "  fix       set them when the optimizer is made"
                )
            self._optimizer = optimizer
            self._optimizer.param_dict = parameters
        else:
            self._optimizer = opt.create(optimizer, param_dict=parameters, **optimizer_params)
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]

    # --- learning rate --------------------------------------------------------------------------

    @property
    def optimizer(self):
        """The optimizer."""
        return self._optimizer

    @property
    def learning_rate(self):
        """The learning rate now, before multipliers."""
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning(
                "Optimizer has to be defined before its learning rate can be accessed."
            )
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr):
        """Set the learning rate; raises ``UserWarning`` when a scheduler decides it."""
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning("Optimizer has to be defined before its learning rate is mutated.")
        self._optimizer.set_learning_rate(lr)

    # --- the store ------------------------------------------------------------------------------

    def _reset_kvstore(self):
        """Forget the store: parameters were loaded or moved to other devices."""
        if getattr(self, "_kvstore", None) is not None and "dist" in self._kvstore.type:
            raise RuntimeError("Cannot reset distributed KVStore.")
        self._kv_initialized = False
        self._kvstore = None
        self._distributed = None
        self._update_on_kvstore = None
        self._params_to_init = list(self._params)
        self._held = None

    def _init_kvstore(self):
        """Make the store, if one is needed, and decide who updates."""
        wanted = self._kvstore_params["kvstore"]
        on_store = self._kvstore_params["update_on_kvstore"]
        if self._contains_sparse_weight:
            self._kvstore, self._update_on_kvstore = _store_for_sparse_weights(wanted, on_store)
        else:
            self._kvstore, self._update_on_kvstore = _store_for_dense_weights(
                wanted, on_store, len(self._contexts), self._contains_sparse_grad
            )
        if self._kvstore is not None:
            self._distributed = "dist" in self._kvstore.type
            if self._compression_params:
                self._kvstore.set_gradient_compression(self._compression_params)
            if self._update_on_kvstore:
                self._kvstore.set_optimizer(self._optimizer)
        else:
            self._distributed = False
        self._kv_initialized = True

    def _init_params(self):
        """Hand initialised parameters to the store; keep those whose shape is not known yet."""
        waiting = []
        for p in self._params_to_init:
            if p._deferred_init:
                waiting.append(p)
            elif self._kvstore is not None:
                arrays = p._check_and_get(p._data, list)
                index = self._param2idx[p.name]
                if p._stype == "default":
                    self._kvstore.broadcast(index, arrays[0], out=arrays)
                else:
                    self._kvstore.init(index, arrays[0])
        self._params_to_init = waiting

    def _row_sparse_pull(self, parameter, out, row_id, full_idx=False):
        """Copy rows of a ``row_sparse`` parameter from the store, where their true values are."""
        self._ready()
        index = self._param2idx[parameter.name]
        if full_idx and "dist" not in self._kvstore.type:
            self._kvstore.pull(index, out=out, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id)

    def _ready(self):
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _all_ready(self):
        self._ready()
        for p in self._params_to_init:  # those without a first batch say so
            p._check_and_get(p._data, list)

    # --- a step ---------------------------------------------------------------------------------

    def step(self, batch_size, ignore_stale_grad=False):
        """Add up gradients and update, with gradients divided by ``batch_size``.

        Call it after ``backward``. A parameter whose gradient no ``backward`` wrote since the last
        step raises ``UserWarning``, or is skipped with ``ignore_stale_grad``.
        """
        scale = self._divided(batch_size)
        if self._update_on_kvstore:
            self._check_and_rescale_grad(scale)
        else:
            self._optimizer.rescale_grad = scale
        if not self._kv_initialized or self._params_to_init:
            self._all_ready()
        if self._kvstore is not None:
            if not ignore_stale_grad:  # before a store changes anything
                self._check_fresh()
            self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self):
        """Add up gradients over devices without updating; ``update`` comes after."""
        self._ready()
        if self._kvstore is not None and self._update_on_kvstore:
            raise ArgumentError(
                "allreduce_grads() when parameters are updated on kvstore is not supported. Try "
                "setting `update_on_kvstore` to False when creating trainer."
            )
        self._allreduce_grads()

    def update(self, batch_size, ignore_stale_grad=False):
        """Update only, after ``allreduce_grads`` and what was done to the gradients since."""
        self._all_ready()
        if self._kvstore is not None and self._update_on_kvstore:
            raise ArgumentError(
                "update() when parameters are updated on kvstore is not supported. Try setting "
                "`update_on_kvstore` to False when creating trainer."
            )
        self._check_and_rescale_grad(self._divided(batch_size))
        self._update(ignore_stale_grad)

    def _divided(self, batch_size):
        try:
            if batch_size != 0:
                return self._scale / batch_size
        except TypeError:
            pass
        raise _no_batch(batch_size)

    def _check_and_rescale_grad(self, scale):
        remote = self._update_on_kvstore and self._distributed and self._kv_initialized
        if remote and self._optimizer.rescale_grad != scale:
            raise UserWarning(
                "Possible change in the `batch_size` from previous `step` detected. Optimizer "
                "gradient normalizing factor will not change w.r.t new batch_size when "
                "update_on_kvstore=True and when distributed kvstore is used."
            )
        self._optimizer.rescale_grad = scale

    def _allreduce_grads(self):
        store = self._kvstore
        if store is None:
            return
        for i, p in enumerate(self._params):
            if p.grad_req == "null":
                continue
            grads = p.list_grad()
            if self._update_on_kvstore:
                if not self._distributed:  # a stale gradient was counted in an earlier step
                    grads = [g for a, g in zip(p._data, grads, strict=True) if a._fresh_grad]
                if grads:
                    store.push(i, grads, priority=-i)
            elif isinstance(store, kvs.KVStore):
                store.push(i, grads, priority=-i)
                store.pull(i, grads, priority=-i, ignore_sparse=False)
            else:
                store.pushpull(i, grads, priority=-i)

    def _check_fresh(self):
        for p in self._params:
            if p.grad_req != "null":
                for array in p._check_and_get(p._data, list):
                    if not array._fresh_grad:
                        raise _stale(p, array)

    def _update(self, ignore_stale_grad=False):
        if self._kvstore is not None and self._update_on_kvstore:
            self._pull_updated()
            return
        held = self._held
        if held is None or not held.holds():
            held = self._held = _Held(self._params, len(self._updaters))
        for _, _, weights in held.devices:
            for weight in weights:
                if not weight._fresh:
                    if not ignore_stale_grad:
                        held.refuse_stale()
                    self._update_fresh(held)
                    return
        for updater, (indices, grads, weights) in zip(self._updaters, held.devices, strict=True):
            for weight in weights:
                weight._fresh = False
            updater(indices, grads, weights)

    def _update_fresh(self, held):
        """Update the parameters only whose gradients were written."""
        for updater, parameters in zip(self._updaters, held.devices, strict=True):
            fresh = [one for one in zip(*parameters, strict=True) if one[2]._fresh]
            for _, _, weight in fresh:
                weight._fresh = False
            updater(*([one[k] for one in fresh] for k in range(3)))

    def _pull_updated(self):
        """Fetch what the store has updated; rows of ``row_sparse`` values come when asked for."""
        for i, p in enumerate(self._params):
            if p.grad_req != "null":
                arrays = p._check_and_get(p._data, list)
                if p._stype == "default":
                    self._kvstore.pull(i, arrays, priority=-i)
                for array in arrays:
                    array._fresh_grad = False

    # --- states ---------------------------------------------------------------------------------

    def save_states(self, fname):
        """Write the optimizer and its states to a file."""
        self._ready()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
        else:
            write_file(fname, self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname):
        """Read what ``save_states`` wrote, here or in MXNet; nothing the file names is run."""
        self._ready()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            states = pickles.read(fname)
            for updater in self._updaters:
                updater.set_states(states)
            self._optimizer = self._updaters[0].optimizer
            for updater in self._updaters:
                updater.optimizer = self._optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _as_list(params):
    if isinstance(params, dict | ParameterDict):
        params = [params[key] for key in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise _no_parameters(type(params), params)
    for p in params:
        if not isinstance(p, Parameter):
            raise _no_parameters(f"list of {type(p)}", p)
    return list(params)


def _no_parameters(kind, received):
    return ArgumentError(
        four_lines(
            f"First argument must be a list or dict of Parameters, got {kind}.",
            f"{received!r:.60}",
            "Parameters, as net.collect_params() gives them",
            "pass net.collect_params(), or a list of some of them",
        )
    )


def _store_for_sparse_weights(wanted, on_store):
    """``row_sparse`` values live in the store, so there is one, and it updates them."""
    if isinstance(wanted, str):
        store = kvs.create(wanted)
    elif isinstance(wanted, kvs.KVStore):
        store = wanted
    else:
        raise TypeError(
            f"Cannot create '{wanted}' KVStore with row_sparse parameters. The type must be "
            "KVStore or str."
        )
    if not store.is_capable("optimizer"):
        raise ArgumentError(
            f"KVStore with sparse weight requires optimizer support. However, {type(store)} does "
            "not support optimizer. Please consider other kvstore backends (e.g. 'device') instead."
        )
    if on_store is False:
        raise ArgumentError("Cannot set update_on_kvstore=False when sparse weights are present.")
    return store, True


def _store_for_dense_weights(wanted, on_store, devices, sparse_grad):
    """A store if there is something to add up or one was given, and whether it updates."""
    if isinstance(wanted, str) and devices > 1:
        wanted = kvs.create(wanted)
    if wanted is None or isinstance(wanted, str):
        return None, None
    if sparse_grad and not isinstance(wanted, kvs.KVStore):
        raise ArgumentError(
            f"Cannot use {type(wanted)} for multi-device training with sparse gradients"
        )
    if not wanted.is_capable("optimizer"):
        if on_store:
            raise ArgumentError(
                f"Please set update_on_kvstore=False when training with {type(wanted)}"
            )
        return wanted, False
    if on_store is None:
        on_store = not sparse_grad and config.get("MXNET_UPDATE_ON_KVSTORE")
    return wanted, bool(on_store)


class _Held:
    """The arrays of the parameters that are updated, fetched once for all steps.

    ``devices`` are ``(indices, gradients, weights)``. A parameter makes new lists whenever it gets
    other arrays, so comparing those is enough to see that what is held is still right.
    """

    __slots__ = ("devices", "lists")

    def __init__(self, params, devices):
        self.lists = [(p, p._data, p._grad) for p in params]
        self.devices = [([], [], []) for _ in range(devices)]
        for i, p in enumerate(params):
            if p.grad_req == "null":
                continue
            arrays = p._check_and_get(p._data, list)
            for device, array, grad in zip(self.devices, arrays, p.list_grad(), strict=True):
                array._fresh_grad = array._fresh_grad  # there may have been no such attribute
                device[0].append(i)
                device[1].append(grad)
                device[2].append(array)

    def holds(self):
        """Whether no parameter got other arrays since."""
        for p, data, grad in self.lists:  # noqa: SIM110 - all() costs a generator
            if p._data is not data or p._grad is not grad:
                return False
        return True

    def refuse_stale(self):
        """Raise for the first parameter one of whose gradients was not written."""
        for index in self.devices[0][0]:
            for indices, _, weights in self.devices:
                weight = weights[indices.index(index)]
                if not weight._fresh:
                    raise _stale(self.lists[index][0], weight)


def _no_batch(batch_size):
    return ArgumentError(
        f"step: gradients cannot be divided by a batch_size of {batch_size!r}.\n"
        f"  received  batch_size={batch_size!r}\n"
        "  expected  the number of samples the loss was summed over\n"
        "  fix       pass the batch's size, or 1 to take gradients as they are"
    )


def _stale(parameter, array):
    return UserWarning(
        f"Gradient of Parameter `{parameter.name}` on context {array.context} has not been updated "
        "by backward since last `step`. This could mean a bug in your model that made it only use "
        "a subset of the Parameters (Blocks) for this iteration. If you are intentionally only "
        "using a subset, call step with ignore_stale_grad=True to suppress this warning and skip "
        "updating of Parameters with stale gradient"
    )
