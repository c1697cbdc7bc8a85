"""A module whose gradients vary less, because it compares them with those of a snapshot."""

from __future__ import annotations

import logging

from ...base import ArgumentError, ArgumentTypeError, four_lines
from ...module import Module


class SVRGModule(Module):
    """Trains by the stochastic variance reduced gradients of Johnson and Zhang (2013).

    Every ``update_freq`` epochs the parameters are copied, and the gradient over all data is taken
    there. From then on a step uses the gradient of its batch, minus that at the copy, plus that of
    all data at the copy: right on average as before, but with less noise.

    Parameters
    ----------
    update_freq : epochs from one copy to the next.
    symbol, data_names, label_names, ... : as for `mx.mod.Module`.
    """

    def __init__(
        self,
        symbol,
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        context=None,
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
        update_freq=None,
    ):
        options = {
            "data_names": data_names,
            "label_names": label_names,
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        super().__init__(symbol, **options)
        if isinstance(update_freq, bool) or not isinstance(update_freq, int):
            raise ArgumentTypeError(
                four_lines(
                    "update_freq in SVRGModule must be an integer to represent the frequency for "
                    "calculating full gradients",
                    repr(update_freq),
                    "a number of epochs",
                    "update_freq=2",
                )
            )
        if update_freq <= 0:
            raise ArgumentError(
                four_lines(
                    "update_freq in SVRGModule must be a positive integer to represent the "
                    "frequency for calculating full gradients",
                    str(update_freq),
                    "1 or more",
                    "update_freq=2",
                )
            )
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, **options)
        self._param_dict = None

    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        """Bind this module, and the one that holds the copy."""
        super().bind(
            data_shapes,
            label_shapes,
            for_training,
            inputs_need_grad,
            force_rebind,
            shared_module,
            grad_req,
        )
        if for_training:
            self._mod_aux.bind(
                data_shapes,
                label_shapes,
                for_training,
                inputs_need_grad,
                force_rebind,
                None,
                grad_req,
            )

    def reshape(self, data_shapes, label_shapes=None):
        """Change the shapes of inputs; everything else stays."""
        super().reshape(data_shapes, label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes)

    def update_full_grads(self, train_data):
        """Copy the parameters, and take the mean gradient over all batches there.

        Rows that only fill up the last batch count, and the number of batches is reduced by them,
        as in MXNet. The data are at their start afterwards.
        """
        self._mod_aux.set_params(*self.get_params())
        group = self._mod_aux._exec_group
        sums = [[None] * len(self._param_names) for _ in self._context]
        train_data.reset()
        count, pad = 0, 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            count, pad = count + 1, getattr(batch, "pad", 0) or 0
            for i, grads in enumerate(group.grad_arrays):
                for k, grad in enumerate(grads):
                    if grad is not None:
                        before = sums[k][i]
                        sums[k][i] = grad.copy() if before is None else before + grad
        train_data.reset()
        batches = count - pad / train_data.batch_size
        self._param_dict = [
            {
                name: value / batches
                for name, value in zip(self._param_names, values, strict=True)
                if value is not None
            }
            for values in sums
        ]

    def _begin_epoch(self, epoch, train_data):
        if epoch % self.update_freq == 0 or self._param_dict is None:
            self.update_full_grads(train_data)

    def forward(self, data_batch, is_train=None):
        """Run a batch, in training with the copy too."""
        super().forward(data_batch, is_train)
        if self.for_training if is_train is None else is_train:
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Compute the gradients, and those at the copy."""
        super().backward(out_grads)
        if self._mod_aux.params_initialized:
            self._mod_aux.backward(out_grads)

    def update(self):
        """Change the parameters by gradients of less variance, left in the gradient arrays."""
        if self._param_dict is not None:
            for i, name in enumerate(self._param_names):
                here, there = (m._exec_group.grad_arrays[i] for m in (self, self._mod_aux))
                for k, (grad, special) in enumerate(zip(here, there, strict=True)):
                    if grad is not None:
                        grad[:] = grad - special + self._param_dict[k][name]
        super().update()
