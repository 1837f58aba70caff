"""A few labels: what a linear probe fitted on the labels of training frames says of validation frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.findings import baseline_texts, cell, estimated
from egoequiv.evaluation.frame_features import Features, fold_groups, groups_of, small_images
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.probes import LinearProbe, TrainingPart
from egoequiv.evaluation.statistics import FEWEST_GROUPS, GroupEstimate, group_mean, group_r2, group_rms
from egoequiv.evaluation.task import Finding, TaskData
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.plurals import plural

Array = NDArray[np.float64]
Look = Callable[[Indices], Features]  # from store rows (M,) to features (M, D)
FEWEST = 10  # labelled frames in each part
MOST = 10_000


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
        groups = fold_groups(store, rows) if part == "training" else groups_of(store, "recording")[rows]
        found.append(LabelledPart(rows, values[rows], groups))
    return found[0], found[1]


def _read(data: TaskData, fit: LabelledPart, test: LabelledPart, seed: int) -> dict[str, Array]:
    """What the probe says of the validation frames, from features, pixels and the untrained network; (M, T) each."""
    untrained = data.untrained_features
    kinds: dict[str, Look] = {"": lambda rows: data.features[rows]}
    if data.store.has_images:
        kinds["pixels"] = lambda rows: small_images(data.store, rows).z
    if untrained is not None:
        kinds["untrained"] = lambda rows: untrained[rows]
    read = {}
    for name, of in kinds.items():
        probe = LinearProbe(TrainingPart(fit.groups, seed)).fit(of(fit.rows).astype(np.float64), fit.values)
        read[name] = probe.predict(of(test.rows).astype(np.float64)).reshape(len(test.rows), -1)
    return read


def _number_values(name: str, fit: LabelledPart, test: LabelledPart, read: Mapping[str, Array]) -> list[Value]:
    """R2 and root mean squared error; the mean is that of the training labels."""
    true, mean = test.values[:, 0], float(fit.values.mean())
    guesses = {kind: guess[:, 0] for kind, guess in read.items()} | {"mean": np.full(len(true), mean)}
    squared = {kind: (true - guess) ** 2 for kind, guess in guesses.items()}
    r2 = {kind: group_r2(true, own, test.groups) for kind, own in squared.items()}
    rms = {kind: group_rms(own, test.groups) for kind, own in squared.items()}
    note = "" if isfinite(r2[""].value) else "the label never changes in the validation frames"
    titles = f"R2 of {name}", f"rms error of {name}"
    return [
        _value(Metric(name=titles[0], title=titles[0], family="R2", within=(None, 1.0)), r2, test, note=note),
        _value(Metric(name=titles[1], title=titles[1], better="lower", within=(0.0, None)), rms, test),
    ]


def _class_value(fit: LabelledPart, test: LabelledPart, read: Mapping[str, Array]) -> Value:
    """Accuracy of the class that the probe says most of, in per cent."""
    true, frequent = test.values.argmax(axis=1), int(fit.values.sum(axis=0).argmax())
    right = {name: guess.argmax(axis=1) == true for name, guess in read.items()}
    right["most frequent class"] = true == frequent
    metric = Metric(name="label_top1", title="label top-1 %", digits=2, is_percent=True, family="top")
    return _value(metric, {name: group_mean(one, test.groups) for name, one in right.items()}, test)


def _value(metric: Metric, found: Mapping[str, GroupEstimate], test: LabelledPart, note: str = "") -> Value:
    """What the probe reads from features beside what it reads from others, and what a guess gives."""
    times = 100 if metric.is_percent else 1
    known = {name: times * one.value for name, one in found.items() if name}
    return estimated(metric, found[""], test.groups, baselines=known, note=note)


def _note(name: str, fit: LabelledPart, test: LabelledPart) -> str:
    recordings = len(np.unique(test.groups))
    few = f" of {plural(recordings, 'recording')}, and an interval needs {FEWEST_GROUPS}"
    return (
        f"{name}: a linear probe fitted on {plural(len(fit.rows), 'labelled training frame')}, measured on "
        f"{plural(len(test.rows), 'validation frame')}"
        f"{few if recordings < FEWEST_GROUPS else f'; intervals over {recordings} recordings'}"
    )
