"""Many runs side by side in processes; finished ones are not done again, diverged ones are told apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from egoequiv.errors import DivergedError, EgoEquivError
from egoequiv.files import read_json, write_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.processes import end_with_parent, spawn_context, stop_now
from egoequiv.training.config import TrainConfig
from egoequiv.training.loop import run_training
from egoequiv.training.run_folder import RunFolder

Progress = Callable[[int, int], None]  # iterations done, iterations in all

DIVERGED = "diverged.json"


@dataclass(frozen=True)
class Job:
    """A run to do: its config and its folder."""

    config: TrainConfig
    out: Path


@dataclass(frozen=True)
class Outcome:
    """What became of a job: the summary of the finished run, or the iteration at which it diverged."""

    job: Job
    result: dict[str, Any] | None
    diverged_at: int | None = None


def run_many(
    jobs: Sequence[Job], *, processes: int | None = None, on_progress: Progress | None = None
) -> list[Outcome]:
    """Do all jobs, each in one thread of one process, and return their outcomes in order."""
    total = sum(job.config.iterations for job in jobs)
    report = on_progress or _silent
    processes = min(processes or os.cpu_count() or 1, len(jobs))
    context = spawn_context()
    counter = context.Value("q", 0)
    if processes <= 1:
        _begin_worker(counter)
        return [_run_and_report(job, report, counter, total) for job in jobs]
    with ProcessPoolExecutor(processes, context, _begin_worker, (counter,)) as pool:
        futures = [pool.submit(_run, job) for job in jobs]
        pending: set[Future[Outcome]] = set(futures)
        try:
            while pending:
                finished, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                report(min(counter.value, total), total)
        except BrokenProcessPool:
            raise EgoEquivError(
                "a training process was ended from outside (out of memory?); repeat the command to go on"
            ) from None
        except BaseException:
            stop_now(pool)
            raise
    return [future.result() for future in futures]


def _silent(done: int, total: int) -> None:
    """Report nothing."""


_counter: Synchronized[int] | None = None


def _begin_worker(counter: Synchronized[int]) -> None:
    global _counter  # a pool hands shared values to its workers at their start and in no other way
    _counter = counter
    end_with_parent()


def _run_and_report(job: Job, report: Progress, counter: Synchronized[int], total: int) -> Outcome:
    outcome = _run(job, lambda: report(min(counter.value, total), total))
    report(min(counter.value, total), total)
    return outcome


def _run(job: Job, tick: Callable[[], None] | None = None) -> Outcome:
    """Do one job, or read what became of it earlier."""
    seen = 0

    def count(iteration: int) -> None:
        nonlocal seen
        if _counter is not None:
            with _counter.get_lock():
                _counter.value += iteration - seen
        seen = iteration
        if tick is not None:
            tick()

    failed = job.out / DIVERGED
    if failed.exists():
        RunFolder(job.out).check_same(job.config)
        count(job.config.iterations)
        return Outcome(job, None, int(read_json(failed, RUN_KIND)["iteration"]))
    try:
        run = run_training(
            job.config, job.out, resume=True, on_metrics=lambda metrics: count(int(metrics["iteration"]))
        )
        outcome = Outcome(job, run.result)
    except DivergedError as problem:
        write_json(failed, {"iteration": problem.iteration, "reason": str(problem)})
        outcome = Outcome(job, None, problem.iteration)
    count(job.config.iterations)
    return outcome
