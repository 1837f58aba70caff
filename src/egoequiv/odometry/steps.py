"""The steps of a recording: the motion that its pictures show, from one key picture to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError
from egoequiv.odometry.depth import length_ratio
from egoequiv.odometry.features import Features, find_features, gray, match
from egoequiv.odometry.two_view import Step, two_view_step
from egoequiv.pose.camera import Lens
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.recording import Decoded, Recording

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Look = Callable[[int, Decoded], None]  # gets each frame as it is decoded

_NO_ROWS = (np.empty(0, np.int64), np.empty(0, np.int64))
STEP_S = 0.1  # two key pictures are about so far apart


@dataclass(frozen=True)
class VisualSteps:
    """What the pictures of one recording say about its motion, a row for each step from one key picture to the next.

    Rotations and directions are in the axes of the first camera of a step: x forward, y left, z up.
    """

    first: Rows  # (S,) frames
    second: Rows  # (S,)
    rotation_deg: Array  # (S, 3) rotation vectors; NaN: cannot tell
    direction: Array  # (S, 3) of length 1, 0 if it stands still, NaN: cannot tell
    rotation_error_deg: Array  # (S,) one standard error
    direction_error_deg: Array  # (S,)
    length_ratio: Array  # (S,) how much longer the step is than the one before; NaN: cannot tell
    matches: Rows  # (S,)
    inliers: Rows  # (S,)
    flow: Array  # (S,) median shift of points, in widths of the picture
    reason: NDArray[np.str_]  # (S,) why something cannot be told, or empty

    def __len__(self) -> int:
        return len(self.first)

    @property
    def rotation_known(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.rotation_deg).all(axis=1))

    @property
    def direction_known(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.direction).all(axis=1))

    def part(self, rows: Rows | slice) -> VisualSteps:
        """Some of the steps."""
        return VisualSteps(**{part.name: getattr(self, part.name)[rows] for part in fields(self)})

    @classmethod
    def of(cls, keys: Rows, steps: Sequence[Step], ratios: Sequence[float]) -> VisualSteps:
        """The steps between key frames, and how much longer each is than the one before."""
        return cls(
            first=np.asarray(keys[:-1], np.int64),
            second=np.asarray(keys[1:], np.int64),
            rotation_deg=np.array([step.rotation_deg for step in steps]).reshape(-1, 3),
            direction=np.array([step.direction for step in steps]).reshape(-1, 3),
            rotation_error_deg=np.array([step.rotation_error_deg for step in steps], np.float64),
            direction_error_deg=np.array([step.direction_error_deg for step in steps], np.float64),
            length_ratio=np.array(ratios, np.float64),
            matches=np.array([step.matches for step in steps], np.int64),
            inliers=np.array([step.inliers for step in steps], np.int64),
            flow=np.array([step.flow for step in steps], np.float64),
            reason=np.array([step.reason for step in steps], np.str_),
        )

    @classmethod
    def can_be(cls, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Whether arrays from a file are those of steps, as far as names and lengths say it."""
        names = {part.name for part in fields(cls)}
        return set(arrays) == names and len({len(array) for array in arrays.values() if array.ndim}) == 1

    @classmethod
    def joined(cls, pieces: Sequence[VisualSteps]) -> VisualSteps:
        """Steps of one recording, found piece by piece."""
        return cls(**{part.name: np.concatenate([getattr(one, part.name) for one in pieces]) for part in fields(cls)})


def key_frames(recording: Recording, step_s: float = STEP_S) -> Rows:
    """The frames that are compared: every one, or of a fast camera those about `step_s` apart, and the last."""
    times = recording.times_s
    if times is None or len(times) < 2:
        return np.arange(len(recording))
    usual = float(np.median(np.diff(times)))
    every = max(round(step_s / usual), 1) if usual > 0 else 1
    keys = np.arange(0, len(recording), every)
    return keys if keys[-1] == len(recording) - 1 else np.append(keys, len(recording) - 1)


def visual_steps(
    recording: Recording, lens: Lens, keys: Rows, look: Look | None = None, frames: range | None = None
) -> VisualSteps:
    """The motion from each key frame to the next.

    Args:
        recording: whose frames are decoded, once and in order.
        lens: of its camera.
        keys: (K,) frames in order.
        look: gets every decoded frame, also those between the keys.
        frames: which are decoded; by default those from the first to the last key.

    Returns:
        K - 1 steps.

    """
    if frames is None:
        frames = range(int(keys[0]), int(keys[-1]) + 1) if len(keys) else range(0)
    steps = list(_steps(_features(recording, keys, frames, look), lens))
    return VisualSteps.of(keys, [step for step, _ in steps], [ratio for _, ratio in steps])


def _steps(features: Iterator[Features | None], lens: Lens) -> Iterator[tuple[Step, float]]:
    pictures: list[Features | None] = []  # the last three at most
    last, last_rows = Step.unknown(""), _NO_ROWS
    for found in features:
        pictures = [*pictures[-2:], found]
        if len(pictures) == 1:
            continue
        step, rows = compared(pictures[-2], pictures[-1], lens)
        ratio = length_ratio(last, last_rows, step, rows, pictures, lens)
        last, last_rows = step, rows
        yield step, ratio


def compared(first: Features | None, second: Features | None, lens: Lens) -> tuple[Step, tuple[Rows, Rows]]:
    """The step between two pictures, and the rows of the points that both show."""
    if first is None or second is None:
        return Step.unknown("a picture is broken"), _NO_ROWS
    if first.size != second.size:
        return Step.unknown("the size of the pictures changes"), _NO_ROWS
    rows = match(first, second)
    step = two_view_step(first.points[rows[0]].astype(float), second.points[rows[1]].astype(float), lens, first.size)
    complaint = first.complaint or second.complaint
    if complaint and not np.isfinite(step.rotation_deg).all():
        step = Step.unknown(complaint, step.matches, step.inliers, step.flow)
    return step, rows


def _features(recording: Recording, keys: Rows, frames: range, look: Look | None) -> Iterator[Features | None]:
    wanted = {int(key) for key in keys}
    for frame, image in zip(frames, decoded_frames(recording, frames), strict=True):
        if look is not None:
            look(frame, image)
        if frame in wanted:
            yield features_of(image)


def features_of(image: Decoded) -> Features | None:
    """The points of a decoded frame; None of a broken one."""
    return None if isinstance(image, BrokenFrameError) else find_features(gray(image))
