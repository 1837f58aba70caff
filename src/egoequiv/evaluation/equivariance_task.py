"""The task `equivariance`: rho of every motion, and the averages of atomic and composite motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite, nan

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.evaluation.equivariance import MotionError, errors_of_pairs
from egoequiv.evaluation.findings import LEAKED_PAIRS, baseline_texts, cell, measured, notes_of
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.files import plain

COUNTS = ("pairs_fitted", "pairs_scored", "pairs_excluded")
NOTES = (
    "rho is 0 for perfectly equivariant features and 1 for the copy baseline, a map that changes nothing",
    "constant: rho of always predicting the mean; untrained: rho of the same network before training",
    "pairs whose two images have the same features are left out of rho, not of the ratio of means",
)


def rho_metric(
    name: str, title: str = "", *, motion: str | None = None, is_detail: bool = False, family: str = "rho"
) -> Metric:
    """An equivariance error, rho or a ratio: 1 is what copying the features gives."""
    return Metric(
        name=name,
        title=title or name.replace("_", " ", 1),
        better="lower",
        within=(0.0, None),
        family=family,
        motion=motion,
        is_detail=is_detail,
        baselines={"copy": 1.0},
    )


def equivariance(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the validation frames of a run, with the motions it is measured for."""
    on_progress("equivariance", 0, 1)
    frames = data.split.validation
    pairs = data.pairs(frames, data.named_patterns(options.motions))
    errors = errors_of_pairs(data.features[frames], frames, data.store, pairs, seed=options.seed)
    untrained = None
    if data.untrained_features is not None:
        untrained = errors_of_pairs(data.untrained_features[frames], frames, data.store, pairs, seed=options.seed)
    groups = {name: len(np.unique(data.store.recording[pairs.of(name).i])) for name in pairs.names}
    on_progress("equivariance", 1, 1)
    return finding_of(errors, untrained, groups, is_video=data.store.times_s is not None)


def finding_of(
    errors: Sequence[MotionError], untrained: Sequence[MotionError] | None, groups: dict[str, int], *, is_video: bool
) -> Finding:
    """Averages first, then each motion; `untrained` are the errors of the network before training."""
    before = {error.motion: error.rho for error in untrained or ()}
    rhos = [_rho(error, before, groups[error.motion]) for error in errors]
    by_group = {
        "atomic": [error for error in errors if "+" not in error.motion],
        "composite": [error for error in errors if "+" in error.motion],
    }
    means = [_mean(group, own, before) for group, own in by_group.items() if own]
    undefined = [f"{error.motion}: not defined, {error.why_undefined()}" for error in errors if error.why_undefined()]
    return Finding(
        values=[*means, *rhos, *_ratios(errors, by_group), _excluded(errors)],
        tables=[_table(errors, rhos, undefined)],
        details={"motions": plain([asdict(error) for error in errors])},
        notes=[*undefined, *notes_of(rhos), *([LEAKED_PAIRS] if is_video else [])],
    )


def _rho(error: MotionError, untrained: dict[str, float], groups: int) -> Value:
    metric = rho_metric(f"rho_{error.motion}", motion=error.motion)
    baselines = {"constant": error.constant}
    if error.motion in untrained:
        baselines["untrained"] = untrained[error.motion]
    note = error.why_undefined() or ""
    return measured(metric, error.rho, error.interval, groups=groups, baselines=baselines, note=note)


def _mean(group: str, errors: Sequence[MotionError], untrained: dict[str, float]) -> Value:
    """The mean over motions; not defined where one of them is not."""
    baselines = {"constant": float(np.mean([error.constant for error in errors]))}
    if untrained:
        baselines["untrained"] = float(np.mean([untrained.get(error.motion, nan) for error in errors]))
    undefined = [f"{error.motion}: {error.why_undefined()}" for error in errors if not isfinite(error.rho)]
    return Value(
        metric=rho_metric(f"rho_{group}"),
        value=float(np.mean([error.rho for error in errors])),
        baselines=baselines,
        note=undefined[0] if undefined else "",
    )


def _ratios(errors: Sequence[MotionError], by_group: dict[str, list[MotionError]]) -> list[Value]:
    """Ratios of means, which leave no pair out."""
    numbers = {group: float(np.mean([e.ratio_of_means for e in own])) for group, own in by_group.items() if own}
    numbers |= {error.motion: error.ratio_of_means for error in errors}
    motions = {name: None if name in by_group else name for name in numbers}
    metrics = [rho_metric(f"ratio_{n}", motion=motions[n], is_detail=True, family="ratio") for n in numbers]
    return [Value(metric=metric, value=value) for metric, value in zip(metrics, numbers.values(), strict=True)]


def _excluded(errors: Sequence[MotionError]) -> Value:
    metric = Metric(
        name="excluded_pairs", title="excluded pairs", digits=1, better="neither", within=(0.0, None), is_detail=True
    )
    return Value(metric=metric, value=float(sum(error.pairs_excluded for error in errors)))


def _table(errors: Sequence[MotionError], rhos: Sequence[Value], undefined: Sequence[str]) -> Grid:
    names = [name for name in ("constant", "untrained") if any(name in rho.baselines for rho in rhos)]
    counts = COUNTS if any(error.pairs_excluded for error in errors) else COUNTS[:2]
    rows = [
        (
            error.motion,
            cell(rho),
            *baseline_texts(rho, names),
            rho.metric.text(error.ratio_of_means),
            *(getattr(error, name) for name in counts),
        )
        for error, rho in zip(errors, rhos, strict=True)
    ]
    columns = ("motion", "rho", *names, "ratio of means", *("fitted", "scored", "left out")[: len(counts)])
    return Grid.of("equivariance error of each motion", columns, rows, [*undefined, *NOTES])
