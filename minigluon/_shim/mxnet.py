"""What ``import mxnet`` finds in processes started by a program under ``minigluon run``."""

import sys
from pathlib import Path

try:
    import minigluon
except ModuleNotFoundError:  # the parent ran from a checkout that is not installed
    sys.path.append(str(Path(__file__).parents[2]))
    import minigluon

from minigluon import _run

__minigluon__ = True
minigluon.alias()
_run.give_back_old_names()
