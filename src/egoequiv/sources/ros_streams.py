"""Messages of a bag as arrays: when each was stamped and received, and the numbers in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose.clock import Nanoseconds
from egoequiv.remarks import Remark
from egoequiv.sources.ros_bags import OpenBag
from egoequiv.sources.ros_frames import FrameTree, build_tree
from egoequiv.sources.ros_topics import ODOMETRY, TRANSFORM, Topics

Array = NDArray[np.float64]
StampChoice = Literal["auto", "header", "receive"]
Numbers = Callable[[Any], list[float]]

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


@dataclass
class Stream:
    """The messages of one topic, in the order in which they were received."""

    where: str
    log_ns: list[int] = field(default_factory=list)  # when received
    stamp_ns: list[int] = field(default_factory=list)  # in the header; 0 where there is none
    repeat: list[int] = field(default_factory=list)  # number among those received at the same time
    values: list[list[float]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.log_ns)

    def add(self, log_ns: int, repeat: int, message: Any, values: list[float]) -> None:
        self.log_ns.append(log_ns)
        self.repeat.append(repeat)
        self.stamp_ns.append(header_ns(message))
        self.values.append(values)

    @property
    def is_stamped(self) -> bool:
        """Whether most headers have a stamp."""
        return bool(np.count_nonzero(self.stamp_ns) * 2 > len(self))

    def clock(self, by_header: bool) -> tuple[Nanoseconds, NDArray[np.int64]]:
        """Times (K,) and the messages (K,) that they belong to; a header without stamp has none."""
        if not by_header:
            return np.array(self.log_ns, np.int64), np.arange(len(self))
        stamps = np.array(self.stamp_ns, np.int64)
        rows = np.flatnonzero(stamps)
        return stamps[rows], rows

    def notes(self, by_header: bool) -> list[str]:
        """What is odd about its messages and stamps."""
        found = []
        if self.broken:
            broken = plural(len(self.broken), "message")
            found.append(f"{self.where}: {broken} cannot be read, the first: {self.broken[0]}")
        zero = len(self) - int(np.count_nonzero(self.stamp_ns))
        if by_header and zero:
            found.append(f"{self.where}: {zero} of {len(self)} messages have no stamp in their header; left out")
        if not by_header:
            why = "have a stamp" if self.is_stamped else "have no stamp"
            text = f"{self.where}: times are those at which messages were received; their headers {why}"
            found.append(Remark(text))
        return found


def header_ns(message: Any) -> int:
    """The stamp in the header of a message; 0 where there is none."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    return 0 if stamp is None else int(stamp.sec) * 10**9 + int(stamp.nanosec)


def read_streams(bag: OpenBag, wanted: Mapping[str, Numbers], notes: list[str]) -> dict[str, Stream]:
    """Read some topics in one pass.

    Args:
        bag: an opened bag.
        wanted: topics, and for each a function from a message to the numbers that are kept of it.
        notes: damage of the bag is added here.

    """
    streams = {topic: Stream(f"{bag.path}, {topic}") for topic in wanted}
    last: dict[str, tuple[int, int]] = {}
    for raw in bag.messages(list(wanted), damage=notes):
        before, number = last.get(raw.topic, (-1, 0))
        repeat = number + 1 if raw.log_ns == before else 0
        last[raw.topic] = (raw.log_ns, repeat)
        stream = streams[raw.topic]
        try:
            message = bag.parse(raw)
            stream.add(raw.log_ns, repeat, message, wanted[raw.topic](message))
        except DataError as problem:
            stream.broken.append(str(problem))
    return streams


def decide_clock(streams: list[Stream], choice: StampChoice, notes: list[str]) -> bool:
    """Whether times are those of headers: with `auto`, if all streams have them and they are of one clock."""
    if choice not in ("auto", "header", "receive"):
        raise ConfigError(f"stamps {choice!r}: expected auto, header or receive")
    if choice != "auto":
        return choice == "header"
    if not all(stream.is_stamped for stream in streams if len(stream)):
        return False
    spans = [(min(stamps), max(stamps)) for one in streams if (stamps := [ns for ns in one.stamp_ns if ns])]
    if spans and max(low for low, _ in spans) > min(high for _, high in spans):
        notes.append(
            f"{streams[0].where}: the stamps in headers are of clocks that have no time in common, so the times at "
            "which messages were received are used"
        )
        return False
    return True


def camera_numbers(message: Any) -> list[float]:  # noqa: ARG001
    """Of a picture only its stamp is kept."""
    return []


def pose_numbers(message: Any) -> list[float]:
    """Position and quaternion (x y z qx qy qz qw) of a message with a pose or a transform."""
    if message.__msgtype__ == TRANSFORM:
        at, turn = message.transform.translation, message.transform.rotation
    else:
        pose = message.pose.pose if hasattr(message.pose, "pose") else message.pose
        at, turn = pose.position, pose.orientation
    return [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]


def body_of(message: Any) -> str:
    """The frame that a message with a pose is about; empty where it does not say."""
    return str(message.child_frame_id) if message.__msgtype__ in (ODOMETRY, TRANSFORM) else ""


def split_column(column: str, topics: Topics) -> tuple[str, str]:
    """The topic and the fields of a column such as /cmd_vel.linear.x."""
    names = sorted((one.name for one in topics.all), key=len, reverse=True)
    for name in names:
        for written in {name, name.lstrip("/")}:
            if column.startswith((f"{written}.", f"{written}[")):
                return name, column[len(written) :].lstrip(".")
    raise DataError(
        f"{topics.bag.path} has no topic for column {column!r}; it has {', '.join(sorted(names)) or 'none'}"
    )


def column_number(message: Any, path: str, column: str) -> float:
    """One number of a message, such as linear.x, position[2], or position.elbow of a JointState."""
    value = message
    for name, index in _PART.findall(path):
        if index or (isinstance(value, np.ndarray | list) and name in getattr(message, "name", ())):
            place = int(index) if index else list(message.name).index(name)
            if not isinstance(value, np.ndarray | list) or place >= len(value):
                raise DataError(f"column {column}: there is no value [{place}] in this message")
            value = value[place]
        elif is_dataclass(value) and name in (known := [one.name for one in fields(value)]):
            value = getattr(value, name)
        else:
            have = known if is_dataclass(value) else [str(one) for one in getattr(message, "name", ())]
            raise ConfigError(f"column {column!r}: there is no {name!r}; expected one of {', '.join(have) or 'none'}")
    if not isinstance(value, bool | int | float | np.number | np.bool_):
        raise ConfigError(f"column {column!r} is not a number: add the field, such as {column}.x or {column}[0]")
    return float(value)


def read_frames(topics: Topics, by_header: bool, only_fixed: bool, notes: list[str]) -> FrameTree:
    """The tree of frames of a bag; with `only_fixed` from its tf_static topics alone."""
    bag = topics.bag
    fixed = {one.name for one in topics.tf if one.name.endswith("static")}
    names = [one.name for one in topics.tf if one.name in fixed or not only_fixed]
    found = []
    for raw in bag.messages(names, damage=notes) if names else ():
        try:
            transforms = bag.parse(raw).transforms
        except DataError as problem:
            notes.append(str(problem))
            continue
        for one in transforms:
            found.append(((header_ns(one) if by_header else 0) or raw.log_ns, raw.topic in fixed, one))
    return build_tree(found, str(bag.path))
