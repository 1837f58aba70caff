"""EuRoC and others in the ASL layout: cameras and ground truth of a drone, each with its place on the body."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.conventions import parse_transform
from egoequiv.pose.track import Interpolation
from egoequiv.remarks import Remark
from egoequiv.sources.euroc_sensor import SENSOR, extrinsics, sensor_lens
from egoequiv.sources.lenses import lens_or_note
from egoequiv.sources.logged import LoggedRecording, Timing
from egoequiv.sources.recording import Listed, Recording, Source
from egoequiv.sources.sequences import TimeUnit, folders_with, is_in, join, name_of, read_each, tree_at
from egoequiv.sources.trajectories import TimedSequences, decode, poses_alone
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

_TRUTH = ("state_groundtruth_estimate0", "mocap0", "vicon0")  # with orientation, in the order in which they are chosen
_DATA = "data.csv"
_FIRST_BYTES = 2048
_HEADER = re.compile(r"#?\s*timestamp.*p_RS_R_x", re.IGNORECASE)
_DRONE_AXES = "up,right,forward"  # of the body of the EuRoC drone, which is its IMU


def euroc(
    path: Path,
    *,
    camera: str = "",
    poses: str = "",
    axes: str = "",
    mount: str = "",
    time_unit: TimeUnit = "ns",
    offset_s: float = 0.0,
    max_gap_s: float | None = None,
    interpolation: Interpolation = "cubic",
) -> Source:
    """Read sequences in the ASL layout: `mav0/cam0`, `mav0/state_groundtruth_estimate0`, each with its `sensor.yaml`.

    Args:
        path: a sequence, its folder `mav0`, a folder of sequences, a zip archive, or a ground-truth file alone.
        camera: such as cam1; none for the poses of the body alone. By default the first.
        poses: the folder of the ground truth, such as vicon0. By default the best that is there.
        axes: where x, y and z of the camera point, by default opencv; of poses alone those of the body, by default
            "up,right,forward", which is the EuRoC drone.
        mount: T_body_camera, in place of that in sensor.yaml: x y z qx qy qz qw, or a matrix.
        time_unit: of all stamps.
        offset_s: added to the times of poses.
        max_gap_s: between two poses; frames in longer gaps are left out. By default three usual steps.
        interpolation: of poses.

    """
    settings = {**locals(), "path": str(path)}
    path = Path(path)
    reader = TimedSequences(Timing(offset_s, max_gap_s, interpolation), time_unit)
    given = parse_transform(mount, "mount") if mount else None
    alone = path.is_file() and path.suffix.lower() != ".zip"
    tree = tree_at(path.parent if alone else path)
    has_images = not alone and camera != "none"
    turned = axes or ("opencv" if has_images else _DRONE_AXES)

    def sequence(folder: str) -> LoggedRecording:
        name = name_of(path, folder.removesuffix("mav0").rstrip("/"))
        return _sequence(tree, folder, name, None if camera == "none" else camera, poses, given, turned, reader)

    recordings: list[Recording]
    if alone:
        motion = reader.track(tree, path.name, order=_order(tree, path.name), axes=turned, mount=given)
        recordings = [poses_alone(path.stem, motion)]
    else:
        recordings = read_each(_sequences(tree), sequence, reader.notes)
    if not has_images and not axes:
        reader.notes.append(
            Remark(f"poses of the body; its axes are taken as {turned}, as of the EuRoC drone: else set axes")
        )
    how = f"moved to the camera by T_BS of sensor.yaml or mount; {interpolation} interpolation at its times; camera"
    return reader.source(
        "euroc",
        recordings,
        settings,
        has_images=has_images,
        convention="ground truth, metres, body to world, quaternion as its header says or w first; "
        + f"{how if has_images else 'body'} axes {turned}",
    )


def _sequence(
    tree: Tree,
    folder: str,
    name: str,
    camera: str | None,
    poses: str,
    given: Array | None,
    axes: str,
    reader: TimedSequences,
) -> LoggedRecording:
    """One sequence, seen by one camera, or its poses alone if `camera` is None; `given` is T_body_camera."""
    truth = _choose_truth(tree, folder, poses, reader)
    file = join(folder, truth, _DATA)
    if camera is None:
        return poses_alone(name, reader.track(tree, file, order=_order(tree, file), axes=axes, mount=given))
    chosen = _choose_camera(tree, folder, camera, reader)
    T_truth_camera = _mount(tree, folder, truth, chosen, given)
    motion = reader.track(tree, file, order=_order(tree, file), axes=axes, mount=T_truth_camera)
    folders = (join(folder, chosen, "data"), join(folder, chosen))
    recording = reader.pictures(name, tree, join(folder, chosen, _DATA), folders, motion, chosen)
    lens = lens_or_note(lambda: sensor_lens(tree, join(folder, chosen), reader.notes), reader.notes)
    return replace(recording, lens=lens)


def _sequences(tree: Tree) -> list[str]:
    folders = folders_with(tree, _is_sequence, depth=3)
    if not folders:
        raise DataError(f"{tree.where('')} has no mav0 with cam0 and {_TRUTH[0]}: expected the ASL layout of EuRoC")
    return folders


def _is_sequence(tree: Tree, folder: str) -> bool:
    """A folder such as mav0: it holds a ground truth, or a camera."""
    names = tree.folders(folder)
    return any(name in names for name in _TRUTH) or ("cam0" in names and "imu0" in names)


def _choose_truth(tree: Tree, folder: str, poses: str, reader: TimedSequences) -> str:
    """The folder of the ground truth to read; the others are listed."""
    names = dict.fromkeys((*_TRUTH, *([poses] if poses else [])))
    found = [name for name in names if _DATA in tree.files(join(folder, name))]
    if poses and poses not in found and found:
        raise ConfigError(f"poses={poses!r}: {tree.where(folder)} has {', '.join(found)}")
    if not found:
        only = " (leica0 has positions without orientation)" if "leica0" in tree.folders(folder) else ""
        raise DataError(f"{tree.where(folder)} has no ground truth with orientation: {' or '.join(_TRUTH)}{only}")
    chosen = poses or found[0]
    reader.listed += [Listed("poses", name, _DATA, False, f"poses={name}") for name in found if name != chosen]
    return chosen


def _choose_camera(tree: Tree, folder: str, camera: str, reader: TimedSequences) -> str:
    """The folder of the camera to read; the others are listed."""
    cameras = [name for name in tree.folders(folder) if re.fullmatch(r"cam[0-9]+", name)]
    if not cameras:
        raise DataError(f"{tree.where(folder)} has no folder cam0; to read its poses alone, set camera=none")
    files = {name: join(name, _DATA) for name in cameras}
    return reader.choose_camera(files, camera, cameras[0], tree.where(folder))


def _mount(tree: Tree, folder: str, truth: str, camera: str, given: Array | None) -> Array:
    """T_truth_camera (4, 4): both sensors have a place on the body."""
    T_body_camera = extrinsics(tree, join(folder, camera)) if given is None else given
    if T_body_camera is None:
        raise DataError(
            f"{tree.where(join(folder, camera, SENSOR))} with T_BS is missing, so where the camera sits is not known: "
            "give it with --read mount='x y z qx qy qz qw', or set camera=none"
        )
    T_body_truth = extrinsics(tree, join(folder, truth))
    return T_body_camera if T_body_truth is None else np.linalg.inv(T_body_truth) @ T_body_camera


def _order(tree: Tree, file: str) -> str:
    """The order of the quaternion by the names of the columns; w first, if they have none."""
    header = decode(tree.read(file)[:_FIRST_BYTES]).lower()
    w, x = (header.find(name) for name in ("q_rs_w", "q_rs_x"))
    return "xyzw" if 0 <= x < w else "wxyz"


def is_euroc(path: Path) -> bool:
    """A folder `mav0` or one that contains it, a folder of such folders, or a ground-truth file by its header."""
    if path.is_file() and path.suffix.lower() == ".csv":
        try:
            with open(path, "rb") as file:
                return _HEADER.match(decode(file.read(_FIRST_BYTES))) is not None
        except OSError:
            return False
    return is_in(path, lambda tree, folder: "mav0" in tree.folders(folder) or _is_sequence(tree, folder), depth=1)
