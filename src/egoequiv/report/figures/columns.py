"""The dot chart: a panel for each column of a table, a dot and its interval for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.blocks import Picture
from egoequiv.evaluation.metric import Metric
from egoequiv.report.figures.drawing import HEADROOM, LETTERS_PER_INCH, WIDTH, as_picture, panels_of
from egoequiv.report.figures.styles import Style, Styles, row_styles

if TYPE_CHECKING:
    from egoequiv.experiments.table import Row, Table

ACROSS, SHORT = 5, 20  # panels side by side, at most; fewer where a title has more letters than this
WORST = 1.6  # times the fixed baseline: an error further out is cut, so that it does not flatten all others


@dataclass(frozen=True)
class Dot:
    """One value of a row: with its interval, the published value, baselines measured beside it, and its mark."""

    value: float
    interval: tuple[float, float] | None = None
    published: float = nan
    baselines: tuple[float, ...] = ()
    is_marked: bool = False


Column = tuple[Metric, Sequence[Dot | None]]  # a dot for each row, None where nothing was measured


def dot_chart(rows: Sequence[str], columns: Sequence[Column], key: str = "", styles: Styles | None = None) -> Figure:
    """A panel for each column, a dot for each row.

    Args:
        rows: The names of the rows.
        columns: What is drawn.
        key: What the signs mean, below all panels; empty where a caption says it.
        styles: How each row looks.

    Returns:
        The figure. Fixed baselines are dotted lines, measured ones short lines; an open dot is not better than each of
        them; an open diamond is the published value.
    """
    styles = styles or row_styles(rows)
    longest = max(len(metric.title) for metric, _ in columns)
    down = -(-len(columns) // (ACROSS if longest <= SHORT else ACROSS - 2))
    across = -(-len(columns) // down)
    width = min(WIDTH, 2.5 + 2.4 * across)
    height = down * (0.85 + 0.27 * len(rows)) + (0.5 if key else 0)
    figure, panels = panels_of(down, across, width, height, share_y=True)
    for axes, (metric, dots) in zip(panels, columns, strict=False):
        _draw_column(axes, rows, metric, dots, styles)
        axes.set_title(fill(metric.title, int(LETTERS_PER_INCH * width / across)), fontsize=10)
    families = {metric.family for metric, _ in columns}
    if len(families) == 1 and families != {""}:
        low, high = zip(*(axes.get_xlim() for axes in panels[: len(columns)]), strict=True)
        for axes in panels[: len(columns)]:
            axes.set_xlim(min(low), max(high))  # one scale, so that panels can be compared
    for axes in panels[len(columns) :]:
        axes.set_axis_off()
    panels[0].set_yticks(range(len(rows)), rows, fontsize=9)
    panels[0].set_ylim(len(rows) - 0.3, -0.7)
    if key:
        figure.supxlabel(fill(key, int(LETTERS_PER_INCH * width)), fontsize=8)
    return figure


def _draw_column(axes: Axes, rows: Sequence[str], metric: Metric, dots: Sequence[Dot | None], styles: Styles) -> None:
    fixed = [value for value in metric.baselines.values() if isfinite(value)]
    most = WORST * max(fixed) if fixed and metric.better == "lower" else float("inf")
    seen = [0.0, *fixed]
    for value in fixed:
        axes.axvline(value, color="black", linewidth=0.8, linestyle=":")
    for place, (name, dot) in enumerate(zip(rows, dots, strict=True)):
        if dot is None:
            continue
        if not isfinite(dot.value):
            beside = axes.get_yaxis_transform()
            axes.text(0.02, place, "not defined", fontsize=7, va="center", color="gray", transform=beside)
            continue
        seen += _draw_dot(axes, place, dot, styles[name], metric, most)
    low, high = min(seen), max(seen)
    room = (HEADROOM - 1) * (high - low) or 1.0
    axes.set_xlim(low - room if low < 0 else 0.0, min(high + room, most))
    if low < 0:
        axes.axvline(0, color="black", linewidth=0.8)
    axes.grid(axis="y", color="#888888", alpha=0.25, linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines["left"].set_visible(False)


def _draw_dot(axes: Axes, place: int, dot: Dot, style: Style, metric: Metric, most: float) -> list[float]:
    """One dot with everything beside it; return where the axis has to reach."""
    if dot.value > most:
        axes.text(most, place, f"{metric.text(dot.value)} →", ha="right", va="center", fontsize=8, color=style.color)
        return [most]
    seen = [dot.value]
    if dot.interval is not None:
        axes.plot(dot.interval, [place, place], color=style.color, linewidth=2, solid_capstyle="butt")
        seen += dot.interval
    for baseline in dot.baselines:
        if isfinite(baseline):
            axes.plot(baseline, place, "|", color="black", markersize=11, markeredgewidth=1.0, zorder=3)
            seen.append(baseline)
    face = "white" if dot.is_marked else style.color
    axes.plot(dot.value, place, style.marker, color=style.color, markersize=5.5, markerfacecolor=face, zorder=4)
    if isfinite(dot.published):
        axes.plot(dot.published, place, "D", color="black", markersize=6, fillstyle="none", markeredgewidth=1.2)
        seen.append(dot.published)
    return seen


def table_chart(
    table: Table, metrics: Sequence[Metric], styles: Styles | None = None, *, with_key: bool = True
) -> Figure:
    """The dot chart of some metrics of a table, of the rows that have any of them.

    Args:
        table: The table.
        metrics: Which of its metrics.
        styles: How each row looks.
        with_key: Whether the figure itself says what its signs mean; a page says it below.
    """
    rows = [row for row in table.rows if any(metric.name in row.entries for metric in metrics)]
    columns = [(metric, [_dot(table, row, metric) for row in rows]) for metric in metrics]
    return dot_chart([row.name for row in rows], columns, chart_key(table, metrics) if with_key else "", styles)


def rho_chart(table: Table) -> Figure | None:
    """The chart of single motions of a table; None where there are none."""
    metrics = table.shown(single_motions=True)
    return table_chart(table, metrics) if metrics else None


def chart_key(table: Table, metrics: Sequence[Metric]) -> str:
    """What the signs of a chart mean, as far as they are in it."""
    names = {metric.name for metric in metrics}
    entries = [(row, name, row.entries[name]) for row in table.rows for name in names & row.entries.keys()]
    many = table.repetitions > 1
    words = ["Dots: means over repetitions" if many else "Dots: one repetition"]
    if any(entry.shown_interval(table.metric(name)) for _, name, entry in entries):
        words[0] += f" with 95 % intervals over {'repetitions' if many else 'recordings'}"
    fixed = dict.fromkeys(name for metric in metrics for name in metric.baselines)
    words += [f"dotted line: {', '.join(fixed)}"] if fixed else []
    beside = dict.fromkeys(name for _, _, entry in entries for name in entry.baselines)
    words += [f"short black lines: {', '.join(beside)}"] if beside else []
    if any(table.is_marked(row, table.metric(name)) for row, name, _ in entries):
        words.append("open dots: not better than each baseline")
    if any(name in row.published for row, name, _ in entries):
        words.append("open diamonds: published" + (f" for {table.published_on}" if table.published_on else ""))
    better = {metric.better for metric in metrics}
    words += [f"{next(iter(better))} is better"] if len(better) == 1 and "neither" not in better else []
    return "; ".join(words)


def _dot(table: Table, row: Row, metric: Metric) -> Dot | None:
    entry = row.entries.get(metric.name)
    if entry is None:
        return None
    published = row.published.get(metric.name)
    return Dot(
        value=entry.result.mean,
        interval=entry.shown_interval(metric),
        published=published.mean if published is not None else nan,
        baselines=tuple(entry.baselines.values()),
        is_marked=table.is_marked(row, metric),
    )


def chart_blocks(table: Table, metrics: Sequence[Metric], styles: Styles) -> list[Picture]:
    """The dot chart of some metrics as a block; none where nothing is defined."""
    shown = [metric for metric in metrics if any(isfinite(row.mean(metric.name)) for row in table.rows)]
    if not shown:
        return []
    figure = table_chart(table, shown, styles, with_key=False)
    return [as_picture(figure, column_words(table, shown), f"{chart_key(table, shown)}.")]


def column_words(table: Table, metrics: Sequence[Metric]) -> str:
    """What a chart shows, in numbers, for readers who cannot see it."""
    parts = []
    for metric in metrics:
        found = {row.name: row.mean(metric.name) for row in table.rows if isfinite(row.mean(metric.name))}
        if found:
            low, high = min(found, key=lambda name: found[name]), max(found, key=lambda name: found[name])
            parts.append(
                f"{metric.title} from {metric.text(found[low])} ({low}) to {metric.text(found[high])} ({high})"
            )
    return f"Dot plot of {len(table.rows)} rows: {'; '.join(parts) or 'nothing is defined'}."
