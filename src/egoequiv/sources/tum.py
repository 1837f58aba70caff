"""TUM RGB-D: a list of pictures with times, and a trajectory of the camera; or such a trajectory alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.pose.conventions import parse_transform
from egoequiv.pose.track import Interpolation
from egoequiv.sources.logged import LoggedRecording, Timing
from egoequiv.sources.recording import Recording, Source
from egoequiv.sources.sequences import (
    PICTURE_ENDINGS,
    TimeUnit,
    folders_with,
    is_in,
    join,
    name_of,
    read_each,
    tree_at,
)
from egoequiv.sources.trajectories import COLUMNS, TimedSequences, data_rows, decode, poses_alone
from egoequiv.sources.trees import Tree

_POSES = "groundtruth.txt"
_CAMERAS = ("rgb", "color", "image", "images", "cam0")  # in the order in which they are chosen
_FIRST_BYTES = 4096


def tum(
    path: Path,
    *,
    camera: str = "",
    poses: str = _POSES,
    axes: str = "opencv",
    mount: str = "",
    time_unit: TimeUnit = "auto",
    offset_s: float = 0.0,
    max_gap_s: float | None = None,
    interpolation: Interpolation = "cubic",
) -> Source:
    """Read TUM RGB-D sequences: `rgb.txt` (time, file) and `groundtruth.txt` (time, x y z, qx qy qz qw).

    Args:
        path: one sequence, a folder of sequences, a zip archive of them, or a trajectory file alone.
        camera: the list of pictures, such as rgb for rgb.txt; none for the poses alone.
        poses: the trajectory file of each sequence.
        axes: where x, y and z of the camera point.
        mount: T_body_camera, if the poses are those of a body: x y z qx qy qz qw, or a matrix.
        time_unit: of all stamps.
        offset_s: added to the times of poses.
        max_gap_s: between two poses; frames in longer gaps are left out. By default three usual steps.
        interpolation: of poses.

    """
    settings = {**locals(), "path": str(path)}
    path = Path(path)
    reader = TimedSequences(Timing(offset_s, max_gap_s, interpolation), time_unit)
    T_body_camera = parse_transform(mount, "mount") if mount else None
    track = partial(reader.track, order="xyzw", axes=axes, mount=T_body_camera)
    root = path.parent if path.name == "rgb.txt" else path
    alone = root.is_file() and root.suffix.lower() != ".zip"
    tree = tree_at(root.parent if alone else root)

    def sequence(folder: str) -> LoggedRecording:
        name = name_of(root, folder)
        motion = track(tree, join(folder, poses))
        if camera == "none":
            return poses_alone(name, motion)
        chosen = _choose(tree, folder, camera, reader)
        folders = (join(folder, chosen), folder)
        return reader.pictures(name, tree, join(folder, f"{chosen}.txt"), folders, motion, chosen)

    recordings: list[Recording] = [poses_alone(root.stem, track(tree, root.name))] if alone else []
    recordings = recordings or read_each(_sequences(tree, poses), sequence, reader.notes)
    has_images = not alone and camera != "none"
    return reader.source(
        "tum",
        recordings,
        settings,
        has_images=has_images,
        convention=f"trajectory file, metres, camera to world, quaternion x y z w, camera axes {axes}"
        + ", moved from the body by mount" * bool(mount)
        + f"; {interpolation} interpolation at the times of the pictures" * has_images,
    )


def _sequences(tree: Tree, poses: str) -> list[str]:
    folders = folders_with(tree, lambda tree, folder: poses in tree.files(folder))
    if not folders:
        raise DataError(f"{tree.where('')} has no {poses}: expected a TUM RGB-D sequence, or a folder of them")
    return folders


def _choose(tree: Tree, folder: str, camera: str, reader: TimedSequences) -> str:
    """The list of pictures to read, without its ending; the others are listed."""
    lists = [name.removesuffix(".txt") for name in tree.files(folder) if name.endswith(".txt")]
    cameras = [name for name in lists if _lists_pictures(tree, join(folder, f"{name}.txt"))]
    cameras += [name for name in tree.folders(folder) if name in _CAMERAS and name not in cameras]
    if not cameras:
        raise DataError(
            f"{tree.where(folder)} has no list of pictures such as rgb.txt; to read its poses alone, set camera=none"
        )
    usual = next((name for name in _CAMERAS if name in cameras), cameras[0])
    return reader.choose_camera({name: f"{name}.txt" for name in cameras}, camera, usual, tree.where(folder))


def _lists_pictures(tree: Tree, file: str) -> bool:
    rows = data_rows(decode(tree.read(file)[:_FIRST_BYTES]))
    return bool(rows) and rows[0][1].lower().endswith(PICTURE_ENDINGS)


def is_tum(path: Path) -> bool:
    """A folder with groundtruth.txt and rgb, a folder of such folders, or a trajectory file of 8 columns."""
    if path.is_file() and path.suffix.lower() in (".txt", ".tum"):
        try:
            with open(path, "rb") as file:
                rows = data_rows(decode(file.read(_FIRST_BYTES)))
            return path.name == "rgb.txt" or (bool(rows) and len(list(map(float, rows[0][1].split()))) == COLUMNS)
        except (OSError, ValueError):
            return False
    return is_in(path, lambda tree, folder: _POSES in tree.files(folder) and "rgb" in tree.folders(folder))
