"""Figures of the next-best view: accuracy against the number of views, and a gallery of walks."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.evaluation.next_view_task import NextViewResult
from egoequiv.evaluation.task import TaskData
from egoequiv.report.figures import COLORS

RIGHT, WRONG = "#3a8f3a", "#c83737"
SHOWN = 12  # walks of the gallery, at the most
ACROSS, DOWN = 8, 6  # views side by side, and rows of walks, at the most
GAP = 0.1  # between walks side by side, of the width of a view
LONGEST_NAME = 16
LINES = {
    "best": ("best move in hindsight", COLORS[2], "--"),
    "chosen": ("chosen move", COLORS[0], "-"),
    "random": ("random move", COLORS[1], "--"),
    "first_view_alone": ("first view alone, same training tuples", COLORS[7], ":"),
}


def next_view_figures(result: NextViewResult, data: TaskData) -> dict[str, Figure]:
    """Both figures."""
    return {"next-view": accuracy_figure(result), "next-view-gallery": gallery(result, data)}


def accuracy_figure(result: NextViewResult) -> Figure:
    """Accuracy after each view: by the chosen move, between a random move and the best in hindsight."""
    rows: list[dict[str, Any]] = result.describe()["accuracy_pct"]
    views = [row["views"] for row in rows]
    figure, axes = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
    for name, (label, color, style) in LINES.items():
        means = [row[name]["mean"] for row in rows]
        axes.plot(views, means, style, color=color, label=label, marker="o", markersize=4)
    ends = [row["chosen"]["interval"] for row in rows]
    if all(end is not None for end in ends):
        axes.fill_between(views, *np.transpose(ends), color=COLORS[0], alpha=0.15, linewidth=0, label="95 % interval")
    axes.set_xticks(views)
    axes.set_xlabel("number of views")
    axes.set_ylabel("accuracy %")
    axes.set_title(f"Next view: {len(result.own_class):,} starting views, moves {', '.join(result.moves)}", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def gallery(result: NextViewResult, data: TaskData, seed: int = 0) -> Figure:
    """Some starting views at random, the moves chosen from them, and what is seen and guessed after each."""
    walk = result.walks["chosen"]
    views = walk.frames.shape[1]
    blocks = max(1, ACROSS // views)  # walks side by side
    count = min(SHOWN, DOWN * blocks, len(walk.frames))
    shown = np.sort(np.random.default_rng([seed, 0x6A11]).choice(len(walk.frames), count, replace=False))
    blocks = min(blocks, count)
    rows = -(-count // blocks)
    height, width, _ = data.store.image_shape
    cell = 1.35 * max(0.75, min(2.2, width / height))
    columns = ([1.0] * views + [GAP]) * blocks  # the last gap is at the edge
    figure, grid = plt.subplots(
        rows,
        len(columns),
        figsize=(sum(columns) * (cell + 0.15), 0.7 + rows * (cell * height / width + 0.62)),
        gridspec_kw={"width_ratios": columns},
        squeeze=False,
        layout="constrained",
    )
    for axes in grid.flat:
        axes.set_axis_off()
    for number, k in enumerate(shown):
        for view in range(views):
            if walk.frames[k, view] >= 0:
                axes = grid[number // blocks, number % blocks * (views + 1) + view]
                _draw_view(axes, result, data, int(k), view)
    figure.suptitle(
        "Starting views at random, and what is seen after the chosen move: guess from all views so far\n"
        "(green: right, red: wrong; bits: uncertainty expected before moving)",
        fontsize=9,
    )
    return figure


def _draw_view(axes: Axes, result: NextViewResult, data: TaskData, k: int, view: int) -> None:
    """One view of walk `k`: its class or the move that led here above it, the guess below it."""
    walk = result.walks["chosen"]
    image = np.asarray(data.store.images[walk.frames[k, view]])
    axes.imshow(image[..., 0] if image.shape[-1] == 1 else image, cmap="gray", vmin=0, vmax=255)
    color = RIGHT if walk.guess[k, view] == result.own_class[k] else WRONG
    axes.set_axis_on()
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=2)
    if view == 0:
        axes.set_title(_short(result.class_names[result.own_class[k]]), fontsize=7, fontweight="bold")
    else:
        move = result.moves[walk.moves[k, view - 1]]
        axes.set_title(f"→ {_short(move)}, {walk.expected_bits[k, view - 1]:.1f} bits", fontsize=7)
    mark = "✓" if color == RIGHT else "✗"
    axes.set_xlabel(f"{mark} {_short(result.class_names[walk.guess[k, view]])}", fontsize=7, color=color, labelpad=2)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
