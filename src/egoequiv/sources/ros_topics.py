"""What the topics of a bag are: cameras, pose streams, transforms and columns; and which are chosen by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.remarks import Remark
from egoequiv.sources.recording import Listed
from egoequiv.sources.ros_bags import OpenBag, Topic
from egoequiv.sources.ros_frames import plain_name
from egoequiv.sources.ros_images import COMPRESSED, IMAGE, is_camera

ODOMETRY = "nav_msgs/msg/Odometry"
TRANSFORM = "geometry_msgs/msg/TransformStamped"
POSE_KINDS = (
    ODOMETRY,
    TRANSFORM,
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
)
TF_KINDS = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")

# Columns that are usually wanted, of types that are measurements or commands.
_TWIST = ("linear.x", "angular.z")
COLUMNS = {
    "geometry_msgs/msg/Twist": _TWIST,
    "geometry_msgs/msg/TwistStamped": tuple(f"twist.{one}" for one in _TWIST),
    "ackermann_msgs/msg/AckermannDrive": ("steering_angle", "speed"),
    "ackermann_msgs/msg/AckermannDriveStamped": ("drive.steering_angle", "drive.speed"),
    "sensor_msgs/msg/Imu": ("angular_velocity.x", "angular_velocity.y", "angular_velocity.z"),
    "sensor_msgs/msg/JointState": ("position[0]",),
    "sensor_msgs/msg/NavSatFix": ("latitude", "longitude", "altitude"),
}
_UNREADABLE = "unreadable"
_TRIED = 32  # messages, before a topic is given up
_TRUTH = re.compile(r"ground.?truth|(^|[/_])gt([/_]|$)|vicon|mocap|optitrack|leica", re.IGNORECASE)
_WISH = re.compile(r"goal|target|setpoint|command|cmd|desired|initialpose|plan", re.IGNORECASE)
_PROCESSED = re.compile(r"depth|infra|thermal|disparity|debug|overlay|annotat|mask|segment|theora", re.IGNORECASE)


@dataclass(frozen=True)
class Camera:
    """A topic of pictures, as its first message shows it."""

    topic: Topic
    frame: str  # the name of its frame in tf
    encoding: str
    size: tuple[int, int] | None  # height and width, if the message says so

    @property
    def is_usable(self) -> bool:
        return self.encoding != _UNREADABLE and is_camera(self.topic.kind, self.encoding)


class Topics:
    """The topics of a bag, by what they are for."""

    def __init__(self, bag: OpenBag) -> None:
        self.bag = bag
        self.all = bag.topics()
        self.tf = [one for one in self.all if one.kind in TF_KINDS and one.count]

    @cached_property
    def pictures(self) -> list[Camera]:
        """All topics of pictures, the most sensible first; those of depth come last."""
        found = [self._camera(one) for one in self.all if one.kind in (IMAGE, COMPRESSED) and one.count]
        return sorted(found, key=_camera_rank)

    @property
    def cameras(self) -> list[Camera]:
        return [one for one in self.pictures if one.is_usable]

    @property
    def poses(self) -> list[Topic]:
        """Topics of poses, the most sensible first: ground truth, odometry, others; wishes and goals last."""
        return sorted((one for one in self.all if one.kind in POSE_KINDS and one.count > 1), key=_pose_rank)

    def first(self, topic: str) -> Any:
        """The first message of a topic that can be read, of some at its beginning."""
        problems: list[str] = []
        for message in islice(self.bag.messages([topic], damage=problems), _TRIED):
            try:
                return self.bag.parse(message)
            except DataError as problem:
                problems.append(str(problem))
        raise DataError(problems[0] if problems else f"{self.bag.path}: topic {topic} has no messages")

    def _camera(self, topic: Topic) -> Camera:
        try:
            message = self.first(topic.name)
        except DataError:
            return Camera(topic, "", _UNREADABLE, None)
        frame = plain_name(message.header.frame_id)
        if topic.kind == COMPRESSED:
            return Camera(topic, frame, message.format, None)
        return Camera(topic, frame, message.encoding, (int(message.height), int(message.width)))

    def choose_camera(self, wish: str, notes: list[str]) -> Camera | None:
        """The camera of a name; with `auto` the most sensible, with `none` none."""
        if wish == "none":
            return None
        if wish == "auto":
            if len(self.cameras) > 1:
                chosen, other = self.cameras[0].topic.name, self.cameras[1].topic.name
                notes.append(Remark(f"camera {chosen} of {len(self.cameras)}: choose with --read camera={other}"))
            return self.cameras[0] if self.cameras else None
        found = next((one for one in self.pictures if one.topic.name.strip("/") == wish.strip("/")), None)
        if found is None:
            raise DataError(f"{self.bag.path} has no camera {wish!r}; it has {_names(self.cameras)}")
        if not found.is_usable:
            raise DataError(f"{self.bag.path}: {wish} is not a camera: its pictures are {found.encoding!r}")
        return found

    def choose_poses(self, wish: str, notes: list[str]) -> Topic | None:
        """The pose stream of a name; with `auto` the most sensible, None where there is none but tf."""
        if wish == "auto":
            likely = [one for one in self.poses if not _WISH.search(one.name)]
            if len(self.poses) > 1 and likely:
                chosen, other = self.poses[0].name, self.poses[1].name
                notes.append(Remark(f"poses {chosen} of {len(self.poses)} topics: choose with --read poses={other}"))
            return likely[0] if likely else None
        found = next((one for one in self.poses if one.name.strip("/") == wish.strip("/")), None)
        if found is None:
            have = ", ".join([one.name for one in self.poses] + ["tf"] * bool(self.tf)) or "none"
            raise DataError(f"{self.bag.path} has no poses {wish!r}; it has {have}")
        return found

    def listed(self, used: Sequence[str]) -> list[Listed]:
        """Every topic with its type, number of messages and rate, and how to choose it."""
        duration = self.bag.duration_s()
        pictures = {one.topic.name: one for one in self.pictures}
        found = [_listed(one, pictures.get(one.name), duration, one.name in used) for one in self.all]
        if self.tf:
            count = sum(one.count for one in self.tf)
            found.append(Listed("poses", "tf", f"{plural(count, 'message')} of transforms", "tf" in used, "poses=tf"))
        order = ("camera", "poses", "columns", "topic")
        return sorted(found, key=lambda one: order.index(one.kind))


def _names(cameras: Sequence[Camera]) -> str:
    return ", ".join(one.topic.name for one in cameras) or "none"


def _camera_rank(camera: Camera) -> tuple[bool, bool, int, bool, str]:
    """Few messages, processed pictures and compressed copies come later."""
    topic = camera.topic
    return not camera.is_usable, bool(_PROCESSED.search(topic.name)), -topic.count, topic.kind != IMAGE, topic.name


def _pose_rank(topic: Topic) -> tuple[bool, bool, bool, int, str]:
    wish, truth = bool(_WISH.search(topic.name)), bool(_TRUTH.search(topic.name))
    return wish, not truth, topic.kind != ODOMETRY, -topic.count, topic.name


def _listed(topic: Topic, camera: Camera | None, duration_s: float, used: bool) -> Listed:
    rate = f", {(topic.count - 1) / duration_s:.3g} Hz" if duration_s and topic.count > 1 else ""
    details = f"{topic.kind.replace('/msg/', '/')}, {plural(topic.count, 'message')}{rate}"
    if camera is not None:
        size = f", {camera.size[1]} x {camera.size[0]}" if camera.size else ""
        details += f"{size}, {camera.encoding}"
        if camera.is_usable:
            return Listed("camera", topic.name, details, used, f"camera={topic.name}")
        return Listed("topic", topic.name, f"{details} (not pictures of a camera)", False)
    if topic.kind in POSE_KINDS:
        return Listed("poses", topic.name, details, used, f"poses={topic.name}")
    if topic.kind in COLUMNS:
        columns = ",".join(f"{topic.name}.{name}" for name in COLUMNS[topic.kind])
        return Listed("columns", topic.name, details, used, f"columns={columns}")
    return Listed("topic", topic.name, details, used)
