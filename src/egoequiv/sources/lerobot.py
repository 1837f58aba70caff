"""LeRobot data sets, versions 2.0, 2.1 and 3.0: the episodes that are there, with the motion of their tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.remarks import Remark
from egoequiv.sources.lerobot_cameras import Camera, choose_camera, find_cameras
from egoequiv.sources.lerobot_episodes import Episodes, Match
from egoequiv.sources.lerobot_features import Feature, find_feature, numeric_features
from egoequiv.sources.lerobot_files import LeRobotFiles, belongs_to, find_root, read_head, read_table
from egoequiv.sources.lerobot_motion import Motion, columns_motion, default_motion, pose_motion
from egoequiv.sources.recording import Listed, Source

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLES = 16  # tables from which the columns that vary most are found


def lerobot(
    path: Path,
    *,
    camera: str = "",
    poses: str = "",
    columns: str = "",
    rates: str = "",
    axes: str = "",
    quaternion: str = "xyzw",
    mount: str = "",
    match: Match = "time",
) -> Source:
    """Read a LeRobot data set; episodes are recordings.

    Args:
        path: its folder, or a file in it; of a table, only its episodes are read.
        camera: the key of a camera, such as observation.images.cam_high; by default the first that is there.
        poses: a feature with the pose of the camera in each row: 7 numbers (x y z qx qy qz qw) or a 4 x 4 matrix.
        columns: columns or features such as "observation.state.kLeftElbow,observation.state.kRightElbow".
        rates: columns that are rates, such as velocities of a base; they are integrated over time.
        axes: of `poses`; by default opencv if the feature names a camera, and else ros.
        quaternion: the order of quaternions, xyzw or wxyz.
        mount: T_body_camera as text, if the poses are those of a body.
        match: rows and frames by `time`, or by `number` if the clock of a video is wrong.

    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist")
    files = LeRobotFiles.open(path)
    head = _first_head(files)
    features = numeric_features(head, files.features)
    cameras = find_cameras(files, head.schema)
    chosen = choose_camera(cameras, camera, files.root)
    motion = _motion(files, features, poses, columns, rates, axes, quaternion, mount)
    reading = Episodes(files, chosen, motion, match)
    recordings = list(reading.recordings())
    notes = (*_choices(cameras, chosen, motion), *files.notes, *reading.notes())
    if not recordings:
        raise DataError(f"{files.root}: no episode can be read: {(*reading.left, *files.notes, 'there is none')[0]}")
    given = {"camera": camera, "poses": poses, "columns": columns, "rates": rates, "axes": axes, "mount": mount}
    settings = {name: value for name, value in given.items() if value} | {"quaternion": quaternion, "match": match}
    return Source(
        "lerobot",
        motion.space,
        recordings,
        settings,
        motion.space.pose_names,
        notes=notes,
        listed=_listed(cameras, chosen, features, motion, reading),
        convention=motion.convention,
    )


def is_lerobot(path: Path) -> bool:
    """A folder with meta/info.json of a LeRobot data set, that file, or one of its tables and videos."""
    root = find_root(path)
    if root is None or not belongs_to(path, root):
        return False
    with (root / "meta" / "info.json").open("rb") as file:
        return b'"codebase_version"' in file.read(1 << 20)


def _first_head(files: LeRobotFiles) -> pa.Table:
    """The first rows of the first table that can be read."""
    problem = None
    for file in files.tables:
        try:
            return read_head(file)
        except DataError as found:
            problem = problem or found
    raise DataError(str(problem))


def _motion(
    files: LeRobotFiles,
    features: list[Feature],
    poses: str,
    columns: str,
    rates: str,
    axes: str,
    quaternion: str,
    mount: str,
) -> Motion:
    """What the user names; or else a feature that is the pose of a camera, or a few columns of the state."""
    if poses and (columns or rates):
        raise ConfigError("poses and columns are two motions: give one of them")
    if poses:
        return pose_motion(find_feature(features, poses), axes, quaternion, mount, guessed=False)
    if columns or rates:
        return columns_motion(features, columns, rates)
    for feature in features:
        if feature.looks_like_camera_pose:
            motion = pose_motion(feature, axes, quaternion, mount, guessed=True)
            try:
                head = next(_sampled(files, [feature.name]))
                motion.values(head, np.arange(head.num_rows, dtype=np.int64), feature.name)
            except (DataError, StopIteration):
                continue  # its name looks like a pose, its numbers do not
            return motion
    return default_motion(features, _sampled(files, [feature.name for feature in features]))


def _sampled(files: LeRobotFiles, columns: list[str]) -> Iterator[pa.Table]:
    """Some tables, evenly spaced, those that can be read."""
    places = np.unique(np.linspace(0, len(files.tables) - 1, _SAMPLES).round().astype(int))
    for place in places:
        try:
            yield read_table(files.tables[place], columns)
        except DataError:
            continue


def _choices(cameras: list[Camera], chosen: Camera, motion: Motion) -> Iterator[str]:
    others = [one.name for one in cameras if one is not chosen and one.is_there]
    if others:
        yield Remark(f"camera {chosen.name} of {len(others) + 1}: choose another with --read camera={others[0]}")
    if motion.note:
        yield Remark(motion.note)


def _listed(
    cameras: list[Camera], chosen: Camera, features: list[Feature], motion: Motion, reading: Episodes
) -> tuple[Listed, ...]:
    found = [
        Listed(
            "camera", one.name, reading.details if one is chosen else one.details, one is chosen, f"camera={one.name}"
        )
        for one in cameras
    ]
    for feature in features:
        used = [name for name, pick in zip(feature.full, feature.picks, strict=True) if pick in motion.picks]
        size = len(feature.columns)
        names = ", ".join(feature.columns[:4]) + (", ..." if size > 4 else "")
        details = f"{size} columns: {names}" if size > 1 else "1 column"
        if used and len(used) < size:
            details += f"; used: {', '.join(used)}"
        can_be_pose = size in (7, 16) and "pose" in feature.name.lower()
        kind = "poses" if can_be_pose else "columns"
        found.append(Listed(kind, feature.name, details, bool(used), f"{kind}={feature.name}"))
    return tuple(found)
