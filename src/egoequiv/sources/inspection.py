"""What a log holds, before any of it is decoded: cameras, rates, ranges and gaps, as people and programs read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError
from egoequiv.pose import CAMERA_POSES
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Listed, Recording, Source

Array = NDArray[np.float64]
GAP_STEPS = 3  # frames are missing where two are further apart than so many usual steps
_TRIED = 20  # frames, to find one that can be decoded
_GRAY_APART = 16  # levels between the channels of a gray picture that was stored in colour, with losses
COLOUR_DROPPED = "the pictures have colour, and it is dropped: --color keeps it"
_STILL_M, _STILL_DEG = 1e-6, 1e-4


@dataclass(frozen=True)
class Inspection:
    """What was found in a log."""

    source: str
    recordings: int
    names: tuple[str, ...]  # of the first recordings
    frames: int
    shortest: int  # frames of a recording
    longest: int
    image_size: tuple[int, int] | None  # height and width of the first frame; None without images
    rate_hz: float | None  # the median over all steps
    duration_s: float | None  # of all recordings together
    gaps: int | None  # places where frames are missing
    longest_gap_s: float | None
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # of the pose columns
    way_m: float | None = None  # length of the way of the camera, over all recordings
    speed_mps: tuple[float, float] | None = None  # median and largest
    turn_dps: tuple[float, float] | None = None  # median and largest, degrees a second
    still: float | None = None  # share of the steps without any motion
    lenses: dict[str, Lens] = field(default_factory=dict)  # of recordings, where the log says them
    listed: tuple[Listed, ...] = ()
    convention: str = ""
    notes: tuple[str, ...] = ()  # what was left out or is wrong
    remarks: tuple[str, ...] = ()  # choices and facts

    def as_json(self) -> dict[str, Any]:
        """Plain values under the same names."""
        return asdict(self)


def inspect_source(source: Source) -> Inspection:
    """Look at an opened source; of its images, one is decoded.

    Args:
        source: such as `open_source("tum", folder)`.

    Returns:
        Counts, rates, ranges and gaps.

    Example:
        >>> inspect_source(open_source("tum", "fr1_xyz")).rate_hz
        30.0

    """
    recordings = source.recordings
    lengths = [len(recording) for recording in recordings] or [0]
    steps = [np.diff(one.times_s) for one in recordings if one.times_s is not None]
    step = np.concatenate(steps) if steps else np.empty(0)
    usual = float(np.median(step)) if len(step) else 0.0
    long = step[step > GAP_STEPS * usual]
    poses = np.concatenate([np.asarray(one.poses).reshape(len(one), -1) for one in recordings]) if recordings else None
    columns = {} if poses is None or not len(poses) else dict(zip(source.pose_columns, poses.T, strict=True))
    return Inspection(
        source=source.name,
        recordings=len(recordings),
        names=tuple(one.name for one in islice(recordings, 5)),
        frames=sum(lengths),
        shortest=min(lengths),
        longest=max(lengths),
        image_size=first_image_size(recordings) if source.has_images else None,
        rate_hz=1 / usual if usual > 0 else None,
        duration_s=float(step.sum()) if steps else None,
        gaps=len(long) if steps else None,
        longest_gap_s=float(long.max()) if len(long) else None,
        ranges={name: (float(v.min()), float(v.max())) for name, v in columns.items() if name not in CAMERA_POSES[3:]},
        lenses={one.name: one.lens for one in recordings if isinstance(one.lens, Lens)},
        listed=source.listed,
        convention=source.convention,
        notes=source.notes,
        remarks=source.remarks,
        **_motion(source),
    )


def first_image_size(recordings: Sequence[Recording]) -> tuple[int, int] | None:
    """Height and width of the first frame that can be decoded."""
    found = _first_image(recordings)
    return None if found is None else (found.shape[0], found.shape[1])


def colour_remark(source: Source) -> str | None:
    """That colour would be dropped, where the first frame that can be decoded has some."""
    found = _first_image(source.recordings) if source.has_images else None
    if found is None or found.ndim != 3 or found.shape[2] != 3:
        return None
    apart = np.ptp(found.astype(np.int16), axis=2)
    return COLOUR_DROPPED if (apart > _GRAY_APART).any() else None


def _first_image(recordings: Sequence[Recording]) -> NDArray[np.uint8] | None:
    for recording in recordings:
        for decoded in recording.images(range(min(_TRIED, len(recording)))):
            if not isinstance(decoded, BrokenFrameError):
                return np.asarray(decoded)
    return None


def _motion(source: Source) -> dict[str, Any]:
    """How far and how fast a camera with rigid poses moves; nothing for others."""
    from scipy.spatial.transform import Rotation

    if not set(CAMERA_POSES) <= set(source.pose_columns):
        return {}
    place = [source.pose_columns.index(name) for name in CAMERA_POSES]
    moved, turned, took = [np.empty(0)], [np.empty(0)], [np.empty(0)]
    for recording in source.recordings:
        poses = np.asarray(recording.poses)[:, place]
        if len(poses) < 2:
            continue
        rotation = Rotation.from_quat(poses[:, 3:])
        moved.append(np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1))
        turned.append(np.rad2deg((rotation[:-1].inv() * rotation[1:]).magnitude()))
        took.append(np.full(len(poses) - 1, np.nan) if recording.times_s is None else np.diff(recording.times_s))
    metres, degrees, seconds = (np.concatenate(one) for one in (moved, turned, took))
    if not len(metres):
        return {}
    still = float(((metres < _STILL_M) & (degrees < _STILL_DEG)).mean())
    found: dict[str, Any] = {"way_m": float(metres.sum()), "still": still}
    timed = seconds > 0
    if timed.any():
        for name, values in (("speed_mps", metres), ("turn_dps", degrees)):
            rate = values[timed] / seconds[timed]
            found[name] = (float(np.median(rate)), float(rate.max()))
    return found


AREA = 64 * 64  # pixels of the images that are learned from by default
SIDE = 4  # sides are multiples of this


def suggested_size(size: tuple[int, int], area: int = AREA) -> tuple[int, int]:
    """A size (height, width) to learn from: the same aspect, about so many pixels in area, never larger than it is."""
    height, width = size
    scale = (area / (height * width)) ** 0.5
    if scale >= 1.0:
        return height, width
    return max(round(height * scale / SIDE), 1) * SIDE, max(round(width * scale / SIDE), 1) * SIDE
