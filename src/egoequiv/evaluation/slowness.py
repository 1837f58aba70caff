"""Slowness: how well distances of features separate neighbours from strangers, on training and validation frames."""

from __future__ import annotations

from functools import partial
from typing import Any

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.findings import cell
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, counted
from egoequiv.pairs import NeighbourPairs, sample_neighbour_pairs
from egoequiv.training.auroc import Norm, slowness_auroc

PAIRS = 10_000
TITLE = "slowness AUROC: neighbours against strangers"
NORMS: tuple[Norm, ...] = (2, 1)  # the first counts
NOTES = (
    "0.5 is chance; 1 means that a distance of features separates all neighbours from all strangers",
    "untrained: the same network before training",
)


def slowness(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the training and the validation frames of a run; the AUROC by Euclidean distance is what counts."""
    if not data.store.space.axes and data.store.times_s is None:
        raise DataError(f"{data.store.path} has neither poses nor times to say which frames are neighbours")
    parts = {"training": data.split.train, "validation": data.split.validation}
    values: list[Value] = []
    table: list[tuple[Any, ...]] = []
    for part, frames in counted(parts.items(), "slowness", on_progress):
        draw = partial(sample_neighbour_pairs, count=PAIRS, max_gap_s=data.neighbour_gap_s, seed=options.seed)
        key = ("neighbours", frames, data.neighbour_gap_s, options.seed)
        pairs = data.once(key, partial(draw, data.store, frames))
        features, before = data.look(frames), data.look_untrained(frames)
        for norm in NORMS:
            untrained = None if before is None else _auroc(before, pairs, norm)
            value = _value(part, _auroc(features, pairs, norm), untrained)
            values.append(value)
            table.append((part, f"l{norm}", cell(value), value.metric.text(untrained), len(pairs)))
    rows = [
        {"part": part, "norm": norm, "auroc": value.value, "pairs": count}
        for (part, norm, *_, count), value in zip(table, values, strict=True)
    ]
    grid = Grid.of(TITLE, ("frames", "norm", "AUROC", "untrained", "pairs"), table, NOTES)
    return Finding([values[len(NORMS)], values[0]], [grid], {"rows": rows})


def _auroc(features: FrameFeatures, pairs: NeighbourPairs, norm: Norm) -> float:
    return slowness_auroc(features.of(pairs.i), features.of(pairs.j), pairs.is_neighbour, norm)


def _value(part: str, auroc: float, untrained: float | None) -> Value:
    """Such as `AUROC, validation frames`."""
    name = f"AUROC, {part} frames"
    metric = Metric(name=name, title=name, digits=4, family="AUROC", within=(0.0, 1.0), baselines={"chance": 0.5})
    known = {} if untrained is None else {"untrained": untrained}
    return Value(metric=metric, value=auroc, baselines=known, note="pairs across recordings: no interval")
