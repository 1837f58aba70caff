"""KITTI raw: drives of images and GPS/IMU packets, in folders or zip archives, matched by time."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose import DRIVING_POSES, ColumnTrack, PlanarSpace, PoseTrack, driving_poses
from egoequiv.pose.camera import Lens
from egoequiv.pose.clock import longest_increase
from egoequiv.sources.kitti_calibration import drive_lens, t_imu_camera
from egoequiv.sources.kitti_drives import Drive, choose_drives, find_drives
from egoequiv.sources.kitti_locations import LOCATIONS, read_locations
from egoequiv.sources.lenses import lens_or_note
from egoequiv.sources.logged import PictureFiles, Timing, values_at_frames
from egoequiv.sources.oxts import packet_poses, parse_packet
from egoequiv.sources.pictures import PictureRecording, open_picture
from egoequiv.sources.recording import Source
from egoequiv.sources.stamps import MISSING, match_by_time, parse_stamps
from egoequiv.sources.trees import Tree

CameraNumber = int | Literal["none"]  # 0 and 1 are gray, 2 and 3 in colour
PoseOf = Literal["imu", "camera"]

TOLERANCE_NS = 50_000_000  # half of the time between two frames at 10 Hz


@dataclass(frozen=True, eq=False)
class KittiRecording(PictureRecording):
    """One drive seen by one camera; its pictures are read when they are needed."""

    name: str
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64]
    labels: Sequence[str] | None
    attributes: dict[str, str]
    tree: Tree
    folder: str  # of the pictures
    files: tuple[str, ...]
    lens: Lens | None = None

    def picture(self, frame: int) -> PillowImage.Image:
        if not self.files:
            raise DataError(f"{self.name} was opened without its pictures")
        path = f"{self.folder}/{self.files[frame]}"
        try:
            contents = self.tree.read(path)
        except DataError as problem:
            raise BrokenFrameError(str(problem)) from problem
        return open_picture(io.BytesIO(contents), self.tree.where(path))

    def files_read(self) -> Collection[Path] | None:
        return PictureFiles(self.tree, tuple(f"{self.folder}/{file}" for file in self.files)).files_read()


def kitti(
    path: Path,
    *,
    camera: CameraNumber = 0,
    drives: str = "all",
    pose_of: PoseOf = "imu",
    locations: Path | None = None,
    offset_s: float = 0.0,
) -> Source:
    """Drives in the raw layout of KITTI: a folder with dates, a date, a drive, or zip archives of them.

    Each image is matched to the packet whose time stamp is nearest, within half a frame; if two images are nearest to
    the same packet, the nearer one gets it. With `camera="none"` only the packets are read. `pose_of="camera"` gives
    the pose of the camera, from the calibration files, in the axes x forward, y left, z up, instead of the pose of the
    GPS/IMU unit. `offset_s` is added to the times of the packets; then poses are interpolated at the times of images,
    because the nearest packet would be the same one for most offsets.
    """
    path = Path(path)
    if camera not in (0, 1, 2, 3, "none"):
        raise ConfigError(f"camera must be 0, 1, 2, 3 or none, found {camera!r}")
    if pose_of not in ("imu", "camera"):
        raise ConfigError(f"pose_of must be imu or camera, found {pose_of!r}")
    if not abs(offset_s) < 1e9:
        raise ConfigError(f"offset_s={offset_s}: expected seconds")
    if offset_s and camera == "none":
        raise ConfigError(
            f"offset_s={offset_s:g} is of the clock of a camera, and camera=none reads none: leave it out"
        )
    timing = Timing(offset_s)
    chosen = choose_drives(find_drives(path), drives, path)
    known = LOCATIONS | read_locations(path, locations)
    recordings: list[KittiRecording] = []
    notes: list[str] = []
    for drive in chosen:
        try:
            recordings.append(_recording(drive, camera, pose_of, known, timing, notes))
        except _LeftOutError as reason:
            notes.append(f"drive left out: {reason}")
    if not recordings:
        raise DataError(f"{path}: no drive can be used: {notes[-1]}")
    settings = {"path": str(path), "camera": camera, "drives": drives, "pose_of": pose_of, "offset_s": offset_s}
    place = "GPS/IMU unit" if pose_of == "imu" else "camera"
    return Source(
        "kitti",
        PlanarSpace(),
        recordings,
        settings,
        DRIVING_POSES,
        camera != "none",
        tuple(notes),
        convention=f"{_matched(timing)}, pose of the {place} in metres, x forward, y left, z up; "
        "forward_m is the integral of the speed",
    )


class _LeftOutError(Exception):
    """A whole drive cannot be used; the message says why."""


def _matched(timing: Timing) -> str:
    """How images get their poses."""
    if not timing.offset_s:
        return "GPS/IMU packet nearest to each image"
    return f"GPS/IMU packets {timing.offset_s:+g} s later, interpolated at each image"


def _recording(
    drive: Drive, camera: CameraNumber, pose_of: PoseOf, known: dict[str, str], timing: Timing, notes: list[str]
) -> KittiRecording:
    packet_ns, packets = _packets(drive, notes)
    times_s = (packet_ns - packet_ns[0]) / 1e9
    poses = packet_poses(packets, times_s)
    if pose_of == "camera":
        poses = _camera_poses(poses, t_imu_camera(*drive.calibration(), 0 if camera == "none" else camera))
    files: tuple[str, ...] = ()
    folder = ""
    if camera != "none":
        folder = drive.below(f"image_{camera:02d}")
        image_ns, names = _stamped_images(drive, folder, notes)
        if timing.offset_s:
            poses, rows = _between_packets(packet_ns, poses, image_ns, timing, drive.name, notes)
        else:
            rows, taken = _matched_images(drive, folder, image_ns, names, packet_ns, notes)
            poses = poses[taken]
        files, image_ns = tuple(names[row] for row in rows), image_ns[rows]
        times_s = (image_ns - packet_ns[0]) / 1e9
    if len(poses) < 2:
        raise _LeftOutError(f"{drive.name} has {len(poses) or 'no'} usable frame, and motion needs two")
    location = known.get(drive.name)
    return KittiRecording(
        name=drive.name,
        poses=poses,
        times_s=times_s,
        labels=None if location is None else [location] * len(poses),
        attributes={"location": location or "", "date": drive.date},
        tree=drive.tree,
        folder=f"{folder}/data",
        files=files,
        lens=None if camera == "none" else _lens(drive, camera, notes),
    )


def _lens(drive: Drive, camera: int, notes: list[str]) -> Lens | None:
    """The lens of a camera, if the calibration of the drive's date is there."""
    place = drive.find_calibration()
    return None if place is None else lens_or_note(lambda: drive_lens(*place, camera, drive.is_rectified), notes)


