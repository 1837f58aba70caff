"""Figures of mined motion patterns: a scatter of motions, still and interactive, and sample pairs of frames."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from egoequiv.files import write_text
from egoequiv.pairs import MinedPatterns, Mining
from egoequiv.pairs.candidates import Indices, close_pairs, half_a_step_s
from egoequiv.pairs.mining import name_motions
from egoequiv.report.figures import COLORS
from egoequiv.report.pictures import picture_grid
from egoequiv.store import FrameStore

DROPPED = "#c8c8c8"
SHOWN = 6_000  # motions drawn


def scatter_figure(mining: Mining, title: str) -> Figure:
    """Motions along the first and the last component, kept patterns in colour, dropped clusters in gray."""
    across, up = _components(mining)
    figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
    for cluster in reversed(range(len(mining.counts))):
        own = mining.sample[:SHOWN][mining.sample_cluster[:SHOWN] == cluster]
        axes.scatter(own[:, across], own[:, up], s=5, alpha=0.5, linewidths=0, color=_color(mining, cluster))
    for cluster, centre in enumerate(mining.patterns.centres):
        axes.plot(centre[across], centre[up], "+", color="black", markersize=9, zorder=3)
        if cluster < len(mining.patterns):
            axes.annotate(
                f"{mining.patterns.names[cluster]} ({mining.counts[cluster]:,})",
                (centre[across], centre[up]),
                xytext=(6, 8),
                textcoords="offset points",
                fontsize=9,
                fontweight="bold",
                bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5},
            )
    axes.set_xlabel(_axis_title(mining, across))
    axes.set_ylabel(_axis_title(mining, up))
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def write_interactive_scatter(mining: Mining, title: str, path: Path) -> None:
    """The same as a page that opens offline: hover, zoom, and switch clusters on and off."""
    import plotly.graph_objects as go  # here, for it takes most of a second to import

    across, up = _components(mining)
    figure = go.Figure()
    for cluster, count in enumerate(mining.counts):
        own = mining.sample[:SHOWN][mining.sample_cluster[:SHOWN] == cluster]
        name = cluster_name(mining, cluster)
        figure.add_trace(
            go.Scattergl(
                x=own[:, across],
                y=own[:, up],
                mode="markers",
                name=f"{name} ({count:,})",
                marker={"size": 4, "color": _color(mining, cluster), "opacity": 0.6},
                hovertemplate=f"{name}<br>%{{x:.2f}}, %{{y:.2f}}<extra></extra>",
            )
        )
    centres = mining.patterns.centres
    figure.add_trace(
        go.Scatter(
            x=centres[:, across],
            y=centres[:, up],
            mode="markers",
            name="centres",
            text=[cluster_name(mining, cluster) for cluster in range(len(centres))],
            marker={"symbol": "cross-thin", "size": 12, "line": {"width": 2, "color": "black"}},
            hovertemplate="%{text}<br>%{x:.2f}, %{y:.2f}<extra></extra>",
        )
    )
    figure.update_layout(
        title=title,
        xaxis_title=_axis_title(mining, across),
        yaxis_title=_axis_title(mining, up),
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


def _components(mining: Mining) -> tuple[int, int]:
    return 0, mining.sample.shape[1] - 1


def _axis_title(mining: Mining, component: int) -> str:
    axis = mining.patterns.space.axes[component]
    return f"{axis.name} ({axis.unit})" if axis.unit else axis.name


def _color(mining: Mining, cluster: int) -> str:
    return COLORS[cluster % len(COLORS)] if cluster < len(mining.patterns) else DROPPED
