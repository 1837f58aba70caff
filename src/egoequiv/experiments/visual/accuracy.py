"""How far the motion that pictures show is from that of the log: errors of steps, and drift over ten seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.engines import Engine
from egoequiv.errors import DataError
from egoequiv.evaluation.metric import Metric
from egoequiv.evaluation.statistics import Result
from egoequiv.evaluation.task import OnProgress
from egoequiv.experiments.table import Entry, Row, Table
from egoequiv.odometry.steps import VisualSteps
from egoequiv.odometry.watch import Watched, watch
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.sources import Source
from egoequiv.sources.part import RecordingPart

Array = NDArray[np.float64]

DRIFT_S = 10.0
MOVES = 0.2  # of the usual way of a step: with less, the direction of the log is noise
METRICS = (
    Metric(name="steps", title="steps", digits=0, better="neither"),
    Metric(name="field_of_view_deg", title="field of view, °", digits=1, better="neither"),
    Metric(name="turn_deg", title="turn in the log, median °", digits=2, better="neither"),
    Metric(name="rotation_deg", title="rotation error, median °", digits=2, better="lower"),
    Metric(name="rotation_90_deg", title="90 % quantile °", digits=2, better="lower"),
    Metric(name="direction_deg", title="direction error, median °", digits=1, better="lower"),
    Metric(name="direction_90_deg", title="direction, 90 % quantile °", digits=1, better="lower"),
    Metric(name="rotation_untold", title="rotation not told, %", digits=1, better="lower", is_percent=True),
    Metric(name="direction_untold", title="direction not told, %", digits=1, better="lower", is_percent=True),
    Metric(name="drift_deg", title="rotation drift over 10 s, median °", digits=2, better="lower"),
    Metric(name="drifts", title="stretches of 10 s", digits=0, better="neither"),
)


@dataclass(frozen=True, eq=False)
class StepErrors:
    """The errors of the steps of one recording; NaN: pictures or log do not tell."""

    turn_deg: Array  # (S,) of the log
    rotation_deg: Array  # (S,)
    direction_deg: Array  # (S,)
    moves: NDArray[np.bool_]  # (S,) whether the log moves enough to have a direction
    drift_deg: Array  # (D,) of stretches of ten seconds


def accuracy_table(sources: Mapping[str, Source], engine: Engine, on_progress: OnProgress) -> Table:
    """A row for each log and lens: that of its files, where it has one, and a guess."""
    rows = []
    for name, source in sources.items():
        if not set(CAMERA_POSES) <= set(source.pose_columns):
            raise DataError(f"{name}: the log has no poses of a camera to compare with")
        known = replace(source, recordings=[one for one in source.recordings if one.lens is not None])
        bare = [RecordingPart(one, range(len(one)), one.name, np.asarray(one.poses)) for one in source.recordings]
        guessed = replace(source, recordings=bare)  # without a lens
        for lens, log in (("lens of the log", known), ("guessed lens", guessed)):
            if log.recordings:
                report = partial(on_progress, f"{name}, {lens}")
                rows.append(_row(f"{name}, {lens}", watch(log, engine=engine, on_progress=report), source.pose_columns))
    return Table(
        title="Motion from pictures against the poses of logs",
        metrics=list(METRICS),
        columns=tuple(metric.name for metric in METRICS),
        rows=rows,
        about={
            "steps": "between pictures about 0.1 s apart",
            "direction": f"where the log moves more than {MOVES:g} of its usual step",
        },
    )


def step_errors(steps: VisualSteps, poses: Array, times_s: Array | None) -> StepErrors:
    """Compare steps with poses.

    Args:
        steps: of one recording.
        poses: (N, 7) of its frames, as `CAMERA_POSES`.
        times_s: (N,), or None: then no drift is measured.

    """
    motion = SE3Space().difference(poses[steps.first], poses[steps.second])
    moved, turned = motion[:, :3], motion[:, 3:]
    told = steps.rotation_known
    rotation = np.full(len(steps), np.nan)
    seen = Rotation.from_rotvec(np.where(told[:, None], steps.rotation_deg, 0.0), degrees=True)
    true = Rotation.from_rotvec(turned, degrees=True)
    rotation[told] = np.rad2deg((true.inv() * seen).magnitude())[told]
    length = np.linalg.norm(moved, axis=1)
    usual = float(np.median(length[length > 0])) if (length > 0).any() else np.inf
    moves = length > MOVES * usual
    has_direction = moves & (np.linalg.norm(steps.direction, axis=1) > 0.5)
    cosine = (steps.direction * moved).sum(axis=1) / np.maximum(length, 1e-12)
    direction = np.where(has_direction, np.rad2deg(np.arccos(np.clip(cosine, -1.0, 1.0))), np.nan)
    drift = np.empty(0) if times_s is None else _drifts(steps, times_s, true, seen)
    return StepErrors(np.linalg.norm(turned, axis=1), rotation, direction, moves, drift)


def _drifts(steps: VisualSteps, times_s: Array, true: Rotation, seen: Rotation) -> Array:
    """The error of the rotation over each stretch of ten seconds in which every step is told."""
    found = []
    first_s, second_s = times_s[steps.first], times_s[steps.second]
    begin = 0
    while begin < len(steps):
        end = int(np.searchsorted(second_s, first_s[begin] + DRIFT_S))  # the step that completes the stretch
        if end >= len(steps):
            break
        rows = range(begin, end + 1)
        begin = end + 1
        if not steps.rotation_known[rows].all():
            continue
        whole = [Rotation.identity(), Rotation.identity()]
        for k in rows:
            whole = [whole[0] * true[k], whole[1] * seen[k]]
        found.append(float(np.rad2deg((whole[0].inv() * whole[1]).magnitude())))
    return np.array(found)


def _row(name: str, watched: Sequence[Watched], pose_columns: Sequence[str]) -> Row:
    rigid = [list(pose_columns).index(column) for column in CAMERA_POSES]
    each = [
        step_errors(
            one.steps,
            np.asarray(one.recording.poses)[:, rigid],
            None if one.recording.times_s is None else np.asarray(one.recording.times_s),
        )
        for one in watched
    ]
    turn, rotation, direction, moves, drift = (
        np.concatenate([getattr(one, part) for one in each])
        for part in ("turn_deg", "rotation_deg", "direction_deg", "moves", "drift_deg")
    )
    values = {
        "steps": float(len(turn)),
        "field_of_view_deg": float(np.median([one.lens.view_deg for one in watched])),
        "turn_deg": quantile(turn, 0.5),
        "rotation_deg": quantile(rotation, 0.5),
        "rotation_90_deg": quantile(rotation, 0.9),
        "direction_deg": quantile(direction, 0.5),
        "direction_90_deg": quantile(direction, 0.9),
        "rotation_untold": 100 * float(np.isnan(rotation).mean()),
        "direction_untold": 100 * float(np.isnan(direction[moves]).mean()) if moves.any() else np.nan,
        "drift_deg": quantile(drift, 0.5),
        "drifts": float(len(drift)),
    }
    entries = {key: Entry(result=Result((value,))) for key, value in values.items()}
    return Row(name=name, method="visual", uses_labels=False, entries=entries)


def quantile(values: Array, q: float) -> float:
    """A quantile of the values that are known; NaN if there are none."""
    known = values[np.isfinite(values)]
    return float(np.quantile(known, q)) if len(known) else float("nan")
