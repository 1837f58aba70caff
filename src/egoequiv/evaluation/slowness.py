"""Slowness: how well the distance of features tells neighbours from strangers, on training and validation frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from egoequiv.errors import DataError
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable
from egoequiv.pairs import NeighbourPairs, sample_neighbour_pairs
from egoequiv.training.auroc import Norm, slowness_auroc

PAIRS = 10_000
NORMS: tuple[Norm, ...] = (2, 1)


@dataclass(frozen=True)
class Auroc:
    """The AUROC of one norm on the frames of one part."""

    part: str
    norm: Norm
    value: float
    pairs: int


@dataclass(frozen=True)
class SlownessResult:
    """How slow features are."""

    rows: tuple[Auroc, ...]

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "rows": [
                {"part": row.part, "norm": f"l{row.norm}", "auroc": row.value, "pairs": row.pairs} for row in self.rows
            ]
        }

    def headline(self) -> dict[str, float]:
        """The AUROC by Euclidean distance, of validation frames first."""
        return {f"AUROC, {row.part} frames": row.value for row in reversed(self.rows) if row.norm == 2}

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        rows = [(row.part, f"l{row.norm}", f"{row.value:.4f}", f"{row.pairs:,}") for row in self.rows]
        notes = ("0.5 is chance; 1 means that a distance of features tells all neighbours from all strangers",)
        return [
            TaskTable("slowness AUROC: neighbours against strangers", ("frames", "norm", "AUROC", "pairs"), rows, notes)
        ]


def measure_slowness(features: FrameFeatures, pairs: NeighbourPairs, part: str) -> tuple[Auroc, ...]:
    """The AUROC of neighbour pairs against strangers, in both norms."""
    z_i, z_j = features.of(pairs.i), features.of(pairs.j)
    return tuple(Auroc(part, norm, slowness_auroc(z_i, z_j, pairs.is_neighbour, norm), len(pairs)) for norm in NORMS)


def slowness(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> SlownessResult:
    """The task: on the training and the validation frames of a run."""
    parts = {"training": data.split.train, "validation": data.split.validation}
    rows: list[Auroc] = []
    for done, (part, frames) in enumerate(parts.items()):
        on_progress("slowness", done, len(parts))
        if not data.store.space.axes and data.store.times_s is None:
            raise DataError(f"{data.store.path} has neither poses nor times to say which frames are neighbours")
        features = FrameFeatures(data.store, frames, data.features[frames])
        pairs = sample_neighbour_pairs(
            data.store, frames, count=PAIRS, max_gap_s=data.neighbour_gap_s, seed=options.seed
        )
        rows += measure_slowness(features, pairs, part)
    on_progress("slowness", len(parts), len(parts))
    return SlownessResult(tuple(rows))
