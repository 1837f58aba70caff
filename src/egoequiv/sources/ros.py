"""Bags of ROS 1 and ROS 2 (.bag, .db3, .mcap): pictures of one camera with the motion at their own times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from egoequiv.errors import DataError
from egoequiv.pose import NoMotion
from egoequiv.pose.conventions import axes_matrix
from egoequiv.pose.track import ColumnRule, Interpolation
from egoequiv.sources.logged import Timing
from egoequiv.sources.recording import Source
from egoequiv.sources.ros_bags import SUFFIXES, BagPath, find_bags, is_bag_folder
from egoequiv.sources.ros_motion import PoseWish
from egoequiv.sources.ros_recordings import BagRecording, Wishes, read_bag
from egoequiv.sources.ros_streams import StampChoice


def is_ros(path: Path) -> bool:
    """A bag, or a folder with bags, by names and the beginning of metadata.yaml."""
    if path.is_dir():
        return is_bag_folder(path) or bool(find_bags(path))
    return path.suffix in SUFFIXES


def ros(
    path: Path,
    *,
    camera: str = "auto",
    poses: str = "auto",
    columns: str = "",
    rates: str = "",
    axes: str = "auto",
    mount: str | None = None,
    stamps: StampChoice = "auto",
    offset_s: float = 0.0,
    max_gap_s: float | None = None,
    interpolation: Interpolation = "cubic",
    rule: ColumnRule = "linear",
) -> Source:
    """A ROS 1 bag, a ROS 2 bag (its folder, or a .db3 or .mcap file), or a folder of bags.

    Args:
        path: of the bag, or of a folder with several.
        camera: a topic of sensor_msgs/Image or CompressedImage; auto is the most sensible one; none reads the motion
            alone.
        poses: a topic of Odometry, PoseStamped, PoseWithCovarianceStamped or TransformStamped; tf, or two frames of
            it as in tf:map->camera_link; auto is the most sensible one; none.
        columns: numbers in messages instead of poses, such as "/cmd_vel.linear.x,/cmd_vel.angular.z".
        rates: those of them (or further ones) that are rates and are integrated over time.
        axes: of the camera; auto is opencv for frames named optical and ros for all others.
        mount: T_body_camera, where tf does not have it: "x y z qx qy qz qw".
        stamps: whether times are those in headers or those at which messages were received; auto prefers headers.
        offset_s: added to the times of the motion.
        max_gap_s: the longest gap in the motion within which frames are kept; by default three usual steps.
        interpolation: of poses.
        rule: of columns: linear, nearest or hold.

    """
    path = Path(path)
    wishes = Wishes(
        camera,
        PoseWish(poses, axes, mount),
        tuple(dict.fromkeys([*_split(columns), *_split(rates)])),
        tuple(_split(rates)),
        stamps,
        Timing(offset_s, max_gap_s, interpolation, rule),
    )
    if axes != "auto":
        axes_matrix(axes)
    if wishes.pose.is_tf:
        wishes.pose.frames()
    bags = find_bags(path)
    if not bags:
        raise DataError(f"{path} has no bags: expected {', '.join(SUFFIXES)}, or folders with metadata.yaml")
    done, notes = _read_all(bags, wishes)
    settings: dict[str, Any] = {"path": str(path), "camera": camera, "poses": poses, "columns": columns}
    settings |= {"rates": rates, "axes": axes, "mount": mount or "", "stamps": stamps, "offset_s": offset_s}
    settings |= {"max_gap_s": max_gap_s, "interpolation": interpolation, "rule": rule}
    return Source(
        "ros",
        done[0].space,
        [one.recording for one in done],
        settings,
        has_images=done[0].has_images,
        notes=tuple(dict.fromkeys(notes)),
        listed=tuple({(one.kind, one.name): one for read in reversed(done) for one in read.listed}.values()),
        convention=done[0].convention,
    )


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _read_all(bags: list[BagPath], wishes: Wishes) -> tuple[list[BagRecording], list[str]]:
    """All bags that can be used together: with pictures if one has them, with motion if one has it."""
    found: list[BagRecording] = []
    problems: list[DataError] = []
    notes: list[str] = []
    for bag in bags:
        try:
            found.append(read_bag(bag, wishes))
        except DataError as problem:
            problems.append(problem)
            notes.append(f"recording {bag.name} left out: {problem}")
    if not found:
        if len(bags) == 1:
            raise problems[0]
        raise DataError(f"none of {len(bags)} bags can be used: {problems[0]}")
    best = max(found, key=lambda one: (one.has_images, not isinstance(one.space, NoMotion)))
    kept = []
    for one in found:
        if (one.has_images, one.space) == (best.has_images, best.space):
            kept.append(one)
            notes.extend(one.notes)
        else:
            lacks = "pictures" if one.has_images != best.has_images else "poses"
            notes.append(f"recording {one.recording.name} left out: it has no {lacks}")
    return kept, notes
