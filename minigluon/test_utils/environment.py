"""Where tests run: default context and dtype, environment variables, retries, quiet stderr."""

from __future__ import annotations

import contextlib
import functools
import os
import sys

import numpy as np

from .. import context
from ..base import MXNetError
from ..context import current_context, num_gpus


def default_context():
    """The context tests use: the current one."""
    return current_context()


def set_default_context(ctx):
    """Make ``ctx`` the context of everything that names none, in this thread."""
    context._thread.default = ctx


def default_dtype():
    """float32."""
    return np.float32


def list_gpus():
    """The numbers of the GPUs that can be used."""
    return range(num_gpus())


def getenv(name):
    """An environment variable, or None."""
    return os.environ.get(name)


def setenv(name, value):
    """Set an environment variable; None unsets it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)


@contextlib.contextmanager
def environment(*args):
    """Set environment variables inside a ``with`` block: ``(name, value)`` or a dict; None unsets.

    Examples
    --------
    >>> with environment("MINIGLUON_EXAMPLE", "1"):
    ...     getenv("MINIGLUON_EXAMPLE")
    '1'
    >>> getenv("MINIGLUON_EXAMPLE") is None
    True
    """
    wanted = dict(args[0]) if len(args) == 1 else {args[0]: args[1]}
    before = {name: getenv(name) for name in wanted}
    try:
        for name, value in wanted.items():
            setenv(name, value)
        yield
    finally:
        for name, value in before.items():
            setenv(name, value)


@contextlib.contextmanager
def discard_stderr():
    """Throw away what is written to stderr inside the ``with`` block, by child code too."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nothing:  # noqa: PTH123 (a device, not a path of ours)
            os.dup2(nothing.fileno(), 2)
            with contextlib.redirect_stderr(nothing):
                yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def retry(n):
    """Decorator for tests of random results: run up to ``n`` times until no assertion fails."""
    if n < 1:
        raise AssertionError(f"retry: n is {n}, expected at least 1")

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            for left in range(n - 1, -1, -1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:  # noqa: PERF203
                    if not left:
                        raise
            return None

        return run

    return decorate


def assert_exception(f, exception_type, *args, **kwargs):
    """Raise ``AssertionError`` unless ``f(*args, **kwargs)`` raises ``exception_type``."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{f} did not raise {exception_type}")


def is_op_runnable():
    """True: no operator here depends on the hardware."""
    return True


def is_cd_run():
    """False: these are not MXNet's own continuous delivery runs."""
    return False


def is_aarch64_run():
    """False: these are not MXNet's own runs on ARM."""
    return False


def has_tvm_ops():
    """False: no operator is compiled by TVM."""
    return False


def use_np(func):
    """Refuse: the decorator asks for NumPy semantics, and there is no ``mx.np`` here.

    Passing the function through would run it with legacy shapes, which gives other results.
    """
    raise MXNetError(
        f"use_np: NumPy semantics are not available.\n  received  {func!r}\n"
        "  expected  code on mx.nd, with MXNet's legacy shapes\n"
        "  fix       use mx.nd in place of mx.np, and leave use_np out"
    )


def get_cuda_compute_capability(ctx):
    """None: there is no GPU."""
