"""Figures of the task `places`: which frame was matched with which, and precision over recall.

They are drawn from a measurement, for each way to compare frames (`features`, `untrained`, `pixels`, each also with
`_prior`):

- details: `queries`, how many frames have a place
- arrays: `query_frame` (Q,) and `reference_frame` (R,), numbers of frames; and of each way `match_WAY` (Q,), the place
  of the match among references or -1, `distance_WAY` (Q,) and `right_WAY` (Q,)
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from egoequiv.evaluation.measurement import Measurement
from egoequiv.report.figures.drawing import add_legend, panels_of
from egoequiv.report.figures.styles import COLORS, RIGHT, WRONG, Style, draw_lines

WAYS = {
    "features": ("this run", Style(COLORS[0], "-", "")),
    "features_prior": ("this run, motion prior", Style(COLORS[0], "--", "")),
    "pixels": ("pixels", Style(COLORS[1], "-", "")),
    "pixels_prior": ("pixels, motion prior", Style(COLORS[1], "--", "")),
    "untrained": ("untrained network", Style(COLORS[2], "-", "")),
    "untrained_prior": ("untrained network, motion prior", Style(COLORS[2], "--", "")),
}


def places_figures(measurement: Measurement) -> dict[str, Figure]:
    """Three panels: the matches of the features, those with the motion prior, and precision over recall of all ways."""
    figure, panels = panels_of(1, 3, 12.0, 4.4)
    for axes, way in zip(panels[:2], ("features", "features_prior"), strict=True):
        _draw_matches(axes, measurement, way)
    _draw_curves(panels[2], measurement)
    add_legend(figure, panels)
    return {"places": figure}


def _draw_matches(axes: Axes, measurement: Measurement, way: str) -> None:
    """Matched frame against query frame, right ones and wrong ones."""
    arrays = measurement.arrays
    query, reference, match = arrays["query_frame"], arrays["reference_frame"], arrays[f"match_{way}"]
    is_right, is_matched = arrays[f"right_{way}"].astype(bool), match >= 0
    for own, name, color, mark in ((~is_right, "wrong", WRONG, "x"), (is_right, "right", RIGHT, "o")):
        chosen = own & is_matched
        axes.scatter(query[chosen], reference[match[chosen]], s=9, color=color, marker=mark, linewidth=0.8, label=name)
    axes.set_title(WAYS[way][0], fontsize=10)
    axes.set_xlabel("query frame")
    axes.set_ylabel("matched frame")


def _draw_curves(axes: Axes, measurement: Measurement) -> None:
    """Precision over recall, as ever larger distances are accepted."""
    arrays, curves = measurement.arrays, {}
    for way, (name, _) in WAYS.items():
        if f"distance_{way}" in arrays:
            order = np.argsort(arrays[f"distance_{way}"], kind="stable")
            order = order[np.isfinite(arrays[f"distance_{way}"][order])]
            found = np.cumsum(arrays[f"right_{way}"][order])
            recall, precision = found / measurement.details["queries"], found / np.arange(1, len(found) + 1)
            curves[name] = list(zip(recall.tolist(), precision.tolist(), strict=True))
    draw_lines(axes, curves, dict(WAYS.values()))
    axes.set_title("matches accepted by distance", fontsize=10)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.04)
