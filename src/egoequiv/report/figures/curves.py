"""Curves against the iteration, of one run or of many: losses, accuracy, and the slowness AUROC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.errors import DataError
from egoequiv.report.figures.drawing import HEADROOM, WIDTH, add_legend, add_title, panels_of
from egoequiv.report.figures.styles import Points, Styles, draw_lines, row_styles

HELD = "validation_"  # before the name of what was measured on validation frames
NOT_LOSSES = ("iteration", "auroc", "spread", "effective_rank")  # nor what begins with validation_
SUM = "the sum of the weighted terms"
OTHERS = {"validation_top1": "accuracy on validation frames, top-1 %"}
AUROC = {"auroc": "slowness AUROC, training pairs", "validation_auroc": "slowness AUROC, validation pairs"}
SIDE_ROOM = 1.03  # of the axis beyond the last iteration
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


def curves_figure(
    curves: Mapping[str, Lines],
    title: str = "",
    styles: Styles | None = None,
    panels: Mapping[str, str] | None = None,
) -> Figure:
    """Panels with a line for each run, against the iteration; by default one for each loss term and the accuracy.

    Lines are of training batches, open markers of validation frames, the dotted line is chance.
    """
    wanted = panels or {**{term: f"loss: {SUM if term == 'loss' else term}" for term in loss_terms(curves)}, **OTHERS}
    found = {key: {name: _points(lines, key) for name, lines in curves.items()} for key in wanted}
    shown = {key: words for key, words in wanted.items() if any(found[key].values())}
    if not shown:
        raise DataError(f"no metrics of {', '.join(curves) or 'any run'} hold {' or '.join(wanted)}: train again")
    last = max((line["iteration"] for lines in curves.values() for line in lines), default=1) or 1
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    figure, all_axes = panels_of(down, across, WIDTH * (0.6 if across == 1 else 1), 0.9 + 2.7 * down)
    for axes, (key, words) in zip(all_axes, shown.items(), strict=False):
        held = {} if key in (*AUROC, *OTHERS) else {name: _points(own, HELD + key) for name, own in curves.items()}
        draw_lines(axes, found[key], styles or row_styles(list(curves)))
        _draw_rings(axes, held, styles or row_styles(list(curves)))
        _tell_single(axes, found[key])
        values = [y for points in (*found[key].values(), *held.values()) for _, y in points if isfinite(y)]
        if key in AUROC:
            axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":", label="chance")
            axes.set_ylim(min([0.48, *(y - 0.02 for y in values)]), 1.02)
        else:
            axes.set_ylim(0, HEADROOM * max(values, default=0) or 1.0)
        axes.set_xlim(0, SIDE_ROOM * last)
        axes.set_title(words, fontsize=10)
        axes.set_xlabel("iteration", fontsize=9)
    for axes in all_axes[len(shown) :]:
        axes.set_axis_off()
    add_title(figure, title)
    add_legend(figure, all_axes)
    return figure


def _points(lines: Lines, key: str) -> Points:
    times = 100 if key in OTHERS else 1  # in per cent
    return [(line["iteration"], times * line[key]) for line in lines if line.get(key) is not None]


def _tell_single(axes: Axes, curves: Mapping[str, Points]) -> None:
    """Where a run was measured once, there is no line: its dot is explained by its number."""
    for points in curves.values():
        if len(points) == 1 and isfinite(points[0][1]):
            (x, y) = points[0]
            axes.annotate(f"{y:.3g}", (x, y), (-7, 0), textcoords="offset points", ha="right", va="center", fontsize=9)


def _draw_rings(axes: Axes, held: Mapping[str, Points], styles: Styles) -> None:
    """Losses on validation frames: open markers on a thin line, and one entry of the legend for all of them."""
    for name, points in held.items():
        if points:
            style = styles[name]
            axes.plot(*zip(*points, strict=True), color=style.color, linewidth=0.7, linestyle=":")
            axes.plot(*zip(*points, strict=True), style.marker, color=style.color, markersize=6, fillstyle="none")
    if any(held.values()):
        axes.plot([], [], "o:", color="gray", fillstyle="none", label="on validation frames")
