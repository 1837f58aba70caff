"""Scans of phones: exports of the apps Stray Scanner and Record3D, with the camera poses that the phone estimated."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, PoseTrack, SE3Space
from egoequiv.pose.camera import Lens
from egoequiv.pose.clock import read_clock, with_own_stamp
from egoequiv.sources.logged import FrameReader, LoggedRecording, PictureFiles, VideoFrames, seconds_since_first
from egoequiv.sources.phone_lenses import record3d_lens, stray_lens
from egoequiv.sources.recording import Listed, Source
from egoequiv.sources.trees import FolderTree, Tree, ZipTree
from egoequiv.sources.video import described
from egoequiv.sources.video_frames import index_video

Array = NDArray[np.float64]

# Stray Scanner writes T_world_camera in OpenCV axes: its OdometryEncoder turns ARKit's camera by half a turn about x
# (github.com/strayrobots/scanner, docs/format.md and issue 11). Row k belongs to the k-th frame of the video, whose own
# times count frames and are not those at which they were taken.
STRAY_COLUMNS = ("timestamp", "frame", "x", "y", "z", "qx", "qy", "qz", "qw")
STRAY = "Stray Scanner: T_world_camera, metres, quaternions x y z w, camera axes x right, y down, z forward (OpenCV)"
# Record3D writes T_world_camera as qx, qy, qz, qw, px, py, pz in OpenGL axes; a .r3d file is a zip archive of the same
# (github.com/marek-simonik/record3d, issues 33, 36, 64 and 93).
RECORD3D = "Record3D: T_world_camera, metres, quaternions x y z w, camera axes x right, y up, z backward (OpenGL)"
_RECORD3D_FOLDERS = ("rgbd", "rgb")
_RECORD3D_METADATA = ("metadata", "metadata.json")
_USUAL_RATE_HZ = 30.0


@dataclass(frozen=True)
class Capture:
    """Poses and pictures of one scan, each with the number of the frame that it belongs to."""

    name: str
    where: str  # the file of the poses, for messages
    axes: str
    stamps: Array  # (N,) seconds
    numbers: NDArray[np.int64]  # (N,) frames
    poses: Array  # (N, 7) x y z qx qy qz qw; not finite where a row cannot be read
    reader: FrameReader
    picture_numbers: NDArray[np.int64]  # of the frames of the reader, in order
    details: str
    notes: tuple[str, ...] = ()
    lens: Lens | None = None


def phone(path: Path) -> Source:
    """Read scans of Stray Scanner (rgb.mp4, odometry.csv) and Record3D (metadata.json and rgb or rgbd, or .r3d files).

    Args:
        path: one scan, a file in it, or a folder with several.

    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist")
    recordings: list[LoggedRecording] = []
    listed: list[Listed] = []
    notes: list[str] = []
    conventions: list[str] = []
    for scan in _scans(path):
        try:
            capture = _stray(scan) if _is_stray(scan) else _record3d(scan)
            recording, more = _posed(capture)
        except DataError as problem:
            notes.append(f"recording {_name(scan)} left out: {problem}")
            continue
        notes += more
        if any(recording.name == other.name for other in recordings):
            recording = replace(recording, name=scan.name)
        recordings.append(recording)
        listed.append(Listed("camera", recording.name, capture.details))
        conventions.append(STRAY if _is_stray(scan) else RECORD3D)
    if not recordings:
        looked = "rgb.mp4 with odometry.csv (Stray Scanner), metadata.json with rgb or rgbd, or .r3d files (Record3D)"
        raise DataError(notes[0] if notes else f"{path} holds no scan of a phone; looked for {looked}")
    convention = "; ".join(dict.fromkeys(conventions))
    return Source(
        "phone",
        SE3Space(),
        recordings,
        {},
        CAMERA_POSES,
        notes=tuple(notes),
        listed=tuple(listed),
        convention=convention,
    )


def is_phone(path: Path) -> bool:
    """A scan, a file in it, or a folder of scans."""
    try:
        return bool(_scans(path))
    except DataError:
        return False


