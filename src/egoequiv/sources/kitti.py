"""KITTI raw: drives of images and GPS/IMU packets, in folders or zip archives, matched by time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose import DRIVING_POSES, PlanarSpace, driving_poses
from egoequiv.sources.kitti_calibration import t_imu_camera
from egoequiv.sources.kitti_locations import LOCATIONS
from egoequiv.sources.oxts import packet_poses, parse_packet
from egoequiv.sources.pictures import read_picture
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv.sources.stamps import MISSING, match_by_time, parse_stamps
from egoequiv.sources.trees import FolderTree, Tree, ZipTree

Camera = int | Literal["none"]  # 0 and 1 are gray, 2 and 3 colour
PoseOf = Literal["imu", "camera"]

LOCATIONS_FILE = "locations.csv"
TOLERANCE_NS = 50_000_000  # half of what lies between two frames at 10 Hz
_DATE = re.compile(r"\d{4}_\d{2}_\d{2}")
_DRIVE = re.compile(r"(\d{4}_\d{2}_\d{2}_drive_\d{4})_(sync|extract)")


@dataclass(frozen=True)
class KittiRecording(Recording):
    """One drive seen by one camera; its pictures are read when they are asked for."""

    name: str
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64]
    labels: Sequence[str] | None
    attributes: dict[str, str]
    tree: Tree
    folder: str  # of the pictures
    files: tuple[str, ...]

    def image(self, frame: int) -> Image:
        if not self.files:
            raise DataError(f"{self.name} was opened without its pictures")
        path = f"{self.folder}/{self.files[frame]}"
        try:
            contents = self.tree.read(path)
        except DataError as problem:
            raise BrokenFrameError(str(problem)) from problem
        return read_picture(io.BytesIO(contents), self.tree.where(path))


def kitti(
    path: Path,
    *,
    camera: Camera = 0,
    drives: str = "all",
    pose_of: PoseOf = "imu",
    locations: Path | None = None,
) -> Source:
    """Drives in the raw layout of KITTI: a folder with dates, a date, a drive, or zip archives of them.

    An image and a packet belong together if their time stamps are nearest to each other and within half a frame.
    With `camera="none"` the packets alone are read. `pose_of="camera"` takes the pose of the camera through the
    calibration files, in the axes x forward, y left, z up, instead of that of the GPS/IMU unit.
    """
    if camera not in (0, 1, 2, 3, "none"):
        raise ConfigError(f"camera must be 0, 1, 2, 3 or none, found {camera!r}")
    found = list(_drives(path))
    if not found:
        raise DataError(f"{path}: no drive such as 2011_09_26/2011_09_26_drive_0001_sync is there, nor a zip with one")
    chosen = _chosen(found, drives, path)
    known = LOCATIONS | _read_locations(path, locations)
    recordings: list[KittiRecording] = []
    notes: list[str] = []
    for drive in chosen:
        try:
            recordings.append(_recording(drive, camera, pose_of, known, notes))
        except _LeftOutError as reason:
            notes.append(f"drive left out: {reason}")
    if not recordings:
        raise DataError(f"{path}: no drive can be used: {notes[-1]}")
    settings = {"camera": camera, "drives": drives, "pose_of": pose_of}
    return Source("kitti", PlanarSpace(), recordings, settings, DRIVING_POSES, camera != "none", tuple(notes))


class _LeftOutError(Exception):
    """A whole drive cannot be used; the message says why."""


@dataclass(frozen=True)
class _Drive:
    name: str  # such as 2011_09_26_drive_0001
    tree: Tree
    folder: str  # of the drive, below the tree's root
    trees: tuple[Tree, ...] = field(repr=False)  # where calibration may be


def _drives(path: Path) -> Iterator[_Drive]:
    """All drives below a path; of a drive that is there twice, the synchronised one, and a folder before an archive."""
    trees = _trees(path)
    best: dict[str, tuple[bool, _Drive]] = {}
    for tree in trees:
        for folder in _drive_folders(tree, path):
            match = _DRIVE.fullmatch(folder.rsplit("/", 1)[-1] or path.resolve().name)
            if match is None:
                continue
            is_sync = match[2] == "sync"
            if match[1] not in best or (is_sync and not best[match[1]][0]):
                best[match[1]] = (is_sync, _Drive(match[1], tree, folder, trees))
    for name in sorted(best):
        yield best[name][1]


def _trees(path: Path) -> tuple[Tree, ...]:
    if not path.exists():
        raise DataError(f"{path} does not exist: give the folder or zip archive with KITTI raw drives")
    if path.is_file():
        return (ZipTree(path),)
    archives = sorted({*path.glob("*.zip"), *path.glob("*/*.zip")})
    return (FolderTree(path), *(ZipTree(archive) for archive in archives))


def _drive_folders(tree: Tree, path: Path) -> Iterator[str]:
    """Folders of drives: below dates, at the root (a date was given), or the root itself (a drive was given)."""
    if isinstance(tree, FolderTree) and _DRIVE.fullmatch(path.resolve().name):
        yield ""
    for first in tree.folders():
        if _DRIVE.fullmatch(first):
            yield first
        else:  # a date, or a folder that an archive was packed with
            for second in tree.folders(first):
                if _DRIVE.fullmatch(second):
                    yield f"{first}/{second}"
                elif _DATE.fullmatch(second):
                    yield from (f"{first}/{second}/{name}" for name in tree.folders(f"{first}/{second}"))


def _chosen(found: list[_Drive], drives: str, path: Path) -> list[_Drive]:
    if drives == "all":
        return found
    chosen: list[_Drive] = []
    for wanted in (part.strip() for part in drives.split(",")):
        matching = [drive for drive in found if drive.name.startswith(wanted)] if wanted else []
        if not matching:
            names = ", ".join(drive.name for drive in found[:5])
            raise DataError(f"{path}: no drive's name begins with {wanted!r}; there are {names}, ...")
        chosen += [drive for drive in matching if drive not in chosen]
    return chosen


def _recording(
    drive: _Drive, camera: Camera, pose_of: PoseOf, known: dict[str, str], notes: list[str]
) -> KittiRecording:
    packet_ns, packets = _packets(drive, notes)
    times_s = (packet_ns - packet_ns[0]) / 1e9
    poses = packet_poses(packets, times_s)
    if pose_of == "camera":
        poses = _camera_poses(poses, _camera_place(drive, 0 if camera == "none" else camera))
    files: tuple[str, ...] = ()
    folder = ""
    if camera != "none":
        folder = _below(drive, f"image_{camera:02d}")
        files, taken, image_ns = _images(drive, folder, packet_ns, notes)
        poses, times_s = poses[taken], (image_ns - packet_ns[0]) / 1e9
    if len(poses) < 2:
        raise _LeftOutError(f"{drive.name} has {len(poses)} usable frame, and motion needs two")
    location = known.get(drive.name)
    return KittiRecording(
        name=drive.name,
        poses=poses,
        times_s=times_s,
        labels=None if location is None else [location] * len(poses),
        attributes={"location": location or "", "date": drive.name[:10]},
        tree=drive.tree,
        folder=f"{folder}/data",
        files=files,
    )


def _below(drive: _Drive, name: str) -> str:
    return f"{drive.folder}/{name}" if drive.folder else name


def _packets(drive: _Drive, notes: list[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Times (N,) and packets (N, 30) in order of time; what cannot be used is counted and told of."""
    folder = _below(drive, "oxts")
    times, names = _stamped(drive, folder, ".txt", "packets", notes)
    values: list[list[float]] = []
    usable: list[int] = []
    problems: list[str] = []
    latest = MISSING
    for k, name in enumerate(names):
        path = f"{folder}/data/{name}"
        try:
            packet = parse_packet(drive.tree.read(path).decode("utf-8", "replace"), drive.tree.where(path))
        except DataError as problem:
            problems.append(str(problem))
            continue
        if times[k] <= latest:
            problems.append(f"{drive.tree.where(path)}: its time is not later than the one before it")
            continue
        latest = int(times[k])
        usable.append(k)
        values.append(packet)
    if problems:
        notes.append(f"{drive.name}: {len(problems)} of {len(names)} packets left out: {problems[0]}")
    if not usable:
        raise _LeftOutError(f"{drive.name} has no usable packet: {problems[0] if problems else 'there is none'}")
    return times[usable], np.array(values)


