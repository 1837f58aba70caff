"""KITTI odometry: sequences of images with the pose of the left gray camera at every frame."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose import DRIVING_POSES, PlanarSpace, driving_poses
from egoequiv.pose.camera import Lens
from egoequiv.sources.kitti_calibration import ODOMETRY_FILE, R_OPTICAL_VEHICLE, odometry_lens
from egoequiv.sources.lenses import lens_or_note
from egoequiv.sources.pictures import PictureRecording, open_picture, picture_size
from egoequiv.sources.recording import Source
from egoequiv.sources.trees import FolderTree, check_size

Array = NDArray[np.float64]

_ENDINGS = (".png", ".jpg", ".jpeg")
_ROTATION_TOLERANCE = 1e-3  # the official files keep seven digits


@dataclass(frozen=True, eq=False)
class OdometryRecording(PictureRecording):
    """One sequence seen by one camera."""

    name: str
    poses: Array
    times_s: Array
    attributes: dict[str, str]
    folder: Path
    files: tuple[str, ...]
    labels: None = None
    lens: Lens | None = None

    def picture(self, frame: int) -> PillowImage.Image:
        path = self.folder / self.files[frame]
        return open_picture(path, str(path))

    def files_read(self) -> Collection[Path] | None:
        return [self.folder / file for file in self.files]


def kitti_odometry(path: Path, *, sequences: str = "all", camera: int = 0) -> Source:
    """Read KITTI odometry from the folder that contains `sequences` and `poses`, or from its parent.

    `sequences` is "all" or names such as "00,05"; cameras 0 and 1 are gray, 2 and 3 in colour. The poses are those of
    camera 0 for every camera: the distance driven is the same for the whole car.
    """
    path = Path(path)
    if camera not in range(4):
        raise ConfigError(f"camera={camera}: expected 0 or 1 (gray), 2 or 3 (colour)")
    root = next((folder for folder in (path, path / "dataset") if (folder / "sequences").is_dir()), None)
    if root is None:
        raise DataError(
            f"{path} contains no sequences/00/image_0: give the dataset folder of KITTI odometry, or its parent"
        )
    chosen, notes = _choose(root, sequences, camera)
    recordings = [_recording(root, name, camera, notes) for name in chosen]
    usable = [recording for recording in recordings if recording is not None]
    if not usable:
        raise DataError(f"{root} has no sequence to use: {'; '.join(notes) or 'its folder sequences is empty'}")
    settings = {"path": str(path), "sequences": sequences, "camera": camera}
    return Source("kitti-odometry", PlanarSpace(), usable, settings, pose_names=DRIVING_POSES, notes=tuple(notes))


def _choose(root: Path, sequences: str, camera: int) -> tuple[list[str], list[str]]:
    """The names of the sequences to read, and notes on those left out."""
    present = sorted(f.name for f in (root / "sequences").iterdir() if f.is_dir() and not f.name.startswith("."))
    lacking = {
        name: needed[0]
        for name in present
        if (needed := [f for f in (_poses_file(root, name), _image_folder(root, name, camera)) if not f.exists()])
    }
    if sequences == "all":
        chosen = [name for name in present if name not in lacking]
        without_poses = [name for name, file in lacking.items() if file.suffix == ".txt"]
        without_images = [name for name in lacking if name not in without_poses]
        left_out = (("poses", without_poses), (f"an image_{camera} folder", without_images))
        notes = [f"sequences without {what}, left out: {len(n)} ({', '.join(n)})" for what, n in left_out if n]
        return chosen, notes
    chosen = [name.strip() for name in sequences.split(",")]
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"sequences={sequences!r} names a sequence twice")
    for name in chosen:
        if name not in present:
            raise DataError(f"{root / 'sequences'} has no sequence {name!r}; it has {', '.join(present) or 'none'}")
        if name in lacking:
            raise DataError(f"sequence {name} cannot be used: {lacking[name]} is missing; add it or leave out {name}")
    return chosen, []


def _poses_file(root: Path, name: str) -> Path:
    return root / "poses" / f"{name}.txt"


def _image_folder(root: Path, name: str, camera: int) -> Path:
    return root / "sequences" / name / f"image_{camera}"


def _recording(root: Path, name: str, camera: int, notes: list[str]) -> OdometryRecording | None:
    """One sequence, or None if it has a single frame; what is left out is added to `notes`."""
    poses_file, folder = _poses_file(root, name), _image_folder(root, name, camera)
    rows = _read_numbers(poses_file, 12)
    times_s = _read_times(root / "sequences" / name / "times.txt", poses_file, len(rows))
    files = _number_images(folder)
    if not files or min(files) != 0 or max(files) != len(rows) - 1:
        span = f", numbered {min(files)} to {max(files)}" if files else ""
        raise DataError(
            f"{folder} has {plural(len(files), 'image')}{span}, but {poses_file} has {plural(len(rows), 'row')}, "
            f"numbered 0 to {len(rows) - 1}: they are not of one sequence"
        )
    if len(files) < len(rows):
        notes.append(f"sequence {name}: poses without an image, left out: {len(rows) - len(files)} of {len(rows)}")
    if len(files) < 2:
        notes.append(f"sequence {name}: a single frame has no motion, left out")
        return None
    numbers = sorted(files)
    return OdometryRecording(
        name=f"odometry/{name}",
        poses=_vehicle_poses(rows.reshape(-1, 3, 4), poses_file)[numbers],
        times_s=times_s[numbers],
        attributes={"sequence": name},
        folder=folder,
        files=tuple(files[number] for number in numbers),
        lens=_lens(root / "sequences" / name, camera, folder / files[numbers[0]], notes),
    )


def _lens(folder: Path, camera: int, first: Path, notes: list[str]) -> Lens | None:
    """The lens of a camera, if `calib.txt` is there; it is for pictures of the size of the first."""
    if not (folder / ODOMETRY_FILE).is_file():
        return None
    return lens_or_note(lambda: odometry_lens(FolderTree(folder), camera, picture_size(first, str(first))), notes)


def _read_times(path: Path, poses_file: Path, rows: int) -> Array:
    """The time of each pose; (N,), strictly increasing."""
    times_s = _read_numbers(path, 1)[:, 0]
    if len(times_s) != rows:
        raise DataError(f"{path} has {len(times_s)} rows but {poses_file} has {rows}: they are not of one sequence")
    late = np.flatnonzero(np.diff(times_s) <= 0)
    if len(late):
        row = int(late[0]) + 1
        raise DataError(
            f"{path}, row {row + 1}: {times_s[row]} s is not after {times_s[row - 1]} s; get the file again"
        )
    return times_s


def _number_images(folder: Path) -> dict[int, str]:
    """The images of a folder by their numbers."""
    files: dict[int, str] = {}
    for file in sorted(folder.iterdir()):
        if file.name.startswith(".") or file.suffix.lower() not in _ENDINGS:
            continue
        if not (file.stem.isascii() and file.stem.isdigit()):
            raise DataError(f"{file} has no number as its name: expected images such as 000000.png; remove it")
        number = int(file.stem)
        if number in files:
            raise DataError(f"{folder} has two images with the number {number}: {files[number]} and {file.name}")
        files[number] = file.name
    return files


def _vehicle_poses(t_world_cam: Array, path: Path) -> Array:
    """The columns `DRIVING_POSES` from poses of a camera, (N, 3, 4) -> (N, 9).

    The axes of the vehicle are those of the camera turned to x forward, y left, z up; the world is the first vehicle.
    """
    from scipy.spatial.transform import Rotation

    R, t = t_world_cam[:, :, :3], t_world_cam[:, :, 3]
    off = np.abs(R.transpose(0, 2, 1) @ R - np.eye(3)).max(axis=(1, 2))
    bad = np.flatnonzero((off > _ROTATION_TOLERANCE) | (np.linalg.det(R) < 0))
    if len(bad):
        row = int(bad[0])
        values = " ".join(f"{value:.4g}" for value in R[row].ravel())
        raise DataError(
            f"{path}, row {row + 1}: the first three columns of the 3 x 4 pose are not a rotation: {values}"
        )
    rotation = Rotation.from_matrix(R_OPTICAL_VEHICLE.T @ R[0].T @ R @ R_OPTICAL_VEHICLE)
    position_m = (t - t[0]) @ R[0] @ R_OPTICAL_VEHICLE
    heading = rotation.apply([1.0, 0.0, 0.0])
    yaw_rad = np.unwrap(np.arctan2(heading[:, 1], heading[:, 0]))
    return driving_poses(position_m, rotation, _way_driven(position_m, heading), yaw_rad)


def _way_driven(position_m: Array, heading: Array) -> Array:
    """The running sum of the length of each step along the mean heading of its ends; (N, 3), (N, 3) -> (N,)."""
    mean = heading[1:] + heading[:-1]
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    steps = np.sum(np.diff(position_m, axis=0) * mean, axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _read_numbers(path: Path, columns: int) -> Array:
    """The rows of a file of numbers; (N, columns)."""
    try:
        check_size(path.stat().st_size, str(path))
        lines = path.read_text("utf-8").rstrip().splitlines()
    except FileNotFoundError:
        raise DataError(f"{path} is missing: it comes with the calibration files of KITTI odometry") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{path} cannot be read as text: {problem}") from problem
    if not lines:
        raise DataError(f"{path} is empty: expected rows of {columns} numbers; get the file again")
    return np.array([_parse_row(line, columns, f"{path}, row {row}") for row, line in enumerate(lines, 1)])


def _parse_row(line: str, columns: int, where: str) -> list[float]:
    words = line.split()
    if len(words) != columns:
        raise DataError(f"{where}: expected {columns} numbers, found {len(words)}: {line.strip()[:60]!r}")
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(f"{where}: expected a finite number, found {word[:40]!r}")
        values.append(value)
    return values
