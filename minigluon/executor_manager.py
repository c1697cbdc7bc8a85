"""``mx.executor_manager``: one executor a context, as scripts used them before ``Module``."""

from __future__ import annotations

import logging

from .module.executor_group import DataParallelExecutorGroup, _split_input_slice


class DataParallelExecutorManager:
    """Executors for every context, and the parameters they share, to be driven by hand.

    Parameters
    ----------
    symbol : what is computed.
    ctx : contexts.
    train_data : an iterator, which tells the shapes of data and labels.
    arg_names, param_names, aux_names : of all arguments, parameters and auxiliary states; what the
        symbol and the data tell unless given.
    work_load_list : how much each context shall do.
    sym_gen : makes the symbol of a bucket key.
    """

    def __init__(
        self,
        symbol,
        ctx,
        train_data,
        arg_names=None,
        param_names=None,
        aux_names=None,
        work_load_list=None,
        logger=None,
        sym_gen=None,
    ):
        logger = logger or logging
        logger.info("Start training with %s", str(ctx))
        self.symbol, self.ctx, self.sym_gen = symbol, ctx, sym_gen
        self._work_load = work_load_list or [1] * len(ctx)
        if len(self._work_load) != len(ctx):
            raise ValueError(
                "DataParallelExecutorManager: one workload for each context.\n"
                f"  received  {len(self._work_load)} workloads, {len(ctx)} contexts\n"
                "  expected  as many\n  fix       leave work_load_list out"
            )
        inputs = {desc[0] for desc in (*train_data.provide_data, *train_data.provide_label)}
        self.arg_names = arg_names or symbol.list_arguments()
        self.param_names = param_names or [
            name for name in symbol.list_arguments() if name not in inputs
        ]
        self.aux_names = aux_names or symbol.list_auxiliary_states()
        self.slices = _split_input_slice(train_data.batch_size, self._work_load)
        self.execgrp = self._group(symbol, train_data)
        self._groups = {}
        if sym_gen is not None:
            self._groups[train_data.default_bucket_key] = self.execgrp
        self.curr_execgrp = self.execgrp

    def _group(self, symbol, source, shared=None):
        _check_arguments(symbol)
        return DataParallelExecutorGroup(
            symbol,
            self.ctx,
            self._work_load,
            source.provide_data,
            source.provide_label,
            self.param_names,
            for_training=True,
            inputs_need_grad=False,
            shared_group=shared,
        )

    def install_monitor(self, monitor):
        """Let a monitor see the executors; not with ``sym_gen``."""
        if self.sym_gen is not None:
            raise NotImplementedError("Monitoring is not implemented for bucketing")
        self.execgrp.install_monitor(monitor)

    def set_params(self, arg_params, aux_params):
        """Copy parameters and auxiliary states to every context."""
        self.execgrp.set_params(arg_params, aux_params, allow_extra=True)

    def copy_to(self, arg_params, aux_params):
        """Copy parameters and auxiliary states, averaged over the contexts, into these dicts."""
        self.execgrp.get_params(arg_params, aux_params)

    @property
    def param_arrays(self):
        """The parameters: for each a list by context."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self):
        """The gradients of the parameters: for each a list by context."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self):
        """The auxiliary states: for each a list by context."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch):
        """Take the batch that ``forward`` runs; with ``sym_gen`` in its bucket."""
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self._groups:
                symbol = self.sym_gen(key)
                self._groups[key] = self._group(symbol, data_batch, self.execgrp)
            self.curr_execgrp = self._groups[key]
        self._batch = data_batch

    def forward(self, is_train=False):
        """Run the batch."""
        self.curr_execgrp.forward(self._batch, is_train=is_train)

    def backward(self):
        """Compute the gradients."""
        self.curr_execgrp.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Let a metric see labels and the outputs."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)


def _check_arguments(symbol):
    """Raise ``ValueError`` if two variables of a symbol have one name."""
    for kind, what, names in (
        ("argument", "weight", symbol.list_arguments()),
        ("auxiliary param", "auxiliary", symbol.list_auxiliary_states()),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f'Find duplicated {kind} name "{twice}", please make the {what} name '
                f"non-duplicated(using name arguments), {kind}s are {names}"
            )


__all__ = [
    "DataParallelExecutorGroup", "DataParallelExecutorManager", "_check_arguments",
    "_split_input_slice",
]  # fmt: skip
