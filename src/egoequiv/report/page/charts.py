"""The charts of a report, drawn from tables and metrics alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.experiments import Row, Table
from egoequiv.report.figures import HEADROOM
from egoequiv.report.styles import Style, draw_line, row_styles
from egoequiv.report.tables import interval_of, is_percentage, title_of

WIDTH = 10.0  # inches; the page shows them as wide as its text
WORST = 3.0  # the highest rho that has a place in a chart
ACROSS, SHORT = 5, 20  # panels side by side, at the most; fewer where a title has more letters than this
TITLE_SIGNS = 90  # of the titles of all panels side by side, before they are broken
Lines = Sequence[Mapping[str, float]]
Styles = Mapping[str, Style]


def column_chart(table: Table, columns: Sequence[str], styles: Styles | None = None) -> Figure:
    """A panel for each column: a dot and its 95 % interval for each row, the published value as an open diamond."""
    rows = [row for row in table.rows if any(_mean(row, column) is not None for column in columns)]
    styles = styles or row_styles([row.name for row in rows])
    longest = max(len(title_of(column)) for column in columns)
    down = -(-len(columns) // (ACROSS if longest <= SHORT else ACROSS - 2))
    across = -(-len(columns) // down)
    height = down * (1.15 + 0.27 * len(rows))
    figure, panels = plt.subplots(
        down, across, figsize=(WIDTH, height), sharey=True, squeeze=False, layout="constrained"
    )
    where = np.arange(len(rows))[::-1]
    for axes, column in zip(panels.flat, columns, strict=False):
        _draw_column(axes, rows, where, column, styles)
        axes.set_title(fill(title_of(column), TITLE_SIGNS // across), fontsize=10)
    for axes in panels.flat[len(columns) :]:
        axes.set_axis_off()
    panels[0, 0].set_yticks(where, [row.name for row in rows])
    panels[0, 0].set_ylim(-0.7, len(rows) - 0.3)
    return figure


def _draw_column(axes: Axes, rows: Sequence[Row], where: Any, column: str, styles: Styles) -> None:
    seen = [0.0]
    for place, row in zip(where, rows, strict=True):
        mean = _mean(row, column)
        if mean is None:
            continue
        style, ends = styles[row.name], interval_of(row.metrics[column])
        if ends is not None:
            low, high = np.clip(ends, 0, 100) if is_percentage(column) else ends
            axes.plot([low, high], [place, place], color=style.color, linewidth=2, solid_capstyle="butt")
            seen += [low, high]
        axes.plot(mean, place, style.marker, color=style.color, markersize=5.5, markerfacecolor=style.face)
        seen.append(mean)
        if column in row.published:
            published = row.published[column].mean
            axes.plot(published, place, "D", color="black", markersize=6, fillstyle="none", markeredgewidth=1.3)
            seen.append(published)
    axes.grid(axis="y", color="#888888", alpha=0.25, linewidth=0.6)
    low, high = _ends(seen)
    if column.startswith("rho"):
        axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
        high = min(HEADROOM * max(1.05, *seen), WORST)  # a row far beyond copying must not squeeze the others
        for place, row in zip(where, rows, strict=True):
            mean = _mean(row, column)
            if mean is not None and mean > WORST:
                axes.text(WORST, place + 0.15, f"{mean:.1f} →", ha="right", va="bottom", fontsize=8)
    if low < 0:
        axes.axvline(0, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlim(low, high)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _ends(seen: Sequence[float]) -> tuple[float, float]:
    """An axis from 0, or from below the lowest value, to beyond the highest, so that no dot is cut."""
    low, high = min(seen), max(seen)
    room = (HEADROOM - 1) * (high - low) or 1.0
    return (low - room if low < 0 else 0.0), high + room


def _mean(row: Row, column: str) -> float | None:
    result = row.metrics.get(column)
    return result.mean if result is not None and np.isfinite(result.mean) else None


def mean_lines(repetitions: Sequence[Lines]) -> list[dict[str, float]]:
    """The mean over repetitions of every metric at every iteration; of those repetitions that have it."""
    found: dict[int, dict[str, list[float]]] = {}
    for lines in repetitions:
        for line in lines:
            at = found.setdefault(int(line["iteration"]), {})
            for key, value in line.items():
                if key != "iteration" and value is not None:
                    at.setdefault(key, []).append(float(value))
    return [
        {"iteration": iteration, **{key: float(np.mean(values)) for key, values in at.items()}}
        for iteration, at in sorted(found.items())
    ]


def loss_terms(curves: Mapping[str, Lines]) -> list[str]:
    """The loss terms that runs have logged, their sum last."""
    seen = dict.fromkeys(key for lines in curves.values() for line in lines for key in line)
    terms = [key for key in seen if key not in ("iteration", "loss") and not key.startswith(("validation_", "auroc"))]
    return terms + (["loss"] if "loss" in seen and len(terms) > 1 else [])


def curves_chart(curves: Mapping[str, Lines], styles: Styles | None = None) -> Figure:
    """A panel for each loss term with a curve for each row; its value on validation frames as a dot."""
    terms, styles = loss_terms(curves), styles or row_styles(list(curves))
    columns = min(2, len(terms))
    down = -(-len(terms) // columns)
    figure, panels = plt.subplots(down, columns, figsize=(WIDTH, 0.7 + 2.9 * down), squeeze=False, layout="constrained")
    for axes, term in zip(panels.flat, terms, strict=False):
        highest = max(_draw_curve(axes, lines, term, name, styles[name]) for name, lines in curves.items())
        axes.set_title("sum of the weighted terms" if term == "loss" else term, fontsize=10)
        axes.set_xlabel("iteration", fontsize=9)
        axes.set_ylim(0, HEADROOM * highest or 1.0)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.flat[len(terms) :]:
        axes.set_axis_off()
    _legend(figure, panels.flat)
    return figure


def _draw_curve(axes: Axes, lines: Lines, term: str, name: str, style: Style) -> float:
    """Draw the curve of one row, and its dots; return the highest value of it."""
    points = [(line["iteration"], line[term]) for line in lines if term in line]
    if points:
        draw_line(axes, points, name, style)
    held = [(line["iteration"], line[f"validation_{term}"]) for line in lines if f"validation_{term}" in line]
    if held:
        axes.plot(*zip(*held, strict=True), style.marker, color=style.color, markersize=4, markerfacecolor=style.face)
    return max((value for _, value in [*points, *held] if np.isfinite(value)), default=0.0)


def chains_chart(
    chains: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], styles: Styles | None = None
) -> Figure:
    """A panel for each kind of chain with a curve for each row: rho of the product of maps by the number of steps."""
    kinds = list(dict.fromkeys(kind for own in chains.values() for kind, steps in own.items() if steps))
    figure, panels = plt.subplots(1, len(kinds), figsize=(WIDTH, 3.9), sharey=True, squeeze=False, layout="constrained")
    highest, styles = 1.0, styles or row_styles(list(chains))
    for axes, kind in zip(panels[0], kinds, strict=True):
        for name, own in chains.items():
            points = [(s["steps"], s["composed"]["rho"]) for s in own.get(kind, []) if s["composed"]["rho"] is not None]
            if points:
                highest = max(highest, *(rho for _, rho in points))
                draw_line(axes, points, name, styles[name], is_marked=True)
        axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
        axes.set_title(kind, fontsize=10)
        axes.set_xlabel("steps", fontsize=9)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylim(0, min(1.08 * highest, WORST))  # a product that explodes must not flatten the others
    panels[0, 0].set_ylabel("rho of the product of maps", fontsize=9)
    _legend(figure, panels.flat)
    return figure


def _legend(figure: Figure, panels: Any) -> None:
    """One legend below all panels, each name once."""
    handles = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=max(1, min(len(handles), 5 if max(map(len, handles), default=0) < SHORT else 4)),
        frameon=False,
        handlelength=3,
    )
