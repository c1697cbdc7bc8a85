"""Update rules, their registry and the updater that keeps their states: ``mx.optimizer``."""

from .._paths import answer_for_old_modules
from . import contrib
from .adam import FTML, Adam, Adamax, Nadam
from .adaptive import AdaDelta, AdaGrad, Ftrl, RMSProp
from .base import Optimizer, Test, create, register
from .layerwise import LAMB, LARS, LBSGD
from .momentum import DCASGD, SGLD, Signum
from .sgd import NAG, SGD, ccSGD
from .updater import Updater, get_updater

__all__ = [
    "DCASGD",
    "FTML",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "SGD",
    "SGLD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "contrib",
    "create",
    "get_updater",
    "register",
]

answer_for_old_modules(__name__)
