"""Parameters: arrays with a name that blocks train, and dictionaries of them."""

from .dictionary import ParameterDict
from .parameter import Constant, DeferredInitializationError, Parameter, tensor_types

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "tensor_types",
]
