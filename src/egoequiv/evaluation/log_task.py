"""The task `log`: what features are good for on a log: reading motion, saying what comes, finding a place again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.equivariance_task import divided_frames
from egoequiv.evaluation.findings import baseline_texts, cell, measured, notes_of
from egoequiv.evaluation.frame_features import Features, fold_groups, groups_of, small_images
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.place_search import patch_normalised
from egoequiv.evaluation.probes import LinearProbe, TrainingPart
from egoequiv.evaluation.readout import draw_pairs
from egoequiv.evaluation.statistics import GroupEstimate, group_mean, group_r2
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.pairs.places import usual_place_m
from egoequiv.pairs.revisits import find_coming_pairs, place_positions
from egoequiv.pairs.shared import comparable_places
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
LABELS, DRAWS = 200, 5  # frames whose coming motion is known, and how often they are drawn
FEWEST = 50  # frames or pairs, to fit or to measure on
MOST_PAIRS, MOST_PLACES = 10_000, 4_000
TOLERANCE_S = 0.75  # a place is found where the match is nearer than the way of the camera in this time
AT_ONCE = 512  # queries that are compared with all reference frames
NOTES = (
    "untrained: the same network before training; frozen: the backbone without the head, its cells in their principal "
    "components; pixels: small images, patch-normalised for places; mean: always the mean; chance: any training frame"
)
Look = Callable[[Indices], Features]


@dataclass(frozen=True)
class Ability:
    """One thing that features may be good for: its metric, and how to measure it on any features."""

    metric: Metric
    measure: Callable[[Look], GroupEstimate]
    groups: Indices  # of what is measured, for the interval
    pixels: Callable[[Indices], Features] | None = None  # in place of small images


def log_task(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: probes and places are fitted on training frames, and measured on validation frames."""
    fitted, frames, notes = divided_frames(data, options)
    if fitted is None:
        raise DataError(
            f"{data.store.place}: its frames are not those of a log, with times and recordings to divide them by"
        )
    abilities, missing = _abilities(data, fitted, frames, options.seed)
    if not abilities:
        raise DataError(f"{data.store.place}: {'; '.join(missing)}")
    looks = _looks(data)
    values = []
    for number, ability in enumerate(abilities):
        on_progress("On this log", number, len(abilities))
        values.append(_value(ability, looks))
    names = list(dict.fromkeys(name for value in values for name in value.all_baselines()))
    rows = [(value.metric.title, cell(value), *baseline_texts(value, names)) for value in values]
    table = Grid.of("what the features are good for on this log", ("measured", "features", *names), rows, [NOTES])
    return Finding(values, [table], notes=[*missing, *notes_of(values), *notes])


def _looks(data: TaskData) -> Mapping[str, Look]:
    """The features of rows, by the name of what they are features of."""
    known = {"": data.features, "untrained": data.untrained_features, "frozen": data.frozen_features}
    looks: dict[str, Look] = {name: array.__getitem__ for name, array in known.items() if array is not None}
    if data.store.has_images:
        looks["pixels"] = lambda rows: small_images(data.store, rows).z
    return looks


def _value(ability: Ability, looks: Mapping[str, Look]) -> Value:
    found = ability.measure(looks[""])
    others = {
        name: ability.measure(ability.pixels if name == "pixels" and ability.pixels else look).value
        for name, look in looks.items()
        if name
    }
    interval = ability.metric.cut(found.interval(within=(-np.inf, 1.0)))
    groups = len(np.unique(ability.groups))
    return measured(ability.metric, found.value, interval, groups=groups, baselines=others)


def _abilities(data: TaskData, fitted: Indices, frames: Indices, seed: int) -> tuple[list[Ability], list[str]]:
    """What can be measured on these frames, and why something cannot."""
    found: list[Ability] = []
    missing: list[str] = []
    for make in (_two_frames, _coming, _places):
        try:
            found += make(data, fitted, frames, seed)
        except DataError as problem:
            missing.append(str(problem))
    return found, missing


def _two_frames(data: TaskData, fitted: Indices, frames: Indices, seed: int) -> list[Ability]:
    """Motion, read from two frames."""
    axes = _main_axes(data)
    fit, test = (_pairs(data, rows, seed) for rows in (fitted, frames))
    if min(len(fit[0]), len(test[0])) < FEWEST:
        raise DataError("motion is not read from two frames, because there are too few pairs of frames")
    some = [np.sort(thinned(np.arange(len(pairs[0])), MOST_PAIRS, seed)) for pairs in (fit, test)]
    fit, test = ((pairs[0][rows], pairs[1][rows]) for pairs, rows in zip((fit, test), some, strict=True))

    def both(look: Look, pairs: tuple[Indices, Indices]) -> Features:
        i, j = (look(rows) for rows in pairs)
        return np.concatenate([i, j], axis=1)

    return [_reading(data, f"R2 of {name} from two frames", both, fit, test, axis, seed) for axis, name in axes.items()]


def _pairs(data: TaskData, rows: Indices, seed: int) -> tuple[Indices, Indices]:
    """Frames and those that come a step of the longest gap later; without times, pairs of neighbours."""
    if data.store.times_s is None:
        return draw_pairs(data.store, rows, data.max_gap_s, seed)
    return find_coming_pairs(data.store, rows, data.max_gap_s)


