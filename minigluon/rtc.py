"""``mx.rtc`` is refused: there is no GPU for which CUDA code could be compiled."""

from __future__ import annotations

from typing import Any

from .base import DeviceError, four_lines

_REASON = "there is no GPU for which CUDA code could be compiled"


class CudaModule:
    """Refused: CUDA code cannot be compiled."""

    unsupported = _REASON

    def __init__(self, source: str, options: Any = (), exports: Any = ()):
        raise DeviceError(
            four_lines(
                f"rtc: {_REASON}.",
                "CUDA source",
                "operators of mx.nd, or a CustomOp in Python",
                "write the kernel with numpy or numba, in a CustomOp",
            )
        )


class CudaKernel:
    """Refused: kernels come from a `CudaModule`."""

    unsupported = _REASON

    def __init__(self, *args: Any, **kwargs: Any):
        CudaModule("")
