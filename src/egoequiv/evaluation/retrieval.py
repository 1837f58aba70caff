"""Pair retrieval: whether pairs with nearly the same difference of features are related by the same motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.evaluation.findings import cell, measured, notes_of
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.metric import Metric, Value, with_best_of_each
from egoequiv.evaluation.pair_search import (
    Exclusion,
    Neighbours,
    draw_queries,
    feature_differences,
    nearest_pairs,
    pixel_differences,
)
from egoequiv.evaluation.prediction import check_motions
from egoequiv.evaluation.retrieval_gallery import retrieval_gallery
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, silent
from egoequiv.files import plain
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

MOST_PAIRS, MOST_QUERIES = 100_000, 1_000
K = 10
SCORES = (("at_1", "precision@1, features"), ("at_k", f"precision@{K}, features"))
Once = Callable[[Callable[[], Neighbours]], Neighbours]


@dataclass(frozen=True)
class MotionPrecision:
    """How many of the pairs found have the motion of the query; chance is the share of that motion among all pairs."""

    motion: str  # "all" for all of them together
    queries: int
    groups: int  # recordings, or what else is held out, that the queries are of
    at_1: float
    at_1_interval: tuple[float, float]  # 95 %, over recordings, or what else is held out
    at_k: float
    at_k_interval: tuple[float, float]
    chance: float

    def value(self, score: str, name: str, kind: str, pixels: MotionPrecision | None) -> Value:
        """The precision `at_1` or `at_k` as a value of this name, beside that of pixels and chance."""
        baselines = {"chance": self.chance} | ({} if pixels is None else {"pixels": getattr(pixels, score)})
        metric = Metric(name=name, title=name, within=(0.0, 1.0), family="precision")
        ends = getattr(self, f"{score}_interval")
        return measured(metric, getattr(self, score), ends, groups=self.groups, kind=kind, baselines=baselines)


@dataclass(frozen=True, eq=False)
class RetrievalResult:
    """What a search for pairs found, in the differences of features and, as a baseline, of pixels."""

    precision: dict[str, tuple[MotionPrecision, ...]]  # of features, and of pixels
    neighbours: dict[str, Neighbours]  # the same
    pairs: MotionPairs  # those that were searched, by whose numbers neighbours are known
    exclusion: Exclusion

    def finding(self, store: FrameStore) -> Finding:
        """The precision over all motions; the store has the pictures of the gallery."""
        kind, features = self.exclusion.group_name, self.precision["features"]
        pixels = self.precision.get("pixels", (None,) * len(features))
        found = list(zip(features, pixels, strict=True))
        values = precision_values(features, pixels, kind)
        dropped = self.neighbours["features"].dropped
        details, arrays = retrieval_gallery(store, self.pairs, self.neighbours)
        details |= {
            "norm": "l2",
            "k": K,
            "pairs": len(self.pairs),
            "queries_dropped": dropped,
            "exclusion": self.exclusion.describe(),
            "precision": {space: plain([asdict(row) for row in rows]) for space, rows in self.precision.items()},
        }
        notes = [
            f"the nearest of {len(self.pairs):,} pairs, by the Euclidean distance of z_j - z_i or of x_j - x_i",
            self.exclusion.describe(),
            "chance is the share of the query's motion among the pairs it was compared with",
        ]
        words = f"{plural(dropped, 'query was', 'queries were')} dropped: fewer than {K} pairs to be compared with"
        lost = [words] if dropped else []
        rows: list[Sequence[Any]] = []
        for (own, other), (at_1, at_k) in zip(found, values, strict=True):
            rows.append((own.motion, "features", cell(at_1), cell(at_k), at_1.metric.text(own.chance), own.queries))
            if other is not None:
                texts = (at_1.metric.text(number) for number in (other.at_1, other.at_k, other.chance))
                rows.append((own.motion, "pixels", *texts, other.queries))
        columns = ("motion", "difference of", "precision@1", f"precision@{K}", "chance", "queries")
        table = Grid.of("retrieval of pairs with the same motion", columns, rows, [*notes, *lost])
        return Finding(values[0], [table], details, arrays, notes=[*lost, *notes_of(values[0])])


def precision_values(
    features: Sequence[MotionPrecision], pixels: Sequence[MotionPrecision | None], kind: str
) -> list[list[Value]]:
    """Both scores of each row, the first of which is of all motions: it is marked where each motion is."""
    found = zip(features, pixels, strict=True)
    whole, *each = [[row.value(score, name, kind, other) for score, name in SCORES] for row, other in found]
    queries = [row.queries for row in features[1:]]
    means = [with_best_of_each(mean, [row[k] for row in each], queries) for k, mean in enumerate(whole)]
    return [means, *each]


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
                groups=len(np.unique(own_group[own])),
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
    hold_out: str = "recording",
    most_pairs: int = MOST_PAIRS,
    most_queries: int = MOST_QUERIES,
    with_pixels: bool = True,
    seed: int = 0,
    on_progress: OnProgress = silent,
    once: Once = lambda make: make(),
) -> RetrievalResult:
    """Find the pairs nearest to query pairs, in feature-difference space and in pixel-difference space.

    Queries have a motion. They are compared with all pairs, those of no motion too where there are any, except pairs of
    their own recording: all of them, or where frames have times, those with at most `neighbour_gap_s` between them.
    With `hold_out` the name of an attribute or "label", they are compared with pairs of another one only. Of more pairs
    than `most_pairs`, so many are drawn at random. `once` may keep what was found by pixels for other features.
    """
    store = features.store
    check_motions(features, pairs, hold_out, neighbour_gap_s)
    pairs = pairs.take(thinned(np.arange(len(pairs)), most_pairs, [seed, 0x50E]))
    queries = draw_queries(pairs, most_queries, seed)
    has_gap = hold_out == "recording" and store.times_s is not None
    exclusion = Exclusion(groups_of(store, hold_out), hold_out, neighbour_gap_s if has_gap else None)

    search = partial(nearest_pairs, store, pairs, k=K, seed=seed, on_progress=on_progress)
    by_features, by_pixels = feature_differences(features, pairs), pixel_differences(store, pairs)
    neighbours = {"features": search(by_features, queries, exclusion, what="pairs by features")}
    if with_pixels:
        neighbours["pixels"] = once(lambda: search(by_pixels, queries, exclusion, what="pairs by pixels"))
    precision = {space: precision_of(exclusion.group, pairs, found) for space, found in neighbours.items()}
    return RetrievalResult(precision, neighbours, pairs, exclusion)


def retrieval(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the validation frames of a run, with the motions it is measured for."""
    pairs = data.pairs(patterns=options.motions)
    settings = (data.neighbour_gap_s, options.hold_out, options.seed)
    result = retrieve_pairs(
        data.validation,
        pairs,
        neighbour_gap_s=data.neighbour_gap_s,
        hold_out=options.hold_out,
        with_pixels=data.store.has_images,
        seed=options.seed,
        on_progress=on_progress,
        once=lambda make: data.once(("pairs by pixels", pairs.i, pairs.j, pairs.pattern, *settings), make),
    )
    return result.finding(data.store)
