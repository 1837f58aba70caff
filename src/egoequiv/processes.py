"""Worker processes that end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import SpawnContext


def spawn_context() -> SpawnContext:
    """Workers are spawned, not forked: a fork of a process that runs threads (torch, numba) may hang."""
    return multiprocessing.get_context("spawn")


def end_with_parent() -> None:
    """Called in a worker: end it when its parent ends, even by SIGKILL, so that nobody writes on unseen."""
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_wait_and_exit, daemon=True).start()


def _wait_and_exit() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop_now(pool: ProcessPoolExecutor) -> None:
    """End a pool without waiting for the jobs at work."""
    workers = list((pool._processes or {}).values())  # shutdown forgets them
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