def _packets(drive: Drive, notes: list[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Times (N,) and packets (N, 30) in order of time; what cannot be used is counted and reported."""
    folder = drive.below("oxts")
    times, names = _stamped(drive, folder, ".txt", "packets", notes)
    paths = [f"{folder}/data/{name}" for name in names]
    values: list[list[float]] = []
    usable: list[int] = []
    problems: list[str] = []
    for k, path in enumerate(paths):
        try:
            values.append(parse_packet(drive.tree.read(path).decode("utf-8", "replace"), drive.tree.where(path)))
            usable.append(k)
        except DataError as problem:
            problems.append(str(problem))
    if not usable:
        raise _LeftOutError(f"{drive.name} has no usable packet: {problems[0]}")
    kept = longest_increase(times[usable])
    for k in sorted(set(range(len(usable))) - set(kept.tolist())):
        where = drive.tree.where(paths[usable[k]])
        problems.append(f"{where}: its time stamp is not in order with those before and after it")
    if problems:
        notes.append(f"{drive.name}: {len(problems)} of {len(names)} packets left out: {problems[0]}")
    return times[usable][kept], np.array(values)[kept]


def _between_packets(
    packet_ns: NDArray[np.int64],
    poses: NDArray[np.float64],
    image_ns: NDArray[np.int64],
    timing: Timing,
    name: str,
    notes: list[str],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Poses of images at their own times, from those of packets (N, 9); (K, 9), and the rows of the images (K,)."""
    rigid, rows, left_out = values_at_frames(PoseTrack(packet_ns, poses[:, :3], poses[:, 3:7]), image_ns, timing, name)
    rest, _, _ = values_at_frames(ColumnTrack(packet_ns, poses[:, 7:], DRIVING_POSES[7:]), image_ns, timing, name)
    notes += left_out
    return np.hstack([rigid, rest]), rows


def _stamped_images(drive: Drive, folder: str, notes: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The times and files of the pictures, in order of time."""
    times, names = _stamped(drive, folder, (".png", ".jpg", ".jpeg"), "images", notes)
    order = np.argsort(times, kind="stable")
    return times[order], [names[k] for k in order]


def _matched_images(
    drive: Drive,
    folder: str,
    times: NDArray[np.int64],
    names: list[str],
    packet_ns: NDArray[np.int64],
    notes: list[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the pictures that have a packet, and the indices of their packets."""
    place = match_by_time(times, packet_ns, TOLERANCE_NS)
    kept = np.flatnonzero(place >= 0)
    if len(kept) < len(names):
        first = drive.tree.where(f"{folder}/data/{names[int(np.flatnonzero(place < 0)[0])]}")
        notes.append(
            f"{drive.name}: {len(names) - len(kept)} of {len(names)} images left out, because no packet of their own "
            f"is within {TOLERANCE_NS / 1e6:.0f} ms, the first {first}"
        )
    if len(kept) < len(packet_ns):
        notes.append(f"{drive.name}: {len(packet_ns) - len(kept)} of {len(packet_ns)} packets have no image")
    return kept, place[kept]


def _stamped(
    drive: Drive, folder: str, suffix: str | tuple[str, ...], what: str, notes: list[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """The numbered files of a stream with their times: file number k has the time of row k, counted from 0."""
    names = [name for name in drive.tree.files(f"{folder}/data") if name.lower().endswith(suffix)]
    if not names:
        hint = "; for the poses alone add --read camera=none" if what == "images" else ""
        raise _LeftOutError(f"{drive.name} has no {what} in {drive.tree.where(f'{folder}/data')}{hint}")
    path = f"{folder}/timestamps.txt"
    where = drive.tree.where(path)
    if "timestamps.txt" not in drive.tree.files(folder):
        raise _LeftOutError(f"{where} is missing; without time stamps images and packets cannot be matched")
    stamps = parse_stamps(drive.tree.read(path).decode("utf-8", "replace"), where)
    rows = [int(stem) if (stem := name.rsplit(".", 1)[0]).isdecimal() and len(stem) < 19 else -1 for name in names]
    numbered = [row for row in rows if row >= 0]
    if max(rows) >= len(stamps) and len(stamps) == len(numbered):
        # Rows were removed along with files, or at the end: matched by number, frames could get another frame's time.
        raise _LeftOutError(f"{where} has {len(stamps)} rows, but the files beside it are numbered to {max(rows)}")
    timed = [k for k, row in enumerate(rows) if 0 <= row < len(stamps) and stamps[row] != MISSING]
    if not timed:
        raise _LeftOutError(f"{where} has no time stamp for any of {len(names)} {what}")
    if len(timed) < len(names):
        notes.append(
            f"{drive.name}: {len(names) - len(timed)} of {len(names)} {what} left out, because they have no time stamp"
        )
    return stamps[[rows[k] for k in timed]], [names[k] for k in timed]


def _camera_poses(poses: NDArray[np.float64], t_imu_cam: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move poses from the GPS/IMU unit to the camera; the distance driven and the heading stay those of the car."""
    from scipy.spatial.transform import Rotation

    rotation = Rotation.from_quat(poses[:, 3:7])
    places = poses[:, :3] + rotation.apply(t_imu_cam[:3, 3])
    turned = rotation * Rotation.from_matrix(t_imu_cam[:3, :3])
    return driving_poses(places, turned, poses[:, 7], np.deg2rad(poses[:, 8]))
