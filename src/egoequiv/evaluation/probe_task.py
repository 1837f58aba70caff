"""The task `probe`: which class, or which number, a few labels tell from the features of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Cell, Grid
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.few_labels import (
    CHANCE,
    ClassTarget,
    Look,
    NumberTarget,
    Reading,
    Scores,
    Target,
    some_training,
    some_validation,
)
from egoequiv.evaluation.findings import baseline_texts, cell, notes_of
from egoequiv.evaluation.frame_features import SIDE, FrameFeatures, small_images
from egoequiv.evaluation.label_probe import FEWEST
from egoequiv.evaluation.metric import Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, counted
from egoequiv.files import plain
from egoequiv.models.network import ALL
from egoequiv.pairs import draw_labelled
from egoequiv.plurals import plural
from egoequiv.store import FrameStore
from egoequiv.training.data import Recognition

DRAWS_OF_A_SEED = 1_000  # seeds of draws that lie between two seeds of a user
UNTRAINED = "untrained"
NOTES = {
    "pixels": f"pixels: the same probe of images of at most {SIDE} x {SIDE}, larger ones made smaller",
    UNTRAINED: "untrained: the same probe of the same network before training",
}


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the table: what a probe reads from a part of the features."""

    part: str
    target: Target
    reading: Reading
    value: Value
    draws: list[float]  # the same number of each draw of labels

    def cells(self, baselines: Sequence[str]) -> list[Cell | str | int]:
        what = [self.target.name] if isinstance(self.target, NumberTarget) else []
        spread = self.value.metric.text(float(np.std(self.draws, ddof=1))) if len(self.draws) > 1 else "-"
        beside = baseline_texts(self.value, baselines)
        return [self.part, *what, self.reading.labels, self.reading.probe, cell(self.value), spread, *beside]

    def describe(self) -> dict[str, Any]:
        """As a JSON object, with the number of each draw."""
        known = {"part": self.part, "labels": self.reading.labels, "probe": self.reading.probe}
        return {**known, "metric": self.value.name, "draws": plain(self.draws)}


