"""Made-up drives: planar tracks with known motions, as sources and as folders of KITTI raw and of scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

from egoequiv.errors import BrokenFrameError
from egoequiv.pose import DRIVING_POSES, PlanarSpace, driving_poses
from egoequiv.sources import Recording, Source

HZ = 10.0
SLOW, FAST = (6.0, 5.0, 0.0), (6.0, 14.0, 0.0)  # seconds, metres a second, degrees a second
LEFT, RIGHT = (6.0, 4.0, 16.0), (6.0, 5.0, -15.0)
TOWN = (SLOW, LEFT, FAST, RIGHT)
PLACES = ("campus", "city", "residential", "road")


def drive_track(
    legs: Sequence[tuple[float, float, float]], hz: float = HZ, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (N,) and `DRIVING_POSES` (N, 9) of legs driven one after the other, with a little noise in the heading."""
    speed, turning = (np.concatenate([np.full(round(leg[0] * hz), leg[k]) for leg in legs]) for k in (1, 2))
    turning = turning + np.random.default_rng(seed).normal(0, 0.2, len(turning))
    way, yaw = (np.concatenate([[0.0], np.cumsum(rate)[:-1]]) / hz for rate in (speed, np.deg2rad(turning)))
    steps = np.diff(way, prepend=0.0)
    position = np.column_stack([np.cumsum(steps * np.cos(yaw)), np.cumsum(steps * np.sin(yaw)), 0 * yaw])
    return np.arange(len(way)) / hz, driving_poses(position, Rotation.from_euler("z", yaw[:, None]), way, yaw)


def draw(kind: int, way: float, yaw: float, size: int) -> NDArray[np.uint8]:
    """A picture that shifts with the heading, grows with the way, and has stripes of its kind."""
    y, x = np.mgrid[0:size, 0:size] / size
    stripes = np.cos((6 + 4 * kind) * (x + yaw / 60)) * np.sin((4 + 2 * kind) * y + way / 5)
    return (127 + 100 * stripes + 20 * (kind % 2)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Drive(Recording):
    """One made-up drive; the frames in `broken` cannot be read."""

    name: str
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64] | None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    kind: int = 0
    size: int = 16
    broken: tuple[int, ...] = ()

    def image(self, frame: int) -> NDArray[np.uint8]:
        if frame in self.broken:
            raise BrokenFrameError(f"{self.name}: picture {frame} is damaged")
        return draw(self.kind, self.poses[frame, 7], self.poses[frame, 8], self.size)


def make_drive(
    number: int, legs: Sequence[tuple[float, float, float]] = TOWN, hz: float = HZ, **changes: object
) -> Drive:
    """Drive number `number`, in one of the four places."""
    times, poses = drive_track(legs, hz, seed=number)
    place = PLACES[number % 4]
    settings: dict[str, object] = {"times_s": times, "labels": (place,) * len(times), "kind": number % 4}
    settings |= {"attributes": {"location": place}, **changes}
    return Drive(f"drive-{number}", poses, **settings)  # type: ignore[arg-type]


def drive_source(drives: int = 8, **changes: object) -> Source:
    """Drives through all four places, with all pose columns of a vehicle."""
    made = [make_drive(number, **changes) for number in range(drives)]  # type: ignore[arg-type]
    return Source("drives", PlanarSpace(), made, pose_names=DRIVING_POSES)


def poses_only(drives: int = 4) -> Source:
    """The same without pictures."""
    recordings = drive_source(drives).recordings
    return Source("drives", PlanarSpace(), recordings, pose_names=DRIVING_POSES, has_images=False)


def write_kitti(root: Path, drives: int = 8, legs: Sequence[tuple[float, float, float]] = TOWN, size: int = 16) -> Path:
    """A folder of KITTI raw with gray pictures of camera 0, packets, time stamps and the places of the drives."""
    rows = ["drive,location"]
    for number in range(drives):
        drive = make_drive(number, legs, size=size)
        name = f"2011_09_26_drive_9{number:03d}"
        rows.append(f"{name},{PLACES[number % 4]}")
        _write_drive(root / "2011_09_26" / f"{name}_sync", drive)
    (root / "locations.csv").write_text("\n".join(rows) + "\n")
    return root


def _write_drive(folder: Path, drive: Drive) -> None:
    assert drive.times_s is not None
    pictures, packets = folder / "image_00" / "data", folder / "oxts" / "data"
    pictures.mkdir(parents=True)
    packets.mkdir(parents=True)
    speed = np.append(np.diff(drive.poses[:, 7]) * HZ, 0.0)
    start = datetime(2011, 9, 26, 13, 0, 0)
    stamps = [(start + timedelta(seconds=float(time))).isoformat(" ", "microseconds") + "000" for time in drive.times_s]
    for frame in range(len(drive)):
        packet = np.zeros(30)
        packet[[0, 1, 5, 8]] = 49.0, 8.4, np.deg2rad(drive.poses[frame, 8]), speed[frame]
        (packets / f"{frame:010d}.txt").write_text(" ".join(f"{value:.12g}" for value in packet))
        Image.fromarray(drive.image(frame)).save(pictures / f"{frame:010d}.png")
    for stream in ("image_00", "oxts"):
        (folder / stream / "timestamps.txt").write_text("\n".join(stamps) + "\n")


def write_scenes(
    root: Path, classes: int = 12, train: int = 5, test: int = 3, parts: bool = True, size: int = 16
) -> Path:
    """A tree of class folders with pictures, in parts or not."""
    for kind in range(classes):
        for number in range(train + test):
            part = "train" if number < train else "test"
            folder = root / part / f"class-{kind:02d}" if parts else root / f"class-{kind:02d}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(draw(kind, number / 3, 4.0 * number, size)).save(folder / f"{number}.png")
    return root
