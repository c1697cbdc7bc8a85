"""``mx.runtime``: what the library was built with, which MXNet scripts ask before they use it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from importlib.util import find_spec
from typing import NamedTuple

from .base import MXNetError


class Feature(NamedTuple):
    """The name of a feature and whether it is there."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


# fmt: off
#: every feature MXNet 1.9.1 knows, in its order
NAMES = (
    "CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT", "CPU_SSE", "CPU_SSE2", "CPU_SSE3",
    "CPU_SSE4_1", "CPU_SSE4_2", "CPU_SSE4A", "CPU_AVX", "CPU_AVX2", "OPENMP", "SSE", "F16C",
    "JEMALLOC", "BLAS_OPEN", "BLAS_ATLAS", "BLAS_MKL", "BLAS_APPLE", "LAPACK", "MKLDNN", "OPENCV",
    "CAFFE", "PROFILER", "DIST_KVSTORE", "CXX14", "INT64_TENSOR_SIZE", "SIGNAL_HANDLER", "DEBUG",
    "TVM_OP",
)
# fmt: on


def _enabled() -> set[str]:
    """What minigluon has: numpy's linear algebra, the profiler, arrays of any size."""
    found = {"LAPACK", "PROFILER", "INT64_TENSOR_SIZE"}
    if find_spec("mpi4py") and find_spec("minigluon.kvstore.dist"):
        found.add("DIST_KVSTORE")
    return found


def feature_list() -> list[Feature]:
    """Every feature MXNet knows, with whether minigluon has it.

    Features that say how MXNet was compiled (instruction sets, BLAS libraries, OpenMP) are off:
    numpy decides about them.
    """
    enabled = _enabled()
    return [Feature(name, name in enabled) for name in NAMES]


class UnknownFeature(MXNetError):
    """A feature that MXNet does not know either."""


class Features(OrderedDict[str, Feature]):
    """The features by name, in order.

    Examples
    --------
    >>> Features().is_enabled("CUDA")
    False
    """

    def __init__(self, features: Iterable[Feature] | None = None):
        super().__init__((f.name, f) for f in (features or feature_list()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature is there, its name in any case; ``MXNetError`` for an unknown one."""
        name = feature_name.upper()
        if name not in self:
            raise UnknownFeature(
                f"Feature '{name}' is unknown, known features are: {list(self)}\n"
                f"  received  {feature_name!r}\n  expected  one of the known features\n"
                "  fix       look the name up in mx.runtime.Features()"
            )
        return self[name].enabled

    def __repr__(self) -> str:
        return str(list(self.values()))
