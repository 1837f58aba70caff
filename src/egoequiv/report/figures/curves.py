"""Curves against the iteration: the losses of one run or of many, and their slowness AUROC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from egoequiv.errors import DataError
from egoequiv.report.figures.drawing import HEADROOM, WIDTH, add_legend, add_title, panels_of
from egoequiv.report.figures.styles import Points, Style, Styles, draw_lines, row_styles

HELD, TOP1 = "validation_", "validation_top1"
NOT_LOSSES = ("iteration", "auroc", "spread", "effective_rank")  # nor what begins with validation_
AUROC = {"auroc": "training pairs", "validation_auroc": "validation pairs"}  # as the metrics of a run name it
Lines = Sequence[Mapping[str, float]]  # of the metrics of a run


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
    """The loss terms that runs have logged, their sum last and only where it is not the same as the one term."""
    seen = dict.fromkeys(key for lines in curves.values() for line in lines for key in line)
    terms = [key for key in seen if key not in (*NOT_LOSSES, "loss") and not key.startswith(HELD)]
    return terms + (["loss"] if "loss" in seen and len(terms) != 1 else [])


def curves_figure(curves: Mapping[str, Lines], title: str = "", styles: Styles | None = None) -> Figure:
    """A panel for each loss term and for the validation accuracy, with a line for each run.

    Args:
        curves: The lines of metrics of each run, by its name.
        title: Stands above all panels.
        styles: How each run looks; by default in the order of the names.

    Returns:
        The figure: lines are of training batches; rings are of validation frames.
    """
    styles, terms = styles or row_styles(list(curves)), loss_terms(curves)
    accuracy = {name: _points(lines, TOP1, 100) for name, lines in curves.items()}
    shown = [*terms, *([TOP1] if any(accuracy.values()) else [])]
    if not shown:
        raise DataError(f"no metrics of {', '.join(curves) or 'any run'} hold a loss: train again")
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    figure, panels = panels_of(down, across, WIDTH * (0.6 if across == 1 else 1), 0.9 + 2.7 * down)
    for axes, term in zip(panels, shown, strict=False):
        lines = accuracy if term == TOP1 else {name: _points(own, term) for name, own in curves.items()}
        held = {} if term == TOP1 else {name: _points(own, HELD + term) for name, own in curves.items()}
        draw_lines(axes, lines, styles)
        _draw_rings(axes, held, styles)
        words = {TOP1: "accuracy on validation frames, top-1 %", "loss": "loss: the sum of the weighted terms"}
        axes.set_title(words.get(term, f"loss: {term}"), fontsize=10)
        axes.set_xlabel("iteration", fontsize=9)
        highest = max((y for points in (*lines.values(), *held.values()) for _, y in points if isfinite(y)), default=0)
        axes.set_ylim(0, HEADROOM * highest or 1.0)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    add_title(figure, title)
    add_legend(figure, panels)
    return figure


def auroc_figure(curves: Mapping[str, Lines], title: str = "", styles: Styles | None = None) -> Figure:
    """The slowness AUROC of each run on training and on validation pairs; chance is the dotted line."""
    styles = styles or row_styles(list(curves))
    found = {key: {name: _points(lines, key) for name, lines in curves.items()} for key in AUROC}
    values = [y for panel in found.values() for points in panel.values() for _, y in points]
    if not values:
        raise DataError(f"no metrics of {', '.join(curves) or 'any run'} hold a slowness AUROC ('auroc'): train again")
    figure, panels = panels_of(1, 2, WIDTH, 3.8, share_y=True)
    for axes, (key, words) in zip(panels, AUROC.items(), strict=True):
        draw_lines(axes, found[key], styles)
        axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":", label="chance")
        axes.set_title(words, fontsize=10)
        axes.set_xlabel("iteration", fontsize=9)
        axes.set_ylim(min(0.48, min(values) - 0.02), 1.02)
    panels[0].set_ylabel("slowness AUROC")
    add_title(figure, title)
    add_legend(figure, panels)
    return figure


def _points(lines: Lines, key: str, times: float = 1.0) -> Points:
    return [(line["iteration"], times * line[key]) for line in lines if line.get(key) is not None]


def _draw_rings(axes: Axes, held: Mapping[str, Points], styles: Styles) -> None:
    """Losses on validation frames: open markers on a thin line, and one entry of the legend for all of them."""
    for name, points in held.items():
        if points:
            style: Style = styles[name]
            axes.plot(*zip(*points, strict=True), color=style.color, linewidth=0.7, linestyle=":")
            axes.plot(*zip(*points, strict=True), style.marker, color=style.color, markersize=6, fillstyle="none")
    if any(held.values()):
        ring = Line2D([], [], color="gray", marker="o", fillstyle="none", linestyle=":", label="on validation frames")
        axes.add_line(ring)
