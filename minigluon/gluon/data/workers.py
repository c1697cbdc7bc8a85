"""Processes and threads that make batches in the background, for `DataLoader`.

A pool takes lists of sample numbers (`submit` gives a ticket) and hands back batches (`result`).
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import queue
import shutil
import threading
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from ...base import MXNetError, four_lines
from . import transport


class WorkerError(MXNetError):
    """A worker process ended, or raised something that cannot be sent."""


class WorkerTimeoutError(MXNetError, multiprocessing.TimeoutError):
    """A batch did not come in time."""


class RemoteTraceback(Exception):
    """Where a worker failed: the cause of the error that the loader raises."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def make_batch(dataset: Any, indices: Any, batchify: Callable) -> Any:
    """The batch of some samples; an error tells which sample it was."""
    samples = []
    index = None
    try:
        for index in indices:
            samples.append(dataset[index])
    except StopIteration as error:  # let through, it would end the epoch in silence
        name = type(dataset).__name__
        raise RuntimeError(f"sample {index} of {name} raised StopIteration") from error
    except Exception as error:
        _note(error, f"while making sample {index} of {type(dataset).__name__}")
        raise
    return batchify(samples)


def _note(error: Exception, text: str) -> None:
    """Show a text below an error; before Python 3.11 the traceback has no place for one."""
    error._minigluon_note = text  # type: ignore[attr-defined]
    if hasattr(error, "add_note"):
        error.add_note(text)


class ThreadPool:
    """Threads of this process: for samples made by code that releases the interpreter's lock.

    A program can end while one of them hangs.
    """

    def __init__(self, dataset: Any, batchify: Callable, count: int):
        self._tasks: queue.SimpleQueue = queue.SimpleQueue()
        self._count = count
        for number in range(count):
            threading.Thread(
                target=_make_batches, args=(self._tasks, dataset, batchify), daemon=True,
                name=f"DataLoader_{number}",
            ).start()  # fmt: skip
        self._finalizer = weakref.finalize(self, _dismiss, self._tasks, count)

    def submit(self, indices: Any) -> Any:
        """Begin a batch."""
        from concurrent.futures import Future

        ticket: Future = Future()
        self._tasks.put((ticket, indices))
        return ticket

    def result(self, ticket: Any, timeout: float) -> Any:
        """The batch, or the error it ended with."""
        from concurrent.futures import TimeoutError as NotDone

        try:
            return ticket.result(timeout)
        except NotDone as error:
            if ticket.done():  # the samples raised it
                raise
            raise _late(timeout) from error

    def forget(self, tickets: list) -> None:
        """These batches are not wanted any more."""
        for ticket in tickets:
            ticket.cancel()

    def close(self) -> None:
        """Stop the threads, after what they are at."""
        self._finalizer()


def _make_batches(tasks: queue.SimpleQueue, dataset: Any, batchify: Callable) -> None:
    """What a thread does: batches, until there is None."""
    for ticket, indices in iter(tasks.get, None):
        if ticket.set_running_or_notify_cancel():
            try:
                ticket.set_result(make_batch(dataset, indices, batchify))
            except BaseException as error:
                ticket.set_exception(error)
                del error
        del ticket  # a result is not kept while the thread waits


def _dismiss(tasks: queue.SimpleQueue, count: int) -> None:
    """Let threads end after what they are at; what has not begun is cancelled."""
    while not tasks.empty():
        task = tasks.get()
        if task is not None:
            task[0].cancel()
    for _ in range(count):
        tasks.put(None)


