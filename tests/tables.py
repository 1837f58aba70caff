"""Small tables and measurements made by hand, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from egoequiv.evaluation.measurement import Measurement, Subject
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments import Entry, Row, Table

TOP1 = Metric(name="top1", title="top-1 %", digits=2, is_percent=True, family="top")
RHO_UP = Metric(
    name="rho_up", title="rho up", digits=3, better="lower", family="rho", motion="up", baselines={"copy": 1.0}
)


def entry(*values: float, **more: Any) -> Entry:
    """A cell with the value of each repetition."""
    return Entry(result=Result(values), **more)


def row(name: str, entries: dict[str, Entry], **more: Any) -> Row:
    """A row whose repetitions have the seeds 0, 1, ..."""
    count = max((len(one.result.values) for one in entries.values()), default=0)
    seeds = more.pop("seeds", tuple((seed, 0) for seed in range(count)))
    return Row(name=name, method=more.pop("method", name), seeds=seeds, entries=entries, **more)


def table_of(rows: Sequence[Row], metrics: Sequence[Metric], **more: Any) -> Table:
    """A table with a column for each metric."""
    title = more.pop("title", "A table")
    columns = tuple(metric.name for metric in metrics)
    return Table(title=title, metrics=list(metrics), columns=columns, rows=list(rows), **more)


def measurement(*values: Value, task: str = "equivariance", **more: Any) -> Measurement:
    """A measurement of nothing in particular."""
    subject = Subject(task=task, weights="w", data="d", frames="all", code="1")
    place: dict[str, Any] = {"run": "run", "store": "store", "checkpoint": "last", "split": "paper"}
    counts = {"frames": 10, "recordings": 6}
    return Measurement(subject=subject, values=list(values), **(place | counts | more))
