"""Automatic mixed precision: float16 where it is enough, float32 where it is needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...base import ArgumentError, ArgumentTypeError, four_lines
from ...core.op import registry
from ...gluon import Trainer
from .convert import convert_hybrid_block, convert_model, convert_symbol
from .lists import symbol_fp16 as lists
from .loss_scaler import LossScaler
from .policy import policies, require_float16
from .wrapping import install

__all__ = [
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "scale_loss",
    "unscale",
]


class _State:
    on = False


def init(
    target_dtype: str = "float16",
    target_precision_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    fp32_ops: list[str] | None = None,
) -> None:
    """Let operators convert their inputs from now on; to be called before networks are made.

    Products (``FullyConnected``, ``Convolution``, ...) run in float16, sums, exponentials and
    losses in float32. Parameters stay in float32. A second call changes nothing. numpy computes
    float16 slowly, so this shows on a CPU what a training does elsewhere, and is no gain in speed.

    Parameters
    ----------
    target_dtype : ``"float16"``.
    target_precision_ops, fp32_ops : operators for float16 and for float32, instead of the usual.
    conditional_fp32_ops : triples of an operator, an attribute, and its values that need float32.

    Raises
    ------
    MXNetError : for ``"bfloat16"``, which numpy does not have.
    """
    require_float16(target_dtype)
    if _State.on:
        return
    install(policies(target_precision_ops, fp32_ops, conditional_fp32_ops))
    _State.on = True
    logging.info("Using AMP")


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Let a Trainer leave out steps whose gradients overflow, and scale losses for it.

    Call it after ``init``, and multiply losses with ``scale_loss``.
    """
    if not _State.on:
        raise ArgumentError(
            four_lines(
                "AMP not initialized, did you forget to call amp.init()?",
                "init_trainer before init",
                "amp.init() first",
                "call amp.init() before networks and trainers are made",
            )
        )
    trainer = _require_trainer(optimizer_or_trainer)
    trainer._amp_loss_scaler = LossScaler()
    trainer._amp_original_scale = trainer._scale
    plain_reduce, plain_update = trainer._allreduce_grads, trainer._update

    def reduce() -> None:
        """A store that updates must not see an overflow; others add the gradients up first."""
        scaler, on_store = trainer._amp_loss_scaler, trainer._update_on_kvstore
        if not (on_store and scaler.has_overflow(trainer._params)):
            plain_reduce()

    def update(ignore_stale_grad: bool = False) -> None:
        on_store = trainer._kvstore is not None and trainer._update_on_kvstore
        if on_store or not trainer._amp_loss_scaler.has_overflow(trainer._params):
            plain_update(ignore_stale_grad)

    trainer._allreduce_grads, trainer._update = reduce, update


@contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Any) -> Iterator[Any]:
    """A ``with`` block that hands out the loss, or losses, multiplied for ``backward``.

    The trainer divides its gradients by the same factor.

    Examples
    --------
    The training loop::

        with autograd.record():
            loss = loss_fn(net(data), label)
            with amp.scale_loss(loss, trainer) as scaled:
                autograd.backward(scaled)
        trainer.step(batch_size)
    """
    trainer = _require_initialized(optimizer_or_trainer)
    scale = trainer._amp_loss_scaler.loss_scale
    trainer._scale = trainer._amp_original_scale / scale
    if isinstance(loss, list | tuple):
        yield [each * scale for each in loss]
    else:
        yield loss * scale


def unscale(optimizer_or_trainer: Any) -> None:
    """Divide the gradients by the factor now, for example to clip them before ``step``."""
    trainer = _require_initialized(optimizer_or_trainer)
    for param in trainer._params:
        if param.grad_req != "null":
            for grad in param.list_grad():
                if grad.stype == "default":
                    grad[:] = grad * trainer._scale
                else:
                    (grad * trainer._scale).copyto(grad)
    trainer._scale = 1.0


def _require_trainer(trainer: Any) -> Trainer:
    if not isinstance(trainer, Trainer):
        raise ArgumentTypeError(
            four_lines(
                "AMP is currently only compatible with Gluon Trainer: optimizer_or_trainer should "
                f"be a Gluon Trainer, instead is {type(trainer)}",
                type(trainer).__name__,
                "a gluon.Trainer",
                "train with gluon.Trainer, or convert a Module's symbol by amp.convert_model",
            )
        )
    return trainer


def _require_initialized(trainer: Any) -> Any:
    if not hasattr(_require_trainer(trainer), "_amp_loss_scaler"):
        raise ArgumentError(
            four_lines(
                "AMP: the trainer has no loss scale.",
                "a Trainer that was not given to init_trainer",
                "amp.init_trainer(trainer) first",
                "call amp.init_trainer(trainer) after the trainer is made",
            )
        )
    return trainer


def list_lp16_ops(target_dtype: str) -> list[str]:
    """Operators that run in float16."""
    require_float16(target_dtype)
    return lists.FP16_FUNCS


def list_fp32_ops(target_dtype: str) -> list[str]:
    """Operators that run in float32."""
    require_float16(target_dtype)
    return lists.FP32_FUNCS


def list_lp16_fp32_ops(target_dtype: str) -> list[str]:
    """Operators that run in either, as their inputs are."""
    require_float16(target_dtype)
    others = {*lists.FP16_FUNCS, *lists.FP32_FUNCS, *lists.WIDEST_TYPE_CASTS}
    return sorted(set(registry) - others)


def list_conditional_fp32_ops(target_dtype: str) -> list[tuple]:
    """Operators that need float32 for some values of an attribute."""
    require_float16(target_dtype)
    return lists.CONDITIONAL_FP32_FUNCS


def list_widest_type_cast(target_dtype: str) -> list[str]:
    """Operators of several arrays, which get the widest type among them."""
    require_float16(target_dtype)
    return lists.WIDEST_TYPE_CASTS


def list_loss_output_functions(target_dtype: str) -> list[str]:
    """Operators that make their gradient themselves; scaling a loss does not reach them."""
    require_float16(target_dtype)
    return lists.LOSS_OUTPUT_FUNCTIONS


def list_lp16_use_fp32_params(target_dtype: str) -> None:
    """Operators with parameters in float32 beside other inputs in bfloat16: none for float16."""
    require_float16(target_dtype)
