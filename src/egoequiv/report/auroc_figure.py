"""The slowness AUROC of runs against the iteration, on training and on validation frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from egoequiv.errors import DataError
from egoequiv.report.figures import COLORS
from egoequiv.training.auroc import TRAINING, VALIDATION

PANELS = {TRAINING: "training pairs", VALIDATION: "validation pairs"}


def auroc_figure(metrics: Mapping[str, Sequence[Mapping[str, float]]], title: str) -> Figure:
    """A curve for each run, by its name, from the lines of its metrics; chance is the dotted line."""
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
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    lowest = min(value for panel in curves.values() for points in panel.values() for _, value in points)
    for axes, (key, words) in zip(panels, PANELS.items(), strict=True):
        for k, (name, points) in enumerate(curves[key].items()):
            if points:
                marker = "o" if len(points) == 1 else None  # a single point makes no line
                color = COLORS[k % len(COLORS)]
                axes.plot(
                    *zip(*points, strict=True), color=color, linewidth=1.6, marker=marker, markersize=3, label=name
                )
        axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
        axes.text(0.99, 0.503, "chance", ha="right", va="bottom", fontsize=8, transform=axes.get_yaxis_transform())
        axes.set_title(words, fontsize=10)
        axes.set_xlabel("iteration")
        axes.set_ylim(min(0.48, lowest - 0.02), 1.005)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("slowness AUROC")
    figure.suptitle(title, fontsize=10)
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=8, frameon=False)
    return figure
