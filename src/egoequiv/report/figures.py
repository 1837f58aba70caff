"""Figures: rho for each motion, and the curves of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from egoequiv.files import replacing
from egoequiv.report.styles import COLORS, row_styles

if TYPE_CHECKING:  # a run draws its curves without what tables need
    from egoequiv.experiments import Table

__all__ = ["COLORS", "HEADROOM", "curves_figure", "rho_figure", "save_figure"]

HEADROOM = 1.06  # of an axis beyond the highest value, so that no line or dot is cut


def rho_figure(table: Table) -> Figure:
    """Bars of rho for each motion and method, beside the copy baseline; published values as small marks."""
    motions = [c for c in table.columns if c.startswith("rho_") and c not in ("rho_atomic", "rho_composite")]
    rows = [row for row in table.rows if any(motion in row.metrics for motion in motions)]
    width_in = min(14.0, max(7.0, 1.0 + 0.28 * len(rows) * len(motions)))
    figure, axes = plt.subplots(figsize=(width_in, 4.2), layout="constrained")
    styles = row_styles([row.name for row in rows])
    width = 0.85 / max(len(rows), 1)
    for r, row in enumerate(rows):
        where = np.arange(len(motions)) + (r - (len(rows) - 1) / 2) * width
        # A figure that is not defined gets no bar; matplotlib cannot lay out one that is not a number.
        means = np.nan_to_num([row.metrics[m].mean if m in row.metrics else np.nan for m in motions])
        errors = np.nan_to_num([row.metrics[m].stderr if m in row.metrics else np.nan for m in motions])
        axes.bar(
            where,
            means,
            width,
            yerr=errors,
            color=styles[row.name].color,
            hatch=styles[row.name].hatch,
            edgecolor="white",
            label=row.name,
            error_kw={"elinewidth": 0.8},
        )
        marks = [(x, row.published[m].mean) for x, m in zip(where, motions, strict=True) if m in row.published]
        if marks:
            axes.plot(*zip(*marks, strict=True), "_", color="black", markersize=7, zorder=3)
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":", label="copying the features")
    axes.set_xticks(range(len(motions)), [motion.removeprefix("rho_") for motion in motions])
    axes.set_ylabel("equivariance error rho (lower is better)")
    what = table.title.split(":")[0]
    beside = f" (short black lines: the paper, on {table.published_on})" if table.published_on else ""
    repetitions = max((len(row.metrics[m].values) for row in rows for m in motions if m in row.metrics), default=0)
    error = " with its standard error" if repetitions > 1 else ", one repetition"
    axes.set_title(f"{what}: rho{error}{beside}", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def curves_figure(metrics: list[dict[str, float]], title: str) -> Figure:
    """Training and validation losses of a run, and its validation accuracy, against the iteration."""
    keys = list(dict.fromkeys(key for line in metrics for key in line if key != "iteration"))
    losses = [key for key in keys if not key.endswith(("top1", "auroc"))]
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    terms = [key for key in losses if not key.startswith("validation_")]
    for k, key in enumerate(terms):
        for name, style in ((key, "-"), (f"validation_{key}", "--")):
            points = [(line["iteration"], line[name]) for line in metrics if name in line]
            if points:
                marker = "o" if style == "--" or len(points) == 1 else None  # a single point makes no line
                color, label = COLORS[k % len(COLORS)], name.replace("_", " ")
                axes.plot(*zip(*points, strict=True), style, color=color, label=label, marker=marker, markersize=3)
    axes.set_xlabel("iteration")
    axes.set_ylabel("loss")
    axes.set_title(title, fontsize=10)
    points = [(line["iteration"], 100 * line["validation_top1"]) for line in metrics if "validation_top1" in line]
    if points:
        right = axes.twinx()
        right.plot(*zip(*points, strict=True), color="black", linewidth=1.5, marker=".", label="validation top-1 %")
        right.set_ylabel("validation top-1 %")
        right.set_ylim(0, HEADROOM * max(1.0, max(value for _, value in points)))
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    plt.close(figure)
