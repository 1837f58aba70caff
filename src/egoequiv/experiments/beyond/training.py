"""The runs of one setting: every repetition of every row, trained or found finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egoequiv.experiments.beyond.candidates import FEW_LABELS, Candidate
from egoequiv.experiments.beyond.worlds import World
from egoequiv.experiments.options import Effort, Settings
from egoequiv.experiments.recipe import RowRuns, train_rows
from egoequiv.store import FrameStore
from egoequiv.training import make_config
from egoequiv.training.jobs import Job


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
