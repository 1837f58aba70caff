"""The charts of a report, drawn from tables and metrics alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.experiments import Row, Table
from egoequiv.report.figures import COLORS
from egoequiv.report.tables import title_of

WIDTH = 10.0  # inches; the page shows them as wide as its text
WORST = 3.0  # the highest rho that has a place in a chart
UNLABELLED = " (no labels)"  # how rows of runs without labels end; they are drawn dashed
Lines = Sequence[Mapping[str, float]]


def column_chart(table: Table, columns: Sequence[str]) -> Figure:
    """A panel for each column: a dot and its 95 % interval for each row, the published value as an open diamond."""
    rows = [row for row in table.rows if any(_mean(row, column) is not None for column in columns)]
    height = 1.15 + 0.27 * len(rows)
    figure, panels = plt.subplots(
        1, len(columns), figsize=(WIDTH, height), sharey=True, squeeze=False, layout="constrained"
    )
    where = np.arange(len(rows))[::-1]
    for axes, column in zip(panels[0], columns, strict=True):
        _draw_column(axes, rows, where, column)
    panels[0, 0].set_yticks(where, [row.name for row in rows])
    panels[0, 0].set_ylim(-0.7, len(rows) - 0.3)
    return figure


def _draw_column(axes: Axes, rows: Sequence[Row], where: Any, column: str) -> None:
    for place, row in zip(where, rows, strict=True):
        mean = _mean(row, column)
        if mean is None:
            continue
        low, high = row.metrics[column].interval()
        if np.isfinite(low):
            axes.plot([low, high], [place, place], color=COLORS[0], linewidth=2, solid_capstyle="butt")
        axes.plot(mean, place, "o", color=COLORS[0], markersize=5)
        if column in row.published:
            published = row.published[column].mean
            axes.plot(published, place, "D", color=COLORS[1], markersize=6, fillstyle="none", markeredgewidth=1.6)
    axes.grid(axis="y", color="#888888", alpha=0.25, linewidth=0.6)
    if column.startswith("rho"):
        axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
        highest = max([1.05, *(mean for row in rows if (mean := _mean(row, column)) is not None)])
        axes.set_xlim(0, min(1.15 * highest, WORST))  # a row far beyond copying must not squeeze the others
        for place, row in zip(where, rows, strict=True):
            mean = _mean(row, column)
            if mean is not None and mean > WORST:
                axes.text(WORST, place + 0.15, f"{mean:.1f} →", ha="right", va="bottom", fontsize=8)
    else:
        axes.set_xlim(left=0)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title_of(column), fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)


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


def curves_chart(curves: Mapping[str, Lines]) -> Figure:
    """A panel for each loss term with a curve for each row; its value on validation frames as a dot."""
    terms, styles = loss_terms(curves), line_styles(list(curves))
    columns = min(2, len(terms))
    down = -(-len(terms) // columns)
    figure, panels = plt.subplots(down, columns, figsize=(WIDTH, 0.7 + 2.9 * down), squeeze=False, layout="constrained")
    for axes, term in zip(panels.flat, terms, strict=False):
        for name, lines in curves.items():
            _draw_curve(axes, lines, term, name, styles[name])
        axes.set_title("sum of the weighted terms" if term == "loss" else term, fontsize=10)
        axes.set_xlabel("iteration", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.flat[len(terms) :]:
        axes.set_axis_off()
    _legend(figure, panels.flat)
    return figure


def line_styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour for each method, and dashes for its row without labels."""
    methods = list(dict.fromkeys(name.removesuffix(UNLABELLED) for name in names))
    return {
        name: (
            COLORS[methods.index(name.removesuffix(UNLABELLED)) % len(COLORS)],
            "--" if name.endswith(UNLABELLED) else "-",
        )
        for name in names
    }


def _draw_curve(axes: Axes, lines: Lines, term: str, name: str, style: tuple[str, str]) -> None:
    color, dash = style
    points = [(line["iteration"], line[term]) for line in lines if term in line]
    if points:
        marker = "o" if len(points) == 1 else None  # a single point makes no line
        axes.plot(*zip(*points, strict=True), dash, color=color, linewidth=1.4, label=name, marker=marker, markersize=3)
    held = [(line["iteration"], line[f"validation_{term}"]) for line in lines if f"validation_{term}" in line]
    if held:
        axes.plot(*zip(*held, strict=True), "o", color=color, markersize=4)


def chains_chart(chains: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> Figure:
    """A panel for each kind of chain with a curve for each row: rho of the product of maps by the number of steps."""
    kinds = list(dict.fromkeys(kind for own in chains.values() for kind, steps in own.items() if steps))
    figure, panels = plt.subplots(1, len(kinds), figsize=(WIDTH, 3.9), sharey=True, squeeze=False, layout="constrained")
    highest, styles = 1.0, line_styles(list(chains))
    for axes, kind in zip(panels[0], kinds, strict=True):
        for name, own in chains.items():
            points = [(s["steps"], s["composed"]["rho"]) for s in own.get(kind, []) if s["composed"]["rho"] is not None]
            if points:
                highest = max(highest, *(rho for _, rho in points))
                color, dash = styles[name]
                axes.plot(*zip(*points, strict=True), dash, color=color, marker="o", markersize=4, label=name)
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
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(5, max(1, len(handles))), frameon=False
    )
