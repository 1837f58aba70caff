"""How much pictures change from frame to frame, beside how much the log says that the camera moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from egoequiv.doctor.finding import Moment
from egoequiv.doctor.glance import Glances

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Run = tuple[int, int]  # first and last, both included

ALMOST_EQUAL = 0.3  # gray levels: what rounding and a video codec leave of the change between two equal pictures
STILL_SHARE = 0.1  # of the usual change, if that is more
FAR_APART = 1.25  # two steps must change the picture so many times as much as one
MOVING = 0.3  # of the usual speed: from then on the log says that the camera moves
STEP_S = 0.1  # over which the speed of a fast camera is averaged
MOST_MOMENTS = 5


@dataclass(frozen=True, eq=False)
class Watched:
    """One recording as the checks of pictures see it.

    Steps are from one frame to the next, N - 1 of them; those to or from a broken frame have NaN as their change.
    """

    name: str
    glances: Glances  # N frames
    times_s: Array | None  # (N,)
    speed: Array | None  # (N - 1,) how far the log says the camera moved in each step, in any unit; NaN: not known
    log_frames: NDArray[np.int64] | None = None  # (N,) numbers of the frames in the log, if some were left out
    steady: Array | None = None  # (N - 1,) speed without the noise of a log that stands still
    exchanged: tuple[NDArray[np.int64], Array] | None = None  # with the next frame, see `exchanged_frames`

    def __len__(self) -> int:
        return len(self.glances)

    @cached_property
    def change(self) -> Array:
        """The mean absolute difference of thumbnails in each step, in gray levels (N - 1,)."""
        return self.distance(1)

    @cached_property
    def usual_change(self) -> float:
        """The median change of the steps in which pictures change; 0 if they never do."""
        changing = self.change[self.change > ALMOST_EQUAL]
        return float(np.median(changing)) if len(changing) else 0.0

    @property
    def still_level(self) -> float:
        """The change below which a picture counts as the one before it, from the recording's own changes."""
        return max(ALMOST_EQUAL, STILL_SHARE * self.usual_change)

    @cached_property
    def still(self) -> Mask:
        """The steps without any change of the picture (N - 1,)."""
        equal = self.glances.digests[1:] == self.glances.digests[:-1]
        still: Mask = ~np.isnan(self.change) & (equal | (self.change < self.still_level))
        return still

    @cached_property
    def usual_speed(self) -> float:
        """The median speed of the steps in which the log moves; 0 if it never does, NaN without a log."""
        return _usual(self.speed)

    @cached_property
    def moving(self) -> Mask:
        """The steps in which the log clearly moves (N - 1,).

        They have 0.3 times the usual speed or more, both the step itself, or a short stop would count, and the way
        around it, or the noise of a log that stands would. Of a fast camera, the step itself is 0.1 s long: a single
        pose that comes twice is no stop.
        """
        if self.steady is None or self.speed is None:
            return np.zeros(max(len(self) - 1, 0), bool)
        least = np.finfo(float).tiny
        steady: Mask = self.steady >= max(MOVING * _usual(self.steady), least)
        return steady & (_mean_over(self.speed, self.steps_in(STEP_S, 1)) >= max(MOVING * self.usual_speed, least))

    @property
    def step_s(self) -> float:
        """The usual time of a step; NaN without times."""
        return usual_step_s(self.times_s)

    @property
    def stamp_steps(self) -> Array:
        """The time of each step in usual steps, less one for each frame in between that was left out; (N - 1,)."""
        steps: Array = np.diff(self.times_s) / self.step_s if self.times_s is not None else np.ones(len(self) - 1)
        return steps if self.log_frames is None else steps - (np.diff(self.log_frames) - 1)

    @cached_property
    def steps_are_large(self) -> bool:
        """Whether two steps change the picture hardly more than one, as in photographs of different places."""
        one, two = self.change, self.distance(2)
        moving = one[:-1] > self.still_level
        return bool(moving.any()) and float(np.nanmedian(two[moving])) < FAR_APART * float(
            np.nanmedian(one[:-1][moving])
        )

    def distance(self, lag: int) -> Array:
        """The mean absolute difference of thumbnails `lag` frames apart, each of mean 0; (N - lag,)."""
        small = self.glances.flat
        mean = small.mean(axis=1, dtype=np.float32)
        apart = np.full(max(len(self) - lag, 0), np.nan)
        broken = self.glances.broken
        for first in range(0, len(apart), 1024):  # in pieces, so that memory does not grow with the recording
            i = np.arange(first, min(first + 1024, len(apart)))
            difference = (small[i + lag] - mean[i + lag, None]) - (small[i] - mean[i, None])
            apart[i] = np.where(broken[i] | broken[i + lag], np.nan, np.abs(difference).mean(axis=1))
        return apart

    def strip_changes(self, count: int) -> Array:
        """The change of each of `count` upright strips of the picture in each step (count, N - 1)."""
        thumbnails = self.glances.thumbnails
        changes = np.full((count, max(len(self) - 1, 0)), np.nan)
        for step in np.flatnonzero(~np.isnan(self.change)):
            before, after = (thumbnails[k].astype(np.float32) for k in (step, step + 1))
            difference = np.abs(after - before - (after.mean() - before.mean()))
            changes[:, step] = [part.mean() for part in np.array_split(difference, count, axis=1)]
        return changes

    def steps_in(self, seconds: float, least: int) -> int:
        """How many steps take so long, at least `least` of them, which also counts without times."""
        if np.isnan(self.step_s) or self.step_s <= 0:
            return least
        return max(least, round(seconds / self.step_s))

    def seconds(self, run: Run) -> float:
        """How long a run of frames takes; NaN without times."""
        return np.nan if self.times_s is None else float(self.times_s[run[1]] - self.times_s[run[0]])

    def at(self, frame: int) -> str:
        """Such as "frame 12 (1.2 s)"."""
        return f"frame {frame}" + ("" if self.times_s is None else f" ({self.times_s[frame] - self.times_s[0]:.1f} s)")

    def moments(
        self, runs: Sequence[Run], text: str, weights: Sequence[float] | Array | None = None
    ) -> tuple[Moment, ...]:
        """The worst runs of frames: the longest, or those with the largest weights."""
        worth = [last - first for first, last in runs] if weights is None else weights
        order = np.argsort(-np.asarray(worth, np.float64), kind="stable")[:MOST_MOMENTS]
        return tuple(Moment(int(runs[k][0]), int(runs[k][1]), text) for k in order)


