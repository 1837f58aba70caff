"""Figures of motions: a scatter of those that were mined, and discs for those that were declared.

A report draws them from a measurement of the task `motions`:

- details: `pairs`, the number of training pairs of each motion or cluster by its name, kept ones first; `learned`, the
  names of those that the run has maps for; `mined`, an object with `motions` (a count) and `kept` (a count), or null where
  motions were declared; `axes`, the title of each component, such as `forward (m)`
- arrays: `motions` (K, M), the centre of each cluster or the declared motion, in the order of `pairs`; where they were
  mined also `sample` (S, M) and `sample_cluster` (S,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from egoequiv.evaluation.measurement import Measurement
from egoequiv.report.figures.drawing import add_title, panels_of
from egoequiv.report.figures.styles import COLORS

DROPPED = "#c8c8c8"
SHOWN = 6_000  # motions drawn
BINS = 80
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionClusters:
    """Clusters of motions to draw: the kept ones first, which are patterns.

    Args:
        names: Of each cluster.
        counts: How many motions each has.
        kept: How many of the clusters are patterns.
        centres: (K, M)
        sample: (S, M) some of the motions.
        cluster: (S,) the cluster of each.
        axes: The title of each component.
    """

    names: Sequence[str]
    counts: Sequence[int]
    kept: int
    centres: Array
    sample: Array
    cluster: NDArray[np.int64]
    axes: Sequence[str]

    @property
    def components(self) -> tuple[int, int]:
        """What is drawn across and up: the first component and the last."""
        return 0, self.sample.shape[1] - 1

    def color(self, cluster: int) -> str:
        return COLORS[cluster % len(COLORS)] if cluster < self.kept else DROPPED

    def shown(self, cluster: int) -> Array:
        """Those motions of a cluster that are drawn."""
        own: Array = self.sample[:SHOWN][self.cluster[:SHOWN] == cluster]
        return own


def motions_figures(measurement: Measurement) -> dict[str, Figure]:
    """The scatter of mined motions, or the declared ones in the plane of the first two components."""
    details, arrays = measurement.details, measurement.arrays
    pairs: dict[str, int] = details["pairs"]
    if details["mined"] is None:
        return {"motions": declared_figure(pairs, arrays["motions"], details["learned"], details["axes"])}
    clusters = MotionClusters(
        names=list(pairs),
        counts=list(pairs.values()),
        kept=int(details["mined"]["kept"]),
        centres=arrays["motions"],
        sample=arrays["sample"],
        cluster=arrays["sample_cluster"],
        axes=details["axes"],
    )
    title = f"{details['mined']['motions']:,} motions: patterns in colour, dropped clusters in gray"
    return {"motions": clusters_figure(clusters, title)}


def clusters_figure(clusters: MotionClusters, title: str) -> Figure:
    """Motions along the first and the last component, patterns in colour, dropped clusters in gray.

    Motions of one component are shown as a histogram.
    """
    across, up = clusters.components
    figure, (axes,) = panels_of(1, 1, 7.5, 5.0)
    if across == up:
        _draw_histogram(axes, clusters)
    else:
        _draw_scatter(axes, clusters)
    axes.set_xlabel(clusters.axes[across])
    axes.set_ylabel("motions" if across == up else clusters.axes[up])
    add_title(figure, title)
    return figure


def _draw_scatter(axes: Axes, clusters: MotionClusters) -> None:
    across, up = clusters.components
    for cluster in reversed(range(len(clusters.names))):  # patterns lie on top
        own = clusters.shown(cluster)
        axes.scatter(own[:, across], own[:, up], s=5, alpha=0.5, linewidths=0, color=clusters.color(cluster))
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    for cluster, centre in enumerate(clusters.centres):
        axes.plot(centre[across], centre[up], "+", color="black", markersize=9, zorder=3)
        if cluster < clusters.kept:
            axes.annotate(
                f"{clusters.names[cluster]} ({clusters.counts[cluster]:,})",
                (centre[across], centre[up]),
                xytext=(6, 8),
                textcoords="offset points",
                fontsize=9,
                fontweight="bold",
                bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5},
            )


def _draw_histogram(axes: Axes, clusters: MotionClusters) -> None:
    numbers = range(len(clusters.names))
    axes.hist(
        [clusters.shown(cluster)[:, 0] for cluster in numbers],
        bins=BINS,
        stacked=True,
        color=[clusters.color(cluster) for cluster in numbers],
        label=[f"{name} ({count:,})" for name, count in zip(clusters.names, clusters.counts, strict=True)],
    )
    for centre in clusters.centres:
        axes.axvline(centre[0], color="black", linewidth=0.8, linestyle=":")
    axes.figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)


def declared_figure(pairs: dict[str, int], motions: Array, learned: Sequence[str], titles: Sequence[str]) -> Figure:
    """Each declared motion as a disc of as much area as it has pairs; those that a run learned are filled."""
    up, across = 0, min(1, motions.shape[1] - 1)
    most = max([1, *pairs.values()])
    figure, (axes,) = panels_of(1, 1, 6.2, 4.2)
    for number, ((name, count), motion) in enumerate(zip(pairs.items(), motions, strict=True)):
        color = COLORS[number % len(COLORS)]
        face = color if name in learned else "none"
        axes.scatter(motion[across], motion[up], s=900 * count / most, facecolor=face, edgecolor=color, linewidth=2)
        axes.annotate(
            f"{name} ({count:,})", (motion[across], motion[up]), (0, 21), textcoords="offset points", ha="center"
        )
    axes.plot(0, 0, "+", color="black", markersize=12)
    axes.margins(0.3)
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.axvline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_xlabel(titles[across])
    axes.set_ylabel(titles[up])
    axes.set_xticks(np.unique([0, *motions[:, across]]))
    axes.set_yticks(np.unique([0, *motions[:, up]]))
    return figure
