"""Tables: what was measured of methods over repetitions, beside published values, with paired tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from egoequiv.errors import DataError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import BEST, NO_INTERVAL, Metric, Value, is_marked
from egoequiv.evaluation.statistics import Interval, Number, Result, paired_test
from egoequiv.experiments.published import Key, Published
from egoequiv.files import write_text

FEWEST_FOR_TEST = 3  # repetitions of a paired test, and of an interval over repetitions
MOTIONS_APART = "different_motions"  # what `about` calls the motions of rows that are not of the same
TABLE_KIND = "a table of `egoequiv reproduce`"


class Strict(BaseModel):
    """A frozen record without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(Strict):
    """One cell of a table: a metric of a row, over its repetitions."""

    result: Result  # the value of each repetition
    interval: Interval = NO_INTERVAL  # 95 %: of one repetition over recordings; of three or more, that of their mean
    baselines: dict[str, Number] = {}  # measured on the same frames, the mean of the repetitions
    note: str = ""  # why it is not defined, where it is not
    is_collapsed: bool = False  # whether a repetition is of features that collapsed in training

    def shown_interval(self, metric: Metric) -> tuple[float, float] | None:
        """The 95 % interval of what is shown, cut to the values that the metric can have; None where there is none.

        The intervals of single repetitions say nothing of their mean, so they have no part in it.
        """
        ends = self.interval if len(self.result.values) == 1 else self.over_repetitions()
        return metric.cut(ends) if ends is not None and all(map(isfinite, ends)) else None

    def with_interval(self, metric: Metric) -> Self:
        """The same cell with the interval that is shown, as files have it."""
        return self.model_copy(update={"interval": self.shown_interval(metric) or NO_INTERVAL})

    def over_repetitions(self) -> tuple[float, float] | None:
        """Student's 95 % interval of the mean over repetitions, not cut, where there are enough of them."""
        if len(self.result.values) < FEWEST_FOR_TEST or not isfinite(self.result.stderr):
            return None
        return self.result.interval()


class Row(Strict):
    """One method, with or without labels, and what was measured of its runs."""

    name: str  # as people read it, unique in the table
    method: str
    uses_labels: bool = True  # whether it was trained with them
    runs: tuple[str, ...] = ()  # the folders of its repetitions, relative to the table's; none for a baseline
    seeds: tuple[tuple[int, int], ...] = ()  # seed and pair seed of each, by which rows are paired in tests
    entries: dict[str, Entry] = {}  # what was measured, by the name of the metric
    published: dict[str, Published] = {}  # what the paper has, by the name of the metric
    diverged: int = 0  # repetitions that count in no metric
    unfinished: tuple[tuple[int, int], ...] = ()  # still in training: they count in the mean, and in no test
    settings: dict[str, Any] = {}  # in which rows differ

    def result(self, metric: str) -> Result | None:
        """The values of a metric, if it was measured."""
        return self.entries[metric].result if metric in self.entries else None

    def mean(self, metric: str) -> float:
        """The mean of a metric; NaN where it was not measured."""
        return self.entries[metric].result.mean if metric in self.entries else float("nan")

    def by_seed(self, metric: str) -> dict[tuple[int, int], float]:
        """The value of each finished repetition whose metric is defined."""
        if metric not in self.entries or len(self.entries[metric].result.values) != len(self.seeds):
            return {}
        values = zip(self.seeds, self.entries[metric].result.values, strict=True)
        return {seed: value for seed, value in values if isfinite(value) and seed not in self.unfinished}


class Comparison(Strict):
    """A paired test of one metric between two rows; the difference is a - b."""

    metric: str
    a: str
    b: str
    difference: Number
    stderr: Number
    p_value: Number
    repetitions: int


