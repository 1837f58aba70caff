"""Figures of a log's examination: rotation in pictures and log on top of each other, and the worst moments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison, fitted_factor
from egoequiv.doctor.examine import Examined
from egoequiv.doctor.finding import Moment
from egoequiv.errors import BrokenFrameError
from egoequiv.report.figures.drawing import HEADROOM, WIDTH, add_legend, panels_of
from egoequiv.report.figures.styles import COLORS, RIGHT, WRONG

Array = NDArray[np.float64]
PARTS = ("roll", "pitch", "yaw")
STRIP = 8  # pictures of a moment
_APART_STEPS = 10  # two moments are at least so far apart
_SHOWN_QUANTILE = 0.995  # of rotations; single wrong steps would hide the rest


def rates_figure(examined: Examined) -> Figure | None:
    """Rotation of each step as the log has it and as the pictures show it; a panel for each part that the log has.

    If a run was asked, the surprise of its features is one more panel below.
    """
    comparison, corrected = examined.comparison, examined.corrected
    logged = _in_degrees(comparison, 0.0)
    parts = [k for k in (2, 1, 0) if np.isfinite(logged[:, k]).any()] if len(logged) else []
    count = len(parts) + (examined.surprise is not None)
    if not count:
        return None
    figure, panels = panels_of(count, 1, WIDTH, 1.6 * count + 0.9)
    is_changed = corrected is not comparison or examined.offset_s != 0.0
    better = _in_degrees(corrected, examined.offset_s)
    for axes, part in zip(panels, parts, strict=False):
        _draw_part(axes, comparison, part, logged[:, part], better[:, part] if is_changed else None)
    if examined.surprise is not None:
        _draw_surprise(panels[-1], examined.recording.times_s, examined.surprise)
        for axes in panels[:-1]:
            axes.sharex(panels[-1])
    for axes in panels[:-1]:
        axes.tick_params(labelbottom=False)
    panels[-1].set_xlabel("seconds" if comparison.motion.is_timed else "frame")
    add_legend(figure, panels)
    return figure


def _in_degrees(comparison: Comparison, shift_s: float) -> Array:
    """The log's rotation of each step; columns of unknown unit scaled to the pictures."""
    logged = comparison.logged(shift_s)[0]
    if comparison.motion.is_scaled or not len(logged):
        return logged
    return np.asarray(logged * fitted_factor(comparison.steps.rotation_deg, logged))


def _draw_part(axes: Axes, comparison: Comparison, part: int, logged: Array, better: Array | None) -> None:
    time, seen = comparison.first_s, comparison.steps.rotation_deg[:, part]
    axes.plot(time, seen, ".", ms=3.5, color=COLORS[1], label="pictures", zorder=1)
    axes.plot(time, logged, lw=1.2, color=COLORS[0], label="log, as read", zorder=2)
    if better is not None:
        axes.plot(time, better, lw=1.0, ls="--", color=RIGHT, label="log, as it should be read", zorder=3)
    known = np.concatenate([np.abs(seen[np.isfinite(seen)]), np.abs(logged[np.isfinite(logged)])])
    limit = HEADROOM * max(float(np.quantile(known, _SHOWN_QUANTILE)) if len(known) else 1.0, 0.05)
    axes.set_ylim(-limit, limit)
    not_told = time[~comparison.steps.rotation_known]
    axes.plot(not_told, np.full(len(not_told), -limit), "|", ms=6, color=WRONG, label="cannot tell")
    axes.set_ylabel(f"{PARTS[part]}, ° a step", fontsize=9)


def _draw_surprise(axes: Axes, times_s: Array | None, surprise: Array) -> None:
    time = np.arange(len(surprise)) if times_s is None else times_s
    axes.plot(time, surprise, lw=1.0, color=COLORS[2], label="features")
    axes.axhline(1.0, lw=0.8, ls=":", color="gray")
    axes.set_ylim(0, HEADROOM * max(float(np.nanquantile(surprise, _SHOWN_QUANTILE)), 1.0))
    axes.set_ylabel("surprise", fontsize=9)


def worst_moments(examined: Examined, most: int = 3) -> list[Moment]:
    """The moments that faults name, or else those where pictures and log disagree most."""
    named = [moment for fault in examined.faults for moment in fault.moments]
    if named or not examined.faults:
        return named[:most]
    comparison = examined.comparison
    logged = _in_degrees(comparison, 0.0)
    fit = comparison.rotation_fit(comparison.logged()[0])
    chosen: list[int] = []
    for row in np.argsort(np.where(np.isfinite(fit), fit, np.inf)):
        if len(chosen) == most or not np.isfinite(fit[row]) or fit[row] >= 0:
            break
        if all(abs(int(row) - other) >= _APART_STEPS for other in chosen):
            chosen.append(int(row))
    return [_moment(comparison, row, logged) for row in chosen]


def _moment(comparison: Comparison, row: int, logged: Array) -> Moment:
    seen = comparison.steps.rotation_deg[row]
    part = int(np.nanargmax(np.abs(seen - logged[row])))
    text = f"{PARTS[part]}: log {logged[row, part]:+.2f}°, pictures {seen[part]:+.2f}°"
    return Moment(int(comparison.steps.first[row]), int(comparison.steps.second[row]), text)


def strips_figure(examined: Examined, moments: Sequence[Moment]) -> Figure | None:
    """The pictures of moments, a row each, with some before and after."""
    recording = examined.recording
    rows = [_frames_of(moment, len(recording)) for moment in moments]
    pictures = [[_picture(examined, frame) for frame in frames] for frames in rows]
    shape = next((one.shape for row in pictures for one in row if one is not None), None)
    if shape is None:
        return None
    side = WIDTH / STRIP
    figure = Figure(figsize=(WIDTH, len(rows) * (side * shape[0] / shape[1] + 0.55)), layout="constrained")
    strips = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for strip, moment, frames, images in zip(strips, moments, rows, pictures, strict=True):
        strip.suptitle(moment.text, x=0.01, ha="left", fontsize=9)
        panels = strip.subplots(1, STRIP, squeeze=False)[0]
        for axes in panels:
            axes.axis("off")
        for axes, frame, image in zip(panels, frames, images, strict=False):
            if image is not None:
                axes.imshow(image, cmap="gray", vmin=0, vmax=255)
            time = "" if recording.times_s is None else f" {recording.times_s[frame]:.2f} s"
            is_inside = moment.first <= frame <= moment.last
            axes.set_title(f"{frame}{time}", fontsize=8, color=WRONG if is_inside else "gray", pad=2)
    return figure


def _frames_of(moment: Moment, count: int) -> list[int]:
    """Frames from a little before a moment to a little after it."""
    margin = max(2, (moment.last - moment.first) // 4)
    first, last = max(moment.first - margin, 0), min(moment.last + margin, count - 1)
    return [int(frame) for frame in np.unique(np.linspace(first, last, STRIP).round())]


def _picture(examined: Examined, frame: int) -> NDArray[np.uint8] | None:
    try:
        return examined.recording.image(frame)
    except BrokenFrameError:
        return None
