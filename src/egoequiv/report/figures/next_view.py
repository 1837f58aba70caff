"""Figures of the next-best view: accuracy against the number of views, and a gallery of walks.

They are drawn from a measurement of the task `next-view`:

- details: `moves` (names), `classes` (names), `starting_views` (a count), and `accuracy_pct`, a list with, for each
  number of views, `views` and, for each policy below, `mean` and `interval` (two ends, or null)
- arrays of W walks of V views, drawn at random: `gallery_images` (W, V, height, width, channels) uint8, `gallery_class`
  (W,), `gallery_guess` (W, V), -1 where the walk ended before, `gallery_moves` (W, V - 1) and `gallery_bits` (W, V - 1)
"""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.evaluation.measurement import Measurement
from egoequiv.report.figures.drawing import CAPTION, WIDTH, add_legend, add_title, frame_image, panels_of
from egoequiv.report.figures.styles import COLORS, RIGHT, WRONG, Style, draw_lines

ACROSS = 6  # views side by side, at most
GAP = 0.1  # between walks side by side, of the width of a view
LETTERS_PER_INCH = 12  # of captions
LONGEST_NAME = 16
POLICIES = {
    "best": ("best move in hindsight", Style(COLORS[2], "--", "^")),
    "chosen": ("chosen move", Style(COLORS[0], "-", "o")),
    "random": ("random move", Style(COLORS[1], "--", "s")),
    "first_view_alone": ("first view alone, same training tuples", Style(COLORS[7], ":", "v")),
}


def next_view_figures(measurement: Measurement) -> dict[str, Figure]:
    """Both figures; the gallery where its images are kept."""
    figures = {"next-view": accuracy_figure(measurement)}
    if "gallery_images" in measurement.arrays:
        figures["next-view-gallery"] = gallery_figure(measurement)
    return figures


def accuracy_figure(measurement: Measurement) -> Figure:
    """Accuracy after each view: by the chosen move, between a random move and the best in hindsight."""
    rows: list[dict[str, Any]] = measurement.details["accuracy_pct"]
    figure, (axes,) = panels_of(1, 1, 6.5, 4.6)
    views = [row["views"] for row in rows]
    ends = [row["chosen"]["interval"] for row in rows]
    if all(end is not None and None not in end for end in ends):
        words = "95 % interval of the chosen move"
        axes.fill_between(views, *np.transpose(ends), color=COLORS[0], alpha=0.15, linewidth=0, label=words)
    curves = {
        words: [(row["views"], row[name]["mean"]) for row in rows if row.get(name)]
        for name, (words, _) in POLICIES.items()
    }
    draw_lines(axes, curves, dict(POLICIES.values()), dodge=0.015 * len(views))
    axes.set_xticks(views)
    axes.set_xlabel("number of views")
    axes.set_ylabel("accuracy %")
    moves = ", ".join(measurement.details["moves"])
    add_title(figure, f"Next view: {measurement.details['starting_views']:,} starting views, moves {moves}")
    add_legend(figure, [axes])
    return figure


def gallery_figure(measurement: Measurement) -> Figure:
    """Starting views at random, the moves chosen from them, and what is seen and guessed after each."""
    images = measurement.arrays["gallery_images"]
    walks, views, height, width, _ = images.shape
    beside = min(max(1, ACROSS // views), walks)  # walks side by side
    rows = -(-walks // beside)
    columns = ([1.0] * views + [GAP]) * beside  # the last gap is at the edge
    cell = WIDTH / max(sum(columns), ACROSS * (1 + GAP))
    size = (sum(columns) * cell, 0.6 + rows * (cell * height / width + 0.65))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, len(columns), gridspec_kw={"width_ratios": columns}, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for walk in range(walks):
        for view in range(views):
            if measurement.arrays["gallery_guess"][walk, view] >= 0:
                _draw_view(grid[walk // beside, walk % beside * (views + 1) + view], measurement, walk, view)
    words = (
        "Starting views at random, and what is seen after the chosen move: guess from all views so far "
        "(green: right, red: wrong; bits: uncertainty expected before moving)"
    )
    figure.suptitle(fill(words, int(size[0] * LETTERS_PER_INCH)), fontsize=CAPTION)
    return figure


def _draw_view(axes: Axes, measurement: Measurement, walk: int, view: int) -> None:
    """One view of a walk: its class or the move that led here above it, the guess below it."""
    arrays, classes = measurement.arrays, measurement.details["classes"]
    own, guess = int(arrays["gallery_class"][walk]), int(arrays["gallery_guess"][walk, view])
    color = RIGHT if guess == own else WRONG
    frame_image(axes, arrays["gallery_images"][walk, view], color)
    if view == 0:
        axes.set_title(_short(classes[own]), fontsize=CAPTION, fontweight="bold")
    else:
        move = measurement.details["moves"][int(arrays["gallery_moves"][walk, view - 1])]
        axes.set_title(f"→ {_short(move)}\n{arrays['gallery_bits'][walk, view - 1]:.1f} bits", fontsize=CAPTION)
    mark = "✓" if guess == own else "✗"
    axes.set_xlabel(f"{mark} {_short(classes[guess])}", fontsize=CAPTION, color=color, labelpad=2)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