class Table(Strict):
    """Rows of results, and paired tests between them."""

    format: Literal["egoequiv-table"] = "egoequiv-table"
    version: Literal[1] = 1
    title: str
    metrics: list[Metric]  # every metric of the entries, in order
    columns: tuple[str, ...]  # the names of those that are shown
    rows: list[Row]
    comparisons: list[Comparison] = []
    about: dict[str, Any] = {}  # how the rows were made, in words and numbers
    published_on: str = ""  # what the paper measured its numbers on
    task: str = ""  # that it is about; empty for recognition and equivariance

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Columns and comparisons name metrics and rows that there are."""
        metrics, rows = {metric.name for metric in self.metrics}, {row.name for row in self.rows}
        named = {*self.columns, *(test.metric for test in self.comparisons)}
        tested = {name for test in self.comparisons for name in (test.a, test.b)}
        unknown = sorted((named - metrics) | (tested - rows))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is neither a metric nor a row of the table")
        return self

    def metric(self, name: str) -> Metric:
        """The metric of that name."""
        return next(metric for metric in self.metrics if metric.name == name)

    def row(self, name: str) -> Row:
        """The row of that name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no row {name!r}")

    def shown(self, *, single_motions: bool) -> list[Metric]:
        """The metrics of the columns: those of single motions, or the others."""
        chosen = [self.metric(name) for name in self.columns]
        return [metric for metric in chosen if (metric.motion is not None) == single_motions]

    @property
    def repetitions(self) -> int:
        """In how many repetitions it was measured, at most."""
        return max((len(entry.result.values) for row in self.rows for entry in row.entries.values()), default=0)

    def is_marked(self, row: Row, metric: Metric) -> bool:
        """Whether a cell is no evidence: not better than each of its baselines, or of features that have collapsed."""
        entry = row.entries.get(metric.name)
        if entry is None:
            return False
        return is_marked(metric, entry.result.mean, {**metric.baselines, **entry.baselines}, entry.is_collapsed)

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_text(path, self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, path: Path) -> Table:
        """Read what `save` wrote."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as problem:
            raise DataError(f"{path}: {problem.strerror or problem}") from problem
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise DataError(
                f"{path} is not {TABLE_KIND} of this version ({where}: {first['msg']}): repeat the command that made "
                "it, which keeps its runs"
            ) from None


def entries_of(repetitions: Sequence[Sequence[Measurement]]) -> tuple[list[Metric], dict[str, Entry]]:
    """The metrics and cells of a row, from the measurements of each repetition.

    A metric that one repetition lacks counts there as not defined.
    """
    each = [{value.name: value for one in measurements for value in one.values} for measurements in repetitions]
    metrics = {name: value.metric for values in reversed(each) for name, value in reversed(values.items())}
    order = dict.fromkeys(name for values in each for name in values)
    entries = {}
    for name in order:
        found = [values[name] for values in each if name in values]
        names = dict.fromkeys(key for value in found for key in value.baselines)
        undefined = [value.note for value in found if not isfinite(value.value) and value.note]
        note = "" if not undefined else undefined[0]
        if undefined and len(undefined) < len(each):
            note = f"in {len(undefined)} of {len(each)} repetitions {note}"
        entry = Entry(
            result=Result(tuple(values[name].value if name in values else float("nan") for values in each)),
            interval=found[0].interval,  # kept for one repetition only
            baselines={key: float(np.mean([_baseline(value, key) for value in found])) for key in names},
            note=note,
            is_collapsed=any(value.is_collapsed for value in found),
        )
        entries[name] = entry.with_interval(metrics[name])
    return [metrics[name] for name in order], entries


def _baseline(value: Value, name: str) -> float:
    """A baseline of one repetition; the best of each motion is not kept where it is no harder to beat than others."""
    return value.baselines.get(name, value.best_baseline() if name == BEST else float("nan"))


MeasuredRow = tuple[list[Metric], Row]  # a row, and the metrics of its entries


def row_of(
    name: str,
    key: Key,
    members: Sequence[tuple[Path, tuple[int, int]]],
    found: Sequence[Sequence[Measurement]],
    folder: Path,
    **more: Any,
) -> MeasuredRow:
    """The row of some runs, each given with its seeds, from the measurements of each."""
    metrics, entries = entries_of(found)
    row = Row(
        name=name,
        method=key[0],
        uses_labels=key[1],
        runs=tuple(os.path.relpath(run, folder) for run, _ in members),
        seeds=tuple(seeds for _, seeds in members),
        entries=entries,
        **more,
    )
    return metrics, row


def merge_rows(each: Sequence[MeasuredRow]) -> tuple[list[Metric], list[Row]]:
    """All metrics of several rows, each once, and the rows."""
    found: dict[str, Metric] = {}
    for metrics, _ in each:
        for metric in metrics:
            found.setdefault(metric.name, metric)
    return list(found.values()), [row for _, row in each]


def compare_rows(rows: Sequence[Row], metric: str) -> list[Comparison]:
    """Paired tests between all rows, over the finished repetitions that both have, if there are three or more."""
    comparisons = []
    for a, b in combinations(rows, 2):
        first, second = a.by_seed(metric), b.by_seed(metric)
        common = [seed for seed in first if seed in second]
        if len(common) >= FEWEST_FOR_TEST and not a.diverged and not b.diverged:
            found = paired_test([second[seed] for seed in common], [first[seed] for seed in common])
            comparisons.append(Comparison(metric=metric, a=b.name, b=a.name, repetitions=len(common), **vars(found)))
    return comparisons


def words(value: Any) -> str:
    """A setting for people."""
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
