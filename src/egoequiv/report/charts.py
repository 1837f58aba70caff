"""The dot chart of a table as a block, with its numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from egoequiv.blocks import Block
from egoequiv.evaluation.metric import Metric
from egoequiv.experiments.table import Table
from egoequiv.report.figures.columns import chart_key, table_chart
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.figures.styles import Styles


def chart_blocks(table: Table, metrics: Sequence[Metric], styles: Styles) -> list[Block]:
    """The dot chart of some metrics as a block; none where nothing is defined."""
    shown = [metric for metric in metrics if any(isfinite(row.mean(metric.name)) for row in table.rows)]
    if not shown:
        return []
    figure = table_chart(table, shown, styles, with_key=False)
    return [as_picture(figure, column_words(table, shown), f"{chart_key(table, shown)}.")]


def column_words(table: Table, metrics: Sequence[Metric]) -> str:
    """What a chart shows, in numbers, for those who cannot see it."""
    parts = []
    for metric in metrics:
        found = {row.name: row.mean(metric.name) for row in table.rows if isfinite(row.mean(metric.name))}
        if found:
            low, high = min(found, key=lambda name: found[name]), max(found, key=lambda name: found[name])
            parts.append(
                f"{metric.title} from {metric.text(found[low])} ({low}) to {metric.text(found[high])} ({high})"
            )
    return f"Dot plot of {len(table.rows)} rows: {'; '.join(parts) or 'nothing is defined'}."
