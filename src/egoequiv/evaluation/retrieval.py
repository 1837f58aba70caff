"""Pair retrieval: whether pairs with nearly the same difference of features are related by the same motion."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.pair_search import (
    Differences,
    Exclusion,
    Neighbours,
    draw_queries,
    feature_differences,
    nearest_pairs,
    pixel_differences,
)
from egoequiv.evaluation.prediction import check_motions, pairs_of_task
from egoequiv.evaluation.ranking import interval_text
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable
from egoequiv.files import plain
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices

MOST_PAIRS, MOST_QUERIES = 100_000, 1_000
K = 10


@dataclass(frozen=True)
class MotionPrecision:
    """How many of the pairs found have the motion of the query; chance is the share of that motion among all pairs."""

    motion: str  # "all" for all of them together
    queries: int
    at_1: float
    at_1_interval: tuple[float, float]  # 95 %, over recordings, or what else is kept apart
    at_k: float
    at_k_interval: tuple[float, float]
    chance: float

    def describe(self) -> dict[str, Any]:
        """A JSON object; what is not defined is null."""
        described: dict[str, Any] = plain(asdict(self))
        return described


@dataclass(frozen=True, eq=False)
class RetrievalResult:
    """What a search for pairs found, in the differences of features and, as a baseline, of pixels."""

    precision: dict[str, tuple[MotionPrecision, ...]]  # of features, and of pixels
    neighbours: dict[str, Neighbours]  # the same
    pairs: MotionPairs  # those that were searched, by whose numbers neighbours are known
    exclusion: Exclusion

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "norm": "l2",
            "k": K,
            "pairs": len(self.pairs),
            "queries_dropped": self.neighbours["features"].dropped,
            "exclusion": self.exclusion.describe(),
            "precision": {space: [row.describe() for row in rows] for space, rows in self.precision.items()},
        }

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        columns = ("motion", "difference of", "precision@1", "95 % interval", f"precision@{K}", "95 % interval")
        rows = [
            (
                row.motion,
                space,
                f"{row.at_1:.3f}",
                interval_text(row.at_1_interval),
                f"{row.at_k:.3f}",
                interval_text(row.at_k_interval),
                f"{row.chance:.3f}",
                f"{row.queries:,}",
            )
            for each in zip(*self.precision.values(), strict=True)
            for space, row in zip(self.precision, each, strict=True)
        ]
        notes = (
            f"the nearest of {len(self.pairs):,} pairs, by the Euclidean distance of z_j - z_i or of x_j - x_i",
            self.exclusion.describe(),
            "chance is the share of the query's motion among the pairs it was compared with",
            *self._dropped(),
        )
        return [TaskTable("retrieval of pairs with the same motion", (*columns, "chance", "queries"), rows, notes)]

    def headline(self) -> dict[str, float]:
        """The precision over all motions, beside that of pixels and chance."""
        whole = {space: rows[0] for space, rows in self.precision.items()}
        numbers = {f"precision@1, {space}": row.at_1 for space, row in whole.items()}
        numbers |= {f"precision@{K}, {space}": row.at_k for space, row in whole.items()}
        return numbers | {"chance": whole["features"].chance}

    def _dropped(self) -> list[str]:
        dropped = self.neighbours["features"].dropped
        return [f"{dropped:,} queries were dropped: fewer than {K} pairs to be compared with"] if dropped else []


def precision_of(groups: Indices, pairs: MotionPairs, neighbours: Neighbours) -> tuple[MotionPrecision, ...]:
    """The share of the pairs found that have the motion of the query, for all queries and motion by motion.

    groups: (N,) of every frame of the store, for the intervals.
    """
    pattern = pairs.pattern[neighbours.query]
    right = pairs.pattern[neighbours.nearest] == pattern[:, None]
    at_1, at_k = right[:, 0].astype(np.float64), right.mean(axis=1)
    chance = neighbours.same_motion / neighbours.allowed
    own_group = groups[pairs.i[neighbours.query]]
    rows = []
    for number in (None, *np.unique(pattern)):
        own = np.full(len(pattern), True) if number is None else pattern == number
        rows.append(
            MotionPrecision(
                motion="all" if number is None else pairs.names[number],
                queries=int(own.sum()),
                at_1=float(at_1[own].mean()),
                at_1_interval=group_interval(at_1[own], own_group[own], within=(0.0, 1.0)),
                at_k=float(at_k[own].mean()),
                at_k_interval=group_interval(at_k[own], own_group[own], within=(0.0, 1.0)),
                chance=float(chance[own].mean()),
            )
        )
    return tuple(rows)


def retrieve_pairs(
    features: FrameFeatures,
    pairs: MotionPairs,
    *,
    neighbour_gap_s: float = 2.0,
    apart: str = "recording",
    most_pairs: int = MOST_PAIRS,
    most_queries: int = MOST_QUERIES,
    with_pixels: bool = True,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> RetrievalResult:
    """Find the pairs nearest to query pairs, in feature-difference space and in pixel-difference space.

    Queries have a motion. They are compared with all pairs, those of no motion too where there are any, except pairs of
    their own recording: all of them, or where frames have times, those with at most `neighbour_gap_s` between them.
    With `apart` the name of an attribute or "label", they are compared with pairs of another one only. Of more pairs
    than `most_pairs`, so many are drawn at random.
    """
    check_motions(features, pairs)
    store = features.store
    pairs = some_pairs(pairs, most_pairs, seed)
    queries = draw_queries(pairs, most_queries, seed)
    has_gap = apart == "recording" and store.times_s is not None
    exclusion = Exclusion(groups_of(store, apart), apart, neighbour_gap_s if has_gap else None)
    spaces: dict[str, Differences] = {"features": feature_differences(features, pairs)}
    if with_pixels:
        spaces["pixels"] = pixel_differences(store, pairs)
    neighbours = {}
    for space, differences in spaces.items():

        def report(done: int, total: int, what: str = f"pairs by {space}") -> None:
            if on_progress is not None:
                on_progress(what, done, total)

        neighbours[space] = nearest_pairs(
            store, pairs, differences, queries, exclusion, k=K, seed=seed, on_progress=report
        )
    precision = {space: precision_of(exclusion.group, pairs, found) for space, found in neighbours.items()}
    return RetrievalResult(precision, neighbours, pairs, exclusion)


def some_pairs(pairs: MotionPairs, most: int, seed: int) -> MotionPairs:
    """At most so many of the pairs, at random."""
    if len(pairs) <= most:
        return pairs
    kept: Indices = np.sort(np.random.default_rng([seed, 0x50E]).choice(len(pairs), most, replace=False))
    return MotionPairs(pairs.i[kept], pairs.j[kept], pairs.pattern[kept], pairs.names)


def retrieval(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> RetrievalResult:
    """The task: on the validation frames of a run, with the motions it is measured for."""
    frames = data.split.validation
    features = FrameFeatures(data.store, frames, data.features[frames])
    pairs = pairs_of_task(data, options, frames)
    return retrieve_pairs(
        features,
        pairs,
        neighbour_gap_s=data.neighbour_gap_s,
        apart=options.apart,
        seed=options.seed,
        on_progress=on_progress,
    )
