"""Places: which frame of one traverse shows what a frame of another shows; and, within one drive, loop closure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.feature_files import check_finite
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.findings import cell
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.place_filter import filter_places
from egoequiv.evaluation.place_pairs import PlacePairs, choose_pairs
from egoequiv.evaluation.place_search import (
    Array,
    Search,
    cosine_distances,
    precision_recall_area,
    search,
)
from egoequiv.evaluation.statistics import block_interval
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, counted
from egoequiv.evaluation.traverses import Traverse
from egoequiv.files import plain
from egoequiv.models import EgoNet
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural

BLOCK = 1.5  # times the root of the number of frames: so long is a block of the bootstrap
AREA = "area of precision-recall"
NAMES = ("recall@1", "recall@5", "recall@10", AREA)
SPACES = ("features", "untrained", "pixels")
PRIOR = "motion prior"
Way = tuple[str, bool]  # what frames are compared by, and whether with the motion prior
NO_INTERVAL = "too few frames for blocks of them: no interval"
NOTES = (
    f"{PRIOR}: where the matches before and the motion since then say that the camera is (a filter over frames)",
    "pixels: gray, at most 32 x 64, normalised in patches of 8 x 8, mean absolute difference (SeqSLAM)",
    f"{AREA}: matches are accepted by the distance of the pictures; precision is the share of accepted matches that "
    "are right, recall the share of places found",
    "intervals: a bootstrap over blocks of frames, because neighbours resemble each other",
)


@dataclass(frozen=True, eq=False)
class PlaceScores:
    """How well one way of comparing frames finds places."""

    found: Search
    pairs: PlacePairs
    seed: int = 0

    @cached_property
    def length(self) -> int:
        """Frames of a block of the bootstrap."""
        window = 2 * self.pairs.tolerance.value + 1 if not self.pairs.tolerance.in_metres else 0
        return max(ceil(BLOCK * sqrt(len(self.found.queries))), int(window))

    @cached_property
    def _strangers(self) -> Indices:
        """Queries that have no place among their references: whatever is found for them is wrong."""
        return np.setdiff1d(np.arange(len(self.found.best)), self.found.queries)

    def score(self, name: str, rows: Indices | None = None) -> float:
        """`recall@k`, or the area; of queries with a place, or of some of them (numbers among them)."""
        own = np.arange(len(self.found.queries)) if rows is None else rows
        if name != AREA:
            return float(self.found.hits(int(name.rpartition("@")[2]))[own].mean())
        queries = np.concatenate([self.found.queries[own], self._strangers])
        return precision_recall_area(self.found.distance[queries], self.found.correct[queries], len(own))

    def interval(self, name: str, minus: PlaceScores | None = None) -> tuple[float, float]:
        """The interval of a score, or of how much it is above another on the same queries."""

        def statistic(rows: Indices) -> float:
            return self.score(name, rows) - (0.0 if minus is None else minus.score(name, rows))

        limits = (0.0, 1.0) if minus is None else (-1.0, 1.0)
        return block_interval(len(self.found.queries), statistic, self.length, within=limits, seed=self.seed)


def places(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: two traverses of one route, or one drive that comes back to its places."""
    pairs = choose_pairs(data.store, options, data.max_gap_s)
    truth, allowed = pairs.truth(), pairs.allowed()
    scores: dict[Way, PlaceScores] = {}
    for space in counted(SPACES, "places", on_progress):
        distance = _distance(data, pairs, space)
        if distance is None:
            continue
        for with_prior in (False, True):
            used = (
                filter_places(distance, pairs.query.along, pairs.reference.along, allowed) if with_prior else distance
            )
            found = search(used, truth, allowed, accepted_by=distance)
            scores[space, with_prior] = PlaceScores(found, pairs, options.seed)
    queries = scores["features", False].found.queries
    if not len(queries):
        earlier = "" if allowed is None else f" that was seen {options.revisit_s:g} s before or earlier (--revisit)"
        raise DataError(
            f"no frame of {pairs.query.name} shows a place of {pairs.reference.name} within {pairs.tolerance}{earlier}"
        )
    right = truth if allowed is None else truth & allowed
    searched = truth.shape[1] if allowed is None else allowed[queries].sum(axis=1)
    chance = float((right[queries].sum(axis=1) / searched).mean())
    return _finding(data, pairs, scores, chance)


