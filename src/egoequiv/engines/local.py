"""Tasks in processes of this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from egoequiv.engines.engine import Engine, Result, Task, Tick, WorkerLostError, silent
from egoequiv.errors import ConfigError
from egoequiv.processes import at_work, begin_worker, spawn_context, starting_workers, stop_now

POLL_S = 0.3
MOST_PROCESSES = 64  # or four for each core; more would only take each other's memory
THREADS = "OMP_NUM_THREADS"  # read by torch, BLAS and scikit-learn when they are imported
LOCK_S = 30.0  # a lock that is held for longer belongs to a worker that was killed

_LOST = (
    "a worker process could not start or was ended from outside (out of memory?): repeat the command, with one worker "
    "if it happens again; in a script, put the main part under if __name__ == '__main__':"
)


class LocalEngine(Engine):
    """Spawned processes, by default one for each core; with a single one, the tasks are done in this process."""

    def __init__(self, processes: int | None = None) -> None:
        cores = os.cpu_count() or 1
        if processes is not None and processes > (most := max(MOST_PROCESSES, 4 * cores)):
            raise ConfigError(f"{processes} processes: this machine has {cores} cores; choose at most {most}")
        self.processes = processes or cores

    @property
    def workers(self) -> int:
        return self.processes

    def run(
        self,
        work: Callable[[Task, Tick], Result],
        tasks: Sequence[Task],
        on_tick: Tick = silent,
        *,
        short: bool = False,
    ) -> list[Result]:
        processes = min(self.processes, len(tasks))
        told = _Told(on_tick)
        if processes <= 1:
            return [work(task, told.tick) for task in tasks]
        context = spawn_context()
        with starting_workers():
            counters = _Counters(context.Value("q", 0), context.Value("q", 0))
        line = _Line(work, tasks, counters)
        told.elsewhere = counters.ticked
        workers = processes - 1 if short else processes
        with ProcessPoolExecutor(workers, context, _begin_worker, (counters,)) as pool:
            try:
                # Large values are sent with the call, not at the start of a worker: this process would wait forever for
                # a worker that fails to start.
                with starting_workers(), _threads_each(processes):
                    futures = [pool.submit(_work_along, work, tasks) for _ in range(workers)]
                results = _help(line, futures, told) if short else {}
                if len(results) == len(tasks):
                    stop_now(pool)  # do not wait for a worker that is still starting
                else:
                    results |= _wait_for(futures, told)
            except BrokenProcessPool:
                time.sleep(POLL_S)  # a signal that ended all processes reaches this one too, and says it better
                raise WorkerLostError(_LOST) from None
            except BaseException:
                stop_now(pool)
                raise
        if len(results) < len(tasks):
            raise WorkerLostError(_LOST)
        return [results[number] for number in range(len(tasks))]


@contextmanager
def _threads_each(processes: int) -> Iterator[None]:
    """Processes that start within it have their share of the cores, unless the user has said how many threads.

    Otherwise each would have a thread for every core, and threads that wait for each other take processor time.
    """
    said = os.environ.get(THREADS)
    os.environ.setdefault(THREADS, str(max(1, (os.cpu_count() or 1) // processes)))
    try:
        yield
    finally:
        if said is None:
            os.environ.pop(THREADS, None)


@dataclass(frozen=True)
class _Counters:
    """What the processes share: how many tasks are taken, and the progress they have reported."""

    taken: Synchronized[int]
    ticked: Synchronized[int]


@dataclass(frozen=True)
class _Line:
    """A queue of tasks; each process takes the next one when it is free."""

    work: Callable[[Any, Tick], Any]
    tasks: Sequence[Any]
    counters: _Counters

    def take(self) -> int | None:
        """The number of the next task, if there is one."""
        taken = self.counters.taken
        if not taken.get_lock().acquire(timeout=LOCK_S):
            return None
        try:
            number = taken.value
            taken.value += 1
        finally:
            taken.get_lock().release()
        return number if number < len(self.tasks) else None

    def tick(self, more: int) -> None:
        with self.counters.ticked.get_lock():
            self.counters.ticked.value += more


@dataclass
class _Told:
    """The progress reported in this process and in the workers."""

    on_tick: Tick
    here: int = 0
    elsewhere: Synchronized[int] | None = None

    def tick(self, more: int) -> None:
        self.here += more
        self.report()

    def report(self) -> None:
        # Read without the lock, because a killed worker may still hold it.
        self.on_tick(self.here + (0 if self.elsewhere is None else int(self.elsewhere.get_obj().value)))


def _help(line: _Line, futures: Sequence[Future[dict[int, Any]]], told: _Told) -> dict[int, Any]:
    """Do tasks in this process too, while the workers are still starting."""
    results: dict[int, Any] = {}
    while (number := line.take()) is not None:
        results[number] = line.work(line.tasks[number], told.tick)
        for future in futures:
            if future.done():
                future.result()  # an error of a worker ends this at once
    return results


def _wait_for(futures: Sequence[Future[dict[int, Any]]], told: _Told) -> dict[int, Any]:
    results: dict[int, Any] = {}
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_S, return_when=FIRST_EXCEPTION)
        for future in done:
            results |= future.result()
        told.report()
    return results


_counters: _Counters | None = None


def _begin_worker(counters: _Counters) -> None:
    global _counters  # a pool can pass shared values to its workers only when they start
    _counters = counters
    begin_worker()


def _work_along(work: Callable[[Any, Tick], Any], tasks: Sequence[Any]) -> dict[int, Any]:
    """In a worker: do tasks until there are none left; return their results by number."""
    assert _counters is not None
    line = _Line(work, tasks, _counters)
    results: dict[int, Any] = {}
    with at_work():
        while (number := line.take()) is not None:
            results[number] = line.work(line.tasks[number], line.tick)
    return results
