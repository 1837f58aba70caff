"""Rows of results as a grid: here a cell of a table is formatted, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from egoequiv.blocks import Cell, Grid
from egoequiv.evaluation.metric import MARK, Metric
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import Entry, Row, Table


def results_grid(table: Table, metrics: Sequence[Metric], caption: str) -> Grid:
    """Rows of results of some metrics; what holds for all rows is below it."""
    shared = {metric.name: _shared_baselines(table, metric) for metric in metrics}
    rows = [
        [_head(row), *(_cell(table, row, metric, shared[metric.name]) for metric in metrics)]
        for row in table.rows
        if row.diverged or any(metric.name in row.entries for metric in metrics)
    ]
    notes = [
        *(
            f"{metric.title}: {baselines_text(metric, shared[metric.name])}."
            for metric in metrics
            if shared[metric.name]
        ),
        *mark_notes(table, metrics),
        *undefined_notes(table, metrics),
    ]
    return Grid(caption, ("method", *(metric.title for metric in metrics)), rows, tuple(notes))


def values_grid(table: Table, metrics: Sequence[Metric]) -> Grid:
    """The means of some metrics with their marks, and nothing else."""
    rows = [
        [Cell(row.name), *(Cell(cell_text(table, row, metric, with_error=False)) for metric in metrics)]
        for row in table.rows
        if any(metric.name in row.entries for metric in metrics)
    ]
    columns = ("method", *(metric.title for metric in metrics))
    return Grid(f"{table.title}: single motions", columns, rows, mark_notes(table, metrics))


def _head(row: Row) -> Cell:
    counts = {"diverged": row.diverged, "not finished": len(row.unfinished)}
    return Cell(row.name, [f"{count} {what}" for what, count in counts.items() if count])


def _cell(table: Table, row: Row, metric: Metric, shared: Mapping[str, float]) -> Cell:
    """One result: mean and standard error; below it the interval, what is beside it, and the published value."""
    small = []
    if (entry := row.entries.get(metric.name)) is not None:
        small.append(metric.interval(entry.shown_interval(metric)))
        for other in details_beside(table, metric):
            small.append(_beside(table, row, other))
        small += [baselines_text(metric, {k: v}) for k, v in entry.baselines.items() if k not in shared]
    if metric.name in row.published:
        small.append(f"paper {published_text(row.published[metric.name], metric)}")
    return Cell(cell_text(table, row, metric), [line for line in small if line])


def _beside(table: Table, row: Row, metric: Metric) -> str:
    """A further number of the same motion: its name, its value with the mark, its interval."""
    if not isfinite(row.mean(metric.name)):
        return ""
    interval = metric.interval(row.entries[metric.name].shown_interval(metric))
    name = metric.title.removesuffix(f" {metric.motion}")
    return f"{name} {cell_text(table, row, metric, with_error=False)} {interval}".rstrip()


def cell_text(table: Table, row: Row, metric: Metric, *, with_error: bool = True) -> str:
    """The mean of a cell with its mark, and its standard error."""
    result = row.result(metric.name)
    text = metric.result(result) if with_error or result is None else metric.text(result.mean)
    return text + (MARK if table.is_marked(row, metric) else "")


def details_beside(table: Table, metric: Metric) -> list[Metric]:
    """Further metrics of the same motion, which are details."""
    return [one for one in table.metrics if one.is_detail and one.motion == metric.motion is not None]


def published_text(published: Published, metric: Metric) -> str:
    """A published mean, with its standard error where the paper gives one."""
    error = "" if published.stderr is None else f" ± {published.stderr:.{metric.digits}f}"
    return metric.text(published.mean) + error


def baselines_text(metric: Metric, baselines: Mapping[str, float]) -> str:
    """Such as `chance 4.00, nearest pixels 31.20`; without those that are not defined."""
    return ", ".join(f"{name} {metric.text(value)}" for name, value in baselines.items() if isfinite(value))


def _entries(table: Table, metrics: Sequence[Metric]) -> list[Entry]:
    return [row.entries[metric.name] for row in table.rows for metric in metrics if metric.name in row.entries]


def baseline_names(table: Table, metrics: Sequence[Metric]) -> list[str]:
    fixed = dict.fromkeys(name for metric in metrics for name in metric.baselines)
    return list(fixed | dict.fromkeys(name for entry in _entries(table, metrics) for name in entry.baselines))


def _shared_baselines(table: Table, metric: Metric) -> dict[str, float]:
    """The baselines of a metric that are the same in every row of several."""
    each = [entry.baselines for entry in _entries(table, [metric])]
    same = {k: v for k, v in (each[0] if len(each) > 1 else {}).items() if isfinite(v)}
    return {k: v for k, v in same.items() if len({metric.text(own.get(k)) for own in each}) == 1}


def mark_notes(table: Table, metrics: Sequence[Metric]) -> list[str]:
    """What the mark means, where a cell has one."""
    shown = [*metrics, *(other for metric in metrics for other in details_beside(table, metric))]
    marked = [metric for metric in shown if any(table.is_marked(row, metric) for row in table.rows)]
    why = (
        ", or of features that collapsed in training"
        if any(one.is_collapsed for one in _entries(table, marked))
        else ""
    )
    names = ", ".join(baseline_names(table, marked))
    note = f"{MARK} not better than each of its baselines ({names}){why}: it is no evidence"
    return [f"{note} for the features."] if marked else []


def undefined_notes(table: Table, metrics: Sequence[Metric]) -> list[str]:
    """Why cells are not defined: one note for each metric and reason, with the rows it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for row in table.rows:
            entry = row.entries.get(metric.name)
            if entry is not None and not isfinite(entry.result.mean) and entry.note:
                found.setdefault((metric.title, entry.note.rstrip(".")), []).append(row.name)
    return [f"{title} is not defined for {', '.join(names)}: {why}." for (title, why), names in found.items()]
