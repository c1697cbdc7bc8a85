"""Looking at what flows through an executor while it runs."""

from __future__ import annotations

import logging
import re
from math import sqrt

from .ndarray import NDArray


class Monitor:
    """Collects a statistic of every array whose name matches, every ``interval`` batches.

    Call ``tic`` before a batch and ``toc`` (or ``toc_print``) after it.

    Parameters
    ----------
    interval : batches from one collection to the next.
    stat_func : array -> array or list of arrays; the default is the root of the mean square.
    pattern : regular expression that names have to match at their start.
    sort : order the results by name.
    monitor_all : look at the inputs of operators as well as at their outputs.
    """

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False, monitor_all=False):
        self.stat_func = stat_func or root_mean_square
        self.interval = interval
        self.activated = False
        self.queue = []
        self.step = 0
        self.exes = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name, array):
        """What executors call with each array."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Look at what an executor computes; several may be installed."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self):
        """Begin a batch, and to collect if it is its turn."""
        if self.step % self.interval == 0:
            self._wait()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self):
        """End a batch; ``(step, name, text)`` of all collected, arguments and states last."""
        if not self.activated:
            return []
        self._wait()
        for exe in self.exes:
            symbol = exe._symbol
            named = [
                *zip(symbol.list_arguments(), exe.arg_arrays, strict=False),
                *zip(symbol.list_auxiliary_states(), exe.aux_arrays, strict=False),
            ]
            for name, array in named:
                if self.re_prog.match(name):
                    self.queue.append((self.step, name, self.stat_func(array)))
        self.activated = False
        if self.sort:
            self.queue.sort(key=lambda entry: entry[1])
        results = [(step, name, _text(value)) for step, name, value in self.queue]
        self.queue = []
        return results

    def _wait(self):
        for exe in self.exes:
            for array in (*exe.arg_arrays, *exe.aux_arrays):
                array.wait_to_read()

    def toc_print(self):
        """End a batch and log what was collected."""
        for step, name, value in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, value)


def root_mean_square(x):
    """``norm(x) / sqrt(x.size)``."""
    return x.norm() / sqrt(x.size)


def _text(value):
    """The values of a statistic, each followed by a tab."""
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        if not isinstance(part, NDArray):
            raise TypeError(
                "Monitor: stat_func gave something else than arrays.\n"
                f"  received  {type(part).__name__}\n  expected  an NDArray or a list of them\n"
                "  fix       return mx.nd.array([...])"
            )
    arrays = [part.asnumpy() for part in parts]
    return "".join(f"{a[0] if a.shape == (1,) else a!s}\t" for a in arrays)
