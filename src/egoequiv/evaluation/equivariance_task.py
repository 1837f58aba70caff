"""The task `equivariance`: rho of every motion, and the averages of atomic and composite motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import nan
from typing import Any

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.evaluation.equivariance import Features, MotionError, errors_of_pairs
from egoequiv.evaluation.findings import LEAKED_PAIRS, baseline_texts, cell, measured, notes_of
from egoequiv.evaluation.fitted_on import MOST_FITTED, fitted_apart_notes, halved_notes, training_frames
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.files import plain
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.pairs.splits import PAPER, first_fitting

COUNTS = {"pairs_fitted": "fitted", "pairs_scored": "scored", "pairs_excluded": "left out"}
MOST_APART = 2.0  # times the ratio of means that rho may be, or the other way round, before a note says so
FITTED_ON_HALF = (
    "maps are fitted on one half of the frames ({kind}), by ridge regression of the change of features, and measured "
    "on the other half"
)
NOTES = (
    "rho is 0 for perfectly equivariant features and 1 for the copy baseline, a map that changes nothing",
    "constant: rho of always predicting the mean; untrained: rho of the same network before training",
    "pairs whose two images have the same features are left out of rho, not of the ratio of means",
)


def rho_metric(name: str, title: str = "", *, family: str = "rho", **more: Any) -> Metric:
    """An equivariance error, rho or a ratio: 1 is what copying the features gives."""
    shown = title or name.replace("_", " ", 1)
    within = (0.0, None)
    return Metric(name=name, title=shown, better="lower", within=within, family=family, baselines={"copy": 1.0}, **more)


def rho_value(error: MotionError, metric: Metric, baselines: Mapping[str, float] | None = None) -> Value:
    """Rho of a motion as a value, with why it is not defined where it is not."""
    note = error.why_undefined() or ""
    return measured(metric, error.rho, error.interval, groups=error.recordings, baselines=baselines, note=note)


def equivariance(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
    """The task: on the validation frames of a run, with the motions it is measured for.

    In video, nearly the same pairs would be in two random halves. So maps are fitted on training frames there, and
    measured on validation frames; where all frames are measured, on halves that are recordings, or blocks of time with
    a gap between them. Frames on a grid are divided at random, as in the paper, unless `fit_on` says otherwise.
    """
    store, (fitted, frames, notes) = data.store, _parts(data, options)
    pairs = data.pairs(frames, options.motions)
    training = None if fitted is None else _thinned(data.pairs(fitted, options.motions), options.seed)

    def measure(z: Features) -> list[MotionError]:
        if training is None:
            return errors_of_pairs(z[frames], frames, store, pairs, seed=options.seed)
        return errors_of_pairs(z, np.arange(len(store)), store, pairs, training=training)

    errors = measure(data.features)
    untrained = [] if data.untrained_features is None else measure(data.untrained_features)
    return _finding(errors, {error.motion: error.rho for error in untrained}, notes)


def _parts(data: TaskData, options: TaskOptions) -> tuple[Indices | None, Indices, list[str]]:
    """The frames to fit maps on, those to measure them on, and notes; the first is None if pairs are divided."""
    store, split, is_grid = data.store, data.split, bool(data.store.space.named_motions())
    everything = bool(np.intersect1d(split.train, split.validation).size)
    if options.fit_on == "training" or (options.fit_on == "auto" and not is_grid and not everything):
        return training_frames(data), split.validation, fitted_apart_notes(data)
    if is_grid:
        return None, split.validation, halved_notes(data)
    if options.fit_on == "half":
        return None, split.validation, [LEAKED_PAIRS]
    halves = first_fitting(store, split.validation, seed=options.seed, train_fraction=0.5, max_gap_s=data.max_gap_s)
    if halves.kind == PAPER:
        return None, split.validation, [LEAKED_PAIRS]
    return halves.train, halves.validation, [FITTED_ON_HALF.format(kind=halves.kind)]


def _thinned(pairs: MotionPairs, seed: int) -> MotionPairs:
    """At most so many pairs of each motion to fit a map on."""
    kept = [thinned(np.flatnonzero(pairs.pattern == number), MOST_FITTED, seed) for number in range(len(pairs.names))]
    return pairs.take(np.concatenate([np.empty(0, np.int64), *kept]))


def _finding(errors: Sequence[MotionError], untrained: dict[str, float], fitted: Sequence[str]) -> Finding:
    """Averages first, then each motion; `untrained` are the rhos before training, `fitted` what maps are fitted on."""
    rhos = [
        rho_value(error, rho_metric(f"rho_{error.motion}", motion=error.motion), _baselines([error], untrained))
        for error in errors
    ]
    atomic, composite = ([error for error in errors if ("+" in error.motion) == is_sum] for is_sum in (False, True))
    means = {name: own for name, own in (("atomic", atomic), ("composite", composite)) if own}
    ratios = [
        Value(
            metric=rho_metric(f"ratio_{name}", motion=None if name in means else name, is_detail=True, family="ratio"),
            value=_mean([error.ratio_of_means for error in own]),
        )
        for name, own in (means | {error.motion: [error] for error in errors}).items()
    ]
    excluded = Metric(
        name="excluded_pairs", title="excluded pairs", digits=1, better="neither", within=(0.0, None), is_detail=True
    )
    count = Value(metric=excluded, value=float(sum(error.pairs_excluded for error in errors)))
    undefined = [f"{error.motion}: not defined, {error.why_undefined()}" for error in errors if error.why_undefined()]
    return Finding(
        values=[*(_mean_rho(name, own, untrained) for name, own in means.items()), *rhos, *ratios, count],
        tables=[_table(errors, rhos, undefined)],
        details={"motions": plain([asdict(error) for error in errors])},
        notes=[*undefined, *_far_apart(errors), *notes_of(rhos), *fitted],
    )


def _far_apart(errors: Sequence[MotionError]) -> list[str]:
    """A note on each motion whose rho and ratio of means differ much."""
    return [
        f"{error.motion}: rho is {error.rho:.3g}, the ratio of means {error.ratio_of_means:.3g}: rho counts pairs "
        "whose features hardly move as much as others, the ratio of means counts pairs by how far they move"
        for error in errors
        if error.rho > MOST_APART * error.ratio_of_means or error.ratio_of_means > MOST_APART * error.rho
    ]


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers))


def _baselines(errors: Sequence[MotionError], untrained: dict[str, float]) -> dict[str, float]:
    known = {"constant": _mean([error.constant for error in errors])}
    before = _mean([untrained.get(error.motion, nan) for error in errors])
    return known | {"untrained": before} if untrained else known


def _mean_rho(group: str, errors: Sequence[MotionError], untrained: dict[str, float]) -> Value:
    """The mean over motions; not defined where one of them is not."""
    undefined = [f"{error.motion}: {error.why_undefined()}" for error in errors if error.why_undefined()]
    return Value(
        metric=rho_metric(f"rho_{group}"),
        value=_mean([error.rho for error in errors]),
        baselines=_baselines(errors, untrained),
        note=undefined[0] if undefined else "",
    )


def _table(errors: Sequence[MotionError], rhos: Sequence[Value], undefined: Sequence[str]) -> Grid:
    names = list(rhos[0].baselines) if rhos else []
    counts = list(COUNTS)[: 3 if any(error.pairs_excluded for error in errors) else 2]
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
    columns = ("motion", "rho", *names, "ratio of means", *(COUNTS[name] for name in counts))
    return Grid.of("equivariance error of each motion", columns, rows, [*undefined, *NOTES])
