"""Many runs side by side: those that can share a computation as stacks, all of them on the workers of an engine.

Finished runs are not done again, and diverged ones are marked as such.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, prod
from pathlib import Path

from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import ConfigError, DivergedError
from egoequiv.machine import whole_memory
from egoequiv.models import can_stack, get_encoder
from egoequiv.pairs.splits import AUTO
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.jobs import Job, Outcome, note_divergence, past_outcome, settled
from egoequiv.training.loop import run_training
from egoequiv.training.memory import network_bytes
from egoequiv.training.pace import Pace, note_seconds, work_of
from egoequiv.training.stack_files import left_stacks
from egoequiv.training.stacked_runs import run_stack, stack_key

Progress = Callable[[int, int], None]  # iterations done, iterations in all; long ones count more in what is done

MAX_STACK = 20  # beyond this a stack gains nothing more
MEMORY_SHARE = 0.5  # of the machine's memory, for all stacks at work


def run_many(
    jobs: Sequence[Job], *, engine: Engine | None = None, on_progress: Progress | None = None
) -> list[Outcome]:
    """Do all jobs and return their outcomes in order."""
    engine = engine or LocalEngine()
    jobs = [settled(replace(job, out=job.out.absolute())) for job in jobs]  # workers may run in other folders
    if len({job.out for job in jobs}) < len(jobs):
        raise ConfigError("two runs would share one folder: give each its own")
    past = {job.out: outcome for job in jobs if (outcome := past_outcome(job)) is not None}
    total = sum(job.config.iterations for job in jobs)
    work = work_of(jobs)
    whole = sum(work[job.out] * job.config.iterations for job in jobs)
    before = sum(work[out] * outcome.job.config.iterations for out, outcome in past.items())
    left = [job for job in jobs if job.out not in past]
    tasks = plan(left, jobs, engine.workers if left else 1)  # a cluster is not reached for nothing
    tasks.sort(key=lambda stack: -work[stack[0].out])  # first those whose pace says most about the time left

    def report(done: int) -> None:
        if on_progress is not None:
            on_progress(min(total * (before + done) // max(whole, 1), total), total)

    report(0)
    done = {
        outcome.job.out: outcome for outcomes in engine.run(partial(_do, work), tasks, report) for outcome in outcomes
    }
    return [(past | done)[job.out] for job in jobs]


def plan(left: Sequence[Job], jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Which jobs are done together, the longest first.

    Stacks that were begun go on as they were; new ones are as large as memory allows, but not so large that a worker
    has nothing to do.
    """
    begun = left_stacks(jobs, left)
    taken = {job.out for stack in begun for job in stack}
    groups: dict[tuple[Path, str], list[Job]] = {}
    alone: list[list[Job]] = []
    for job in left:
        if job.out in taken:
            continue
        key = stack_key(job.config)
        if key is None or (job.out / "last.safetensors").exists():  # one that was begun alone goes on alone
            alone.append([job])
        else:
            groups.setdefault((job.out.parent, key), []).append(job)
    pieces = ceil(workers / max(len(groups) + len(alone) + len(begun), 1))
    stacks = [stack for group in groups.values() for stack in _cut(group, pieces, workers)]
    return sorted([*begun, *alone, *stacks], key=_cost, reverse=True)


def _cut(group: list[Job], pieces: int, workers: int) -> Iterator[list[Job]]:
    """Stacks of about equal size from jobs that could all be one."""
    largest = stack_size(group[0], workers)
    count = min(max(pieces, ceil(len(group) / largest)), len(group))
    for k in range(count):
        yield group[len(group) * k // count : len(group) * (k + 1) // count]


def stack_size(job: Job, workers: int) -> int:
    """How many networks like this one a stack may have, from the memory of this machine."""
    at_a_time = min(workers, os.cpu_count() or 1)  # here: a cluster has other machines, taken to be like this one
    return max(1, min(MAX_STACK, int(whole_memory() * MEMORY_SHARE / at_a_time / _member_bytes(job.config))))


def _member_bytes(config: TrainConfig) -> int:
    """About how much memory one more network of a stack takes, with its labelled images."""
    shape = FrameStore.open(config.data).image_shape
    return network_bytes(config, shape) + (1 + 2 * 4) * config.batch_size * prod(shape)


def stacking_notes(config: TrainConfig) -> list[str]:
    """What keeps the runs of a config from being trained as fast as they might be: one line for each loss."""
    if config.encoder == AUTO or not can_stack(get_encoder(config.encoder)):
        return []  # not known yet, or a stack would gain nothing
    notes = []
    for term in config.objective().terms:
        if term.draws:
            slow = "are trained one by one instead of as a stack, which takes several times as long"
            notes.append(f"loss {term.name!r} draws random numbers, so the runs of {config.method_name} {slow}")
        elif not term.stacks:
            fast = "let it take features (..., B, D) and write stacks = True into its class to make it faster"
            notes.append(f"loss {term.name!r} is computed network by network in a stack: {fast}")
    return notes


def _cost(stack: list[Job]) -> float:
    """About how long the jobs take, in images."""
    streams = stack[0].config.objective().streams
    return sum(job.config.iterations * job.config.batch_size for job in stack) * (2 * len(streams) - 0.5)


def _do(work: Mapping[Path, int], jobs: list[Job], tick: Tick) -> list[Outcome]:
    """Do one task of a plan, and note how long each run of it takes."""
    pace = Pace(lambda iterations: tick(iterations * work[jobs[0].out]))
    outcomes = run_stack(jobs, pace) if len(jobs) > 1 else [_do_alone(jobs[0], pace)]
    for outcome in outcomes:
        if outcome.result is not None:
            note_seconds(outcome.job, pace.seconds(outcome.job.config.iterations))
    return outcomes


def _do_alone(job: Job, tick: Tick) -> Outcome:
    seen = 0

    def count(metrics: dict[str, float]) -> None:
        nonlocal seen
        tick(int(metrics["iteration"]) - seen)
        seen = int(metrics["iteration"])

    try:
        run = run_training(job.config, job.out, resume=True, on_metrics=count)
        outcome = Outcome(job, run.result)
    except DivergedError as problem:
        outcome = note_divergence(job, problem)
    tick(job.config.iterations - seen)
    return outcome
