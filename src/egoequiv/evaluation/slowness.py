"""Slowness: how well distances of features separate neighbours from strangers, on training and validation frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isnan, nan

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.findings import cell
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.pairs import NeighbourPairs, sample_neighbour_pairs
from egoequiv.training.auroc import Norm, slowness_auroc

PAIRS = 10_000
TITLE = "slowness AUROC: neighbours against strangers"
NORMS: tuple[Norm, ...] = (2, 1)
NOTES = (
    "0.5 is chance; 1 means that a distance of features separates all neighbours from all strangers",
    "untrained: the same network before training",
)


@dataclass(frozen=True)
class Auroc:
    """The AUROC of one norm on the frames of one part."""

    part: str
    norm: Norm
    value: float
    pairs: int
    untrained: float = nan

    def as_value(self) -> Value:
        """Such as `AUROC, validation frames`."""
        name = f"AUROC, {self.part} frames"
        metric = Metric(name=name, title=name, digits=4, family="AUROC", within=(0.0, 1.0), baselines={"chance": 0.5})
        known = {} if isnan(self.untrained) else {"untrained": self.untrained}
        return Value(metric=metric, value=self.value, baselines=known, note="pairs across recordings: no interval")


def measure_slowness(
    features: FrameFeatures, pairs: NeighbourPairs, part: str, untrained: FrameFeatures | None = None
) -> tuple[Auroc, ...]:
    """The AUROC of neighbour pairs against strangers, in both norms; `untrained` are features before training."""

    def auroc(of: FrameFeatures | None, norm: Norm) -> float:
        return nan if of is None else slowness_auroc(of.of(pairs.i), of.of(pairs.j), pairs.is_neighbour, norm)

    return tuple(Auroc(part, norm, auroc(features, norm), len(pairs), auroc(untrained, norm)) for norm in NORMS)


def slowness(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the training and the validation frames of a run; the AUROC by Euclidean distance is what counts."""
    if not data.store.space.axes and data.store.times_s is None:
        raise DataError(f"{data.store.path} has neither poses nor times to say which frames are neighbours")
    parts = {"training": data.split.train, "validation": data.split.validation}
    rows: list[Auroc] = []
    for done, (part, frames) in enumerate(parts.items()):
        on_progress("slowness", done, len(parts))
        draw = partial(sample_neighbour_pairs, count=PAIRS, max_gap_s=data.neighbour_gap_s, seed=options.seed)
        key = ("neighbours", frames, data.neighbour_gap_s, options.seed)
        pairs = data.once(key, partial(draw, data.store, frames))
        rows += measure_slowness(data.look(frames), pairs, part, data.look_untrained(frames))
    on_progress("slowness", len(parts), len(parts))
    each = [(row, row.as_value()) for row in rows]
    table = [
        (row.part, f"l{row.norm}", cell(value), value.metric.text(row.untrained), row.pairs) for row, value in each
    ]
    return Finding(
        [value for row, value in reversed(each) if row.norm == 2],
        [Grid.of(TITLE, ("frames", "norm", "AUROC", "untrained", "pairs"), table, NOTES)],
        {"rows": [{"part": one.part, "norm": f"l{one.norm}", "auroc": one.value, "pairs": one.pairs} for one in rows]},
    )
