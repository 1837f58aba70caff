"""The task `maps`: rho of the maps that a run has learned itself, for motions it was trained on and for others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.collapsed import of_collapsed
from egoequiv.evaluation.equivariance import MotionError, score_mapped
from egoequiv.evaluation.equivariance_task import rho_metric, rho_value
from egoequiv.evaluation.findings import cell, notes_of
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.evaluation.metric import Value
from egoequiv.evaluation.run_model import map_features
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, counted
from egoequiv.models.network import ALL
from egoequiv.pairs import atomic_names, composite_names

NOTE = "the maps are those of the run, not fitted ones; rho is 1 where features are copied"


def own_maps(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on pairs of validation frames, every motion by the run's map of exactly that motion."""
    maps = data.net.motion_maps
    if maps is None:
        raise DataError(
            "this run has no maps of any motion: train recording+motion, or measure fitted maps by `equivariance`"
        )
    if data.part not in (ALL, data.net.mapped_part):
        raise DataError(f"the maps of this run act on the part {data.net.mapped_part}, not on {data.part}")
    names = options.motions or _motions(data)
    pairs = data.pairs(None, names)
    z = data.of_part(data.net.mapped_part).features
    recordings = groups_of(data.store, "recording")
    errors = []
    for name in counted(pairs.names, "maps", on_progress):
        own = pairs.of(name)
        motion = data.store.space.difference(data.store.poses[own.i], data.store.poses[own.j])
        mapped = map_features(maps, z[own.j], -motion).astype(np.float64)  # back
        errors.append(score_mapped(mapped, z[own.i], z[own.j], recordings[own.i], name))
    # In video motions have no steps, and maps were trained on all of them.
    learned = data.learned if data.store.space.named_motions() else pairs.names
    found = _finding(errors, learned)
    is_hidden = data.part == ALL and data.has_collapsed(data.net.mapped_part)  # among features that have not collapsed
    return of_collapsed(found, data.net.mapped_part) if is_hidden else found


def _motions(data: TaskData) -> tuple[str, ...] | None:
    """Of a grid the steps, the diagonals and two steps along each axis; else the motions of the run."""
    steps = atomic_names(data.store.space)
    return (*steps, *composite_names(data.store.space), *(f"{name}+{name}" for name in steps)) if steps else None


def _finding(errors: Sequence[MotionError], learned: Sequence[str]) -> Finding:
    """The means of trained and of other motions first, then each motion."""
    values = [
        rho_value(
            error, rho_metric(f"own_{error.motion}", f"own rho {error.motion}", motion=error.motion, family="own")
        )
        for error in errors
    ]
    is_learned = [error.motion in learned for error in errors]
    means = [
        Value(metric=rho_metric(f"own_{name}", f"own rho, {words}", family="own"), value=float(np.mean(rhos)))
        for name, words, want in (("trained", "trained motions", True), ("others", "other motions", False))
        if (rhos := [error.rho for error, known in zip(errors, is_learned, strict=True) if known is want])
    ]
    rows = [
        (
            error.motion,
            "yes" if known else "no",
            cell(value),
            value.metric.text(error.ratio_of_means),
            error.pairs_scored,
        )
        for error, known, value in zip(errors, is_learned, values, strict=True)
    ]
    columns = ("motion", "trained", "rho", "ratio of means", "pairs")
    table = Grid.of("equivariance error of the run's own maps", columns, rows, [NOTE])
    return Finding(values=[*means, *values], tables=[table], notes=notes_of(values))
