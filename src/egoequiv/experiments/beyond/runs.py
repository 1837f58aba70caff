"""The runs of one setting: every repetition of every row, trained and measured, or found finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from egoequiv.engines import Tick
from egoequiv.errors import EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.tasks import get_tasks
from egoequiv.experiments.beyond.candidates import FEW_LABELS, Candidate
from egoequiv.experiments.beyond.columns import cost_values, tasks_of, values_of
from egoequiv.experiments.beyond.worlds import WORLDS, World
from egoequiv.experiments.measure import RunMeasurer
from egoequiv.experiments.options import Effort, Settings
from egoequiv.experiments.recipe import RowRuns, train_rows
from egoequiv.experiments.task_data import Shared
from egoequiv.store import FrameStore
from egoequiv.training import make_config
from egoequiv.training.jobs import Job
from egoequiv.training.pace import noted_seconds

Measured = tuple[Measurement, list[str]]  # the columns of a run as one record, and why tasks could not be done


@dataclass(frozen=True)
class Stores:
    """The frames that are learned from, and those with the labels: the same, or another store."""

    video: FrameStore
    labelled: FrameStore | None

    @property
    def place(self) -> Settings:
        """The settings that name them."""
        own = {"data": str(self.video.path)}
        return own if self.labelled is None else own | {"labels": str(self.labelled.path)}


def train_candidates(
    world: World, stores: Stores, rows: Sequence[Candidate], effort: Effort, iterations: int | None
) -> tuple[list[RowRuns], list[str]]:
    """Train all repetitions of all rows; and a line on each row that makes no sense in this setting."""
    folder = effort.out / f"runs-{world.name}-{stores.video.path.name}"
    splits = [world.split(stores.video, repetition) for repetition in range(effort.repeats)]
    planned, notes = [], []
    for row in rows:
        if row.on == ("video" if world.is_grid else "grids"):
            notes.append(f"method {row.name} is left out of {world.name}: it is for {row.on}")
            continue
        labels = row.labels_in(world)
        if labels is None:
            notes.append(f"method {row.name} is left out of {world.name}: it learns from classes, and there are none")
            continue
        own, uses_labels = _settings(row, world, iterations), labels != "no"
        last = make_config({**own, "data": "."}).iterations
        computed = {"threads": 1, "checkpoint_every": 500, "validate_every": max(100, -(-last // 100) * 100)}
        base = {**computed, **own, **world.settings, **stores.place, "use_labels": uses_labels}
        configs = [
            make_config({**base, **world.cut(split, repetition), "per_class": FEW_LABELS, "seed": repetition})
            for repetition, split in enumerate(splits)
        ]
        jobs = [Job(config, folder / f"{row.name}-{config.iterations}-{config.seed}") for config in configs]
        planned.append(RowRuns(row.name, (row.method, uses_labels), own, jobs))
    return train_rows(planned, effort, world.name), notes


def _settings(row: Candidate, world: World, iterations: int | None) -> Settings:
    """The settings of a row, with as many iterations as are given unless it is not trained."""
    own = {"method": row.method, **row.settings_in(world)}
    if iterations is not None and own.get("iterations") != 0:
        own["iterations"] = iterations
    return own


def measure_rows(world: World, rows: Sequence[RowRuns], effort: Effort, tasks: Sequence[str]) -> list[list[Measured]]:
    """The measurements of every run of every row, by these tasks."""
    jobs = [job for row in rows for job in row.jobs]
    # Repetitions of one split go to one worker, which then finds their pairs once.
    ordered = sorted(jobs, key=lambda job: (job.config.split, job.config.seed))
    stage = f"measuring, {world.name}"
    effort.on_progress(stage, 0, len(jobs))
    each = effort.engine.run(
        partial(_measure, world.name, tasks),
        effort.engine.shares(ordered),
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
    return record, problems
