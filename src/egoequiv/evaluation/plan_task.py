"""The task `plan`: walk to a goal view on a grid of poses, by plans of composed maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.fitted_on import shared_recordings, training_frames
from egoequiv.evaluation.plan_conditions import (
    Outcome,
    at_random,
    by_plans,
    errands_of,
    greedily,
    prepare,
    walks_each,
)
from egoequiv.evaluation.plan_models import OWN, Pairings, Planned, fitted, own_or_fitted, pixel_features
from egoequiv.evaluation.plan_result import GREEDY, PIXELS, RANDOM, RUN, SAME, UNTRAINED, Condition, finding_of
from egoequiv.evaluation.plan_walks import Errands
from egoequiv.evaluation.pose_grid import PoseGrid, partners, pose_grid, things_of
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.models.network import ALL

T = TypeVar("T")
SETTINGS = "the errors of predictions, which weigh features and views, are measured on training recordings alone"


def plan(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: settings from training recordings, walks in those of validation."""
    whole = pose_grid(data.store)
    training = whole.only(training_frames(data))
    is_shared = shared_recordings(data) > 0
    measured = np.unique(data.store.recording[data.split.validation])
    frames = np.flatnonzero(np.isin(data.store.recording, measured)) if is_shared else data.split.validation
    grid = whole.only(frames)
    planned, maps = own_or_fitted(data, whole)
    lacking: dict[str, str] = {}  # baselines whose maps cannot be fitted, and why
    before = data.of_part(ALL).untrained_features
    untrained = None if before is None else _unless_too_few(UNTRAINED, lacking, partial(fitted, data, whole, before))
    pairings, trained = _pairings(data, grid), _pairings(data, training)
    things = things_of(data.store) if len(pairings) > 1 else None
    conditions = []
    for number, (name, pairs) in enumerate(pairings.items()):
        on_progress("walks", number, len(pairings))
        errands = errands_of(grid, pairs, data.split.validation, walks_each(pairs), options.seed)
        if not errands:
            raise DataError(f"{data.store.place}: no two validation frames of one recording are at different places")
        walk = partial(_walk, training, trained.get(name, trained[SAME]), grid, errands, options.seed)
        outcomes = {RUN: walk(planned)}
        if data.store.has_images:
            key = ("plan by pixels", name, options.seed, data.split.train, data.split.validation)
            make = partial(_walk_by_pixels, walk, data, whole)
            by_pixels = _unless_too_few(PIXELS, lacking, partial(data.once, key, make))
            if by_pixels is not None:
                outcomes[PIXELS] = by_pixels
        if untrained is not None:
            outcomes[UNTRAINED] = walk(untrained)
        outcomes[GREEDY] = greedily(planned, grid, errands)
        outcomes[RANDOM] = at_random(grid, errands, options.seed)
        conditions.append(Condition(name, grid, errands, outcomes, things))
    on_progress("walks", len(pairings), len(pairings))
    notes = [f"{name} left out: {why}" for name, why in lacking.items()]
    return finding_of(data.store, conditions, maps, [*notes, *_notes(data, pairings, trained, maps, is_shared)])


def _unless_too_few(name: str, lacking: dict[str, str], make: Callable[[], T]) -> T | None:
    """What is made for a baseline; None where its maps cannot be fitted, which `lacking` then says of it."""
    try:
        return make()
    except TooFewPairsError as problem:
        lacking[name] = str(problem)
        return None


def _walk(
    training: PoseGrid, pairings: Pairings, grid: PoseGrid, errands: list[Errands], seed: int, planned: Planned
) -> Outcome:
    return by_plans(*prepare(planned, training, pairings, seed), grid, errands)


def _walk_by_pixels(walk: Callable[[Planned], Outcome], data: TaskData, grid: PoseGrid) -> Outcome:
    """Pixels with fitted maps."""
    z = data.once(("pixels to plan with", data.split.train), partial(pixel_features, data.store, data.split.train))
    return walk(fitted(data, grid, z))


def _pairings(data: TaskData, grid: PoseGrid) -> dict[str, Pairings]:
    """Where one walks and where the goal was seen: one recording, and two that differ in one attribute."""
    found: dict[str, Pairings] = {SAME: [(int(number), int(number)) for number in grid.recordings]}
    attribute, others = partners(data.store, grid.recordings)
    if attribute:
        found[f"other {attribute}"] = [(own, other) for own, several in others.items() for other in several]
    return found


def _notes(
    data: TaskData, pairings: dict[str, Pairings], trained: dict[str, Pairings], maps: str, is_shared: bool
) -> list[str]:
    notes = [SETTINGS if maps != OWN else f"the maps are those of the run; {SETTINGS}"]
    if is_shared:
        notes.append(
            f"split {data.split.kind}: it divides recordings, so walks pass frames that the run was trained on"
        )
    if len(pairings) > 1:
        notes.append("intervals are over things: recordings with the same label are one")
    else:
        notes.append(
            "no two validation recordings of one thing differ in one attribute: every goal is in the same recording"
        )
    if (data.store.labels[data.split.validation] < 0).any():
        notes.append("recordings without a label are not paired: whether two of them show the same thing is not known")
    notes += [
        f"no training recordings are paired by {name}: the errors for it are measured within single recordings"
        for name in pairings
        if name not in trained
    ]
    return notes
