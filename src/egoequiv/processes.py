"""Worker processes that end with the process that started them, and leave signals to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.context import SpawnContext
from types import FrameType

from egoequiv.files import is_busy

END_S = 10.0  # for a worker to tidy up what it was writing when it is ended
AGAIN_S = 0.05  # until a stop that came at a bad moment is tried again

# What is cut in two breaks later, with a traceback: a module that is imported, a function that is compiled. Or it
# leaves something behind: a file that is put in its place, or removed.
FILES = "egoequiv.files"
INDIVISIBLE = frozenset({"_frozen_importlib", "importlib", "llvmlite", "numba", FILES})

# What reaches all processes of a terminal. The first process stops the work; workers must not say anything of it.
_FOR_THE_FIRST = (signal.SIGINT, signal.SIGHUP)
_STOPS = (*_FOR_THE_FIRST, signal.SIGTERM)


def spawn_context() -> SpawnContext:
    """Workers are spawned, not forked: a fork of a process that runs threads (torch, numba) may hang."""
    return multiprocessing.get_context("spawn")


@contextmanager
def starting_workers() -> Iterator[None]:
    """Within it workers are started: a signal to stop waits until they are, and they do not hear those of a terminal.

    A worker whose start is cut in two would say so in a traceback of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    handlers = {stop: signal.getsignal(stop) for stop in _STOPS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_FIRST)  # which new processes inherit
    try:
        for stop, handler in handlers.items():
            if callable(handler):  # the mask is for one thread, so handlers wait too
                signal.signal(stop, lambda number, _: waiting.append(number))
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_FIRST)  # again, because that unblocks some
        yield
    finally:
        for stop, handler in handlers.items():
            if callable(handler):
                signal.signal(stop, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in waiting[:1]:
            signal.raise_signal(number)


def indivisible(frame: FrameType | None) -> set[str]:
    """What is at work in a frame and those that called it, and must not be cut in two: packages, and `FILES`."""
    found = set()
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        found.add(name if name == FILES else name.partition(".")[0])
        frame = frame.f_back
    return found & INDIVISIBLE


def send_later(number: int) -> None:
    """Send this process a signal again, a moment later."""
    timer = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


class _Work:
    """Whether this worker is at a task, whose files have to be tidied up when it is ended, and whether it is ended."""

    is_on = False
    is_ended = False


@contextmanager
def at_work() -> Iterator[None]:
    """Within it a worker does a task; when it is ended there, what it was writing is removed first."""
    _Work.is_on = True
    try:
        yield
    except SystemExit:
        os._exit(1)  # a pool would keep the process for another task
    finally:
        _Work.is_on = False


def begin_worker() -> None:
    """Called in a worker: end it when its parent ends, even by SIGKILL, and leave signals to stop to the parent."""
    if multiprocessing.parent_process() is None:
        return
    threading.Thread(target=_wait_and_exit, daemon=True).start()
    for stop in _FOR_THE_FIRST:
        signal.signal(stop, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_FIRST)


def _end(number: int, frame: FrameType | None) -> None:
    inside = indivisible(frame)
    if not _Work.is_on or (inside and FILES not in inside and not is_busy()):  # there is nothing to tidy up
        os._exit(1)
    if inside:
        send_later(number)
    elif not _Work.is_ended:  # a second signal, from the terminal and from the parent, must not cut the tidying in two
        _Work.is_ended = True
        raise SystemExit


def _wait_and_exit() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop_now(pool: ProcessPoolExecutor) -> None:
    """End a pool without waiting for the jobs at work; workers have a moment to remove what they were writing."""
    workers = {worker.sentinel: worker for worker in (pool._processes or {}).values()}  # shutdown forgets them
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers.values():
        worker.terminate()
    until_s = time.monotonic() + END_S
    while workers and (left_s := until_s - time.monotonic()) > 0:
        for ended in connection.wait(list(workers), left_s):
            del workers[ended]  # type: ignore[arg-type]
    for worker in workers.values():
        worker.kill()
