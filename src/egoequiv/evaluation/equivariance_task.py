"""The task `equivariance`: rho of every motion, and the averages of atomic and composite motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.evaluation.equivariance import Features, MotionError, errors_of_pairs
from egoequiv.evaluation.findings import LEAKED_PAIRS, baseline_texts, cell, measured, notes_of
from egoequiv.evaluation.fitted_on import (
    CHOSEN_ON_HALVES,
    MOST_FITTED,
    fitted_apart_notes,
    halved_notes,
    training_frames,
)
from egoequiv.evaluation.frame_features import SIDE, gray_images
from egoequiv.evaluation.metric import Metric, Value, with_best_of_each
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
BASELINES = (
    "1 is the copy baseline, a map that changes nothing; constant: always predicting the mean; untrained: the same "
    "network before training; frozen: the backbone without the head, its cells in their principal components; "
    f"pixels: gray images of at most {SIDE} x {SIDE}, with maps by ridge regression"
)
Others = Mapping[str, Sequence[MotionError]]  # of each motion, by the name of the baseline


def rho_metric(name: str, title: str = "", *, family: str = "rho", **more: Any) -> Metric:
    """An equivariance error, rho or a ratio: 1 is what copying the features gives."""
    shown = title or name.replace("_", " ", 1)
    within = (0.0, None)
    return Metric(name=name, title=shown, better="lower", within=within, family=family, baselines={"copy": 1.0}, **more)


def rho_value(error: MotionError, metric: Metric, baselines: Mapping[str, float] | None = None) -> Value:
    """Rho of a motion as a value, with why it is not defined where it is not."""
    note = error.why_undefined() or ""
    return measured(metric, error.rho, error.interval, groups=error.recordings, baselines=baselines, note=note)


@dataclass(frozen=True)
class Kind:
    """One way to bring the errors of pairs into one number: the mean of ratios, or the ratio of means."""

    name: str
    title: str
    caption: str
    notes: tuple[str, ...]
    of: Callable[[MotionError], tuple[float, tuple[float, float], float]]  # the number, its interval, and constant

    def metric(self, about: str, motion: str | None = None) -> Metric:
        """Of a motion, or of the mean over some; beside the rho of a motion, its ratio of means is a detail."""
        is_detail = motion is not None and self is RATIO
        title = f"{self.title} {about}"
        return rho_metric(f"{self.name}_{about}", title, family=self.name, motion=motion, is_detail=is_detail)

    def value(self, error: MotionError, others: Mapping[str, MotionError]) -> Value:
        """Of a motion, with what baselines have of it."""
        number, interval, constant = self.of(error)
        baselines = {"constant": constant} | {name: self.of(other)[0] for name, other in others.items()}
        metric, note = self.metric(error.motion, error.motion), error.why_undefined() or ""
        return measured(metric, number, interval, groups=error.recordings, baselines=baselines, note=note)

    def mean(self, name: str, values: Sequence[Value]) -> Value:
        """The mean over motions, marked where all motions are; not defined where one of them is not."""
        baselines = {known: _mean([value.baselines[known] for value in values]) for known in values[0].baselines}
        undefined = [f"{value.metric.motion}: {value.note}" for value in values if not isfinite(value.value)]
        mean = Value(
            metric=self.metric(name),
            value=_mean([value.value for value in values]),
            baselines=baselines,
            note=undefined[0] if undefined else "",
        )
        return with_best_of_each(mean, values)


RHO = Kind(
    "rho",
    "rho",
    "equivariance error of each motion: rho, the mean of ratios",
    (
        f"rho is 0 for perfectly equivariant features; {BASELINES}",
        "pairs whose two images have the same features are left out of rho, not of the ratio of means",
    ),
    lambda error: (error.rho, error.interval, error.constant),
)
RATIO = Kind(
    "ratio",
    "ratio of means",
    "equivariance error of each motion: the ratio of means",
    ("the mean error divided by the mean distance that features move, so that pairs that hardly move count little",),
    lambda error: (error.ratio_of_means, error.ratio_interval, error.ratio_constant),
)
KINDS = (RHO, RATIO)


def equivariance(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
    """The task: on the validation frames of a run, with the motions it is measured for.

    In video, nearly the same pairs would be in two random halves. So maps are fitted on training frames there, and
    measured on validation frames; where all frames are measured, on halves that are recordings, or blocks of time with
    a gap between them. Frames on a grid are divided at random, as in the paper, unless `fit_on` says otherwise.
    """
    store, (fitted, frames, notes) = data.store, divided_frames(data, options)
    pairs = data.pairs(frames, options.motions)
    training = None if fitted is None else _thinned(data.pairs(fitted, options.motions), options.seed)
    rows = frames if fitted is None else np.union1d(frames, fitted)

    def measure(z: Features, is_ridge: bool = False) -> list[MotionError]:
        return errors_of_pairs(z, rows, store, pairs, seed=options.seed, training=training, is_ridge=is_ridge)

    errors, others = measure(data.features[rows]), {}
    if data.untrained_features is not None:
        others["untrained"] = measure(data.untrained_features[rows])
    if data.frozen_features is not None:
        others["frozen"] = measure(data.frozen_features[rows], is_ridge=True)
    if store.has_images:
        key = [array for own in (pairs, training) if own is not None for array in (own.i, own.j, own.pattern)]
        others["pixels"] = data.once(
            ("rho of pixels", rows, *key, options.seed),
            lambda: measure(gray_images(store, rows).z, is_ridge=True),
        )
    if training is not None and store.times_s is not None and not store.space.named_motions():
        notes = [*notes, CHOSEN_ON_HALVES]
    return _finding(errors, others, notes)


def divided_frames(data: TaskData, options: TaskOptions) -> tuple[Indices | None, Indices, list[str]]:
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


def _finding(errors: Sequence[MotionError], others: Others, fitted: Sequence[str]) -> Finding:
    """Averages first, then each motion; `others` are baselines, `fitted` says what maps are fitted on."""
    measures = {
        kind: [kind.value(error, {name: own[k] for name, own in others.items()}) for k, error in enumerate(errors)]
        for kind in KINDS
    }
    numbers = {
        name: own
        for name, is_sum in (("atomic", False), ("composite", True))
        if (own := [k for k, error in enumerate(errors) if ("+" in error.motion) == is_sum])
    }
    means = [kind.mean(name, [measures[kind][k] for k in own]) for name, own in numbers.items() for kind in KINDS]
    excluded = Metric(
        name="excluded_pairs", title="excluded pairs", digits=1, better="neither", within=(0.0, None), is_detail=True
    )
    count = Value(metric=excluded, value=float(sum(error.pairs_excluded for error in errors)))
    undefined = [f"{error.motion}: not defined, {error.why_undefined()}" for error in errors if error.why_undefined()]
    values = [value for own in measures.values() for value in own]
    return Finding(
        values=[*means, *values, count],
        tables=[_table(kind, errors, own, undefined) for kind, own in measures.items()],
        details={"motions": plain([asdict(error) for error in errors])},
        notes=[*undefined, *_copied(errors), *_far_apart(errors), *notes_of(values), *fitted],
    )


def _copied(errors: Sequence[MotionError]) -> list[str]:
    """A note on the motions for which no map is better than a copy."""
    names = [error.motion for error in errors if error.is_copied]
    if not names:
        return []
    return [
        f"{', '.join(names)}: what maps learn from training frames does not help on validation frames, so nothing is "
        "better than copying the features: more recordings would tell"
    ]


def _far_apart(errors: Sequence[MotionError]) -> list[str]:
    """A note on each motion whose rho and ratio of means differ much."""
    return [
        f"{error.motion}: rho is {error.rho:.3g}, the ratio of means {error.ratio_of_means:.3g}: rho counts pairs "
        "whose features hardly move as much as others, the ratio of means counts pairs by how far they move"
        for error in errors
        if error.rho > MOST_APART * error.ratio_of_means or error.ratio_of_means > MOST_APART * error.rho
    ]


def _table(kind: Kind, errors: Sequence[MotionError], values: Sequence[Value], undefined: Sequence[str]) -> Grid:
    names = list(values[0].baselines) if values else []
    counts = list(COUNTS)[: 3 if any(error.pairs_excluded for error in errors) else 2]
    rows = [
        (error.motion, cell(value), *baseline_texts(value, names), *(getattr(error, name) for name in counts))
        for error, value in zip(errors, values, strict=True)
    ]
    columns = ("motion", kind.title, *names, *(COUNTS[name] for name in counts))
    return Grid.of(kind.caption, columns, rows, [*undefined, *kind.notes])


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers))
