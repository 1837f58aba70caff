"""The figure of an audit: rho of every model for each motion, with intervals."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from egoequiv.auditing.table import AuditTable
from egoequiv.report.figures import COLORS

HIGHEST = 1.6  # what lies further right is cut off, with an arrow: one bad fit should not flatten all others


def audit_figure(table: AuditTable) -> Figure:
    """A panel for each motion, a dot for each model with its interval; copying is a dotted line, a constant a tick."""
    count = len(table.rows)
    width, height = min(16.0, 2.6 + 2.3 * len(table.motions)), 1.4 + 0.34 * count
    figure, panels = plt.subplots(
        1, len(table.motions), figsize=(width, height), sharey=True, sharex=True, squeeze=False, layout="constrained"
    )
    models = list(dict.fromkeys(row.model for row in table.rows))
    colors = [COLORS[models.index(row.model) % len(COLORS)] for row in table.rows]
    ends = [end for row in table.rows for found in row.motions for end in (found.rho, *found.interval)]
    reach = float(np.nanmax([1.08, *ends]))
    for axes, motion in zip(panels[0], table.motions, strict=True):
        axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
        for place, row in enumerate(table.rows):
            found = row.of(motion)
            axes.plot(found.constant, place, "|", color="black", markersize=13, markeredgewidth=1.0, zorder=3)
            if np.isnan(found.rho):
                axes.text(0.02, place, "not defined", fontsize=7, va="center", color="gray")
                continue
            if found.rho > HIGHEST:
                axes.annotate(
                    f"{found.rho:.1f} →", (HIGHEST, place), ha="right", va="center", fontsize=8, color=colors[place]
                )
                continue
            axes.plot(found.interval, (place, place), color=colors[place], linewidth=1.6, solid_capstyle="butt")
            fill = "white" if found.is_marked else colors[place]
            axes.plot(found.rho, place, "o", color=colors[place], markerfacecolor=fill, markersize=5)
        axes.set_title(motion, fontsize=9)
        axes.set_xlim(0, min(reach * 1.03, HIGHEST))
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_locator(MultipleLocator(0.5))
        axes.xaxis.set_minor_locator(MultipleLocator(0.25))
        axes.grid(axis="x", which="both", linewidth=0.3)
        axes.tick_params(axis="x", labelsize=8)
    panels[0, 0].set_yticks(range(count), [row.name for row in table.rows], fontsize=8)
    panels[0, 0].invert_yaxis()
    references = "dotted: copying; ticks: a constant; hollow: not below both"
    figure.supxlabel(f"equivariance error rho with its 95 % interval (lower is better; {references})", fontsize=9)
    return figure
