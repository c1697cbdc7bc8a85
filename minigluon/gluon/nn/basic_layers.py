"""Containers and the basic layers: dense, dropout, embedding, flatten, functions as layers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError
from ..block import Block, HybridBlock
from ..utils import _indent, require_sizes
from .activations import Activation


class Sequential(Block):
    """Blocks run one after the other, each on the output of the one before.

    Indexing gives a block, a slice gives a Sequential of some of them.

    Examples
    --------
    >>> from minigluon import nd
    >>> net = Sequential()
    >>> net.add(Dense(10, activation="relu"), Dense(2))
    >>> net.initialize()
    >>> net(nd.ones((3, 4))).shape, len(net)
    ((3, 2), 2)
    """

    _is_container = True

    def add(self, *blocks: Block) -> None:
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def forward(self, x: Any) -> Any:
        """Run the blocks in order."""
        for block in self._children.values():
            x = block(x)
        return x

    def __repr__(self) -> str:
        return _listing(self)

    def __getitem__(self, key: int | slice) -> Any:
        return _item(self, key)

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(list(self._children.values()))

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Let all hybrid blocks inside run as compiled graphs, each by itself."""
        if self._children and all(isinstance(c, HybridBlock) for c in self._children.values()):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. "
                "Consider using HybridSequential for the best performance.",
                UserWarning,
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(HybridBlock):
    """Hybrid blocks run one after the other; hybridized, they are one graph.

    Examples
    --------
    >>> from minigluon import nd
    >>> net = HybridSequential()
    >>> net.add(Dense(10, activation="relu"), Dense(2))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(nd.ones((3, 4))).shape
    (3, 2)
    """

    _is_container = True

    def add(self, *blocks: HybridBlock) -> None:
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Run the blocks in order."""
        for block in self._children.values():
            x = block(x)
        return x

    def __repr__(self) -> str:
        return _listing(self)

    def __getitem__(self, key: int | slice) -> Any:
        return _item(self, key)

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(list(self._children.values()))


def _listing(container: Any) -> str:
    content = "\n".join(
        f"  ({name}): {_indent(repr(block), 2)}" for name, block in container._children.items()
    )
    return f"{type(container).__name__}(\n{content}\n)"


def _item(container: Any, key: int | slice) -> Any:
    found = list(container._children.values())[key]
    if not isinstance(found, list):
        return found
    part = type(container)(prefix=container._prefix)
    with part.name_scope():
        part.add(*found)
    return part


class Dense(HybridBlock):
    """``activation(x Wᵀ + b)``, a fully connected layer.

    Parameters
    ----------
    units : number of outputs.
    activation : name of an activation function; none if not given.
    use_bias : whether there is a ``b``.
    flatten : treat all axes but the first as one; otherwise only the last one is transformed.
    dtype : element type of the parameters.
    in_units : number of inputs; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Dense(2, in_units=3)
    >>> layer.initialize("ones")
    >>> layer(nd.array([[1.0, 2.0, 3.0]])).asnumpy()
    array([[6., 6.]], dtype=float32)
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ):
        require_sizes(self, units=units)
        require_sizes(self, 0, in_units=in_units)
        super().__init__(**kwargs)
        self._flatten, self._units, self._in_units = flatten, units, in_units
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(units, in_units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
            )
            self.bias = self.act = None
            if use_bias:
                self.bias = self.params.get(
                    "bias",
                    shape=(units,),
                    init=bias_initializer,
                    dtype=dtype,
                    allow_deferred_init=True,
                )
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """The affine map, then the activation."""
        if bias is None:
            x = F.FullyConnected(
                x, weight, num_hidden=self._units, no_bias=True, flatten=self._flatten, name="fwd"
            )
        else:
            x = F.FullyConnected(
                x,
                weight,
                bias,
                num_hidden=self._units,
                no_bias=False,
                flatten=self._flatten,
                name="fwd",
            )
        return x if self.act is None else self.act(x)

    def __repr__(self) -> str:
        units, in_units = self.weight.shape
        activation = "linear" if self.act is None else self.act
        return f"{type(self).__name__}({in_units or None} -> {units}, {activation})"


class Dropout(HybridBlock):
    """Sets a random part of its input to zero while training, and scales the rest up.

    Parameters
    ----------
    rate : which part.
    axes : axes along which all elements share their fate.
    """

    def __init__(self, rate: float, axes: tuple = (), **kwargs: Any):
        if not isinstance(rate, int | float | np.number) or not 0 <= rate <= 1:
            raise ArgumentError(
                f"Dropout: rate is no share.\n  received  rate={rate!r}\n"
                "  expected  a number from 0 to 1\n  fix       pass rate=0.5, say"
            )
        super().__init__(**kwargs)
        self._rate, self._axes = rate, axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Drop out when training, else the input itself."""
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """A learned vector for each of ``input_dim`` numbers.

    Parameters
    ----------
    input_dim, output_dim : how many vectors, of how many elements.
    sparse_grad : keep the gradient as row_sparse, with only the rows that occurred.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(nd.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ):
        require_sizes(self, input_dim=input_dim, output_dim=output_dim)
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(input_dim, output_dim),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
                grad_stype="row_sparse" if sparse_grad else "default",
            )

    def cast(self, dtype: Any) -> None:
        """Convert the vectors to another element type."""
        super().cast(dtype)
        self._kwargs["dtype"] = dtype

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        """The vectors of the given numbers."""
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        kind = "{input_dim} -> {output_dim}, {dtype}".format(**self._kwargs)
        return f"{type(self).__name__}({kind})"


class Flatten(HybridBlock):
    """All axes but the first made one."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The input as a matrix."""
        return F.Flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


class Lambda(Block):
    """A function, or the operator of a name, as a block.

    Examples
    --------
    >>> from minigluon import nd
    >>> Lambda("tanh")(nd.array([0.0])).asnumpy()
    array([0.], dtype=float32)
    >>> Lambda(lambda x: x + 1)(nd.array([0.0])).asnumpy()
    array([1.], dtype=float32)
    """

    def __init__(self, function: str | Callable, prefix: str | None = None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            self._func_impl = _operator(function, nd, "ndarray")
            self._func_name = function
        else:
            _require_callable(function)
            self._func_impl, self._func_name = function, function.__name__

    def forward(self, *args: Any) -> Any:
        """What the function returns."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """A function of ``F`` and arrays or symbols, or the operator of a name, as a hybrid block.

    Examples
    --------
    >>> from minigluon import nd
    >>> HybridLambda(lambda F, x: F.maximum(x, 0))(nd.array([-1.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def __init__(self, function: str | Callable, prefix: str | None = None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            on = {
                nd: _operator(function, nd, "symbol/ndarray"),
                sym: _operator(function, sym, "symbol/ndarray"),
            }
            self._func = lambda F, *args: on[F](*args)
            self._func_name = function
        else:
            _require_callable(function)
            self._func, self._func_name = function, function.__name__

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """What the function returns."""
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


def _operator(name: str, namespace: Any, where: str) -> Callable:
    found = getattr(namespace, name, None)
    if found is None:
        raise ArgumentError(
            f"Function name {name} is not found in {where}.\n  received  {name!r}\n"
            f"  expected  the name of an operator in {where}\n"
            "  fix       check the spelling, or pass the function itself"
        )
    return found


def _require_callable(function: Any) -> None:
    if not callable(function):
        raise ArgumentError(
            f"Unrecognized function in lambda: {function} of type {type(function)}\n"
            f"  received  {function!r}\n  expected  a function or the name of an operator\n"
            "  fix       pass lambda x: ..."
        )
