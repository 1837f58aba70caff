"""An audit as blocks and as a figure, by the same grids and the same dot chart as every table."""

from __future__ import annotations

from collections import Counter
from math import isfinite

from matplotlib.figure import Figure

from egoequiv.auditing.table import CONSTANT, COPY, NORM, AuditRow, AuditTable, MotionAudit
from egoequiv.auditing.table import MARK as MARK_WORDS
from egoequiv.blocks import Block, Cell, Grid, Points
from egoequiv.evaluation.metric import MARK, Metric
from egoequiv.report.figures.columns import Dot, dot_chart
from egoequiv.report.figures.styles import row_styles
from egoequiv.report.markdown import markdown_document

RHO = Metric(name="rho", title="rho", better="lower", family="rho", within=(0.0, None), baselines={"copy": 1.0})


def audit_blocks(table: AuditTable) -> list[Block]:
    """Everything that was found: rho of each model and motion, what the models are, the pairs, and what to know."""
    return [
        _rho_grid(table),
        _models_grid(table),
        _pairs_grid(table),
        Points(conclusions(table)),
    ]


def audit_markdown(table: AuditTable) -> str:
    """The same as a page of Markdown."""
    return markdown_document(f"Audit on {table.store}", audit_blocks(table))


def audit_figure(table: AuditTable) -> Figure:
    """A panel for each motion, a dot for each model; the layers of one model have one colour."""
    models = row_styles(list(dict.fromkeys(row.model for row in table.rows)))
    styles = {row.name: models[row.model] for row in table.rows}
    metrics = {motion: RHO.model_copy(update={"title": motion}) for motion in table.motions}
    columns = [(metric, [_dot(row.of(motion)) for row in table.rows]) for motion, metric in metrics.items()]
    key = (
        "Equivariance error rho with its 95 % interval (lower is better); dotted line: copying; short black lines: a "
        "constant; open dots: not below both"
    )
    return dot_chart([row.name for row in table.rows], columns, key, styles)


def conclusions(table: AuditTable) -> list[str]:
    """What has to be known to read the tables, a line each."""
    return [
        f"{COPY}.",
        f"{CONSTANT}.",
        *([f"{MARK_WORDS}."] if any(found.is_marked for row in table.rows for found in row.motions) else []),
        "ratio: mean |z(x) - M z(gx)| / mean |z(x) - z(gx)|, which leaves no pair out.",
        f"norm: {NORM}; intervals: 95 %, over {table.hold_out}s.",
        "fit: of least squares, PCA to some dimensions and ridge of several strengths, the one with the least rho on "
        "the pairs to choose by.",
        f"maps and tokens: {'their mean' if table.pooling == 'mean' else 'all places, flattened'}; "
        f"features of {table.frames:,} frames of {table.store}.",
        *(f"note: {note}" for note in table.notes),
    ]


def _rho_grid(table: AuditTable) -> Grid:
    rows = [[Cell(row.name), Cell(f"{row.dimension:,}"), *map(_rho_cell, row.motions)] for row in table.rows]
    return Grid(f"rho on {table.store}", ("model", "features", *(f"rho {name}" for name in table.motions)), rows)


def _rho_cell(found: MotionAudit) -> Cell:
    ends = [RHO.interval(found.interval)] if isfinite(found.rho) and RHO.interval(found.interval) else []
    others = {"constant": found.constant, "ratio": found.ratio_of_means}
    beside = [f"{name} {RHO.text(value)}" for name, value in others.items() if isfinite(value)]
    return Cell(RHO.text(found.rho) + (MARK if found.is_marked else ""), [*ends, *beside])


def _dot(found: MotionAudit) -> Dot:
    interval = found.interval if RHO.interval(found.interval) else None
    return Dot(found.rho, interval, baselines=(found.constant,), is_marked=found.is_marked)


def _models_grid(table: AuditTable) -> Grid:
    """What each model is, what it was shown, and by which fits its maps were found."""
    rows = [
        (row.name, row.kind, row.preprocessing, _fits(row), str(sum(one.pairs_excluded for one in row.motions)))
        for row in table.rows
    ]
    heads = ("model", "kind", "input", "fit chosen", "pairs left out")
    return Grid.of("models", heads, rows, is_words=True)


def _pairs_grid(table: AuditTable) -> Grid:
    """How many pairs of each motion were used for what."""
    rows = [
        (
            *(counts.motion, counts.fitted, counts.chosen_on, counts.measured, counts.groups_measured),
            table.hold_out if counts.divided_by == "groups" else counts.divided_by,
        )
        for counts in table.pairs
    ]
    heads = ("motion", "pairs to fit", "to choose", "to measure", f"{table.hold_out}s measured", "divided by")
    return Grid.of("pairs of frames", heads, rows)


def _fits(row: AuditRow) -> str:
    """The fits chosen, the most frequent first, with how often."""
    counts = Counter(found.fit for found in row.motions)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{fit} ({number})" for fit, number in counts.most_common())