def probe(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the labelled validation frames of a run, from some of its labelled training frames."""
    labelled = _labelled_task(data, options)
    store = data.store if labelled is None else labelled.store
    targets, notes = _targets(data, labelled, options)
    looks = _looks(data, store)
    rows: list[Row] = []
    each = [(target, part) for target in targets for part in looks]
    for target, part in counted(each, "probe", on_progress):
        rows += _rows(data, target, part, looks[part])
    if data.net.head is not None and data.untrained is not None:
        notes.append("the network itself was trained with labels, which are not counted here")
    return _finding(rows, notes, labelled)


def _rows(data: TaskData, target: Target, part: str, looks: Mapping[str, Look]) -> list[Row]:
    """What every probe reads of one target from one part of the features, beside baselines."""
    key, baselines = (str(target.store.path), *target.key()), dict[str, Scores]()
    if target.store.has_images:  # the same for all parts, and for all runs on these frames
        pixels = lambda rows: small_images(target.store, rows).z  # noqa: E731
        baselines["pixels"] = data.once(("probe of pixels", *key), lambda: target.read(pixels))
    if (before := looks.get(UNTRAINED)) is not None:  # the same for all methods of one seed
        seen = ("probe of untrained", *key, before(target.asked))
        baselines[UNTRAINED] = data.once(seen, lambda: target.read(before))
    rows = []
    for reading, scores in target.read(looks[""]).items():
        known = {name: one[reading] for name, one in baselines.items() if reading in one}
        value = target.value(reading, "" if part == data.part else part, scores, known)
        value = value.model_copy(update={"is_collapsed": data.has_collapsed(part)})
        rows.append(Row(part, target, reading, value, [target.figure(one[None]) for one in scores]))
    return rows


def _labelled_task(data: TaskData, options: TaskOptions) -> Recognition | None:
    """The labelled images of a run that has them in another store, unless a column or a table of labels is named."""
    task, has_named = data.recognition, options.label_column is not None or bool(data.store.label_notes)
    return None if has_named or task is None or task.store.path == data.store.path else task


def _targets(data: TaskData, labelled: Recognition | None, options: TaskOptions) -> tuple[list[Target], list[str]]:
    """What is read: the classes of a column, or numbers; and notes on the labels."""
    split = data.split if labelled is None else labelled.split
    if np.intersect1d(split.train, split.validation).size:
        raise DataError("a probe is fitted on training frames and measured on others: measure on a split store")
    if labelled is not None:
        return _class_target(labelled, options)
    numbers = _numbers(data.store, options.label_column)
    if not numbers:
        classes, names = data.store.classes(options.label_column or data.label_column)
        return _class_target(Recognition(data.store, classes, names, split), options)
    targets: list[Target] = []
    notes: list[str] = []
    for name, values in numbers.items():
        asked = some_validation(split, np.isfinite(values), options.seed)
        known = split.train[np.isfinite(values[split.train])]
        if min(len(asked), len(known)) < FEWEST:
            raise DataError(
                f"{name}: {len(known)} training and {len(asked)} validation frames have a value, at least {FEWEST} are "
                "needed of each: label more"
            )
        count = min(options.labelled_frames, len(known))
        seeds = _seeds(options) if count < len(known) else _seeds(options)[:1]
        drawn = tuple(np.random.default_rng([seed, 0x5CA]).choice(known, count, replace=False) for seed in seeds)
        targets.append(NumberTarget(data.store, asked, name, values, drawn, options.seed))
        notes.append(
            f"{name}: ridge regression fitted on {count} labelled training frames, its penalty chosen among them, "
            f"{_draws(len(drawn))}; measured on {plural(len(asked), 'validation frame')}"
        )
    return targets, notes


def _numbers(store: FrameStore, column: str | None) -> dict[str, NDArray[np.float64]]:
    """The columns of numbers that are read: those of a table of labels, or the named one; empty where it is classes."""
    if column is None:
        return dict(store.numbers)
    for numbers in (store.numbers, store.pose_columns):
        if column in numbers:
            return {column: numbers[column]}
    if column == "label" or column in store.attributes:
        return {}
    known = dict.fromkeys(["label", *store.attributes, *store.numbers, *store.pose_columns])
    raise ConfigError(f"--label-column {column}: {store.place} has no such column; choose from {', '.join(known)}")


def _class_target(task: Recognition, options: TaskOptions) -> tuple[list[Target], list[str]]:
    """The classes that occur, from as many labels of each as there are frames for."""
    split, known = task.split, task.classes >= 0
    asked = some_validation(split, known, options.seed)
    there = np.unique(task.classes[np.concatenate([split.train, asked])])
    there = there[there >= 0]
    if not len(asked) or len(there) < 2:
        raise DataError(f"{task.store.place}: {len(asked)} validation frames of {len(there)} classes cannot be probed")
    classes = np.where(known, np.searchsorted(there, task.classes), -1)
    names = tuple(task.class_names[code] for code in there)
    counts = np.bincount(classes[split.train][classes[split.train] >= 0], minlength=len(names))
    rarest = int(counts.argmin())
    drawn = {
        labels: tuple(draw_labelled(classes, split.train, labels, names, seed) for seed in _seeds(options))
        for labels in options.per_class
        if labels <= counts[rarest]
    }
    if not drawn:
        raise DataError(
            f"class {names[rarest]!r} has {plural(counts[rarest], 'training frame')}, fewer than the labels of each "
            f"class ({', '.join(map(str, options.per_class))}): choose --per-class, --label-column, or another split"
        )
    notes = [
        f"labels are of {', '.join(map(str, drawn))} training frames of each of {len(names)} classes, "
        f"{_draws(options.draws)}; measured on {plural(len(asked), 'validation frame')}",
        "linear: logistic regression with C = 1; k-NN: majority of the nearest by cosine; features standardised "
        "by training frames",
    ]
    lacking = [str(labels) for labels in options.per_class if labels not in drawn]
    if lacking:
        own = plural(counts[rarest], "frame")
        notes.append(f"{', '.join(lacking)} labels a class: class {names[rarest]!r} has {own} only")
    target = ClassTarget(task.store, asked, some_training(split, options.seed), classes, names, drawn)
    return [target], notes


def _seeds(options: TaskOptions) -> list[int]:
    """The seed of each draw of labelled frames."""
    return [DRAWS_OF_A_SEED * options.seed + draw for draw in range(options.draws)]


def _draws(count: int) -> str:
    return f"mean of {count} draws" if count > 1 else "one draw"


def _looks(data: TaskData, store: FrameStore) -> dict[str, dict[str, Look]]:
    """Features of frames by part, all of them first; each also as of the network before training, where it is known."""
    if store is data.store:
        z, before = data.features, data.untrained_features
    else:
        z = embed(data.net, store, part=data.part)
        before = None if data.untrained is None else embed(data.untrained, store, part=data.part)
    columns = {data.part: slice(None)}
    if data.part == ALL:
        columns |= {name: data.net.part(name) for name in data.net.spec.parts}
    kinds = {"": z} if before is None else {"": z, UNTRAINED: before}
    for features in kinds.values():
        FrameFeatures(store, np.arange(len(store)), features)  # refuses what is not finite
    return {
        part: {kind: lambda rows, z=z, own=own: z[rows][:, own] for kind, z in kinds.items()}  # type: ignore[misc]
        for part, own in columns.items()
    }


def _finding(rows: Sequence[Row], notes: Sequence[str], measured_on: Recognition | None) -> Finding:
    """The values, those of all features first; one table of all parts."""
    values = [row.value for row in rows]
    known = dict.fromkeys(name for value in values for name in value.all_baselines())
    baselines = [name for name in known if name != CHANCE]  # which is the same in every row
    is_number = isinstance(rows[0].target, NumberTarget)
    heads = ("number", "labels", "probe", "R2") if is_number else ("labels", "probe", "top-1 %")
    told = [*notes, *(NOTES[name] for name in baselines if name in NOTES)]
    columns = ("features", *heads, "sd of draws", *baselines)
    chance = "" if is_number else f" of each class, chance {values[0].metric.text(values[0].baselines[CHANCE])} %"
    table = Grid.of(f"probe of few labels{chance}", columns, [row.cells(baselines) for row in rows], told)
    details = {"rows": [row.describe() for row in rows]}
    return Finding(values, [table], details, notes=notes_of(values), measured_on=measured_on)
