"""Measurements of the runs of one setting, on the workers of an engine; what was measured before is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from egoequiv.engines import Tick
from egoequiv.errors import EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.tasks import get_tasks
from egoequiv.experiments.beyond.columns import cost_values, tasks_of, values_of
from egoequiv.experiments.beyond.worlds import WORLDS, World
from egoequiv.experiments.measure import RunMeasurer, shares
from egoequiv.experiments.options import Effort
from egoequiv.experiments.recipe import RowRuns
from egoequiv.experiments.task_data import Shared
from egoequiv.training.jobs import Job
from egoequiv.training.pace import noted_seconds


@dataclass(frozen=True)
class Measured:
    """What was measured of one run: its columns as one record, and why tasks could not be done."""

    record: Measurement
    problems: tuple[str, ...]


def measure_rows(world: World, rows: Sequence[RowRuns], effort: Effort, tasks: Sequence[str]) -> list[list[Measured]]:
    """The measurements of every run of every row, by these tasks."""
    jobs = [job for row in rows for job in row.jobs]
    # Repetitions of one split go to one worker, which then finds their pairs once.
    ordered = sorted(jobs, key=lambda job: (job.config.split, job.config.seed))
    stage = f"measuring, {world.name}"
    effort.on_progress(stage, 0, len(jobs))
    each = effort.engine.run(
        partial(_measure, world.name, tasks),
        shares(ordered, effort.engine.workers),
        lambda done: effort.on_progress(stage, min(done, len(jobs)), len(jobs)),
    )
    found = dict(zip((job.out for job in ordered), chain.from_iterable(each), strict=True))
    return [[found[job.out] for job in row.jobs] for row in rows]


def _measure(world: str, tasks: Sequence[str], jobs: Sequence[Job], tick: Tick) -> list[Measured]:
    """The share of one worker."""
    shared: Shared = {}
    done = []
    for job in jobs:
        done.append(_measure_run(WORLDS[world], tasks, job, shared))
        tick(1)
    return done


def _measure_run(world: World, tasks: Sequence[str], job: Job, shared: Shared) -> Measured:
    measurer = RunMeasurer(job.out, shared=shared)
    net = measurer.opened.net
    found: dict[str, Measurement] = {}
    problems = []
    last: Measurement | None = None
    for name, options in tasks_of(world, net.spec.parts, job.config.seed, net.head is not None, tasks):
        last = measurer.measure(get_tasks([name])[name], options)
        if last.problem is None:
            found[name] = last
        else:
            problems.append(f"{name}: {last.problem}")
    if last is None:
        raise EgoEquivError(f"setting {world.name} has none of the tasks {', '.join(tasks)} for {job.out.name}")
    weights = sum(parameter.numel() for parameter in net.encoder.parameters())
    values = [*values_of(found), *cost_values(noted_seconds(job), weights)]
    record = last.model_copy(update={"values": values, "tables": [], "problem": None}).with_arrays({})
    return Measured(record, tuple(problems))