def _coming(data: TaskData, fitted: Indices, frames: Indices, seed: int) -> list[Ability]:
    """What the camera does next, read from one frame with few labels."""
    fit, test = (find_coming_pairs(data.store, rows, data.max_gap_s) for rows in (fitted, frames))
    if min(len(fit[0]), len(test[0])) < FEWEST:
        raise DataError("what comes next is not read from one frame, because too few frames have times and a next one")
    rng = np.random.default_rng([seed, 0xC0])
    draws = [np.sort(rng.permutation(len(fit[0]))[:LABELS]) for _ in range(DRAWS)]
    labels = f"{min(LABELS, len(fit[0]))} labels"
    return [
        _reading(data, f"R2 of the coming {name} from one frame, {labels}", _first, fit, test, axis, seed, draws)
        for axis, name in _main_axes(data).items()
    ]


def _first(look: Look, pairs: tuple[Indices, Indices]) -> Features:
    return look(pairs[0])


def _reading(
    data: TaskData,
    title: str,
    inputs: Callable[[Look, tuple[Indices, Indices]], Features],
    fit: tuple[Indices, Indices],
    test: tuple[Indices, Indices],
    axis: int,
    seed: int,
    draws: Sequence[Indices] | None = None,
) -> Ability:
    """R2 of one component of motion, read by ridge regression; the mean over draws of labels."""
    store = data.store
    known, true = (_motion(store, pairs)[:, axis] for pairs in (fit, test))
    groups = groups_of(store, "recording")[test[0]]
    every = [np.arange(len(known))] if draws is None else draws

    def measure(look: Look) -> GroupEstimate:
        z_fit, z_test = (np.asarray(inputs(look, pairs), np.float64) for pairs in (fit, test))
        squared = np.zeros(len(true))
        for rows in every:
            probe = LinearProbe(TrainingPart(fold_groups(store, fit[0][rows]), seed))
            read = probe.fit(z_fit[rows], known[rows, None]).predict(z_test)[:, 0]
            squared += (read - true) ** 2 / len(every)
        return group_r2(true, squared, groups)

    metric = Metric(name=title, title=title, family="R2", within=(None, 1.0), baselines={"mean": 0.0})
    return Ability(metric, measure, groups)


def _motion(store: FrameStore, pairs: tuple[Indices, Indices]) -> Array:
    return store.space.difference(store.poses[pairs[0]], store.poses[pairs[1]])


def _main_axes(data: TaskData) -> dict[int, str]:
    """Of each unit, the component of motion that varies most: the way forward and the turn of a car."""
    axes = data.store.space.axes
    if not axes:
        raise DataError("motion is not read, because there are no poses")
    rows = data.split.validation
    i, j = _pairs(data, rows, 0)
    spread = _motion(data.store, (i, j)).std(axis=0) if len(i) else np.zeros(len(axes))
    main: dict[int, str] = {}
    for unit in dict.fromkeys(axis.unit for axis in axes):
        own = [k for k, axis in enumerate(axes) if axis.unit == unit]
        best = max(own, key=lambda k: float(spread[k]))
        if spread[best] > 0:
            main[best] = axes[best].name
    if not main:
        raise DataError("motion is not read, because the camera does not move")
    return main


def _places(data: TaskData, fitted: Indices, frames: Indices, seed: int) -> list[Ability]:
    """The place of a validation frame, found among training frames."""
    store = data.store
    positions = place_positions(store)
    if positions is None:
        raise DataError("places are not looked for, because there are no positions")
    tolerance = TOLERANCE_S * usual_place_m(store)
    reference, query = np.sort(thinned(fitted, 4 * MOST_PLACES, seed)), np.sort(thinned(frames, MOST_PLACES, seed))
    maps = comparable_places(store)

    def right(queries: Indices, matches: Indices) -> NDArray[np.bool_]:
        apart = np.linalg.norm(positions[queries] - positions[matches], axis=1)
        found: NDArray[np.bool_] = (apart <= tolerance) & (maps[queries] == maps[matches])
        return found

    seen = _share_near(positions, maps, query, reference, tolerance)
    query, chance = query[seen > 0], float(seen[seen > 0].mean()) if (seen > 0).any() else nan
    if len(query) < FEWEST:
        raise DataError("places are not looked for, because the camera hardly comes back to where it was in training")
    groups = groups_of(store, "recording")[query]

    def measure(look: Look) -> GroupEstimate:
        found = nearest(look(query), look(reference))
        return group_mean(right(query, reference[found]).astype(np.float64), groups)

    def small(rows: Indices) -> Features:
        return np.concatenate(
            [patch_normalised(store.images[own]) for own in np.array_split(rows, len(rows) // 256 + 1)]
        )

    unit = store.space.length_unit
    name = f"place found again within {tolerance:.2g} {unit}"
    known = {"chance": chance} if isfinite(chance) else {}
    metric = Metric(name=name, title=name, family="recall", within=(0.0, 1.0), baselines=known)
    return [Ability(metric, measure, groups, small)]


def _share_near(positions: Array, maps: Indices, query: Indices, reference: Indices, tolerance: float) -> Array:
    """The share of the reference frames that show the place of each query, (Q,)."""
    from scipy.spatial import KDTree

    shares = np.zeros(len(query))
    for code in np.unique(maps[query]):
        own, there = np.flatnonzero(maps[query] == code), reference[maps[reference] == code]
        if len(there):
            tree = KDTree(positions[there])
            counts = tree.query_ball_point(positions[query[own]], tolerance, return_length=True)
            shares[own] = counts / len(reference)
    return shares


def nearest(queries: Features, references: Features) -> Indices:
    """The reference of each query with the largest cosine, (Q, D), (R, D) -> (Q,)."""
    queries, references = (
        z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12) for z in (queries, references)
    )
    starts = range(0, len(queries), AT_ONCE)
    return np.concatenate([(queries[at : at + AT_ONCE] @ references.T).argmax(axis=1) for at in starts])
