"""Normalization layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..block import HybridBlock
from ..utils import require_sizes


class _BatchNorm(HybridBlock):
    """What layers of batch normalization share."""

    _operator = "BatchNorm"

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._kwargs: dict[str, Any] = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        with self.name_scope():
            self.gamma = _parameter(self, "gamma", in_channels, gamma_initializer, scale)
            self.beta = _parameter(self, "beta", in_channels, beta_initializer, center)
            for name, init in (
                ("running_mean", running_mean_initializer),
                ("running_var", running_variance_initializer),
            ):
                setattr(self, name, self.params.get(
                    name, grad_req="null", shape=(in_channels,), init=init,
                    allow_deferred_init=True, differentiable=False,
                ))  # fmt: skip

    def cast(self, dtype: Any) -> None:
        """Convert to another element type; parameters of half precision stay in single."""
        super().cast("float32" if np.dtype(dtype) == np.float16 else dtype)

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """The normalized batch."""
        run = getattr(F, self._operator, None) or getattr(F.contrib, self._operator)
        return run(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self._kwargs.items()]
        shown.append(f"in_channels={self.gamma.shape[0] or None}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _parameter(layer: HybridBlock, name: str, size: int, init: Any, learned: bool) -> Any:
    """One number for each channel, learned or not."""
    return layer.params.get(
        name,
        grad_req="write" if learned else "null",
        shape=(size,),
        init=init,
        allow_deferred_init=True,
    )


class BatchNorm(_BatchNorm):
    """Each channel shifted and scaled to the statistics of the batch, then by learned numbers.

    In training the mean and the variance of the batch are used, and running averages of them are
    kept (moved by the backward pass, as MXNet does on the CPU); otherwise these are used.

    Parameters
    ----------
    axis : where the channels are.
    momentum : how much of the running averages is kept at each step.
    epsilon : added to the variance.
    center, scale : whether ``beta`` is added and ``gamma`` multiplied by; they are 0 and 1 if not.
    use_global_stats : use the running averages in training too.
    in_channels : how many channels there are; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import autograd, nd
    >>> layer = BatchNorm()
    >>> layer.initialize()
    >>> with autograd.record():
    ...     y = layer(nd.array([[1], [3]]))
    >>> y.asnumpy().round(2)
    array([[-1.],
           [ 1.]], dtype=float32)
    """


class BatchNormReLU(_BatchNorm):
    """``BatchNorm`` followed by the rectifier, as one operator."""

    _operator = "BatchNormWithReLU"


class SyncBatchNorm(_BatchNorm):
    """``BatchNorm`` along axis 1 under the name of MXNet's layer for several devices.

    Statistics are those of what each device sees; ``num_devices`` is kept and not used. MXNet has
    it as ``gluon.contrib.nn.SyncBatchNorm``.
    """

    _operator = "SyncBatchNorm"

    def __init__(
        self, in_channels: int = 0, num_devices: int | None = None, momentum: float = 0.9,
        epsilon: float = 1e-5, center: bool = True, scale: bool = True,
        use_global_stats: bool = False, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones", **kwargs: Any,
    ):  # fmt: skip
        super().__init__(
            1, momentum, epsilon, center, scale, use_global_stats, beta_initializer,
            gamma_initializer, running_mean_initializer, running_variance_initializer,
            in_channels, **kwargs,
        )  # fmt: skip
        del self._kwargs["axis"]
        self._kwargs.update(ndev=num_devices or 1, key=self.prefix)


class LayerNorm(HybridBlock):
    """Each sample shifted and scaled to mean 0 and variance 1 along an axis.

    Parameters
    ----------
    axis : along which statistics are taken.
    epsilon : added to the variance.
    center, scale : whether ``beta`` and ``gamma`` are learned.
    in_channels : the length of the axis; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = LayerNorm()
    >>> layer.initialize()
    >>> layer(nd.array([[1, 3]])).asnumpy().round(2)
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis, self._epsilon, self._center, self._scale = axis, epsilon, center, scale
        with self.name_scope():
            self.gamma = _parameter(self, "gamma", in_channels, gamma_initializer, scale)
            self.beta = _parameter(self, "beta", in_channels, beta_initializer, center)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """The normalized samples."""
        return F.LayerNorm(x, gamma, beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        return _described(self, f"in_channels={self.gamma.shape[0]}")


def _described(layer: Any, last: str | None = None) -> str:
    shown = [f"{name}={value}" for name, value in layer._kwargs.items()]
    return f"{type(layer).__name__}({', '.join([*shown, last] if last else shown)})"


class GroupNorm(HybridBlock):
    """Groups of channels of each sample shifted and scaled to mean 0 and variance 1.

    ``gamma`` and ``beta`` have one number for each group, as in MXNet 1.x.

    Parameters
    ----------
    num_groups : into how many groups the channels are divided.
    epsilon : added to the variance.
    center, scale : whether ``beta`` and ``gamma`` are learned.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = GroupNorm(2)
    >>> layer.initialize()
    >>> layer(nd.array([[[1, 3], [5, 9]]])).asnumpy().round(2)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: Any = None,
    ):
        require_sizes(self, num_groups=num_groups)
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups, self._epsilon = num_groups, epsilon
        self._center, self._scale = center, scale
        with self.name_scope():
            self.gamma = _parameter(self, "gamma", num_groups, gamma_initializer, scale)
            self.beta = _parameter(self, "beta", num_groups, beta_initializer, center)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        """The normalized groups."""
        return F.GroupNorm(data, gamma, beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        return _described(self)


class InstanceNorm(HybridBlock):
    """Each channel of each sample shifted and scaled to mean 0 and variance 1.

    Parameters
    ----------
    axis : where the channels are.
    epsilon : added to the variance.
    center, scale : whether ``beta`` and ``gamma`` are learned.
    in_channels : how many channels there are; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = InstanceNorm()
    >>> layer.initialize()
    >>> layer(nd.array([[[1, 3]]])).asnumpy().round(2)
    array([[[-1.,  1.]]], dtype=float32)
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis, self._epsilon = axis, epsilon
        with self.name_scope():
            self.gamma = _parameter(self, "gamma", in_channels, gamma_initializer, scale)
            self.beta = _parameter(self, "beta", in_channels, beta_initializer, center)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """The normalized channels."""
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        x = F.swapaxes(x, 1, self._axis)
        x = F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        return F.swapaxes(x, 1, self._axis)

    def __repr__(self) -> str:
        return _described(self, f"in_channels={self.gamma.shape[0]}")