def _distance(data: TaskData, pairs: PlacePairs, space: str) -> Array | None:
    """Distances of queries and references, (Q, R); None for a baseline that is not known."""
    if space == "pixels":
        return pairs.pixel_distances()
    if space == "untrained" and data.untrained is None:
        return None
    net = data.net if space == "features" else data.untrained
    assert net is not None
    return cosine_distances(_features(data, net, pairs.query), _features(data, net, pairs.reference))


def _features(data: TaskData, net: EgoNet, traverse: Traverse) -> Any:
    """The features of a traverse (N, D); those of the run's own store are computed once for all tasks."""
    if traverse.store is not data.store:
        found = embed(net, traverse.store, traverse.rows, fit=True, part=data.part)
    else:
        every = data.features if net is data.net else data.untrained_features
        assert every is not None
        found = every[traverse.rows]
    check_finite(found, pa.table({"recording": [traverse.name] * len(traverse), "frame": traverse.numbers}))
    return found


def _values(scores: Mapping[Way, PlaceScores], way: Way, chance: float) -> list[Value]:
    """Recall and area of one way to compare frames; those of the features beside the other ways."""
    (space, prior), own, values = way, scores[way], []
    for name in NAMES:
        title = f"{name}, {PRIOR}" if prior else name
        metric = Metric(name=title, title=title, within=(0.0, 1.0), family="recall")
        ends, known = own.interval(name), {}
        if space == "features":
            known = {other: scores[other, prior].score(name) for other in SPACES[1:] if (other, prior) in scores}
            known |= {"chance": chance} if name == "recall@1" and not prior else {}
        note = "" if np.isfinite(ends).all() else NO_INTERVAL
        values.append(Value(metric=metric, value=own.score(name), interval=ends, baselines=known, note=note))
    return values


def _finding(data: TaskData, pairs: PlacePairs, scores: Mapping[Way, PlaceScores], chance: float) -> Finding:
    each = {way: _values(scores, way, chance) for way in scores}
    shown = {(space, prior): f"{space} + {PRIOR}" if prior else space for space, prior in scores}
    rows = [(shown[way], *map(cell, values)) for way, values in each.items()]
    first = scores["features", False]
    found = plural(len(first.found.queries), "query frame has", "query frames have")
    notes = [*pairs.describe(), f"{found} a place among the reference frames"]
    table = Grid.of("places", ("by", *NAMES), rows, [*notes, f"chance of recall@1: {chance:.3f}", *NOTES])
    gains = _gains(scores)
    details = {
        "reference": pairs.reference.name,
        "query": pairs.query.name,
        "tolerance": str(pairs.tolerance),
        "truth": pairs.known_by,
        "queries": len(first.found.queries),
        "chance": chance,
        "block": first.length,
        "scores": {shown[way]: {name: own.score(name) for name in NAMES} for way, own in scores.items()},
        "gains": plain(gains),
    }
    said = [
        f"recall@1 above {name}: {gain['difference']:+.3f}"
        + (f" [{gain['interval'][0]:+.3f}, {gain['interval'][1]:+.3f}]" if np.isfinite(gain["interval"]).all() else "")
        for name, gain in gains.items()
    ]
    arrays: dict[str, NDArray[Any]] = {"query_frame": pairs.query.numbers, "reference_frame": pairs.reference.numbers}
    for (space, prior), own in scores.items():
        way = f"{space}{'_prior' * prior}"
        arrays |= {f"match_{way}": own.found.best, f"distance_{way}": own.found.distance}
        arrays[f"right_{way}"] = own.found.correct.astype(np.int64)
    notes = [*said, *_seen(data, pairs)]
    measured = (pairs.query.store, pairs.query.rows)
    values = [*each["features", False], *each["features", True]]
    return Finding(values, [table], details, arrays, notes, frames=measured)


def _gains(scores: Mapping[Way, PlaceScores]) -> dict[str, dict[str, Any]]:
    """How much better features are than pixels at recall@1, on the same frames, with the prior and without."""
    found = {}
    for prior in (False, True):
        own, other = scores["features", prior], scores["pixels", prior]
        name = f"pixels, both with the {PRIOR}" if prior else "pixels"
        difference = own.score("recall@1") - other.score("recall@1")
        found[name] = {"difference": difference, "interval": list(own.interval("recall@1", other))}
    return found


def _seen(data: TaskData, pairs: PlacePairs) -> list[str]:
    """A note where the network has learned from frames whose places are looked for."""
    if pairs.query.store is not data.store or data.untrained is None:  # a network that was not trained has seen none
        return []
    count = int(np.isin(pairs.query.rows, data.split.train).sum())
    return [f"the network was trained on {count:,} of {len(pairs.query):,} query frames"] if count else []
