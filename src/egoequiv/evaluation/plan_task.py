"""The task `plan`: walk to a goal view where every move has a picture, by plans of composed maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.fitted_on import shared_recordings, training_frames
from egoequiv.evaluation.plan_conditions import Outcome, Routes, errands_of, tried_errands, walks_each
from egoequiv.evaluation.plan_models import OWN, Pairings, Planned, fitted, own_or_fitted, pixel_features
from egoequiv.evaluation.plan_result import GREEDY, PIXELS, RANDOM, RUN, SAME, UNTRAINED, Condition, finding_of
from egoequiv.evaluation.pose_grid import PoseGrid, partners, pose_grid, things_of
from egoequiv.evaluation.rendered_grid import NOTE, can_render, rendered_grid
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.models.network import ALL
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural

SETTINGS = "for every way to plan, the errors of predictions, which weigh features and views, and the cost of a step"
FEWEST, EVERY = 10, 5  # things in validation, of which every fifth is kept for the settings


def plan(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: walks in validation recordings, with settings from others that the run has not learned from either."""
    notes: list[str] = []
    if can_render(data.store):
        data, notes = rendered_grid(data, on_progress), [NOTE]
    whole = pose_grid(data.store)
    data.look(np.arange(len(data.store)))  # an error where features are not finite
    is_shared = shared_recordings(data) > 0
    measured = np.unique(data.store.recording[data.split.validation])
    frames = np.flatnonzero(np.isin(data.store.recording, measured)) if is_shared else data.split.validation
    tuning, grid, said = _divided(data, whole, frames, is_shared)
    pairings, tuned = _pairings(data, grid), _pairings(data, tuning)
    routes = {
        name: Routes(
            tuning,
            pairs := tuned.get(name, tuned[SAME]),
            grid,
            errands_of(grid, reported, data.split.validation, walks_each(reported), options.seed),
            tried_errands(tuning, pairs, options.seed),
            options.seed,
        )
        for name, reported in pairings.items()
    }
    if not all(own.errands for own in routes.values()):
        raise DataError(f"{data.store.place}: no two validation frames of one recording are at different places")
    plans, maps, lacking = _plans(data, whole)
    things = things_of(data.store) if len(pairings) > 1 else None
    conditions = [
        Condition(name, grid, routes[name].errands, outcomes, things)
        for name, outcomes in _walk(data, routes, plans, on_progress).items()
    ]
    notes += [f"{name} left out: {why}" for name, why in lacking.items()]
    notes += [f"the maps are those of the run; {said}" if maps == OWN else said]
    return finding_of(data.store, conditions, maps, [*notes, *_notes(data, pairings, tuned, is_shared)])


def _divided(data: TaskData, whole: PoseGrid, frames: Indices, is_shared: bool) -> tuple[PoseGrid, PoseGrid, str]:
    """Recordings for the settings and recordings to walk in, of other things; and a note on the former.

    A run predicts recordings that it learned from better than others, so that settings from them suit these alone.
    Where validation shows few things, or divides recordings, there is no choice.
    """
    grid = whole.only(frames)
    things = things_of(data.store)[grid.recordings]
    every = np.unique(things)
    if is_shared or len(every) < FEWEST:
        return whole.only(training_frames(data)), grid, f"{SETTINGS} are from training recordings"
    kept = np.isin(things, every[::EVERY])
    others = plural(int(kept.sum()), "other validation recording")
    note = f"{SETTINGS} are from {others}, of things that are not walked around"
    return grid.only(grid.rows[kept]), grid.only(grid.rows[~kept]), note


def _plans(data: TaskData, grid: PoseGrid) -> tuple[dict[str, Planned], str, dict[str, str]]:
    """What walks plan with, by way to walk; whose maps the run's are; and which baselines lack maps, and why."""
    planned, maps = own_or_fitted(data, grid)
    found, lacking = {RUN: planned}, {}
    makes: dict[str, Callable[[], Planned]] = {}
    if data.store.has_images:
        makes[PIXELS] = partial(_pixels, data, grid)
    if (before := data.of_part(ALL).untrained_features) is not None:
        makes[UNTRAINED] = partial(fitted, data, grid, before)
    for name, make in makes.items():
        try:
            found[name] = make()
        except TooFewPairsError as problem:
            lacking[name] = str(problem)
    return found, maps, lacking


def _pixels(data: TaskData, grid: PoseGrid) -> Planned:
    """Pixels with fitted maps; the same for all runs on these frames."""
    train = data.split.train
    return data.once(("pixels to plan with", train), lambda: fitted(data, grid, pixel_features(data.store, train)))


def _walk(
    data: TaskData, routes: Mapping[str, Routes], plans: Mapping[str, Planned], on_progress: OnProgress
) -> dict[str, dict[str, Outcome]]:
    """What became of the walks, by condition and way to walk; walks by pixels are the same for all runs."""
    total = sum(len(plans) * own.planned_walks + 2 * own.walks for own in routes.values())
    done = 0

    def on_walks(count: int) -> None:
        nonlocal done
        done += count
        on_progress("walks", done, total)

    found: dict[str, dict[str, Outcome]] = {}
    on_walks(0)
    for name, own in routes.items():
        outcomes = found.setdefault(name, {})
        for way, planned in plans.items():
            key, before = ("plan by pixels", name, own.seed, data.split.train, data.split.validation), done
            walk = partial(own.by_plans, planned, on_walks)
            outcomes[way] = data.once(key, walk) if way == PIXELS else walk()
            on_walks(before + own.planned_walks - done)
        outcomes[GREEDY] = own.greedily(plans[RUN])
        outcomes[RANDOM] = own.at_random()
        on_walks(2 * own.walks)
    return found


def _pairings(data: TaskData, grid: PoseGrid) -> dict[str, Pairings]:
    """Where one walks and where the goal was seen: one recording, and two that differ in one attribute."""
    found: dict[str, Pairings] = {SAME: [(int(number), int(number)) for number in grid.recordings]}
    attribute, others = partners(data.store, grid.recordings)
    if attribute:
        found[f"other {attribute}"] = [(own, other) for own, several in others.items() for other in several]
    return found


def _notes(data: TaskData, pairings: dict[str, Pairings], tuned: dict[str, Pairings], is_shared: bool) -> list[str]:
    divides = f"split {data.split.kind}: it divides recordings, so walks pass frames that the run was trained on"
    notes = [divides] if is_shared else []
    if len(pairings) > 1:
        notes.append("intervals are over things: recordings with the same label are one")
    else:
        notes.append(
            "no two validation recordings of one thing differ in one attribute: every goal is in the same recording"
        )
    if (data.store.labels[data.split.validation] < 0).any():
        notes.append("recordings without a label are not paired: whether two of them show the same thing is not known")
    notes += [
        f"no recordings for the settings are paired by {name}: the errors for it are measured within single recordings"
        for name in pairings
        if name not in tuned
    ]
    return notes
