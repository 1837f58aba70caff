"""Tables: results of methods beside published values, with paired tests between the methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from egoequiv.errors import DataError
from egoequiv.evaluation import Result, paired_test
from egoequiv.experiments.published import Published
from egoequiv.files import or_nan, plain

COUNTS = ("train_frames", "validation_frames", "leaked_validation_frames")  # what `about` says in numbers
NUMBERS = ("difference", "stderr", "p_value")  # of a comparison


@dataclass(frozen=True)
class Row:
    """One method, with or without labels, and its metrics."""

    method: str
    labels: bool
    metrics: dict[str, Result]
    published: dict[str, Published] = field(default_factory=dict)
    diverged: int = 0  # repetitions that diverged and count in no metric
    settings: Mapping[str, Any] = field(default_factory=dict)
    unfinished: int = 0  # repetitions whose training has not ended: they count in the mean, but in no test

    @property
    def name(self) -> str:
        return self.method if self.labels else f"{self.method} (no labels)"


@dataclass(frozen=True)
class Comparison:
    """A paired test of one metric between two rows on the same repetitions."""

    metric: str
    a: str
    b: str
    difference: float
    stderr: float
    p_value: float


@dataclass(frozen=True)
class Table:
    """Rows of results; `columns` are the metrics shown, `about` is how they came to be."""

    title: str
    columns: tuple[str, ...]
    rows: list[Row]
    comparisons: list[Comparison] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    published_on: str = ""  # what the paper measured its numbers on

    def row(self, method: str, labels: bool = True) -> Row:
        """The row of a method."""
        for row in self.rows:
            if (row.method, row.labels) == (method, labels):
                return row
        raise KeyError(f"no row for {method!r} with labels={labels}")

    def describe(self) -> dict[str, Any]:
        """The JSON object that results commands print."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [_describe_row(row) for row in self.rows],
            "comparisons": [
                {"metric": c.metric, "a": c.a, "b": c.b, **{key: plain(getattr(c, key)) for key in NUMBERS}}
                for c in self.comparisons
            ],
            "about": self.about,
            "published_on": self.published_on,
        }

    @classmethod
    def from_description(cls, described: dict[str, Any], where: str) -> Table:
        """Build a table from what `describe` gave; what is not defined there is not a number here."""
        try:
            return cls(
                title=str(described["title"]),
                columns=_names(described["columns"]),
                rows=[_row_from(row) for row in described["rows"]],
                comparisons=[
                    Comparison(c["metric"], c["a"], c["b"], *(or_nan(c[key]) for key in NUMBERS))
                    for c in described["comparisons"]
                ],
                about=_about(described["about"]),
                published_on=str(described.get("published_on", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise DataError(f"{where} holds no table ({problem!r}): make it anew with `egoequiv reproduce`") from None


def _names(columns: Any) -> tuple[str, ...]:
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"columns are names, not {columns!r}")
    return tuple(columns)


def _about(about: Any) -> dict[str, Any]:
    if not isinstance(about, dict):
        raise TypeError(f"about is an object, not {about!r}")
    for name in COUNTS:
        if not isinstance(about.get(name, 0), int):
            raise TypeError(f"{name} is a number, not {about[name]!r}")
    return about


def compare_rows(rows: list[Row], metric: str) -> list[Comparison]:
    """Paired tests between all rows that were measured on the same repetitions, three of them at the least."""
    measured = [row for row in rows if metric in row.metrics and len(row.metrics[metric].values) > 2]
    comparisons = []
    for k, a in enumerate(measured):
        for b in measured[k + 1 :]:
            left, right = a.metrics[metric].values, b.metrics[metric].values
            if len(left) == len(right) and not a.diverged and not b.diverged:
                test = paired_test(right, left)
                comparisons.append(Comparison(metric, b.name, a.name, test.difference, test.stderr, test.p_value))
    return comparisons


def _describe_row(row: Row) -> dict[str, Any]:
    metrics = {}
    for name, result in row.metrics.items():
        published = row.published.get(name)
        metrics[name] = {
            "mean": plain(result.mean),
            "stderr": plain(result.stderr),
            "published": published.mean if published else None,
            "published_stderr": published.stderr if published else None,
            "values": plain(result.values),
        }
    return {
        "method": row.method,
        "labels": row.labels,
        "metrics": metrics,
        "diverged": row.diverged,
        "settings": dict(row.settings),
    }


def _row_from(described: dict[str, Any]) -> Row:
    metrics = described["metrics"]
    return Row(
        method=str(described["method"]),
        labels=bool(described["labels"]),
        metrics={name: Result(tuple(map(or_nan, one["values"]))) for name, one in metrics.items()},
        published={
            name: Published(float(one["published"]), one["published_stderr"])
            for name, one in metrics.items()
            if one["published"] is not None
        },
        diverged=int(described["diverged"]),
        settings={str(name): value for name, value in dict(described["settings"]).items()},
    )
