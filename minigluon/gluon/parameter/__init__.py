"""Parameters: arrays with a name that blocks train, and dictionaries of them."""

from ..utils import shape_is_known
from .dictionary import ParameterDict
from .parameter import Constant, DeferredInitializationError, Parameter, tensor_types

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "shape_is_known",
    "tensor_types",
]
