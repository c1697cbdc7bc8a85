"""The update functions of ``nd.contrib``: their argument order, and lists in place of one row."""

from __future__ import annotations

from typing import Any

from ..core.invoke import invoke
from ..core.op import registry
from .creation import full
from .ndarray import NDArray


def _rescale(factor: Any, weight: NDArray) -> NDArray:
    """A number as the array of one element that the operators take."""
    if isinstance(factor, NDArray):
        return factor.as_in_context(weight.context)
    return full((1,), factor, ctx=weight.context)


def adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: Any, lr: float,
    eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
    clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """One step of Adam with decoupled weight decay; ``rescale_grad`` may be a number.

    Nothing is changed if ``rescale_grad`` is 0, infinite or NaN, as when a loss overflowed.
    """
    call = registry["_adamw_update"].call(
        lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
        clip_gradient=clip_gradient, **kwargs,
    )  # fmt: skip
    return invoke(call, (weight, grad, mean, var, _rescale(rescale_grad, weight)), out)


def mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray,
    rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999,
    epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None,
    name: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """`adamw_update` of float16 weights that have a float32 copy, ``weight32``."""
    call = registry["_mp_adamw_update"].call(
        lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
        clip_gradient=clip_gradient, **kwargs,
    )  # fmt: skip
    factor = _rescale(rescale_grad, weight)
    return invoke(call, (weight, grad, mean, var, weight32, factor), out)


def _interleaved(*lists: Any) -> list[NDArray]:
    """The arrays of every weight one after the other, as operators on many weights take them."""
    return [x for group in zip(*lists, strict=True) for x in group]


def multi_adamw_update(
    weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any,
    out: Any = None, name: Any = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`adamw_update` of several weights; ``lrs``, ``wds`` and ``etas`` have a number for each."""
    arrays = [*_interleaved(weights, grads, mean, var), _rescale(rescale_grad, weights[0])]
    call = registry["_multi_adamw_update"].call(
        lrs=lrs, wds=wds, etas=etas, num_weights=size or len(weights), **kwargs
    )
    return invoke(call, arrays, out)


def multi_mp_adamw_update(
    weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: Any, lrs: Any,
    wds: Any, etas: Any, out: Any = None, name: Any = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`mp_adamw_update` of several weights."""
    arrays = [*_interleaved(weights, grads, mean, var, weights32)]
    arrays.append(_rescale(rescale_grad, weights[0]))
    call = registry["_multi_mp_adamw_update"].call(
        lrs=lrs, wds=wds, etas=etas, num_weights=size or len(weights), **kwargs
    )
    return invoke(call, arrays, out)


def multi_lamb_update(
    weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any,
    out: Any = None, num_tensors: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """One step of LAMB for several weights; ``step_count`` has a number for each."""
    call = registry["_multi_lamb_update"].call(
        learning_rates=lrs, wds=wds, step_count=step_count,
        num_tensors=num_tensors or len(weights), **kwargs,
    )  # fmt: skip
    return invoke(call, _interleaved(weights, grads, mean, var), out)


def multi_mp_lamb_update(
    weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any,
    wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`multi_lamb_update` of float16 weights that have float32 copies, ``weights32``."""
    call = registry["_multi_mp_lamb_update"].call(
        learning_rates=lrs, wds=wds, step_count=step_count,
        num_tensors=num_tensors or len(weights), **kwargs,
    )  # fmt: skip
    return invoke(call, _interleaved(weights, grads, mean, var, weights32), out)
