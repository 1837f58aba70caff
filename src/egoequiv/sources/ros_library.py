"""The package that reads bags: where it is, what its errors mean, and the message types that it is given."""

from __future__ import annotations

import bz2
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from egoequiv.errors import ConfigError, DataError, EgoEquivError

MOST_UNPACKED = 1 << 30  # bytes of one compressed chunk; writers make chunks of about 1 MB, or of one message
_TYPE_NAME = re.compile(r"[A-Za-z]\w*(/(msg|action|srv))?/[A-Za-z]\w*", re.ASCII)
_IDL_PART = re.compile(r"^={80}\nIDL: .*\n", re.MULTILINE)

# Types that many bags use without a definition of their own (ROS 2 up to Humble), and that the package does not know.
_FURTHER_TYPES = {
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "tf/msg/tfMessage": "geometry_msgs/TransformStamped[] transforms",
    "ackermann_msgs/msg/AckermannDrive": "\n".join(
        f"float32 {name}" for name in ("steering_angle", "steering_angle_velocity", "speed", "acceleration", "jerk")
    ),
    "ackermann_msgs/msg/AckermannDriveStamped": "std_msgs/Header header\nackermann_msgs/AckermannDrive drive",
}

# What a message of the reader means to a user.
_HINTS = {
    "not indexed": "it has no index, as after a crash: run `rosbag reindex` on it",
    "index looks damaged": "its index is damaged or cut off: run `rosbag reindex` on it",
    "end magic": "it was cut short: run `mcap recover` on it",
    "Profile is not ros2": "its messages are not those of ROS 2 (profile ros2)",
}


def rosbags() -> ModuleType:
    """The package that reads bags; one line says what to install where it is missing."""
    try:
        import rosbags.rosbag1
        import rosbags.rosbag2
        import rosbags.typesys
    except ImportError as problem:
        raise ConfigError("to read bags, install rosbags: pip install 'egoequiv[ros]'") from problem
    _bound_mcap()
    return rosbags


@cache
def _bound_mcap() -> None:
    """Let chunks of MCAP unpack to no more than the size that they declare, and not to more than memory holds."""
    storage_mcap: Any = import_module("rosbags.rosbag2.storage_mcap")

    storage_mcap.DECOMPRESSORS["lz4"] = lambda data, size: _bounded(_lz4(), data, size)
    storage_mcap.DECOMPRESSORS["zstd"] = lambda data, size: _bounded(storage_mcap.zstd.ZstdDecompressor(), data, size)


def bound_chunks(reader: Any) -> None:
    """Let no chunk of a ROS 1 bag unpack to more than memory holds, whatever its few bytes say."""
    from rosbags.rosbag1.reader import decompressors

    kinds: dict[Any, Callable[[bytes], bytes]] = {
        decompressors["bz2"]: lambda data: _bounded(bz2.BZ2Decompressor(), data),
        decompressors["lz4"]: lambda data: _bounded(_lz4(), data),
    }
    for place, chunk in reader.chunks.items():
        if chunk.decompressor in kinds:
            reader.chunks[place] = chunk._replace(decompressor=kinds[chunk.decompressor])


def _lz4() -> Any:
    from lz4.frame import LZ4FrameDecompressor

    return LZ4FrameDecompressor()


def _bounded(unpacker: Any, data: bytes, size: int = MOST_UNPACKED) -> bytes:
    most = min(size, MOST_UNPACKED)
    unpacked: bytes = unpacker.decompress(data, max(most, 1))
    if not unpacker.eof and (len(unpacked) == most or most == 0):
        unpacked += unpacker.decompress(b"", 1)  # the end of the stream may follow the last byte
    if not unpacker.eof or len(unpacked) > most:
        raise DataError("a compressed chunk is cut short, or larger than it says or than 1 GB")
    return unpacked


def unreadable(where: Path, problem: Exception) -> DataError:
    """One line about what could not be read."""
    if isinstance(problem, EgoEquivError):
        return problem if isinstance(problem, DataError) else DataError(str(problem))
    text = " ".join(str(argument) for argument in problem.args) or type(problem).__name__
    hint = next((hint for start, hint in _HINTS.items() if start in text), None)
    reason = hint or f"damaged, or not a bag: {text.splitlines()[0][:200]}"
    if isinstance(problem, PermissionError | FileNotFoundError):
        reason = problem.strerror or "it does not exist"
    return DataError(f"{where} cannot be read: {reason}")


def types_for(kind: str, definition: Any, is_ros1: bool, path: Path) -> Any:
    """Types with which messages of one type are parsed: those of ROS itself, or else the definition in the bag.

    The package writes Python for the fields of a type. It takes only plain words as names, and here the name of the
    type is checked too, so nothing in a bag can become code of its own.
    """
    types = rosbags().typesys
    if not _TYPE_NAME.fullmatch(kind):
        raise DataError(f"{path}: {kind[:80]!r} is not the name of a message type")
    store = types.get_typestore(types.Stores.ROS1_NOETIC if is_ros1 else types.Stores.ROS2_HUMBLE)
    for name, text in _FURTHER_TYPES.items():
        if name not in store.fielddefs:
            store.register(types.get_types_from_msg(text, name))
    if kind in store.fielddefs:
        return store
    if definition is None:
        raise DataError(f"{path} holds no definition of its type {kind}, and ROS itself has none")
    store = types.get_typestore(types.Stores.EMPTY)
    try:
        if definition.format.name == "MSG":
            store.register(types.get_types_from_msg(definition.data, kind))
        else:
            for part in _IDL_PART.split(definition.data):
                store.register(types.get_types_from_idl(part))
    except Exception as problem:
        raise unreadable(Path(f"{path}: the definition of {kind}"), problem) from problem
    return store
