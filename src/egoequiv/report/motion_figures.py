"""Figures of motion patterns: their motions, still and interactive, and sample pairs of frames.

The task `motions` has a figure of its measurement:

- details: `pairs`, the number of training pairs of each motion or cluster by its name, kept ones first; `learned`, the
  names of those that the run has maps for; `mined`, null where motions were declared, or an object with two counts,
  `motions` and `kept`; `axes`, the title of each component, such as `forward (m)`
- arrays: `motions` (K, M), the centre of each cluster or the declared motion, in the order of `pairs`; where they were
  mined also `sample` (S, M) and `sample_cluster` (S,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from egoequiv.evaluation.measurement import Measurement
from egoequiv.files import write_text
from egoequiv.pairs import MinedPatterns, Mining
from egoequiv.pairs.candidates import Indices, half_a_step_s, motion_candidates
from egoequiv.report.figures.drawing import add_legend, add_title, panels_of
from egoequiv.report.figures.styles import COLORS
from egoequiv.report.pictures import picture_grid
from egoequiv.store import FrameStore

DROPPED = "#c8c8c8"
SHOWN = 6_000  # motions drawn
BINS = 80
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionClusters:
    """Clusters of motions to draw: the kept ones first, which are patterns."""

    names: Sequence[str]
    counts: Sequence[int]
    kept: int  # how many of the clusters are patterns
    centres: Array  # (K, M)
    sample: Array  # (S, M), some of the motions
    cluster: NDArray[np.int64]  # (S,), of each of them
    axes: Sequence[str]  # the title of each component

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
        add_legend(figure, [axes])
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
            words = f"{clusters.names[cluster]} ({clusters.counts[cluster]:,})"
            _write_beside(axes, words, (centre[across], centre[up]), (6, 8), fontweight="bold")


def _write_beside(axes: Axes, words: str, at: tuple[float, float], off: tuple[float, float], **options: Any) -> None:
    """Words beside a place, on a patch of white so that no line crosses them."""
    patch = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5}
    axes.annotate(words, at, off, textcoords="offset points", fontsize=9, bbox=patch, **options)


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


def declared_figure(pairs: dict[str, int], motions: Array, learned: Sequence[str], titles: Sequence[str]) -> Figure:
    """Each declared motion as a disc of as much area as it has pairs; those that a run learned are filled."""
    up, across = 0, min(1, motions.shape[1] - 1)
    most = max([1, *pairs.values()])
    figure, (axes,) = panels_of(1, 1, 6.2, 4.2)
    for number, ((name, count), motion) in enumerate(zip(pairs.items(), motions, strict=True)):
        color = COLORS[number % len(COLORS)]
        face = color if name in learned else "none"
        axes.scatter(motion[across], motion[up], s=900 * count / most, facecolor=face, edgecolor=color, linewidth=2)
        _write_beside(axes, f"{name} ({count:,})", (motion[across], motion[up]), (0, 19), ha="center")
    axes.plot(0, 0, "+", color="black", markersize=12)
    axes.margins(0.3)
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.axvline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_xlabel(titles[across])
    axes.set_ylabel(titles[up])
    axes.set_xticks(np.unique([0, *motions[:, across]]))
    axes.set_yticks(np.unique([0, *motions[:, up]]))
    return figure


def clusters_of(mining: Mining) -> MotionClusters:
    """What is drawn of a mining."""
    patterns = mining.patterns
    return MotionClusters(
        names=patterns.cluster_names(),
        counts=mining.counts,
        kept=len(patterns),
        centres=patterns.centres,
        sample=mining.sample,
        cluster=mining.sample_cluster,
        axes=[f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in patterns.space.axes],
    )


def write_interactive_scatter(clusters: MotionClusters, title: str, path: Path) -> None:
    """The figure of clusters as a page that opens offline: hover, zoom, and switch clusters on and off."""
    import plotly.graph_objects as go  # here, because it takes most of a second to import

    across, up = clusters.components
    is_histogram = across == up
    figure = go.Figure(layout={"barmode": "stack"} if is_histogram else {})
    for number, (name, count) in enumerate(zip(clusters.names, clusters.counts, strict=True)):
        own, color = clusters.shown(number), clusters.color(number)
        common = {"x": own[:, across], "name": f"{name} ({count:,})"}
        if is_histogram:
            figure.add_trace(go.Histogram(**common, nbinsx=BINS, bingroup=1, marker={"color": color}))
            continue
        marker = {"size": 4, "color": color, "opacity": 0.6}
        hover = f"{name}<br>%{{x:.2f}}, %{{y:.2f}}<extra></extra>"
        figure.add_trace(go.Scattergl(**common, y=own[:, up], mode="markers", marker=marker, hovertemplate=hover))
    if not is_histogram:
        figure.add_trace(
            go.Scatter(
                x=clusters.centres[:, across],
                y=clusters.centres[:, up],
                mode="markers",
                name="centres",
                text=list(clusters.names),
                marker={"symbol": "cross-thin", "size": 12, "line": {"width": 2, "color": "black"}},
                hovertemplate="%{text}<br>%{x:.2f}, %{y:.2f}<extra></extra>",
            )
        )
    figure.update_layout(
        title=title,
        xaxis_title=clusters.axes[across],
        yaxis_title="motions" if is_histogram else clusters.axes[up],
        template="plotly_white",
    )
    write_text(path, figure.to_html(include_plotlyjs=True, full_html=True, div_id="motions"))


def sample_pairs(store: FrameStore, mining: Mining, max_gap_s: float, count: int = 3, width: int = 310) -> Image.Image:
    """Frame pairs of each kept pattern side by side, those nearest to its centre, of several recordings."""
    patterns = mining.patterns
    i, j = _near_centres(store, patterns, max_gap_s, count)
    motion = store.space.difference(store.poses[i], store.poses[j])
    pattern = patterns.assign(motion)
    rows, titles = [], []
    for number, name in enumerate(patterns.names):
        own = np.flatnonzero(pattern == number)
        off = patterns.distance(motion[own], number)
        for k in own[_typical(store.recording[i[own]], off, count)]:
            words = ", ".join(
                axis.in_words(float(value)) for axis, value in zip(store.space.axes, motion[k], strict=True)
            )
            rows.append([store.images[i[k]], store.images[j[k]]])
            titles.append(f"{name}:  {words}   {store.recording_names[store.recording[i[k]]]}")
    return picture_grid(rows, titles, scale=min(8, max(1, width // store.image_shape[1])))


def _near_centres(store: FrameStore, patterns: MinedPatterns, max_gap_s: float, count: int) -> tuple[Indices, Indices]:
    """Of each block of pairs the nearest to the centre of each pattern: few of many, which are never held at once."""
    found: list[tuple[Indices, Indices]] = []
    for i, j in motion_candidates(store, np.arange(len(store)), max_gap_s + half_a_step_s(store)):
        motion = store.space.difference(store.poses[i], store.poses[j])
        pattern = patterns.assign(motion)
        for number in range(len(patterns)):
            own = np.flatnonzero(pattern == number)
            near = own[np.argsort(patterns.distance(motion[own], number), kind="stable")[:count]]
            found.append((i[near], j[near]))
    first, second = (np.concatenate(side) for side in zip(*found, strict=True))
    return first, second


def _typical(recording: NDArray[np.int64], off: NDArray[np.float64], count: int) -> list[int]:
    """The pairs nearest to a centre, by how far off they are, of as many recordings as there are."""
    order = np.argsort(off, kind="stable")
    _, first = np.unique(recording[order], return_index=True)
    best_of_each = sorted(int(k) for k in first)
    rest = [k for k in range(len(order)) if k not in best_of_each] if len(best_of_each) < count else []
    return [int(order[k]) for k in (best_of_each + rest)[:count]]
