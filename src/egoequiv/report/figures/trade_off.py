"""Recognition against equivariance: what each method gives of both, at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from matplotlib.figure import Figure

from egoequiv.evaluation.metric import Metric
from egoequiv.experiments.table import Row, Table
from egoequiv.models.network import INVARIANT
from egoequiv.report.figures.drawing import panels_of
from egoequiv.report.figures.styles import row_styles

ERROR, ACCURACY = "rho_atomic", (f"probe_6 ({INVARIANT})", "label_r2")
WORST = 1.5  # an error further out is drawn at the edge, so that it does not flatten all others


def trade_off(title: str, tables: Sequence[Table]) -> Figure | None:
    """A point for each row that has both: to the left is more equivariant, up is better recognised; None without any.

    Args:
        title: What the frames are.
        tables: Of one setting; the metrics may be in different ones.
    """
    errors = _column(tables, (ERROR,))
    accuracies = _column(tables, ACCURACY)
    if errors is None or accuracies is None:
        return None
    (error, across), (accuracy, up) = errors, accuracies
    names = [name for name in across if name in up]
    if not names:
        return None
    figure, panels = panels_of(1, 1, 7.0, 5.0)
    axes, styles = panels[0], row_styles(names)
    for name in names:
        x, y = min(across[name].mean(error.name), WORST), up[name].mean(accuracy.name)
        each = ((across[name], error), (up[name], accuracy))
        spread = np.nan_to_num([row.entries[metric.name].result.stderr for row, metric in each])
        style = styles[name]
        axes.errorbar(x, y, xerr=spread[0], yerr=spread[1], color=style.color, marker=style.marker, markersize=6)
        axes.annotate(name, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8, color=style.color)
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel(f"{error.title} (lower is better; dotted: copying the features)")
    axes.set_ylabel(f"{accuracy.title} (higher is better)")
    axes.set_title(title, fontsize=10)
    axes.margins(0.15)
    return figure


def _column(tables: Sequence[Table], names: Sequence[str]) -> tuple[Metric, dict[str, Row]] | None:
    """The first of these metrics that a table has, and the rows in which it is defined."""
    for name in names:
        for table in tables:
            found = {row.name: row for row in table.rows if isfinite(row.mean(name))}
            if found:
                return table.metric(name), found
    return None
