"""Bags of ROS 1 and ROS 2, written by the tests themselves."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from egoequiv.sources import Recording

KINDS = ("ros1", "sqlite3", "mcap")
START_NS = 1_700_000_000_000_000_000
STEP_NS = 100_000_000
# Types that the package has no definitions of; bags carry their own.
TYPES = {
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "ackermann_msgs/msg/AckermannDrive": (
        "float32 steering_angle\nfloat32 steering_angle_velocity\nfloat32 speed\nfloat32 acceleration\nfloat32 jerk"
    ),
    "ackermann_msgs/msg/AckermannDriveStamped": "std_msgs/Header header\nackermann_msgs/AckermannDrive drive",
    "robot_msgs/msg/Wheels": "std_msgs/Header header\nfloat64[2] angle\nrobot_msgs/Battery battery",
    "robot_msgs/msg/Battery": "float32 volts\nstring<=8 state",
}


@dataclass
class BagWriter:
    """Messages of one bag, collected and then written."""

    kind: str  # ros1, sqlite3 or mcap
    messages: list[tuple[str, int, Any]] = field(default_factory=list)
    compression: str = ""  # bz2 or lz4 for ROS 1; file, message or storage for ROS 2

    def __post_init__(self) -> None:
        self.store = get_typestore(Stores.ROS1_NOETIC if self.kind == "ros1" else Stores.ROS2_HUMBLE)
        for name, text in TYPES.items():
            text = text.replace("<=8", "") if self.kind == "ros1" else text
            self.store.register(get_types_from_msg(text, name))

    def new(self, name: str, /, **fields: Any) -> Any:
        """A message of a type such as geometry_msgs/msg/Point."""
        return self.store.types[name](**fields)

    def header(self, stamp_ns: int, frame: str = "") -> Any:
        stamp = self.new("builtin_interfaces/msg/Time", sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
        more = {"seq": 0} if self.kind == "ros1" else {}
        return self.new("std_msgs/msg/Header", stamp=stamp, frame_id=frame, **more)

    def add(self, topic: str, log_ns: int, message: Any) -> None:
        self.messages.append((topic, log_ns, message))

    def image(self, topic: str, stamp_ns: int, data: np.ndarray, encoding: str = "mono8", **changes: Any) -> None:
        """A picture from an array (H, W, ...); rows may be padded by `pad` bytes."""
        pad = changes.pop("pad", 0)
        rows = np.ascontiguousarray(data).view(np.uint8).reshape(data.shape[0], -1)
        padded = np.pad(rows, ((0, 0), (0, pad)), constant_values=77)
        fields = {
            "header": self.header(stamp_ns, changes.pop("frame", "camera_optical_frame")),
            "height": data.shape[0],
            "width": data.shape[1],
            "encoding": encoding,
            "is_bigendian": 0,
            "step": padded.shape[1],
            "data": padded.reshape(-1),
        }
        log_ns = changes.pop("log_ns", stamp_ns)
        self.add(topic, log_ns, self.new("sensor_msgs/msg/Image", **(fields | changes)))

    def compressed(self, topic: str, stamp_ns: int, data: bytes, form: str) -> None:
        header = self.header(stamp_ns, "camera_optical_frame")
        fields = {"header": header, "format": form, "data": np.frombuffer(data, np.uint8)}
        self.add(topic, stamp_ns, self.new("sensor_msgs/msg/CompressedImage", **fields))

    def camera_info(self, topic: str, stamp_ns: int, size: tuple[int, int], **changes: Any) -> None:
        """A CameraInfo for pictures of `size` (height, width); fields by the names of ROS 2, `roi` as four numbers."""
        height, width = size
        K = [width, 0, width / 2 - 0.5, 0, width, height / 2 - 0.5, 0, 0, 1]
        P = [0.8 * width, 0, width / 2 - 0.5, 0, 0, 0.8 * width, height / 2 - 0.5, 0, 0, 0, 1, 0]
        arrays = {"d": [-0.3, 0.1, 0.001, 0.002, 0.0], "k": K, "r": np.eye(3).ravel(), "p": P}
        arrays = {key: np.array(changes.pop(key, value), np.float64) for key, value in arrays.items()}
        if self.kind == "ros1":
            arrays = {key.upper(): value for key, value in arrays.items()}
        x, y, high, wide = changes.pop("roi", (0, 0, 0, 0))
        names = {"x_offset": x, "y_offset": y, "height": high, "width": wide}
        fields = {
            "header": self.header(stamp_ns, "camera_optical_frame"),
            "height": height,
            "width": width,
            "distortion_model": "plumb_bob",
            **arrays,
            "binning_x": 0,
            "binning_y": 0,
            "roi": self.new("sensor_msgs/msg/RegionOfInterest", **names, do_rectify=False),
        }
        self.add(topic, stamp_ns, self.new("sensor_msgs/msg/CameraInfo", **(fields | changes)))

    def vector(self, values: Sequence[float], name: str = "Vector3") -> Any:
        x, y, z = (float(value) for value in values)
        return self.new(f"geometry_msgs/msg/{name}", x=x, y=y, z=z)

    def quaternion(self, values: Sequence[float]) -> Any:
        x, y, z, w = (float(value) for value in values)
        return self.new("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)

    def pose_of(self, values: Sequence[float]) -> Any:
        position, orientation = self.vector(values[:3], "Point"), self.quaternion(values[3:])
        return self.new("geometry_msgs/msg/Pose", position=position, orientation=orientation)

    def pose(self, topic: str, stamp_ns: int, values: Sequence[float], *, log_ns: int | None = None) -> None:
        """A PoseStamped from x y z qx qy qz qw."""
        header = self.header(stamp_ns, "world")
        message = self.new("geometry_msgs/msg/PoseStamped", header=header, pose=self.pose_of(values))
        self.add(topic, stamp_ns if log_ns is None else log_ns, message)

    def odometry(self, topic: str, stamp_ns: int, values: Sequence[float], child: str = "base_link") -> None:
        zero = self.vector((0, 0, 0))
        twist = self.new("geometry_msgs/msg/Twist", linear=zero, angular=zero)
        none = np.zeros(36)
        pose = self.new("geometry_msgs/msg/PoseWithCovariance", pose=self.pose_of(values), covariance=none)
        moving = self.new("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=none)
        header = self.header(stamp_ns, "odom")
        message = self.new("nav_msgs/msg/Odometry", header=header, child_frame_id=child, pose=pose, twist=moving)
        self.add(topic, stamp_ns, message)

    def transform(self, stamp_ns: int, parent: str, child: str, values: Sequence[float]) -> Any:
        turn = self.quaternion(values[3:])
        moved = self.new("geometry_msgs/msg/Transform", translation=self.vector(values[:3]), rotation=turn)
        header = self.header(stamp_ns, parent)
        return self.new("geometry_msgs/msg/TransformStamped", header=header, child_frame_id=child, transform=moved)

    def tf(self, log_ns: int, transforms: list[Any], topic: str = "/tf") -> None:
        self.add(topic, log_ns, self.new("tf2_msgs/msg/TFMessage", transforms=transforms))

    def twist(self, topic: str, log_ns: int, forward: float, turn: float) -> None:
        linear, angular = self.vector((forward, 0, 0)), self.vector((0, 0, turn))
        self.add(topic, log_ns, self.new("geometry_msgs/msg/Twist", linear=linear, angular=angular))

    def joints(self, topic: str, stamp_ns: int, names: list[str], position: Sequence[float]) -> None:
        none = np.zeros(0)
        fields = {"name": names, "position": np.array(position, np.float64), "velocity": none, "effort": none}
        self.add(topic, stamp_ns, self.new("sensor_msgs/msg/JointState", header=self.header(stamp_ns), **fields))

    def wheels(self, topic: str, stamp_ns: int, left: float, right: float, volts: float) -> None:
        """A message of a type that only this bag knows."""
        battery = self.new("robot_msgs/msg/Battery", volts=volts, state="ok")
        fields = {"header": self.header(stamp_ns), "angle": np.array([left, right], np.float64), "battery": battery}
        self.add(topic, stamp_ns, self.new("robot_msgs/msg/Wheels", **fields))

    def ackermann(self, topic: str, stamp_ns: int, angle: float, speed: float) -> None:
        others = {"steering_angle_velocity": 0.0, "acceleration": 0.0, "jerk": 0.0}
        drive = self.new("ackermann_msgs/msg/AckermannDrive", steering_angle=angle, speed=speed, **others)
        name = "ackermann_msgs/msg/AckermannDriveStamped"
        self.add(topic, stamp_ns, self.new(name, header=self.header(stamp_ns), drive=drive))

    def write(self, path: Path) -> Path:
        """Write the bag, messages in order of the time at which they were received; ROS 2 writes a folder."""
        if self.kind == "ros1":
            writer: Any = Writer1(path)
            if self.compression:
                writer.set_compression(Writer1.CompressionFormat[self.compression.upper()])
        else:
            plugin = StoragePlugin.SQLITE3 if self.kind == "sqlite3" else StoragePlugin.MCAP
            writer = Writer2(path, version=9, storage_plugin=plugin)
            if self.compression:
                writer.set_compression(CompressionMode[self.compression.upper()], CompressionFormat.ZSTD)
        serialize = self.store.serialize_ros1 if self.kind == "ros1" else self.store.serialize_cdr
        with writer:
            connections: dict[str, Any] = {}
            for topic, log_ns, message in sorted(self.messages, key=lambda one: one[1]):
                kind = message.__msgtype__
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=self.store)
                writer.write(connections[topic], log_ns, serialize(message, kind))
        return path


def write_plain_mcap(path: Path, kinds: dict[str, str], messages: Iterable[tuple[str, int, bytes]]) -> None:
    """An MCAP file as simple as can be: no chunks, no summary. Messages are topic, time of receipt and bytes."""

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode()

    def record(code: int, content: bytes) -> bytes:
        return struct.pack("<BQ", code, len(content)) + content

    magic = b"\x89MCAP0\r\n"
    parts = [magic, record(1, text("ros2") + text(""))]
    numbers = {topic: number for number, topic in enumerate(kinds, 1)}
    for topic, number in numbers.items():
        parts.append(record(3, struct.pack("<H", number) + text(kinds[topic]) + text("ros2msg") + text("")))
        parts.append(record(4, struct.pack("<HH", number, number) + text(topic) + text("cdr") + text("")))
    for topic, log_ns, data in messages:
        parts.append(record(5, struct.pack("<HIQQ", numbers[topic], 0, log_ns, log_ns) + data))
    parts += [record(15, bytes(4)), record(2, bytes(20)), magic]
    path.write_bytes(b"".join(parts))


def bag_name(kind: str) -> str:
    """The name of a bag of a kind: a file for ROS 1, a folder for ROS 2."""
    return "drive.bag" if kind == "ros1" else f"drive_{kind}"


def pictures(count: int, shape: tuple[int, ...] = (6, 8)) -> np.ndarray:
    """Pictures (count, H, W), no two of which are equal."""
    return np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)


def pictures_of(recording: Recording) -> np.ndarray:
    """All pictures of a recording, read in order."""
    return np.stack([np.asarray(image) for image in recording.images(range(len(recording)))])


def along_x(k: float) -> list[float]:
    """The pose of frame k: k metres forward, turned to the left by k / 10 rad."""
    return [k, 0.0, 0.0, 0.0, 0.0, float(np.sin(k / 20)), float(np.cos(k / 20))]


def drive(kind: str, frames: int = 12, **settings: Any) -> BagWriter:
    """A camera at 10 Hz and PoseStamped messages at its stamps."""
    bag = BagWriter(kind, **settings)
    for k, picture in enumerate(pictures(frames)):
        stamp = START_NS + k * STEP_NS
        bag.image("/camera/image_raw", stamp, picture, log_ns=stamp + 5_000_000)
        bag.pose("/pose", stamp, along_x(k), log_ns=stamp + 1_000_000)
    return bag


def robot(kind: str, frames: int = 12) -> BagWriter:
    """A robot with odometry of base_link at 50 Hz, a camera whose place tf knows, and commands."""
    bag = BagWriter(kind)
    base_to_link = bag.transform(0, "base_link", "camera_link", [0.2, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    link_to_optical = bag.transform(0, "camera_link", "camera_optical_frame", [0, 0, 0, -0.5, 0.5, -0.5, 0.5])
    bag.tf(START_NS, [base_to_link, link_to_optical], "/tf_static")
    for k, picture in enumerate(pictures(frames)):
        bag.image("/camera/image_raw", START_NS + k * STEP_NS, picture)
    for k in range(5 * frames):
        stamp = START_NS + k * STEP_NS // 5
        bag.odometry("/odom", stamp, along_x(k / 5))
        bag.tf(stamp, [bag.transform(stamp, "odom", "base_link", along_x(k / 5))])
        bag.twist("/cmd_vel", stamp, 10.0, 1.0)
    return bag


def prepare(folder: Path) -> None:
    """The bags of docs/formats/ros.md."""
    robot("ros1", 40).write(folder / "robot.bag")
    robot("mcap", 40).write(folder / "robot")
