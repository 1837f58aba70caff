"""The JSON of instant-ngp and nerfstudio: photographs with a matrix each."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.files import is_finite_number
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.pose.clock import read_clock
from egoequiv.remarks import Remark
from egoequiv.sources.logged import LoggedRecording
from egoequiv.sources.posed_pictures import posed_pictures
from egoequiv.sources.recording import Listed, Recording, Source
from egoequiv.sources.sequences import (
    FilesThere,
    TimeUnit,
    folders_with,
    in_order_of_capture,
    is_in,
    join,
    name_of,
    read_each,
    tree_at,
)
from egoequiv.sources.transforms_lenses import scene_lens
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

# The file of each part; the whole scene is without a part.
_FILES = {
    "transforms.json": "",
    "transforms_train.json": "train",
    "transforms_val.json": "val",
    "transforms_test.json": "test",
}
_TIMES = ("timestamp", "time")


def transforms(path: Path, *, axes: str = "opengl", time_unit: TimeUnit = "auto") -> Source:
    """Read `transforms.json` of instant-ngp and nerfstudio, or `transforms_train.json` and the other parts.

    Args:
        path: the file, the folder that contains it, a folder of scenes, or a zip archive.
        axes: where x, y and z of the camera point.
        time_unit: of `timestamp` or `time` of the frames, if they have one.

    """
    settings = {**locals(), "path": str(path)}
    path = Path(path)
    only = path.name if path.suffix.lower() == ".json" else ""
    root = path.parent if only else path
    tree = tree_at(root)
    folders = [""] if only else folders_with(tree, _is_scene)
    found = [join(folder, file) for folder in folders for file in _files_of(tree, folder, only)]
    if not found:
        raise DataError(f"{path} has no transforms.json or transforms_train.json: expected a nerfstudio or ngp scene")
    notes: list[str] = [
        Remark("the scale of these scenes is arbitrary, unless they were measured: metres are units of the scene")
    ]
    listed: list[Listed] = []

    def scene(file: str) -> LoggedRecording:
        return _scene(tree, file, _name(root, file, len(found)), axes, time_unit, notes, listed)

    recordings = _timed_in_the_same_way(read_each(found, scene, notes), notes)
    return Source(
        "transforms",
        SE3Space(),
        recordings,
        settings,
        pose_names=CAMERA_POSES,
        notes=tuple(notes),
        listed=tuple(listed),
        convention=f"transform_matrix of each frame, camera to world, camera axes {axes}; units of the scene",
    )


def _files_of(tree: Tree, folder: str, only: str) -> list[str]:
    """The files to read in a folder: its parts, or else the whole."""
    there = tree.files(folder)
    parts = [file for file, part in _FILES.items() if part and file in there]
    return [only] if only else parts or [file for file in _FILES if file in there]


def _name(root: Path, file: str, count: int) -> str:
    """The scene, and the part where there are several."""
    folder, _, last = file.rpartition("/")
    part = _FILES.get(last, "") if count > 1 else ""
    return join(folder or name_of(root, ""), part)


def _scene(
    tree: Tree, file: str, name: str, axes: str, time_unit: str, notes: list[str], listed: list[Listed]
) -> LoggedRecording:
    where = tree.where(file)
    content = _read_json(tree, file)
    if not isinstance(content, dict) or not isinstance(content.get("frames"), list):
        raise DataError(f"{where}: expected an object with a list of frames")
    frames = [one for one in content["frames"] if isinstance(one, dict) and isinstance(one.get("file_path"), str)]
    if len(frames) < len(content["frames"]):
        notes.append(f"{where}: {len(content['frames']) - len(frames)} frames without file_path are left out")
    if "applied_transform" in content:
        notes.append(
            Remark(f"{name}: applied_transform moved the world alone, so the motions of the camera are as they were")
        )
    frames.sort(key=lambda frame: in_order_of_capture(frame["file_path"]))
    rows, times_s = _times(frames, where, time_unit, notes)
    frames = [frames[row] for row in rows]
    folder, _, last = file.rpartition("/")
    names = [frame["file_path"] for frame in frames]
    files = FilesThere(tree).find(names, (folder, join(folder, "images")), name, notes)
    matrices = np.array([_matrix(frame.get("transform_matrix")) for frame in frames]).reshape(-1, 3, 4)
    width, height = content.get("w"), content.get("h")
    size = f", {width:g} x {height:g}" if is_finite_number(width) and is_finite_number(height) else ""
    listed.append(Listed("camera", last, f"{plural(len(frames), 'frame')}{size}"))
    part = _FILES.get(last, "")
    attributes = {"part": part, "world": folder or "."} if part else {}  # the parts of a scene have one map
    lens = scene_lens(content, frames, tree, next((one for one in files if one is not None), None), where, name, notes)
    return posed_pictures(
        name, tree, files, names, matrices, axes, notes, times_s=times_s, attributes=attributes, lens=lens
    )


def _read_json(tree: Tree, file: str) -> Any:
    try:
        return json.loads(tree.read(file).decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        reason = str(problem).splitlines()[0]
        raise DataError(f"{tree.where(file)} is not JSON: {reason}") from problem


def _matrix(value: Any) -> Array:
    """A matrix of 3 or 4 rows of 4 numbers as (3, 4); not numbers where it is something else."""
    try:
        matrix = np.array(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        matrix = np.empty(0)
    return matrix[:3] if matrix.shape in ((3, 4), (4, 4)) else np.full((3, 4), np.nan)


def _times(
    frames: list[dict[str, Any]], where: str, time_unit: str, notes: list[str]
) -> tuple[NDArray[np.int64], Array | None]:
    """The order of the frames and their times; as they are and None where they have no clock of their own."""
    as_they_are = np.arange(len(frames))
    for key in _TIMES:
        values = [frame[key] for frame in frames if is_finite_number(frame.get(key))]
        if not values:
            continue
        if len(values) < len(frames):
            notes.append(f"{where}: only {len(values)} of {len(frames)} frames have a {key}, so times are not used")
            return as_they_are, None
        if key == "time" and time_unit == "auto" and min(values) >= 0 and max(values) <= 1:
            notes.append(
                Remark(f"{where}: time runs from 0 to 1, a share and not seconds: for seconds, set time_unit=s")
            )
            return as_they_are, None
        clock = read_clock(_clock(values), f"{where}, {key}", time_unit)
        if len(clock.rows) < len(frames):
            notes.append(f"{where}: {key} is repeated or starts again (several cameras?), so times are not used")
            return as_they_are, None
        notes += clock.notes
        return clock.rows, clock.times_ns / 1e9
    return as_they_are, None


def _clock(values: list[Any]) -> NDArray[np.int64] | Array:
    """Stamps as they are written: whole numbers keep all their digits."""
    if all(isinstance(value, int) and abs(value) < 2**63 for value in values):
        return np.array(values, np.int64)
    return np.array(values, np.float64)


def _timed_in_the_same_way(recordings: list[Recording], notes: list[str]) -> list[Recording]:
    """All recordings of a store have times, or none."""
    if len({recording.times_s is None for recording in recordings}) < 2:
        return recordings
    notes.append("some scenes have times and some have none, so times are not used")
    return [replace(one, times_s=None) if isinstance(one, LoggedRecording) else one for one in recordings]


def _is_scene(tree: Tree, folder: str) -> bool:
    return any(file in _FILES for file in tree.files(folder))


def is_transforms(path: Path) -> bool:
    """The file transforms.json or transforms_train.json, its folder, or a folder of such folders."""
    return path.name in _FILES if path.is_file() and path.suffix == ".json" else is_in(path, _is_scene)