class ProcessPool:
    """Processes that have a copy of the data set.

    They are forked where the system can, unless `multiprocessing.set_start_method` says otherwise:
    a forked worker takes any function, the other ways send data set and functions by pickle. Every
    worker has random streams of its own, which follow from the state of numpy's global generator.
    """

    def __init__(self, dataset: Any, batchify: Callable, count: int):
        self._folder = transport.shared_folder()
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        self._finalizer = weakref.finalize(
            self, _end, os.getpid(), self._processes, self._connections, self._folder
        )
        self._tickets = itertools.count()
        self._waiting: dict[int, int] = {}
        self._done: dict[int, tuple] = {}
        seed = _seed()
        for number in range(count):
            self._start(number, (dataset, batchify, self._folder, seed + number))

    def _start(self, number: int, task: tuple) -> None:
        context = multiprocessing.get_context(_start_method())
        ours, theirs = context.Pipe()
        inherited = [*self._connections, ours] if context.get_start_method() == "fork" else []
        process = context.Process(
            target=_work,
            args=(theirs, inherited, *task),
            name=f"DataLoader worker {number}",
            daemon=True,
        )
        with warnings.catch_warnings():  # numpy's own threads hold no lock of ours
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
            process.start()
        theirs.close()
        self._processes.append(process)
        self._connections.append(ours)

    def submit(self, indices: Any) -> int:
        """Let the worker with least to do begin a batch; gives a ticket."""
        ticket = next(self._tickets)
        loads = list(self._waiting.values())
        worker = min(range(len(self._processes)), key=loads.count)
        try:
            self._connections[worker].send((ticket, indices))
        except OSError as error:
            raise self._died(worker) from error
        self._waiting[ticket] = worker
        return ticket

    def result(self, ticket: int, timeout: float) -> Any:
        """The batch, or the error it ended with."""
        deadline = time.monotonic() + timeout
        while ticket not in self._done:
            if not self._receive(max(0, deadline - time.monotonic())):
                raise _late(timeout)
        kind, *content = self._done.pop(ticket)
        if kind == "error":
            raise _remote(*content)
        return transport.unpack(*content)

    def _receive(self, timeout: float) -> bool:
        """Take in what the workers have sent."""
        ready = wait(self._connections, timeout)
        for connection in ready:
            worker = self._connections.index(connection)  # type: ignore[arg-type]
            try:
                ticket, *message = connection.recv()  # type: ignore[union-attr]
            except (EOFError, OSError) as error:
                raise self._died(worker) from error
            if self._waiting.pop(ticket, None) is None:
                _drop(tuple(message))
            else:
                self._done[ticket] = tuple(message)
        return bool(ready)

    def _died(self, worker: int) -> WorkerError:
        process = self._processes[worker]
        process.join(5)
        code = process.exitcode
        reason = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        self.close()
        return WorkerError(
            four_lines(
                f"DataLoader: worker {worker} (pid {process.pid}) ended unexpectedly.",
                reason,
                "workers that live as long as the loader",
                "look for its output above; signal 9 is often a lack of memory: use fewer "
                "workers or smaller batches. num_workers=0 shows an error where it happens",
            )
        )

    def forget(self, tickets: list) -> None:
        """These batches are not wanted any more."""
        for ticket in tickets:
            self._waiting.pop(ticket, None)
            if ticket in self._done:
                _drop(self._done.pop(ticket))

    def close(self) -> None:
        """End the processes and give back shared memory."""
        self._finalizer()


def _drop(message: tuple) -> None:
    if message[0] == "batch":
        transport.discard(message[2])


def _start_method() -> str:
    chosen = multiprocessing.get_start_method(allow_none=True)
    if chosen is not None:
        return chosen
    return "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"


def _seed() -> int:
    """A number that follows from the state of numpy's global generator, which stays as it is."""
    import zlib

    import numpy as np

    _, keys, position, *_ = np.random.get_state()
    return zlib.crc32(keys.tobytes() + bytes(str(position), "ascii"))  # type: ignore[union-attr]


def _end(owner: int, processes: list, connections: list, folder: str | None) -> None:
    if os.getpid() != owner:  # a forked copy of the pool
        return
    for connection in connections:
        connection.close()
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _late(timeout: float) -> WorkerTimeoutError:
    return WorkerTimeoutError(
        four_lines(
            "DataLoader: no batch came in time.",
            f"nothing for {timeout} seconds",
            "a batch within timeout seconds",
            "pass DataLoader a larger timeout, more workers, or num_workers=0 to see what hangs",
        )
    )


def _remote(pickled: bytes | None, name: str, text: str, where: str) -> Exception:
    """The error a worker raised, with the worker's traceback as its cause."""
    try:
        error = pickle.loads(pickled) if pickled else None
    except Exception:
        error = None
    if not isinstance(error, Exception):
        error = WorkerError(f"DataLoader: a worker raised {name}, {where}")
    error.__cause__ = RemoteTraceback(f"{text}\n{where}")
    return error


# ---- in the worker


def _work(
    connection: Connection,
    inherited: list,
    dataset: Any,
    batchify: Callable,
    folder: str | None,
    seed: int,
) -> None:
    """Make batches until the loader is gone."""
    import queue
    import signal
    import threading

    for other in inherited:
        other.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the loader's process answers Ctrl-C
    _seed_all(seed)
    tasks: queue.SimpleQueue = queue.SimpleQueue()

    def take() -> None:
        # a thread, so that the loader never waits for a worker that is sending
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=take, daemon=True).start()
    while True:
        ticket, indices = tasks.get()
        try:
            message = ("batch", *transport.pack(make_batch(dataset, indices, batchify), folder))
        except Exception as error:
            message = ("error", *_described(error))
        try:
            connection.send((ticket, *message))
        except OSError:
            os._exit(0)


def _described(error: Exception) -> tuple[bytes | None, str, str, str]:
    text = traceback.format_exc()
    where = getattr(error, "_minigluon_note", "while putting the samples of a batch together")
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        pickled = None
    return pickled, f"{type(error).__name__}: {error}", text, where


def _seed_all(seed: int) -> None:
    import random

    import numpy as np

    from ...core import state

    random.seed(seed)
    np.random.seed(seed % 2**32)
    state.seed(seed)
