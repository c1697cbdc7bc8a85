"""Every environment setting the package honours, in one typed table, read when it is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """One environment variable: how to read it, and what it does."""

    parse: Callable[[str], Any]
    default: Any
    help: str


def _flag(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


def _one_of(*choices: str) -> Callable[[str], str]:
    def choice(text: str) -> str:
        found = text.strip().lower()
        if found not in choices:
            raise ValueError(f"{text!r} is none of {', '.join(choices)}")
        return found

    choice.__name__ = f"one of {', '.join(choices)}"
    return choice


SETTINGS: dict[str, Setting] = {
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": Setting(
        _flag, True, "0 silences the warning about operators that make sparse inputs dense"
    ),
    "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING": Setting(
        _flag, False, "1 prints every node's dispatch mode and storage types when a graph is bound"
    ),
    "MXNET_UPDATE_ON_KVSTORE": Setting(
        _flag, True, "0 keeps the optimizer with the worker instead of the key-value store"
    ),
    "MXNET_OPTIMIZER_AGGREGATION_SIZE": Setting(
        int, 4, "how many parameters one aggregated optimizer update takes"
    ),
    "MINIGLUON_GPU_AS_CPU": Setting(
        _flag, False, "1 runs code that names a GPU on the CPU, with one warning"
    ),
    "MINIGLUON_ORACLE": Setting(
        str, "", "the python of an environment with the real MXNet, for tests and benchmarks"
    ),
    "MINIGLUON_NUM_THREADS": Setting(int, 0, "how many threads kernels may use; 0 decides by size"),
    "MINIGLUON_KEPT_MEMORY": Setting(
        int,
        -1,
        "most bytes of freed large arrays that kernels keep for the next ones; 0 none; -1 an "
        "eighth of the memory, at most 1 GiB",
    ),
    "MINIGLUON_FUSE": Setting(
        _one_of("auto", "always", "never"),
        "auto",
        "auto compiles plans of hybridised blocks and large executors; always; never",
    ),
    "MINIGLUON_OLD_NAMES": Setting(
        _one_of("none", "python", "all"),
        "none",
        "what `minigluon run` gives back to programs: names Python has dropped; numpy's too; none",
    ),
    "MINIGLUON_CACHE_DIR": Setting(str, "", "folder for compiled kernels; empty is the user's own"),
}


def get(name: str) -> Any:
    """The value of a setting now.

    Raises ``KeyError`` for a name that is not in ``SETTINGS`` and ``ValueError`` with the name,
    what it holds and what it expects when the text cannot be read.
    """
    setting = SETTINGS[name]
    text = os.environ.get(name)
    if text is None:
        return setting.default
    try:
        return setting.parse(text)
    except ValueError as error:
        raise ValueError(
            f"environment variable {name} is not understood.\n"
            f"  received  {text!r}\n"
            f"  expected  {setting.parse.__name__}: {setting.help}\n"
            f"  fix       unset {name} or give it such a value"
        ) from error