def _scans(path: Path) -> list[Path]:
    """The scans at a path: folders, .r3d files and zip archives."""
    if path.is_file():
        if path.suffix.lower() == ".r3d" or (path.suffix.lower() == ".zip" and _is_record3d(path)):
            return [path]
        if path.name not in ("rgb.mp4", "odometry.csv", *_RECORD3D_METADATA):
            return []
        path = path.resolve().parent
        return [path] if _is_stray(path) or _is_record3d(path) else []
    if not path.is_dir():
        return []
    if _is_stray(path) or _is_record3d(path):
        return [path.resolve()]  # its name is that of the recording
    return [
        entry
        for entry in sorted(path.iterdir())
        if (entry.is_dir() and (_is_stray(entry) or _is_record3d(entry)))
        or (entry.is_file() and entry.suffix.lower() == ".r3d")
    ]


def _name(scan: Path) -> str:
    return scan.name if scan.is_dir() else scan.stem


def _is_stray(scan: Path) -> bool:
    return (scan / "odometry.csv").is_file() and (scan / "rgb.mp4").is_file()


def _is_record3d(scan: Path) -> bool:
    tree, below = _record3d_tree(scan)
    files, folders = tree.files(below), tree.folders(below)
    return any(name in files for name in _RECORD3D_METADATA) and any(name in folders for name in _RECORD3D_FOLDERS)


def _record3d_tree(scan: Path) -> tuple[Tree, str]:
    """The files of a scan, and the folder in which they are: an archive may hold them in one folder."""
    if scan.is_dir():
        return FolderTree(scan), ""
    tree = ZipTree(scan)
    folders = [name for name in tree.folders() if not name.startswith("__MACOSX")]
    return tree, folders[0] if len(folders) == 1 and folders[0] not in _RECORD3D_FOLDERS else ""


def _stray(folder: Path) -> Capture:
    file = folder / "odometry.csv"
    rows = _read_odometry(FolderTree(folder).read("odometry.csv"), str(file))
    index = index_video(folder / "rgb.mp4")
    frames = len(index) + index.hidden
    numbers = np.where(np.abs(rows[:, 1]) < 1e15, rows[:, 1], -1).astype(np.int64)
    if len(rows) == frames and len(set(np.diff(numbers).tolist())) == 1:
        numbers = np.arange(frames)  # evenly spaced numbers count the frames that were skipped while recording too
    notes: list[str] = []
    if len(rows) != frames:
        found = f"rgb.mp4 has {plural(frames, 'frame')}, odometry.csv {plural(len(rows), 'row')}"
        notes.append(f"{folder.name}: {found}; matched by number")
    return Capture(
        name=folder.name,
        where=str(file),
        axes="opencv",
        stamps=rows[:, 0],
        numbers=numbers,
        poses=rows[:, 2:],
        reader=VideoFrames(index),
        picture_numbers=index.hidden + np.arange(len(index)),
        details=described(index),
        lens=stray_lens(folder, index.size, notes),
        notes=tuple(notes),
    )


def _read_odometry(contents: bytes, where: str) -> Array:
    """The columns `STRAY_COLUMNS` of a table (N, 9); a row that cannot be read is not finite."""
    text = contents.decode("utf-8-sig", "replace")
    lines = [line.split(",") for line in text.splitlines() if line.strip()]
    header = [name.strip() for name in lines[0]] if lines else []
    missing = [name for name in STRAY_COLUMNS if name not in header]
    if missing:
        raise DataError(f"{where}: no column {missing[0]!r} in its first row; expected {', '.join(STRAY_COLUMNS)}")
    places = [header.index(name) for name in STRAY_COLUMNS]
    rows = np.array([_numbers(line, places) for line in lines[1:]], np.float64).reshape(-1, len(places))
    if not len(rows):
        raise DataError(f"{where} has no rows")
    return rows


def _numbers(line: list[str], places: list[int]) -> list[float]:
    try:
        return [float(line[place]) for place in places]
    except (ValueError, IndexError):
        return [np.nan] * len(places)


