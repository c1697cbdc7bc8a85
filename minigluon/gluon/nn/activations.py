"""Activation layers."""

from __future__ import annotations

from typing import Any

from ... import initializer
from ...base import ArgumentError
from ..block import HybridBlock

_LARGEST = 3.4e38  # of float32


class Activation(HybridBlock):
    """A function by name: ``relu``, ``sigmoid``, ``softrelu``, ``softsign`` or ``tanh``.

    Examples
    --------
    >>> from minigluon import nd
    >>> Activation("relu")(nd.array([-1.0, 2.0])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, activation: str, **kwargs: Any):
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """``x`` where it is positive, ``alpha * x`` elsewhere.

    Parameters
    ----------
    alpha : slope for negative inputs, at least 0.
    """

    def __init__(self, alpha: float, **kwargs: Any):
        if alpha < 0:
            raise ArgumentError(
                "Slope coefficient for LeakyReLU must be no less than 0.\n"
                f"  received  alpha={alpha}\n  expected  0 or more\n"
                "  fix       pass a positive slope, for example 0.01"
            )
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """Leaky ReLU whose slope is learned (He et al. 2015), one for all or one for each channel.

    Parameters
    ----------
    in_channels : number of slopes: 1, or the size of axis 1.
    """

    def __init__(
        self,
        alpha_initializer: Any = initializer.Constant(0.25),  # noqa: B008 - as scripts know it
        in_channels: int = 1,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        """Apply the function to every element."""
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al. 2015)."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """The exponential unit scaled so that mean 0 and variance 1 stay (Klambauer et al. 2017)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return F.LeakyReLU(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """``x`` times the normal distribution function of ``x`` (Hendrycks and Gimpel 2016)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return F.LeakyReLU(x, act_type="gelu", name="fwd")


class Swish(HybridBlock):
    """``x * sigmoid(beta * x)`` (Ramachandran et al. 2017)."""

    def __init__(self, beta: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self._beta = min(max(beta, -_LARGEST), _LARGEST)  # inf * 0 would be NaN

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function to every element."""
        return x * F.sigmoid(self._beta * x, name="fwd")
