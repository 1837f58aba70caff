"""Figures of the task `plan`: success against the distance of the goal, and some walks as strips of pictures.

They are drawn from a measurement:

- details: `conditions`, by name, each with `by_distance`: for each way to walk, a list of `steps`, `success_pct` and
  `walks`
- arrays of W walks of up to T views: `views` (W, T, height, width, channels) uint8, `is_view` (W, T), `goals`
  (W, height, width, channels) and `reached` (W,); with `_other` behind their names of the second condition
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from egoequiv.evaluation.measurement import Measurement
from egoequiv.report.figures.drawing import add_legend, add_title, frame_image, panels_of, show_image
from egoequiv.report.figures.styles import COLORS, RIGHT, WRONG, Style, draw_lines

WAYS = {
    "run": ("this run", Style(COLORS[0], "-", "o")),
    "pixels": ("pixels, fitted maps", Style(COLORS[1], "--", "s")),
    "untrained network": ("untrained network, fitted maps", Style(COLORS[2], "--", "^")),
    "greedy walk": ("greedy walk, no maps", Style(COLORS[3], ":", "v")),
    "random walk": ("random walk", Style(COLORS[7], ":", "X")),
}
LONGEST = 14  # views of a strip, at most; of a longer walk its end
FEWEST = 10  # walks behind a point


def plan_figures(measurement: Measurement) -> dict[str, Figure]:
    """Success against distance, and a strip of each kind of walk whose pictures are kept."""
    figures = {"plan": distance_figure(measurement)}
    for ending, name in (("", "plan-walks"), ("_other", "plan-walks-other")):
        if f"views{ending}" in measurement.arrays:
            figures[name] = strip_figure(measurement, ending)
    return figures


def distance_figure(measurement: Measurement) -> Figure:
    """A panel for each condition: the share of successful walks for each length of the shortest way."""
    conditions: dict[str, Any] = measurement.details["conditions"]
    figure, panels = panels_of(1, len(conditions), 2.5 + 4.0 * len(conditions), 4.4, share_y=True)
    for axes, (name, found) in zip(panels, conditions.items(), strict=True):
        curves = {
            words: [(one["steps"], one["success_pct"]) for one in found["by_distance"][way] if one["walks"] >= FEWEST]
            for way, (words, _) in WAYS.items()
            if way in found["by_distance"]
        }
        draw_lines(axes, curves, dict(WAYS.values()))
        axes.set_title(f"goal in the {name}" if name.startswith("same") else f"goal in {name}", fontsize=10)
        axes.set_xlabel("shortest way, moves")
        axes.set_ylim(0, 102)
    panels[0].set_ylabel("success %")
    add_legend(figure, panels)
    return figure


def strip_figure(measurement: Measurement, ending: str) -> Figure:
    """One walk a row: its views in order, and the goal at the end, green where it was reached."""
    views, is_view = measurement.arrays[f"views{ending}"], measurement.arrays[f"is_view{ending}"]
    goals, reached = measurement.arrays[f"goals{ending}"], measurement.arrays[f"reached{ending}"]
    longest = int(min(max(is_view.sum(axis=1).max(), 1), LONGEST))
    figure = Figure(figsize=(0.8 * (longest + 1) + 0.4, 0.5 + 0.95 * len(views)), layout="constrained")
    grid = figure.subplots(len(views), longest + 1, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for walk in range(len(views)):
        shown = np.flatnonzero(is_view[walk])
        for place, view in enumerate(shown[-longest:]):
            show_image(grid[walk, place], views[walk, view])
            grid[walk, place].set_title("start" if view == 0 else str(view), fontsize=7)
        axes, color = grid[walk, longest], RIGHT if reached[walk] else WRONG
        frame_image(axes, goals[walk], color)
        axes.set_title(f"goal {'✓' if reached[walk] else '✗'}", fontsize=7, color=color)
    add_title(figure, "Walks by plans: the views after each move, and the goal view")
    return figure
