"""The motion of a camera in a bag: poses from a topic or from tf, moved from the body to the camera."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.clock import read_clock
from egoequiv.pose.conventions import axes_matrix, parse_transform
from egoequiv.pose.driving import integrate
from egoequiv.pose.track import ColumnTrack, PoseTrack
from egoequiv.remarks import Remark
from egoequiv.sources.logged import integrated_gaps
from egoequiv.sources.ros_bags import Topic
from egoequiv.sources.ros_frames import FrameTree, is_optical, plain_name, usable_poses
from egoequiv.sources.ros_streams import Stream, body_of, read_frames
from egoequiv.sources.ros_topics import Topics

Array = NDArray[np.float64]

_BODIES = ("base_link", "base_footprint", "body", "base")


@dataclass(frozen=True)
class PoseWish:
    """What a user said about poses."""

    poses: str  # auto, none, a topic, tf, or tf:OUTER->INNER
    axes: str  # auto, or a convention
    mount: str | None  # T_body_camera

    def __post_init__(self) -> None:
        if self.axes != "auto":
            axes_matrix(self.axes)
        if self.is_tf:
            self.frames()
        if self.mount is not None:
            parse_transform(self.mount, "mount")

    @property
    def is_tf(self) -> bool:
        return self.poses == "tf" or self.poses.startswith("tf:")

    def frames(self) -> tuple[str, str]:
        """The two frames of tf:OUTER->INNER, empty where they are not given."""
        text = self.poses.partition(":")[2]
        outer, arrow, inner = text.partition("->")
        if text and not (arrow and outer.strip() and inner.strip()):
            raise ConfigError(f"poses={self.poses!r}: expected tf, or two frames as in tf:map->camera_link")
        return plain_name(outer.strip()), plain_name(inner.strip())


@dataclass
class CameraMotion:
    """The track of a camera and, in words, where it comes from."""

    track: PoseTrack
    convention: str
    notes: list[str] = field(default_factory=list)


def motion_from_topic(
    topics: Topics, topic: Topic, stream: Stream, by_header: bool, wish: PoseWish, camera_frame: str
) -> CameraMotion:
    """Poses of a topic; where tf says how the camera sits on the body, they become those of the camera."""
    times, rows = stream.clock(by_header)
    clock = read_clock(times, stream.where, "ns")
    values = np.array(stream.values, np.float64).reshape(-1, 7)[rows][clock.rows]
    good = usable_poses(values)
    notes = [*stream.notes(by_header), *clock.notes]
    if not good.all():
        bad = int((~good).sum())
        notes.append(f"{stream.where}: {bad} of {len(good)} poses are not rigid (NaN or a zero quaternion); left out")
    if good.sum() < 2:
        raise DataError(f"{stream.where}: {int(good.sum())} of {len(stream)} poses can be used, and motion needs two")
    first = topics.first(topic.name)
    body, world = plain_name(body_of(first)), plain_name(first.header.frame_id)
    mount, axes, how = _mount(topics, wish, body, camera_frame, by_header, notes)
    track = PoseTrack.of(clock.times_ns[good], values[good, :3], values[good, 3:], stream.where, axes=axes, mount=mount)
    kind = topic.kind.replace("/msg/", "/")
    text = f"poses of {body or 'the body'} in {world or 'the world'} from {topic.name} ({kind})"
    return CameraMotion(track, f"{text}, metres, quaternions x y z w; {how}", notes)


def motion_from_tf(topics: Topics, by_header: bool, wish: PoseWish, camera_frame: str) -> CameraMotion:
    """Poses from the tree of frames, from its root (or the frame that was named) to the camera."""
    if not topics.tf:
        raise DataError(f"{topics.bag.path} has no transforms (tf2_msgs/TFMessage)")
    notes: list[str] = []
    tree = read_frames(topics, by_header, False, notes)
    outer, inner = wish.frames()
    inner = inner or (camera_frame if camera_frame in tree.links else _moving(tree, str(topics.bag.path)))
    outer = outer or tree.root_of(inner)
    where = f"{topics.bag.path}, tf"
    body = tree.track(outer, inner, where)
    mount, axes, how = _mount(topics, wish, inner, camera_frame, by_header, notes, tree)
    track = PoseTrack.of(body.times_ns, body.position_m, body.quaternion, where, axes=axes, mount=mount)
    notes = [*notes, *tree.notes]
    return CameraMotion(track, f"poses of {inner} in {outer} from tf, metres, quaternions x y z w; {how}", notes)


def _moving(tree: FrameTree, where: str) -> str:
    """The frame of the robot: by its usual name, or else the one with the most transforms."""
    moving = [link for link in tree.links.values() if not link.is_fixed]
    if not moving:
        why = "".join(f" ({note})" for note in [note for link in tree.links.values() for note in link.notes][:1])
        raise DataError(f"{where}: no transform in tf moves{why}; choose other poses")
    named = next((link.child for name in _BODIES for link in moving if link.child == name), None)
    return named or max(moving, key=lambda link: len(link.track.times_ns)).child


def _mount(
    topics: Topics,
    wish: PoseWish,
    body: str,
    camera_frame: str,
    by_header: bool,
    notes: list[str],
    tree: FrameTree | None = None,
) -> tuple[Array | None, str, str]:
    """T_body_camera if it is known, the axes of the camera, and both in words."""
    if wish.mount is not None:
        axes = _axes(wish, camera_frame or body)
        notes.extend(_assumed_axes(topics, wish, camera_frame))
        return parse_transform(wish.mount, "mount"), axes, f"camera placed by mount; camera axes {axes}"
    if body and camera_frame and body != camera_frame:
        fixed = _fixed(topics, body, camera_frame, by_header, notes, tree)
        if fixed is not None:
            axes = _axes(wish, camera_frame)
            notes.extend(_assumed_axes(topics, wish, camera_frame))
            return fixed, axes, f"camera {camera_frame} placed on {body} by tf; camera axes {axes}"
        notes.append(
            f"{topics.bag.path}: tf does not say how camera frame {camera_frame!r} sits on {body!r}, so poses are "
            f"those of {body!r}: give --read mount='x y z qx qy qz qw'"
        )
    axes = _axes(wish, body)
    if body == camera_frame:
        notes.extend(_assumed_axes(topics, wish, camera_frame))
    if camera_frame and not body and wish.axes == "auto":
        notes.append(
            Remark(
                f"{topics.bag.path}: the poses do not name their body; they are taken as those of the camera, x "
                "forward, y left, z up: else give --read axes=opencv, or mount"
            )
        )
    return None, axes, f"taken as those of the camera; axes {axes}"


def _fixed(
    topics: Topics, body: str, camera_frame: str, by_header: bool, notes: list[str], tree: FrameTree | None
) -> Array | None:
    """T_body_camera from transforms that are fixed; all of tf is read only if tf_static does not have them."""
    ways = (True, False) if topics.tf else (True,)
    trees = [tree] if tree is not None else (read_frames(topics, by_header, only_fixed, notes) for only_fixed in ways)
    for one in trees:
        found = one.fixed(body, camera_frame)
        if found is not None:
            notes.extend(one.notes_between(body, camera_frame))
            return found
    return None


def _axes(wish: PoseWish, frame: str) -> str:
    """Frames named optical have the axes of OpenCV, all others those of bodies in ROS."""
    return wish.axes if wish.axes != "auto" else "opencv" if is_optical(frame) else "ros"


def _assumed_axes(topics: Topics, wish: PoseWish, camera_frame: str) -> list[str]:
    """A remark where neither the user nor the name of the camera's frame says which axes it has."""
    if wish.axes != "auto" or not camera_frame or is_optical(camera_frame):
        return []
    return [
        Remark(
            f"{topics.bag.path}: camera frame {camera_frame!r} is not named optical, so its axes are taken as ros, x "
            "forward, y left, z up: if z points forward, give --read axes=opencv"
        )
    ]


def column_track(
    stream: Stream,
    by_header: bool,
    names: tuple[str, ...],
    rates: tuple[str, ...],
    max_gap_s: float | None,
    notes: list[str],
) -> ColumnTrack:
    """The columns of one topic; rates are integrated over its own stamps."""
    times, rows = stream.clock(by_header)
    clock = read_clock(times, stream.where, "ns")
    values = np.array(stream.values, np.float64).reshape(-1, len(names))[rows][clock.rows]
    finite = np.asarray(np.isfinite(values).all(axis=1))
    notes.extend([*stream.notes(by_header), *clock.notes])
    if not finite.all():
        notes.append(f"{stream.where}: {int((~finite).sum())} of {len(finite)} messages are not finite; left out")
    times, values = clock.times_ns[finite], values[finite]
    if len(times) < 2:
        raise DataError(f"{stream.where}: {len(times)} messages can be used, and motion needs two")
    if set(names) & set(rates):
        notes.extend(integrated_gaps([times], max_gap_s, stream.where))
    for place, name in enumerate(names):
        if name in rates:
            values[:, place] = integrate(values[:, place], (times - times[0]) / 1e9)
    return ColumnTrack(times, values, names)
