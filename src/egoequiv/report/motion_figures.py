"""Figures of mined motion patterns: their motions, still and interactive, and sample pairs of frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from egoequiv.files import write_text
from egoequiv.pairs import MinedPatterns, Mining
from egoequiv.pairs.candidates import Indices, close_pairs, half_a_step_s
from egoequiv.pairs.mining import name_motions
from egoequiv.report.figures.motions import BINS, MotionClusters, clusters_figure
from egoequiv.report.pictures import picture_grid
from egoequiv.store import FrameStore


def clusters_of(mining: Mining) -> MotionClusters:
    """What is drawn of a mining."""
    patterns = mining.patterns
    return MotionClusters(
        names=[cluster_name(mining, number) for number in range(len(mining.counts))],
        counts=mining.counts,
        kept=len(patterns),
        centres=patterns.centres,
        sample=mining.sample,
        cluster=mining.sample_cluster,
        axes=[f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in patterns.space.axes],
    )


def scatter_figure(mining: Mining, title: str) -> Figure:
    """Motions along the first and the last component, patterns in colour, dropped clusters in gray."""
    return clusters_figure(clusters_of(mining), title)


def write_interactive_scatter(mining: Mining, title: str, path: Path) -> None:
    """The same as a page that opens offline: hover, zoom, and switch clusters on and off."""
    import plotly.graph_objects as go  # here, because it takes most of a second to import

    clusters = clusters_of(mining)
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


def cluster_name(mining: Mining, cluster: int) -> str:
    """The name of a kept pattern, or what a dropped cluster does."""
    if cluster < len(mining.patterns):
        return mining.patterns.names[cluster]
    patterns = mining.patterns
    return f"dropped: {name_motions(patterns.space, patterns.centres[cluster : cluster + 1], patterns.spread)[0]}"


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
    for i, j in close_pairs(store, np.arange(len(store)), max_gap_s + half_a_step_s(store)):
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
