"""KITTI raw files for tests: every picture says by its gray level, and every packet by its place, which frame it is."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from egoequiv.sources import Recording
from egoequiv.sources.oxts import FIELDS

DRIVE = "2011_09_26_drive_0001"
START_NS = 1_317_042_145_964_389_445  # 2011-09-26 13:02:25.964389445
STEP_NS = 100_000_000
IMAGE_LATE_NS = 7_000_000  # an image is stamped this much after its packet
LAT_STEP = 1e-5  # degrees from frame to frame, to the north
NORTH_STEP_M = 1.1131949  # the same on the Mercator plane: 1e-5 deg x pi / 180 x 6378137 m
SPEED = 11.0
GRAY = 40  # of frame 0, each frame is brighter by one


def packet_text(number: int = 0, **changes: object) -> str:
    """The packet of one frame: heading north, `number` steps on, `number` metres high."""
    values: dict[str, object] = dict.fromkeys(FIELDS, 0.0)
    values |= {"lat": 49.0 + LAT_STEP * number, "lon": 8.4, "alt": 100.0 + number, "yaw": np.pi / 2, "vf": SPEED}
    return " ".join(str(value) for value in (values | changes).values()) + "\n"


def stamp_text(time_ns: int) -> str:
    seconds, rest = divmod(time_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest:09d}"


@dataclass(frozen=True)
class DriveFiles:
    """The files of one drive."""

    folder: Path
    camera: int

    def packet(self, number: int) -> Path:
        return self.folder / "oxts" / "data" / f"{number:010d}.txt"

    def picture(self, number: int) -> Path:
        return self.folder / f"image_{self.camera:02d}" / "data" / f"{number:010d}.png"

    @property
    def packet_stamps(self) -> Path:
        return self.folder / "oxts" / "timestamps.txt"

    @property
    def image_stamps(self) -> Path:
        return self.folder / f"image_{self.camera:02d}" / "timestamps.txt"


def edit_row(path: Path, row: int, text: str | None) -> None:
    """Replace a row of a file, counted from 0, or take it out."""
    lines = path.read_text().splitlines()
    lines[row : row + 1] = [] if text is None else [text]
    path.write_text("".join(f"{line}\n" for line in lines))


def write_drive(
    root: Path,
    name: str = DRIVE,
    *,
    frames: int = 6,
    kind: str = "sync",
    camera: int = 0,
    images: Iterable[int] | None = None,
    packets: Iterable[int] | None = None,
    start_ns: int = START_NS,
) -> DriveFiles:
    """Write one drive below the folder of its date; some pictures or packets may be left out, but no time stamps."""
    files = DriveFiles(root / name[:10] / f"{name}_{kind}", camera)
    for stamps, late_ns in ((files.packet_stamps, 0), (files.image_stamps, IMAGE_LATE_NS)):
        (stamps.parent / "data").mkdir(parents=True)
        rows = [stamp_text(start_ns + STEP_NS * k + late_ns) for k in range(frames)]
        stamps.write_text("".join(f"{row}\n" for row in rows))
    for number in range(frames) if packets is None else packets:
        files.packet(number).write_text(packet_text(number))
    for number in range(frames) if images is None else images:
        gray = GRAY + number
        picture = Image.new("L", (8, 6), gray) if camera < 2 else Image.new("RGB", (8, 6), (gray, 0, 255 - gray))
        picture.save(files.picture(number))
    return files


def zip_folder(folder: Path, archive: Path, inside: str = "", compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """Pack what lies below a folder, under the path `inside`."""
    with zipfile.ZipFile(archive, "w", compression) as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, inside + path.relative_to(folder).as_posix())
    return archive


def frame_numbers(recording: Recording) -> list[int]:
    """Which frames the pictures of a recording are."""
    corners = [int(recording.image(k).reshape(-1)[0]) for k in range(len(recording))]
    return [corner - GRAY for corner in corners]


def numbers_of_poses(poses: NDArray[np.float64], first: int = 0) -> list[int]:
    """Which frames the poses are of, by latitude and altitude; `first` is the first packet that was read."""
    by_place = first + poses[:, 1] / NORTH_STEP_M
    numbers = np.rint(by_place).astype(int)
    assert np.allclose(by_place, numbers, atol=1e-3)
    assert np.allclose(first + poses[:, 2], numbers, atol=1e-6)
    return list(numbers.tolist())


def check_frames(recording: Recording, numbers: Sequence[int], first: int = 0) -> None:
    """A recording has just these frames, and every picture, pose and time belong together."""
    numbers = list(numbers)
    assert frame_numbers(recording) == numbers
    assert numbers_of_poses(recording.poses, first) == numbers
    assert recording.times_s is not None
    late_s = IMAGE_LATE_NS / 1e9
    assert np.allclose(recording.times_s, [(n - first) * STEP_NS / 1e9 + late_s for n in numbers], rtol=0, atol=1e-9)
