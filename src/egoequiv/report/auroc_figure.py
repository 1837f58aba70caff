"""The slowness AUROC of runs against the iteration, on training and on validation frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from egoequiv.errors import DataError
from egoequiv.report.styles import Style, draw_line, row_styles
from egoequiv.training.auroc import TRAINING, VALIDATION

PANELS = {TRAINING: "training pairs", VALIDATION: "validation pairs"}


def auroc_figure(
    metrics: Mapping[str, Sequence[Mapping[str, float]]], title: str, styles: Mapping[str, Style] | None = None
) -> Figure:
    """A curve for each run, by its name, from the lines of its metrics; chance is the dotted line."""
    styles = styles or row_styles(list(metrics))
    curves = {
        key: {
            name: [(line["iteration"], line[key]) for line in lines if line.get(key) is not None]
            for name, lines in metrics.items()
        }
        for key in PANELS
    }
    if not any(points for panel in curves.values() for points in panel.values()):
        raise DataError(
            f"no metrics of {', '.join(metrics) or 'any run'} hold a slowness AUROC ({TRAINING!r}): train anew"
        )
    height = max(3.8, 0.4 + 0.17 * len(metrics))  # as the legend needs it
    figure, panels = plt.subplots(1, 2, figsize=(10, height), sharey=True, layout="constrained")
    lowest = min(value for panel in curves.values() for points in panel.values() for _, value in points)
    for axes, (key, words) in zip(panels, PANELS.items(), strict=True):
        for name, points in curves[key].items():
            if points:
                draw_line(axes, points, name, styles[name])
        axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
        axes.text(0.99, 0.503, "chance", ha="right", va="bottom", fontsize=8, transform=axes.get_yaxis_transform())
        axes.set_title(words, fontsize=10)
        axes.set_xlabel("iteration")
        axes.set_ylim(min(0.48, lowest - 0.02), 1.02)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("slowness AUROC")
    figure.suptitle(title, fontsize=10)
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="outside right upper", fontsize=8, frameon=False, handlelength=3
    )
    return figure
