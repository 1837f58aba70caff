"""The dot chart: a panel for each column of a table, a dot and its interval for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite, nan
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.blocks import Picture
from egoequiv.evaluation.metric import Metric
from egoequiv.plurals import plural
from egoequiv.report.figures.drawing import HEADROOM, LETTERS_PER_INCH, WIDTH, as_picture, panels_of
from egoequiv.report.figures.styles import Style, Styles, row_styles

if TYPE_CHECKING:
    from egoequiv.experiments.table import Row, Table

ACROSS, SHORT = 5, 20  # panels side by side, at most; fewer where a title has more letters than this
ROW = 0.56  # of the distance between two rows, for the baselines of one
WORST = 1.6  # times the fixed baseline: an error further out is cut, so that it does not flatten all others


def table_chart(
    table: Table, metrics: Sequence[Metric], styles: Styles | None = None, *, key: str | None = None
) -> Figure:
    """The dot chart of some metrics of a table: a panel for each, a dot for each row that has any of them.

    Fixed baselines are dotted lines, measured ones short lines; an open dot is not better than each of them; an open
    diamond is the published value. `key` says so below all panels; it is empty where a caption does.
    """
    rows = [row for row in table.rows if any(metric.name in row.entries for metric in metrics)]
    names = [row.name for row in rows]
    styles, key = styles or row_styles(names), chart_key(table, metrics) if key is None else key
    longest = max(len(metric.title) for metric in metrics)
    down = -(-len(metrics) // (ACROSS if longest <= SHORT else ACROSS - 2))
    across = -(-len(metrics) // down)
    width = min(WIDTH, 2.5 + 2.4 * across)
    height = down * (0.85 + 0.27 * len(rows)) + (0.5 if key else 0)
    figure, panels = panels_of(down, across, width, height, share_y=True)
    for axes, metric in zip(panels, metrics, strict=False):
        _draw_column(axes, table, rows, metric, styles)
        axes.set_title(fill(metric.title, int(LETTERS_PER_INCH * width / across)), fontsize=10)
    families = {metric.family for metric in metrics}
    if len(families) == 1 and families != {""}:
        low, high = zip(*(axes.get_xlim() for axes in panels[: len(metrics)]), strict=True)
        for axes in panels[: len(metrics)]:
            axes.set_xlim(min(low), max(high))  # one scale, so that panels can be compared
    for axes in panels[len(metrics) :]:
        axes.set_axis_off()
    panels[0].set_yticks(range(len(rows)), names, fontsize=9)
    panels[0].set_ylim(len(rows) - 0.3, -0.7)
    if key:
        figure.supxlabel(fill(key, int(LETTERS_PER_INCH * width)), fontsize=8)
    return figure


def _draw_column(axes: Axes, table: Table, rows: Sequence[Row], metric: Metric, styles: Styles) -> None:
    fixed, most = _fixed(metric), _most(metric)
    seen = [0.0, *fixed]
    for value in fixed:
        axes.axvline(value, color="black", linewidth=0.8, linestyle=":")
    for place, row in enumerate(rows):
        if metric.name not in row.entries:
            continue
        if not isfinite(row.mean(metric.name)):
            beside = axes.get_yaxis_transform()
            axes.text(0.02, place, "not defined", fontsize=7, va="center", color="gray", transform=beside)
            continue
        seen += _draw_dot(axes, place, table, row, metric, styles[row.name], most)
    low, high = min(seen), max(seen)
    room = (HEADROOM - 1) * (high - low) or 1.0
    axes.set_xlim(low - room if low < 0 else 0.0, min(high + room, most))
    if low < 0:
        axes.axvline(0, color="black", linewidth=0.8)
    axes.grid(axis="y", color="#888888", alpha=0.25, linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines["left"].set_visible(False)


def _fixed(metric: Metric) -> list[float]:
    return [value for value in metric.baselines.values() if isfinite(value)]


def _most(metric: Metric) -> float:
    """Where the axis of a metric ends at the latest."""
    return WORST * max(_fixed(metric)) if _fixed(metric) and metric.better == "lower" else inf


def _draw_dot(axes: Axes, place: int, table: Table, row: Row, metric: Metric, style: Style, most: float) -> list[float]:
    """One dot with everything beside it; return where the axis has to reach."""
    entry, value = row.entries[metric.name], row.mean(metric.name)
    if value > most:
        axes.text(most, place, f"{metric.text(value)} →", ha="right", va="center", fontsize=8, color=style.color)
        return [most]
    seen = [value]
    if (interval := entry.shown_interval(metric)) is not None:
        axes.plot(interval, [place, place], color=style.color, linewidth=2, solid_capstyle="butt")
        seen += interval
    seen += _draw_baselines(axes, place, entry.baselines, _beside(table, [metric]), most)
    face = "white" if table.is_marked(row, metric) else style.color
    axes.plot(value, place, style.marker, color=style.color, markersize=5.5, markerfacecolor=face, zorder=4)
    if metric.name in row.published:
        published = row.published[metric.name].mean
        axes.plot(published, place, "D", color="black", markersize=6, fillstyle="none", markeredgewidth=1.2)
        seen.append(published)
    return seen


def _draw_baselines(
    axes: Axes, place: int, baselines: Mapping[str, float], names: Sequence[str], most: float
) -> list[float]:
    """A short line for each measured baseline, the first at the top of the row; an arrow for one beyond the axis."""
    seen = []
    for number, name in enumerate(names):
        value, height = baselines.get(name, nan), place + ROW * ((number + 0.5) / len(names) - 0.5)
        if value > most:
            axes.text(most, height, "→", ha="right", va="center", fontsize=7)
            seen.append(most)
        elif isfinite(value):
            length = max(4.0, 11 / len(names))
            axes.plot(value, height, "|", color="black", markersize=length, markeredgewidth=1.0, zorder=3)
            seen.append(value)
    return seen


def _beside(table: Table, metrics: Sequence[Metric]) -> list[str]:
    """The names of the baselines that were measured with rows, in the order in which each panel has them."""
    entries = [row.entries[metric.name] for row in table.rows for metric in metrics if metric.name in row.entries]
    return sorted({name for entry in entries for name in entry.baselines})


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
    beside = _beside(table, metrics)
    order = ["from top to bottom"] if len(beside) > 1 else []
    if any(value > _most(table.metric(name)) for _, name, entry in entries for value in entry.baselines.values()):
        order.append("→ beyond the axis")
    about = f" ({', '.join(order)})" if order else ""
    words += [f"short black lines: {', '.join(beside)}{about}"] if beside else []
    if any(table.is_marked(row, table.metric(name)) for row, name, _ in entries):
        words.append("open dots: not better than each baseline")
    if any(name in row.published for row, name, _ in entries):
        words.append("open diamonds: published" + (f" for {table.published_on}" if table.published_on else ""))
    better = {metric.better for metric in metrics}
    words += [f"{next(iter(better))} is better"] if len(better) == 1 and "neither" not in better else []
    return "; ".join(words)


def chart_blocks(table: Table, metrics: Sequence[Metric], styles: Styles) -> list[Picture]:
    """The dot chart of some metrics as a block; none where nothing is defined."""
    shown = [metric for metric in metrics if any(isfinite(row.mean(metric.name)) for row in table.rows)]
    if not shown:
        return []
    figure = table_chart(table, shown, styles, key="")
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
    return f"Dot plot of {plural(len(table.rows), 'row')}: {'; '.join(parts) or 'nothing is defined'}."
