"""What every source and world produces: recordings of frames with poses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError
from egoequiv.pose import MotionSpace
from egoequiv.pose.camera import Lens
from egoequiv.remarks import Remark

Image = NDArray[np.uint8]
Decoded = Image | PillowImage.Image | BrokenFrameError  # a frame, or why there is none


@dataclass(frozen=True)
class Frame:
    """One image with all that is known of it."""

    image: Image
    pose: NDArray[np.float64]
    time_s: float | None
    label: str | None
    file: str | None = None  # the name of its picture file, if it comes from one


class Recording(ABC):
    """One capture by one camera: frames in order, each with a pose and perhaps a time and a label.

    A recording must survive pickling, because frames are decoded in worker processes.
    """

    name: str
    poses: NDArray[np.float64]  # (N, P), the columns named by the source
    times_s: NDArray[np.float64] | None  # (N,)
    labels: Sequence[str] | None  # N of them
    attributes: Mapping[str, str]  # of the whole recording, such as {"lighting": "3"}
    lens: Lens | None = None  # of the camera, where the log says it

    def __len__(self) -> int:
        return len(self.poses)

    @abstractmethod
    def image(self, frame: int) -> Image:
        """Decode one frame: (H, W) gray or (H, W, 3) colour, uint8; a `BrokenFrameError` if it cannot be."""

    def images(self, frames: range) -> Iterator[Decoded]:
        """Decode frames in order; for one that cannot be, the error stands in its place.

        Recordings whose frames are decoded one after another, such as videos, do that here.
        """
        for frame in frames:
            try:
                yield self.image(frame)
            except BrokenFrameError as problem:
                yield problem

    def starts(self) -> Sequence[int]:
        """Frames from which decoding can begin, the first of them 0; by default every frame."""
        return range(max(len(self), 1))

    def file_name(self, frame: int) -> str | None:
        """The name of the picture file that a frame comes from; None where it comes from none."""
        return None

    def files_read(self) -> Collection[Path] | None:
        """The files that its frames are decoded from; None where that is not known."""
        return None

    def log_frames(self) -> NDArray[np.int64] | None:
        """The number of each frame in the log (N,), where frames without a pose were left out; None: 0, 1, ..."""
        return None

    def frame(self, frame: int) -> Frame:
        """One frame with its pose, time, label and file name."""
        return Frame(
            image=self.image(frame),
            pose=self.poses[frame],
            time_s=None if self.times_s is None else float(self.times_s[frame]),
            label=None if self.labels is None else self.labels[frame],
            file=self.file_name(frame),
        )


def single(frames: Iterator[Decoded]) -> Image:
    """The first of some decoded frames, as `Recording.image` gives it; the error where it cannot be decoded."""
    decoded = next(iter(frames))
    if isinstance(decoded, BrokenFrameError):
        raise decoded
    return np.asarray(decoded)


@dataclass(frozen=True)
class Listed:
    """One camera, topic, pose stream or column of a log, as `egoequiv inspect` lists it."""

    kind: str  # camera, poses, columns, ...
    name: str
    details: str  # such as "640 x 480, 30.0 Hz, 1,203 frames"
    used: bool = True  # whether it was read with the settings as they are
    choose: str = ""  # the setting that chooses it, such as "camera=/cam1/image_raw"


@dataclass(frozen=True)
class Source:
    """The recordings of one data set or world, and the motion space their poses live in."""

    name: str
    space: MotionSpace
    recordings: Sequence[Recording]
    settings: Mapping[str, Any] = field(default_factory=dict)  # what made it, for the store's record
    pose_names: tuple[str, ...] = ()  # all pose columns, where they are more than the space's own
    has_images: bool = True  # a drive may have its poses alone
    notes: tuple[str, ...] = ()  # what was left out or is wrong, in words
    listed: tuple[Listed, ...] = ()  # what the log holds, read or not
    convention: str = ""  # where poses come from and how they were turned into T_world_camera, in words
    remarks: tuple[str, ...] = ()  # choices and facts, in words; given among the notes as `Remark`

    def __post_init__(self) -> None:
        remarks = [*self.remarks, *(note for note in self.notes if isinstance(note, Remark))]
        object.__setattr__(self, "remarks", tuple(str(note) for note in dict.fromkeys(remarks)))
        object.__setattr__(self, "notes", tuple(note for note in self.notes if not isinstance(note, Remark)))

    @property
    def pose_columns(self) -> tuple[str, ...]:
        """The names of the columns of `Recording.poses`."""
        return self.pose_names or self.space.pose_names

    @property
    def frame_count(self) -> int:
        return sum(len(recording) for recording in self.recordings)