def _record3d(scan: Path) -> Capture:
    tree, below = _record3d_tree(scan)
    start = f"{below}/" if below else ""
    name = next((name for name in _RECORD3D_METADATA if name in tree.files(below)), None)
    if name is None:
        raise DataError(f"{scan} has no metadata")
    where = tree.where(start + name)
    metadata = _json(tree.read(start + name), where)
    poses = _pose_list(metadata, where)
    notes: list[str] = []
    stamps = _record3d_stamps(metadata, len(poses), _name(scan), notes)
    folder = next((one for one in _RECORD3D_FOLDERS if one in tree.folders(below)), _RECORD3D_FOLDERS[0])
    matches = [re.fullmatch(r"(\d{1,9})\.(jpe?g|png)", file, re.IGNORECASE) for file in tree.files(start + folder)]
    pictures = dict(sorted({int(match[1]): f"{start}{folder}/{match[0]}" for match in matches if match}.items()))
    if not pictures:
        raise DataError(f"{tree.where(start + folder)} has no pictures such as 0.jpg")
    if len(pictures) != len(poses):
        found = f"{plural(len(pictures), 'picture')} and {plural(len(poses), 'pose')}"
        notes.append(f"{_name(scan)}: {found}; matched by number")
    return Capture(
        name=_name(scan),
        where=where,
        axes="opengl",
        stamps=stamps,
        numbers=np.arange(len(poses)),
        poses=poses[:, [4, 5, 6, 0, 1, 2, 3]],
        reader=PictureFiles(tree, tuple(pictures.values())),
        picture_numbers=np.array(list(pictures), np.int64),
        details=f"{metadata.get('w', '?')} x {metadata.get('h', '?')}, {plural(len(pictures), 'frame')}, jpg",
        lens=record3d_lens(metadata, where, tree, next(iter(pictures.values())), notes),
        notes=tuple(notes),
    )


def _json(contents: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(contents)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{where} is not JSON ({str(problem).splitlines()[0]})") from problem
    if not isinstance(found, dict):
        raise DataError(f"{where}: expected a JSON object with poses")
    return found


def _pose_list(metadata: dict[str, Any], where: str) -> Array:
    try:
        poses = np.array(metadata["poses"], np.float64)
    except (KeyError, ValueError, TypeError, OverflowError):
        poses = np.empty(0)
    if poses.ndim != 2 or poses.shape[1] != 7 or not len(poses):
        raise DataError(f"{where}: expected poses of 7 numbers (qx qy qz qw px py pz); scans without LiDAR have none")
    return poses


def _record3d_stamps(metadata: dict[str, Any], count: int, name: str, notes: list[str]) -> Array:
    try:
        stamps = np.array(metadata["frameTimestamps"], np.float64)
        if stamps.shape == (count,):
            return stamps
    except (KeyError, ValueError, TypeError, OverflowError):
        pass
    rate = metadata.get("fps")
    if not isinstance(rate, int | float) or not 0.1 < rate < 10_000:
        notes.append(f"{name}: metadata has neither frameTimestamps nor fps; {_USUAL_RATE_HZ:g} Hz are assumed")
        rate = _USUAL_RATE_HZ
    return np.arange(count) / rate


def _posed(capture: Capture) -> tuple[LoggedRecording, list[str]]:
    """The pictures that have a pose, and what was left out."""
    notes = list(capture.notes)
    length = np.linalg.norm(capture.poses[:, 3:], axis=1)
    whole = np.isfinite(capture.poses).all(axis=1) & (np.abs(length - 1.0) < 0.05)
    lost = np.flatnonzero(~whole)
    if len(lost):
        first = f"the first is pose {int(lost[0]) + 1}"
        notes.append(f"{capture.where}: {len(lost)} of {len(whole)} poses are not numbers or not rotations, {first}")
    whole, more = with_own_stamp(capture.stamps, whole, capture.where)
    usable = np.flatnonzero(whole)
    stamps = read_clock(capture.stamps[usable], capture.where)
    notes += [*more, *stamps.notes]
    rows = usable[stamps.rows]
    numbers, first_of = np.unique(capture.numbers[rows], return_index=True)
    common, pictures, places = np.intersect1d(capture.picture_numbers, numbers, return_indices=True)
    if not len(common):
        raise DataError(f"{capture.where}: no picture has a pose that can be used")
    if left := len(capture.picture_numbers) - len(common):
        notes.append(f"{capture.name}: {left} of {len(capture.picture_numbers)} frames left out: they have no pose")
    chosen = first_of[places]
    times_ns = stamps.times_ns[chosen]
    if (np.diff(times_ns) <= 0).any():
        raise DataError(f"{capture.where}: the numbers of frames do not follow their times")
    values = capture.poses[rows[chosen]]
    track = PoseTrack.of(times_ns, values[:, :3], values[:, 3:], capture.where, axes=capture.axes)
    poses = np.concatenate([track.position_m, track.quaternion], axis=1)
    times_s = seconds_since_first(times_ns)
    places = pictures.astype(np.int64)
    return LoggedRecording(capture.name, poses, times_s, capture.reader, places, lens=capture.lens), notes
