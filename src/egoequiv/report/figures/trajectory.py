"""Figures of what a store holds: the way of the camera, motion against time, motions, and frames along time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices, close_pairs, half_a_step_s, recordings_of, thinned
from egoequiv.pose import CAMERA_POSES
from egoequiv.report.figures.drawing import WIDTH, add_legend, frame_image, panels_of, show_image
from egoequiv.report.figures.styles import COLORS
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
SHOWN_RECORDINGS = 8  # the longest ones
THUMBNAILS, APART = 10, 0.1  # below the way, so far apart as a share of its extent that their numbers are
FRAMES_ALONG, ROWS_ALONG = 12, 4
GAP_STEPS = 3  # usual steps
MOST_POINTS = 4_000
MISSING = "frames missing"
GAP_COLOR = "#d62728"


@dataclass(frozen=True, eq=False)
class Track:
    """One recording: its frames in order of time."""

    name: str
    rows: Indices
    color: str
    store: FrameStore

    @cached_property
    def times_s(self) -> Array:
        """Seconds since the first frame; the number of the frame where there are no times."""
        times = np.arange(len(self.rows), dtype=np.float64) if self.store.times_s is None else self.store.times_s
        own: Array = times if self.store.times_s is None else times[self.rows] - times[self.rows[0]]
        return own

    @cached_property
    def gaps(self) -> list[tuple[float, float]]:
        """Where frames are missing: the times before and after."""
        steps = np.diff(self.times_s)
        if not len(steps):
            return []
        long = np.flatnonzero(steps > GAP_STEPS * np.median(steps))
        return [(float(self.times_s[k]), float(self.times_s[k + 1])) for k in long]

    def column(self, name: str) -> Array:
        """One pose column."""
        return self.store.pose_columns[name][self.rows]


def longest_tracks(store: FrameStore, most: int = SHOWN_RECORDINGS) -> list[Track]:
    """The longest recordings of a store, each in its own colour."""
    found = sorted(recordings_of(store, np.arange(len(store))), key=len, reverse=True)[:most]
    tracks = []
    for number, rows in enumerate(found):
        if store.times_s is not None:
            rows = rows[np.argsort(store.times_s[rows], kind="stable")]
        name = store.recording_names[int(store.recording[rows[0]])]
        tracks.append(Track(name, rows, COLORS[number % len(COLORS)], store))
    return tracks


def way_figure(store: FrameStore, tracks: Sequence[Track]) -> Figure | None:
    """The way of the camera from above, and pictures below it with numbers at their places; None without places."""
    if not {"x_m", "y_m"} <= set(store.pose_columns):
        return None
    ways = [seen_from_above(store, track.rows) for track in tracks]
    places = np.concatenate(ways)
    chosen = _far_apart(places) if store.has_images else []
    strip = [[*range(len(chosen)), *"." * (THUMBNAILS - len(chosen))]] if chosen else []
    figure = Figure(figsize=(WIDTH, 7.2), layout="constrained")
    panels = figure.subplot_mosaic([["way"] * THUMBNAILS, *strip], height_ratios=[6, 1][: 1 + len(strip)])
    axes = panels["way"]
    axes.spines[["top", "right"]].set_visible(False)
    for track, way in zip(tracks, ways, strict=True):
        axes.plot(*way.T, color=track.color, linewidth=1.3, label=track.name)
        axes.plot(*way[0], "o", color=track.color, markersize=6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(store.space.length_unit)
    axes.set_ylabel(store.space.length_unit)
    axes.margins(0.12)
    owners = np.repeat(np.arange(len(tracks)), [len(track.rows) for track in tracks])
    rows = np.concatenate([track.rows for track in tracks])
    for number, k in enumerate(chosen):
        color = tracks[int(owners[k])].color
        axes.plot(*places[k], "s", color=color, markersize=4)
        said = axes.annotate(f"{number + 1}", tuple(places[k]), (6, 6), textcoords="offset points", fontsize=10)
        said.set_path_effects([withStroke(linewidth=2, foreground="white")])  # seen where it lies on a way
        frame_image(panels[number], store.images[rows[k]], color)
        panels[number].set_title(f"{number + 1}", pad=3, fontsize=10)
    add_legend(figure, [axes])
    return figure


def seen_from_above(store: FrameStore, rows: Indices) -> Array:
    """Places (N, 2) of frames: along the mean direction of up of the camera, or in the plane of x and y."""
    columns = store.pose_columns
    if not set(CAMERA_POSES) <= set(columns):
        return np.stack([columns["x_m"][rows], columns["y_m"][rows]], axis=1)
    from scipy.spatial.transform import Rotation

    place = np.stack([columns[name][rows] for name in CAMERA_POSES[:3]], axis=1)
    turned = Rotation.from_quat(np.stack([columns[name][rows] for name in CAMERA_POSES[3:]], axis=1))
    up = turned.apply([0.0, 0.0, 1.0]).mean(axis=0)
    if np.linalg.norm(up) < 0.1:  # a camera that points everywhere
        up = np.array([0.0, 0.0, 1.0])
    # The rotation that takes `up` to z, and leaves poses alone whose z is up already.
    level, _ = Rotation.align_vectors([[0.0, 0.0, 1.0]], [up / np.linalg.norm(up)])
    seen: Array = level.apply(place - place[0])[:, :2]
    return seen


def _far_apart(places: Array) -> list[int]:
    """Places (N, 2) that are far from each other, in their order."""
    some = np.unique(np.linspace(0, len(places) - 1, min(len(places), MOST_POINTS)).astype(np.int64))
    chosen = [int(some[0])]
    while len(chosen) < min(THUMBNAILS, len(some)):  # each time the place that is furthest from all before it
        away = np.linalg.norm(places[some][:, None] - places[chosen][None], axis=-1).min(axis=1)
        if away.max() <= APART * np.ptp(places, axis=0).max():
            break
        chosen.append(int(some[away.argmax()]))
    return sorted(chosen)


def time_figure(store: FrameStore, tracks: Sequence[Track]) -> Figure | None:
    """Every pose column that is no quaternion, speed and turn rate against time; last, where frames are missing."""
    names = [name for name in store.pose_columns if name not in CAMERA_POSES[3:]]
    unit = store.space.length_unit
    rates = [f"speed ({unit}/s)", "turn rate (°/s)"] if set(CAMERA_POSES) <= set(store.pose_columns) else []
    if store.times_s is None or not names:
        return None
    titles = [*rates, *names, *([MISSING] if any(track.gaps for track in tracks) else [])]
    figure, panels = panels_of(len(titles), 1, WIDTH, 1.15 * len(titles) + 0.8)
    for axes, title in zip(panels, titles, strict=True):
        if title == MISSING:
            _draw_gaps(axes, tracks)
        else:
            for track in tracks:
                axes.plot(*_curve(track, title), color=track.color, linewidth=0.9, label=track.name)
        named = f"{title[0]} ({unit})" if title in CAMERA_POSES and unit != "m" else title.replace("_", " ")
        axes.set_ylabel(named, rotation=0, ha="right", va="center", fontsize=8)
        axes.tick_params(labelsize=7)
        if axes is not panels[-1]:
            axes.sharex(panels[-1])
            axes.tick_params(labelbottom=False)
    panels[-1].set_xlabel("time since the first frame of the recording (s)")
    add_legend(figure, panels[:1])
    return figure


def _draw_gaps(axes: Axes, tracks: Sequence[Track]) -> None:
    """A row for each recording, from its first frame to its last, with a block at each gap."""
    for row, track in enumerate(tracks):
        axes.plot(track.times_s[[0, -1]], [row, row], color=track.color, linewidth=0.9)
        gaps = [(begin, end - begin) for begin, end in track.gaps]
        axes.broken_barh(gaps, (row - 0.35, 0.7), color=GAP_COLOR, linewidth=0)
    axes.set_ylim(len(tracks) - 0.4, -0.6)  # in the order of the legend, the first on top
    axes.set_yticks([])


def _curve(track: Track, title: str) -> tuple[Array, Array]:
    """What is drawn of a recording: a column, or a rate at the middle of each step."""
    if title in track.store.pose_columns:
        return track.times_s, track.column(title)
    from scipy.spatial.transform import Rotation

    took = np.diff(track.times_s)
    kept = took > 0
    if title.startswith("speed"):
        place = np.stack([track.column(name) for name in CAMERA_POSES[:3]], axis=1)
        size = np.linalg.norm(np.diff(place, axis=0), axis=1)
    else:
        turned = Rotation.from_quat(np.stack([track.column(name) for name in CAMERA_POSES[3:]], axis=1))
        size = np.rad2deg((turned[:-1].inv() * turned[1:]).magnitude()) if len(took) else took
    middle = (track.times_s[1:] + track.times_s[:-1]) / 2
    return middle[kept], size[kept] / took[kept]


def motions_figure(store: FrameStore, max_gap_s: float) -> Figure | None:
    """Every component of the motions between close frames against the one that moves most; None without motion."""
    axes_of = store.space.axes
    if not axes_of:
        return None
    motions = _motions(store, max_gap_s)
    spread = motions.std(axis=0)
    if len(motions) < 2 or not spread.any():
        return None
    order = [int(k) for k in np.argsort(-spread, kind="stable") if spread[k] > 0]
    pairs = [(order[0], k) for k in order[1:4]] or [(order[0], order[0])]
    figure, panels = panels_of(1, len(pairs), WIDTH, 3.4)
    titles = [f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in axes_of]
    for axes, (across, up) in zip(panels, pairs, strict=True):
        if across == up:
            axes.hist(motions[:, across], bins=60, color=COLORS[0])
        else:
            axes.scatter(motions[:, across], motions[:, up], s=4, alpha=0.35, linewidths=0, color=COLORS[0])
            axes.set_ylabel(titles[up])
        axes.set_xlabel(titles[across])
    return figure


def _motions(store: FrameStore, max_gap_s: float) -> Array:
    """Motions of pairs of close frames, some thousands of them."""
    found = [np.empty((0, len(store.space.axes)))]
    for i, j in close_pairs(store, np.arange(len(store)), max_gap_s + half_a_step_s(store)):
        kept = thinned(np.arange(len(i)), MOST_POINTS, 0)
        found.append(store.space.difference(store.poses[i[kept]], store.poses[j[kept]]))
    motions: Array = np.concatenate(found)
    return motions[thinned(np.arange(len(motions)), MOST_POINTS, 0)]


def frames_figure(store: FrameStore, tracks: Sequence[Track]) -> Figure | None:
    """Frames along time: a row for each of the longest recordings."""
    if not store.has_images:
        return None
    shown = tracks[:ROWS_ALONG]
    height, width = store.image_shape[:2]
    side = WIDTH / FRAMES_ALONG
    figure, panels = panels_of(len(shown), FRAMES_ALONG, WIDTH, len(shown) * (side * height / width + 0.3))
    for axes in panels:
        axes.axis("off")
    for row, track in enumerate(shown):
        places = np.unique(np.linspace(0, len(track.rows) - 1, min(len(track.rows), FRAMES_ALONG)).astype(np.int64))
        for axes, place in zip(panels[row * FRAMES_ALONG :], places, strict=False):
            show_image(axes, store.images[track.rows[place]])
            unit = "" if store.times_s is None else " s"
            axes.set_title(f"{track.times_s[place]:.0f}{unit}", fontsize=7, color=track.color, pad=2)
    return figure
