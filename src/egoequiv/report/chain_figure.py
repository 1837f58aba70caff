"""The figure of composed maps: how the error grows with the number of steps."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.evaluation.composition import ComposedError, CompositionResult
from egoequiv.evaluation.task import TaskData
from egoequiv.report.figures import COLORS, HEADROOM

LEGEND_IN = 7.5  # how wide a figure must be for its legend on one line
WIDEST = 3  # how far above the highest mean an interval may reach before it is cut
KINDS = {
    "composed": ("product of the maps of single steps", COLORS[0], "-"),
    "fitted": ("a map fitted to the whole", COLORS[1], "--"),
}


def composition_figures(result: CompositionResult, data: TaskData) -> dict[str, Figure]:  # noqa: ARG001, as all have it
    """The figure, where any chain could be measured."""
    return {"composition": chain_figure(result)} if any(result.chains.values()) else {}


def chain_figure(result: CompositionResult) -> Figure:
    """Rho against the number of steps for each chain, by the product of maps and by a map of its own."""
    chains = {name: errors for name, errors in result.chains.items() if errors}
    width = min(14.0, 1.2 + 2.9 * len(chains))
    figure, panels = plt.subplots(
        1, len(chains), figsize=(width, 4.0), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (name, errors) in zip(panels[0], chains.items(), strict=True):
        _draw_chain(axes, errors)
        axes.set_title(name, fontsize=9)
    longest = max(len(error.motions) for errors in chains.values() for error in errors)
    for axes in panels[0]:
        axes.set_xticks(range(1, longest + 1))
        axes.set_xlim(0.7, longest + 0.3)
        axes.set_xlabel("steps")
    panels[0, 0].set_ylim(0, _top([error for errors in chains.values() for error in errors]))
    panels[0, 0].set_ylabel("equivariance error rho (lower is better)")
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3 if width > LEGEND_IN else 1,
        fontsize=8,
        frameon=False,
    )
    return figure


def _top(errors: list[ComposedError]) -> float:
    """Where the axis ends: above all intervals, unless a few recordings give such wide ones as flatten the lines."""
    own = [error for both in errors for error in (both.composed, both.fitted)]
    means, ends = np.array([error.rho for error in own]), np.array([error.interval[1] for error in own])
    highest, widest = (float(np.max(np.nan_to_num(values))) for values in (means, ends))
    return HEADROOM * max(1.02, highest, min(widest, WIDEST * highest))


def _draw_chain(axes: Axes, errors: list[ComposedError]) -> None:
    steps = np.array([len(error.motions) for error in errors])
    for kind, (label, color, style) in KINDS.items():
        own = [getattr(error, kind) for error in errors]
        means, ends = np.array([error.rho for error in own]), np.array([error.interval for error in own])
        axes.plot(steps, means, style, color=color, marker="o", markersize=4, label=label)
        axes.fill_between(steps, ends[:, 0], ends[:, 1], color=color, alpha=0.15, linewidth=0)
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":", label="copying the features")
    axes.spines[["top", "right"]].set_visible(False)