def _images(
    drive: _Drive, folder: str, packet_ns: NDArray[np.int64], notes: list[str]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """The pictures that have a packet: their files, the places of their packets, and their times."""
    times, names = _stamped(drive, folder, (".png", ".jpg", ".jpeg"), "images", notes)
    order = np.argsort(times, kind="stable")
    times, names = times[order], [names[k] for k in order]
    place = match_by_time(times, packet_ns, TOLERANCE_NS)
    kept = np.flatnonzero(place >= 0)
    if len(kept) < len(names):
        first = names[int(np.flatnonzero(place < 0)[0])]
        notes.append(
            f"{drive.name}: {len(names) - len(kept)} of {len(names)} images left out, for no packet of their own lies "
            f"within {TOLERANCE_NS / 1e6:.0f} ms, the first {folder}/data/{first}"
        )
    if len(kept) < len(packet_ns):
        notes.append(f"{drive.name}: {len(packet_ns) - len(kept)} of {len(packet_ns)} packets have no image")
    return tuple(names[k] for k in kept), place[kept], times[kept]


def _stamped(
    drive: _Drive, folder: str, suffix: str | tuple[str, ...], what: str, notes: list[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """The numbered files of a stream with their times: file number k has the time of row k, counted from 0."""
    names = [name for name in drive.tree.files(f"{folder}/data") if name.lower().endswith(suffix)]
    if not names:
        hint = "; for the poses alone add --set camera=none" if what == "images" else ""
        raise _LeftOutError(f"{drive.name} has no {what} in {folder}/data{hint}")
    path = f"{folder}/timestamps.txt"
    if "timestamps.txt" not in drive.tree.files(folder):
        raise _LeftOutError(f"{drive.tree.where(path)} is missing, and without time stamps nothing can be matched")
    stamps = parse_stamps(drive.tree.read(path).decode("utf-8", "replace"), drive.tree.where(path))
    rows = [int(stem) if (stem := name.rsplit(".", 1)[0]).isdecimal() else -1 for name in names]
    timed = [k for k, row in enumerate(rows) if 0 <= row < len(stamps) and stamps[row] != MISSING]
    if len(timed) < len(names):
        notes.append(f"{drive.name}: {len(names) - len(timed)} of {len(names)} {what} left out, for they have no stamp")
    if not timed:
        raise _LeftOutError(f"{drive.tree.where(path)} has no time stamp for any of {len(names)} {what}")
    return stamps[[rows[k] for k in timed]], [names[k] for k in timed]


def _camera_place(drive: _Drive, camera: int) -> NDArray[np.float64]:
    """T_imu_camera from the calibration files of the drive's date, wherever they are."""
    date = drive.name[:10]
    beside = drive.folder.rsplit("/", 1)[0] if "/" in drive.folder else ""
    for tree in (drive.tree, *drive.trees):
        for folder in dict.fromkeys((beside, date, "")):
            if "calib_cam_to_cam.txt" in tree.files(folder):
                return t_imu_camera(tree, folder, camera)
    raise DataError(
        f"{drive.name}: the calibration files (calib_cam_to_cam.txt and its two fellows) of {date} are not there; "
        "get them, or leave out pose_of=camera"
    )


def _camera_poses(poses: NDArray[np.float64], t_imu_cam: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move poses from the GPS/IMU unit to the camera; the way driven and the heading stay those of the car."""
    rotation = Rotation.from_quat(poses[:, 3:7])
    places = poses[:, :3] + rotation.apply(t_imu_cam[:3, 3])
    turned = rotation * Rotation.from_matrix(t_imu_cam[:3, :3])
    return driving_poses(places, turned, poses[:, 7], np.deg2rad(poses[:, 8]))


def _read_locations(path: Path, given: Path | None) -> dict[str, str]:
    """Locations of drives from a CSV with the head `drive,location`: the one given, or the one that lies there."""
    file = given or path / LOCATIONS_FILE
    if given is None and not file.is_file():
        return {}
    try:
        rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{file} cannot be read: {problem}") from problem
    known = {}
    for row, values in enumerate(rows, 2):
        drive, location = (values.get("drive") or "").strip(), (values.get("location") or "").strip()
        if not drive or not location:
            raise DataError(f"{file}, row {row}: expected the columns drive,location, found {list(values.values())}")
        known[drive] = location
    return known
