"""``mx.contrib.quantization`` is refused: there are no int8 kernels, so nothing would be faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import MXNetError, four_lines

REASON = "there are no int8 kernels; run the network as it is, or cast it to float16"


class NotQuantized(MXNetError, NotImplementedError):
    """Int8 inference was asked for."""


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotQuantized(
            four_lines(
                f"contrib.quantization.{name}: networks are not quantized here.",
                "a request for int8 inference",
                "a network in float16, float32 or float64",
                REASON,
            )
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refused: {REASON}."
    refuse.unsupported = REASON  # type: ignore[attr-defined]
    return refuse


calib_graph = _refusing("calib_graph")
combine_histogram = _refusing("combine_histogram")
quantize_graph = _refusing("quantize_graph")
quantize_model = _refusing("quantize_model")
quantize_model_mkldnn = _refusing("quantize_model_mkldnn")
quantize_net = _refusing("quantize_net")
quantize_net_v2 = _refusing("quantize_net_v2")

__all__ = [
    "calib_graph", "combine_histogram", "quantize_graph", "quantize_model",
    "quantize_model_mkldnn", "quantize_net", "quantize_net_v2",
]  # fmt: skip
