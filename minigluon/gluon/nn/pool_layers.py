"""Pooling layers, and padding by reflection."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..block import HybridBlock
from .conv_layers import _numbers, _require_layout


class _Pooling(HybridBlock):
    """What pooling layers share: the operator's attributes."""

    def __init__(
        self,
        pool_size: tuple[int, ...],
        strides: Any,
        padding: Any,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        axes = len(pool_size)
        strides = pool_size if strides is None else strides
        self._kwargs = {
            "kernel": pool_size,
            "stride": _numbers(strides, axes, "strides"),
            "pad": _numbers(padding, axes, "padding"),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The operator."""
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        text = (
            "size={kernel}, stride={stride}, padding={pad}, ceil_mode={ceil_mode}, "
            "global_pool={global_pool}, pool_type={pool_type}, layout={layout}"
        )
        ceil_mode = self._kwargs["pooling_convention"] == "full"
        return f"{type(self).__name__}({text.format(ceil_mode=ceil_mode, **self._kwargs)})"


_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _require_pooling_layout(layout: str, axes: int) -> None:
    allowed = _LAYOUTS[axes]
    _require_layout(
        layout, allowed, f"Only {allowed[0]} and {allowed[1]} layouts are valid for {axes}D Pooling"
    )


class MaxPool1D(_Pooling):
    """The largest elements of windows of sequences.

    Parameters
    ----------
    pool_size : the length of windows.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides; padding is never the largest.
    ceil_mode : let windows stick out where they do not fit entirely.
    layout : NCW or NWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> MaxPool1D()(nd.ones((1, 2, 8))).shape
    (1, 2, 4)
    """

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: Any = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 1)
        size = _numbers(pool_size, 1, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool2D(_Pooling):
    """The largest elements of windows of images.

    Parameters
    ----------
    pool_size : height and width of windows, or one number for both.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides; padding is never the largest.
    ceil_mode : let windows stick out where they do not fit entirely.
    layout : NCHW or NHWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> MaxPool2D()(nd.ones((1, 2, 8, 8))).shape
    (1, 2, 4, 4)
    """

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: Any = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 2)
        size = _numbers(pool_size, 2, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool3D(_Pooling):
    """The largest elements of windows of volumes.

    Parameters
    ----------
    pool_size : depth, height and width of windows, or one number for all.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides; padding is never the largest.
    ceil_mode : let windows stick out where they do not fit entirely.
    layout : NCDHW or NDHWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> MaxPool3D()(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 2, 4, 4, 4)
    """

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 3)
        size = _numbers(pool_size, 3, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class AvgPool1D(_Pooling):
    """The averages of windows of sequences.

    Parameters
    ----------
    pool_size : the length of windows.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides.
    ceil_mode : let windows stick out where they do not fit entirely.
    count_include_pad : whether padding counts in the number that is divided by.
    layout : NCW or NWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> AvgPool1D()(nd.ones((1, 2, 8))).shape
    (1, 2, 4)
    """

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: Any = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 1)
        size = _numbers(pool_size, 1, "pool_size")
        super().__init__(
            size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class AvgPool2D(_Pooling):
    """The averages of windows of images.

    Parameters
    ----------
    pool_size : height and width of windows, or one number for both.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides.
    ceil_mode : let windows stick out where they do not fit entirely.
    count_include_pad : whether padding counts in the number that is divided by.
    layout : NCHW or NHWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> AvgPool2D()(nd.ones((1, 2, 8, 8))).shape
    (1, 2, 4, 4)
    """

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 2)
        size = _numbers(pool_size, 2, "pool_size")
        super().__init__(
            size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class AvgPool3D(_Pooling):
    """The averages of windows of volumes.

    Parameters
    ----------
    pool_size : depth, height and width of windows, or one number for all.
    strides : steps between windows, their size if not given.
    padding : how much is added on both sides.
    ceil_mode : let windows stick out where they do not fit entirely.
    count_include_pad : whether padding counts in the number that is divided by.
    layout : NCDHW or NDHWC.

    Examples
    --------
    >>> from minigluon import nd
    >>> AvgPool3D()(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 2, 4, 4, 4)
    """

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ):
        _require_pooling_layout(layout, 3)
        size = _numbers(pool_size, 3, "pool_size")
        super().__init__(
            size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class GlobalMaxPool1D(_Pooling):
    """The largest element of each channel of sequences; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalMaxPool1D()(nd.ones((1, 2, 8))).shape
    (1, 2, 1)
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any):
        _require_pooling_layout(layout, 1)
        super().__init__((1,), None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The largest element of each channel of images; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalMaxPool2D()(nd.ones((1, 2, 8, 8))).shape
    (1, 2, 1, 1)
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any):
        _require_pooling_layout(layout, 2)
        super().__init__((1, 1), None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """The largest element of each channel of volumes; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalMaxPool3D()(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 2, 1, 1, 1)
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any):
        _require_pooling_layout(layout, 3)
        super().__init__((1, 1, 1), None, 0, True, True, "max", layout, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The average of each channel of sequences; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalAvgPool1D()(nd.ones((1, 2, 8))).shape
    (1, 2, 1)
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any):
        _require_pooling_layout(layout, 1)
        super().__init__((1,), None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The average of each channel of images; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalAvgPool2D()(nd.ones((1, 2, 8, 8))).shape
    (1, 2, 1, 1)
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any):
        _require_pooling_layout(layout, 2)
        super().__init__((1, 1), None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """The average of each channel of volumes; spatial axes keep length one.

    Examples
    --------
    >>> from minigluon import nd
    >>> GlobalAvgPool3D()(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 2, 1, 1, 1)
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any):
        _require_pooling_layout(layout, 3)
        super().__init__((1, 1, 1), None, 0, True, True, "avg", layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Images made larger by reflecting them at their edges.

    Parameters
    ----------
    padding : how much on each side, or the eight numbers of ``pad_width`` of the operator ``pad``.

    Examples
    --------
    >>> from minigluon import nd
    >>> ReflectionPad2D(1)(nd.array([[[[1, 2], [3, 4]]]])).asnumpy()[0, 0]
    array([[4., 3., 4., 3.],
           [2., 1., 2., 1.],
           [4., 3., 4., 3.],
           [2., 1., 2., 1.]], dtype=float32)
    """

    def __init__(self, padding: Any = 0, **kwargs: Any):
        super().__init__(**kwargs)
        if isinstance(padding, int | np.integer):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        self._padding = _numbers(padding, 8, "padding")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The padded images."""
        return F.pad(x, mode="reflect", pad_width=self._padding)