def usual_step_s(times_s: Array | None) -> float:
    """The median time between two frames; NaN without times."""
    return float(np.median(np.diff(times_s))) if times_s is not None and len(times_s) > 1 else np.nan


def _usual(speed: Array | None) -> float:
    if speed is None or not np.isfinite(speed).any():
        return np.nan
    moving = speed[speed > 0.1 * np.nanquantile(speed, 0.95)]
    return float(np.median(moving)) if len(moving) else 0.0


def _mean_over(values: Array, width: int) -> Array:
    """The mean of the `width` values around each one (if even, one more before it), of fewer at the ends; (N,)."""
    if width <= 1 or not len(values):
        return values
    sums, counts = (np.convolve(one, np.ones(width), "full") for one in (values, np.ones(len(values))))
    first = (width - 1) // 2
    return np.asarray((sums / counts)[first : first + len(values)])


def runs_of(mask: Mask) -> list[Run]:
    """The runs of true values, first and last index of each."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(first), int(after) - 1) for first, after in edges.reshape(-1, 2)]


def around(values: Array, half: int) -> Array:
    """The median of the `half` values on each side of each one, without itself; NaN values are left out; (N,)."""
    if len(values) <= 2 * half:
        return np.full(len(values), np.nan)
    windows = sliding_window_view(np.pad(values, half, constant_values=np.nan), 2 * half + 1)
    others = np.delete(windows, half, axis=1)
    known = ~np.isnan(others).all(axis=1)
    found = np.full(len(values), np.nan)
    found[known] = np.nanmedian(others[known], axis=1)
    return found


def smoothed(values: Array, width: int) -> Array:
    """The median of `width` values from each one on, NaN values left out; (N - width + 1,)."""
    windows = sliding_window_view(values, width)
    known = (~np.isnan(windows)).mean(axis=1) > 0.5
    found = np.full(len(windows), np.nan)
    found[known] = np.nanmedian(windows[known], axis=1)
    return found
