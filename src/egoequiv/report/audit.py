"""An audit as a table of results: by the same grids and the same dot chart as every other."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, replace
from math import isfinite, nan

from matplotlib.figure import Figure

from egoequiv.auditing.table import CONSTANT, COPY, MARK, NORM, AuditRow, AuditTable
from egoequiv.blocks import Block, Grid, Points
from egoequiv.evaluation.equivariance_task import KINDS, RATIO, Kind
from egoequiv.evaluation.metric import Metric, is_marked
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments.table import Entry, Row, Table
from egoequiv.markdown import markdown_document
from egoequiv.models.foreign.loaders import BASELINES
from egoequiv.report.figures.columns import table_chart
from egoequiv.report.figures.styles import row_styles
from egoequiv.report.results_grid import mark_notes, results_grid

FEATURES = Metric(name="features", title="features", digits=0, better="neither")
KEY = (
    "Equivariance error rho with its 95 % interval (lower is better); dotted line: copying; short black lines: a "
    "constant; open dots: not below every baseline"
)


class AuditResults(Table):
    """The rows of an audit, one for each model and layer."""

    def is_marked(self, row: Row, metric: Metric) -> bool:
        """Whether a cell is not below every baseline, those that are other rows too, at two decimals."""
        entry = row.entries[metric.name]
        rows = {} if row.method in BASELINES else {name: self._mean(name, metric) for name in BASELINES}
        known = {**metric.baselines, **entry.baselines, **rows}
        baselines = {name: round(value, 2) for name, value in known.items() if isfinite(value)}
        return is_marked(metric, round(entry.result.mean, 2), baselines, entry.is_collapsed)

    def _mean(self, name: str, metric: Metric) -> float:
        return next((row.mean(metric.name) for row in self.rows if row.name == name), nan)


def results_of(table: AuditTable) -> AuditResults:
    """What an audit found, as every table holds it."""
    rhos, ratios = (
        {motion: kind.metric(motion, motion).model_copy(update={"is_detail": False}) for motion in table.motions}
        for kind in KINDS
    )
    rows = []
    for row in table.rows:
        entries = {FEATURES.name: Entry(result=Result((row.dimension,)))}
        for found in row.motions:
            rho = Entry(
                result=Result((found.rho,)),
                interval=found.interval,
                baselines={"constant": found.constant},
                is_collapsed=row.is_collapsed,
            )
            ratio = Entry(
                result=Result((found.ratio_of_means,)),
                interval=found.ratio_interval,
                baselines={"constant": found.ratio_constant},
                is_collapsed=row.is_collapsed,
            )
            entries |= {rhos[found.motion].name: rho, ratios[found.motion].name: ratio}
        rows.append(Row(name=row.name, method=row.model, entries=entries))
    metrics = [FEATURES, *rhos.values(), *ratios.values()]
    columns = (FEATURES.name, *(metric.name for metric in rhos.values()))
    return AuditResults(title=f"rho on {table.store}", metrics=metrics, columns=columns, rows=rows)


def audit_blocks(table: AuditTable) -> list[Block]:
    """All that was found: both errors of each model and motion, what the models are, the pairs, and what to know."""
    results = results_of(table)
    grids = [_kind_grid(results, kind, f"{kind.title} on {table.store}") for kind in KINDS]
    return [*grids, _models_grid(table), _pairs_grid(table), _notes(table)]


def _kind_grid(results: AuditResults, kind: Kind, caption: str) -> Grid:
    """Rho or the ratio of means of each model and motion."""
    metrics = [FEATURES, *(metric for metric in results.metrics if metric.family == kind.name)]
    grid = results_grid(results, metrics, caption)
    own = [note for note in grid.notes if note not in mark_notes(results, metrics)]  # the mark is explained below
    columns = (head.replace(RATIO.title, RATIO.name) for head in grid.columns[1:])
    return replace(grid, columns=("model", *columns), notes=own)


def audit_markdown(table: AuditTable) -> str:
    """The same as a page of Markdown."""
    return markdown_document(f"Audit on {table.store}", audit_blocks(table))


def audit_figure(table: AuditTable) -> Figure:
    """A panel for each motion, a dot for each model; the layers of one model have one colour."""
    results = results_of(table)
    models = row_styles(list(dict.fromkeys(row.method for row in results.rows)))
    styles = {row.name: models[row.method] for row in results.rows}
    return table_chart(results, results.shown(single_motions=True), styles, key=KEY)


def _notes(table: AuditTable) -> Points:
    """What has to be known to read the tables, a line each."""
    return Points(
        [
            f"{COPY}.",
            f"{CONSTANT}.",
            *([f"{MARK}."] if any(row.has_marks for row in table.rows) else []),
            "ratio of means: mean |z(x) - M z(gx)| / mean |z(x) - z(gx)|, which leaves no pair out and is not led by "
            "pairs that hardly move.",
            f"norm: {NORM}; intervals: 95 %, over {table.hold_out}s.",
            "fit: of least squares, PCA to some dimensions and ridge of several strengths, the one with the least rho "
            "on the pairs to choose by.",
            f"maps and tokens: {'their mean' if table.pooling == 'mean' else 'all places, flattened'}; "
            f"features of {table.frames:,} frames of {table.store}.",
            *(f"note: {note}" for note in table.notes),
        ]
    )


def _models_grid(table: AuditTable) -> Grid:
    """What each model is, what it was shown, and by which fits its maps were found."""
    rows = [
        (row.name, row.kind, row.preprocessing, _fits(row), str(sum(one.pairs_excluded for one in row.motions)))
        for row in table.rows
    ]
    return Grid.of("models", ("model", "kind", "input", "fit chosen", "pairs left out"), rows, is_words=True)


def _pairs_grid(table: AuditTable) -> Grid:
    """How many pairs of each motion were used for what."""
    heads = ("motion", "pairs to fit", "to choose", "to measure", f"{table.hold_out}s measured", "divided by")
    by = {"groups": table.hold_out}
    rows = [(*astuple(counts)[:-1], by.get(counts.divided_by, counts.divided_by)) for counts in table.pairs]
    return Grid.of("pairs of frames", heads, rows)


def _fits(row: AuditRow) -> str:
    """The fits chosen, the most frequent first, with how often."""
    counts = Counter(found.fit for found in row.motions).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{fit} ({number})" for fit, number in counts)
