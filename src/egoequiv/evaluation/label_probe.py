"""A few labels: what a linear probe fitted on the labels of training frames says of validation frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.findings import baseline_texts, cell, measured, shrink
from egoequiv.evaluation.frame_features import fold_groups, groups_of
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.probes import LinearProbe, TrainingPart
from egoequiv.evaluation.statistics import group_estimate, group_interval, why_no_interval
from egoequiv.evaluation.task import Finding, TaskData
from egoequiv.pairs.candidates import Indices, thinned

Array = NDArray[np.float64]
FewFeatures = Callable[[Indices], NDArray[np.float32]]  # from store rows (M,) to features (M, D)
FEWEST = 10  # labelled frames in each part
MOST = 10_000
SIDE = 16  # pixels of the images that are read as a baseline, at most


@dataclass(frozen=True)
class LabelledPart:
    """Labelled frames of one part of a split, and the groups that they come in."""

    rows: Indices  # (M,) store rows
    values: Array  # (M, T) numbers, or one column for each class
    groups: Indices  # (M,), folds of training, recordings of validation


def label_findings(data: TaskData, seed: int) -> Finding | None:
    """R2 and error of label numbers, and accuracy of label classes, on validation frames; None without a label table.

    The probe is fitted on labelled training frames alone. Beside it, the same probe of pixels and of the network
    before training.
    """
    store = data.store
    if not store.label_notes:
        return None
    values: list[Value] = []
    notes = list(store.label_notes)
    for name, numbers in store.numbers.items():
        fit, test = _parts(data, np.isfinite(numbers), numbers[:, None], seed)
        read = _read(data, fit, test, seed)
        values += _number_values(name, fit, test, read)
        notes.append(_note(name, fit, test))
    if not store.numbers:
        one_hot = np.eye(len(store.class_names))[store.labels]
        fit, test = _parts(data, store.labels >= 0, one_hot, seed)
        values.append(_class_value(fit, test, _read(data, fit, test, seed)))
        notes.append(_note("classes", fit, test))
    names = list(dict.fromkeys(name for value in values for name in value.baselines))
    rows = [(value.metric.title, cell(value), *baseline_texts(value, names)) for value in values]
    return Finding(values, [Grid.of("read-out of labels", ("", "linear probe", *names), rows, notes)], notes=notes)


def _parts(data: TaskData, known: NDArray[np.bool_], values: Array, seed: int) -> tuple[LabelledPart, LabelledPart]:
    """The labelled frames of training and of validation."""
    store, split = data.store, data.split
    if np.intersect1d(split.train, split.validation).size:
        raise DataError("labels are fitted on training frames and measured on others: measure on a split store")
    found = []
    for part, frames in (("training", split.train), ("validation", split.validation)):
        rows = thinned(frames[known[frames]], MOST, [seed, 0x1A])
        if len(rows) < FEWEST:
            raise DataError(
                f"{len(rows)} of {len(frames)} {part} frames have a label, at least {FEWEST} are needed: label more"
            )
        found.append(
            LabelledPart(
                rows,
                values[rows],
                fold_groups(store, rows) if part == "training" else groups_of(store, "recording")[rows],
            )
        )
    return found[0], found[1]


def _read(data: TaskData, fit: LabelledPart, test: LabelledPart, seed: int) -> dict[str, Array]:
    """What the probe says of the validation frames, from features, pixels and the untrained network; (M, T) each."""
    untrained = data.untrained_features
    kinds: dict[str, FewFeatures] = {"": lambda rows: data.features[rows], "pixels": lambda rows: _pixels(data, rows)}
    if untrained is not None:
        kinds["untrained"] = lambda rows: untrained[rows]
    if not data.store.has_images:
        del kinds["pixels"]
    read = {}
    for name, of in kinds.items():
        probe = LinearProbe(TrainingPart(fit.groups, seed)).fit(of(fit.rows).astype(np.float64), fit.values)
        read[name] = probe.predict(of(test.rows).astype(np.float64)).reshape(len(test.rows), -1)
    return read


def _pixels(data: TaskData, rows: Indices) -> NDArray[np.float32]:
    parts = np.split(rows, range(256, len(rows), 256))
    small = np.concatenate([shrink(np.asarray(data.store.images[part]), SIDE, SIDE) for part in parts])
    return small.reshape(len(rows), -1).astype(np.float32)


def _number_values(name: str, fit: LabelledPart, test: LabelledPart, read: Mapping[str, Array]) -> list[Value]:
    """R2 and root mean squared error; the mean is that of the training labels."""
    true, mean = test.values[:, 0], float(fit.values.mean())
    guesses = {kind: guess[:, 0] for kind, guess in read.items()} | {"mean": np.full(len(true), mean)}
    spread = np.square(true - true.mean()).sum()
    groups = len(np.unique(test.groups))
    note = "" if spread > 0 else "the label never changes in the validation frames"
    values = []
    for is_r2 in (True, False):
        title = f"R2 of {name}" if is_r2 else f"rms error of {name}"
        metric = Metric(name=title, title=title, family="R2" if is_r2 else "", better="higher" if is_r2 else "lower")
        figures = {kind: _figure(true, guess, test.groups, is_r2) for kind, guess in guesses.items()}
        value, interval = figures.pop("")
        known = {kind: figure for kind, (figure, _) in figures.items()}
        values.append(measured(metric, value, interval, groups=groups, baselines=known, note=note if is_r2 else ""))
    return values


def _figure(true: Array, guess: Array, groups: Indices, is_r2: bool) -> tuple[float, tuple[float, float]]:
    """R2, or the root mean squared error, and its interval over groups."""
    return figure_of_errors(true, (true - guess) ** 2, groups, is_r2)


def figure_of_errors(true: Array, squared: Array, groups: Indices, is_r2: bool) -> tuple[float, tuple[float, float]]:
    """R2, or the root mean squared error, of squared errors, (N,) each, and its interval over groups."""
    _, group = np.unique(groups, return_inverse=True)
    centred = true - true.mean()  # first, so that a far offset costs no digits
    weights = (squared, centred, centred**2, np.ones_like(true))
    sums = np.array([np.bincount(group, weight) for weight in weights], np.float64)

    def r2(total: Array) -> Array:
        variation = total[2] - total[1] ** 2 / total[3]
        return np.where(variation > 0, 1 - total[0] / np.where(variation > 0, variation, 1.0), np.nan)

    found = group_estimate(sums, sums[3], r2 if is_r2 else lambda total: np.sqrt(total[0] / total[3]))
    return found.value, found.interval(within=(-np.inf, 1.0) if is_r2 else (0.0, np.inf))


def _class_value(fit: LabelledPart, test: LabelledPart, read: Mapping[str, Array]) -> Value:
    """Accuracy of the class that the probe says most of, in per cent."""
    true = test.values.argmax(axis=1)
    right = {name: (guess.argmax(axis=1) == true).astype(np.float64) for name, guess in read.items()}
    own = right.pop("")
    low, high = group_interval(own, test.groups, within=(0.0, 1.0))
    frequent = int(fit.values.sum(axis=0).argmax())
    known = {name: 100 * float(one.mean()) for name, one in right.items()}
    known["most frequent class"] = 100 * float((true == frequent).mean())
    metric = Metric(name="label_top1", title="label top-1 %", digits=2, is_percent=True, family="top")
    groups = len(np.unique(test.groups))
    interval = (100 * low, 100 * high)
    return measured(metric, 100 * float(own.mean()), interval, groups=groups, baselines=known)


def _note(name: str, fit: LabelledPart, test: LabelledPart) -> str:
    recordings = len(np.unique(test.groups))
    interval = (
        f"no interval: {why}" if (why := why_no_interval(recordings)) else f"intervals over {recordings} recordings"
    )
    return (
        f"{name}: a linear probe fitted on {len(fit.rows):,} labelled training frames, measured on {len(test.rows):,} "
        f"validation frames; {interval}"
    )
