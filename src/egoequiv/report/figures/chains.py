"""The figure of composed maps: how the error grows with the number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.evaluation.measurement import Measurement
from egoequiv.files import or_nan
from egoequiv.report.figures.drawing import HEADROOM, WIDTH, add_legend, panels_of
from egoequiv.report.figures.styles import COLORS, Style, Styles, draw_lines, row_styles

WORST = 3.0  # the highest rho that has a place: a product that explodes must not flatten the others
WIDEST = 3  # how far above the highest mean an interval may reach before it is cut
DODGE = 0.06  # steps between the lines of two rows: at one step all of them are the same
# Of one run: the error of the product of maps, and of one map fitted to the whole chain.
KINDS = {
    "composed": ("product of the maps of single steps", Style(COLORS[0], "-", "o")),
    "fitted": ("one map fitted to the whole chain", Style(COLORS[1], "--", "s")),
}
Steps = Sequence[Mapping[str, Any]]
Chains = Mapping[str, Steps]  # by what is repeated: for each length `steps`, `composed` and `fitted` with rho, interval


def chains_of(measurement: Measurement) -> dict[str, Steps]:
    """The chains of a measurement of `composition` that could be measured: `chains` of its details."""
    return {name: steps for name, steps in measurement.details.get("chains", {}).items() if steps}


def chains_figure(chains: Mapping[str, Chains], styles: Styles | None = None) -> Figure:
    """A panel for each chain: rho against the number of steps.

    Of one run both the product of maps and a map of its own, with their 95 % intervals; of several runs the product.
    """
    names = list(dict.fromkeys(name for own in chains.values() for name, steps in own.items() if steps))
    is_one = len(chains) == 1
    styles = dict(KINDS.values()) if is_one else styles or row_styles(list(chains))
    figure, panels = panels_of(1, len(names), min(WIDTH, 2.2 + 2.6 * len(names)), 3.9, share_y=True)
    longest, tops = 1, [1.02]
    for axes, name in zip(panels, names, strict=True):
        own = {run: found[name] for run, found in chains.items() if found.get(name)}
        if is_one:
            (steps,) = own.values()
            curves = {words: _curve(steps, kind) for kind, (words, _) in KINDS.items()}
            tops.append(_draw_bands(axes, steps))
        else:
            curves = {run: _curve(steps, "composed") for run, steps in own.items()}
        draw_lines(axes, curves, styles, dodge=DODGE)
        longest = max(longest, *(int(step["steps"]) for steps in own.values() for step in steps))
        tops += [rho for points in curves.values() for _, rho in points]
        axes.axhline(1, color="black", linewidth=0.8, linestyle=":", label="copying the features")
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("steps", fontsize=9)
    for axes in panels:
        axes.set_xticks(range(1, longest + 1))
        axes.set_xlim(0.6, longest + 0.4)
    panels[0].set_ylim(0, min(HEADROOM * max(tops), WORST))
    panels[0].set_ylabel("rho (lower is better)" if is_one else "rho of the product of maps", fontsize=9)
    add_legend(figure, panels)
    return figure


def composition_figures(measurement: Measurement) -> dict[str, Figure]:
    """The figure of one run, where any chain could be measured."""
    chains = chains_of(measurement)
    return {"composition": chains_figure({measurement.run: chains})} if chains else {}


def _curve(steps: Steps, kind: str) -> list[tuple[float, float]]:
    points = [(float(step["steps"]), or_nan(step[kind]["rho"])) for step in steps]
    return [(count, rho) for count, rho in points if np.isfinite(rho)]


def _draw_bands(axes: Axes, steps: Steps) -> float:
    """The intervals of one run; return how high the axis has to reach for them, unless they are very wide."""
    highest, widest = 0.0, 0.0
    for kind, (_, style) in KINDS.items():
        ends = np.array([[or_nan(end) for end in step[kind]["interval"] or (None, None)] for step in steps])
        axes.fill_between(
            [step["steps"] for step in steps], ends[:, 0], ends[:, 1], color=style.color, alpha=0.15, linewidth=0
        )
        highest = max(highest, *(or_nan(step[kind]["rho"]) for step in steps))
        widest = max(widest, float(np.max(np.nan_to_num(ends))))
    return min(widest, WIDEST * highest)
