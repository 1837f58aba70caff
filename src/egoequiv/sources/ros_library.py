"""The package that reads bags: where it is, what its errors mean, and the message types that it is given."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from egoequiv.errors import ConfigError, DataError, EgoEquivError

_TYPE_NAME = re.compile(r"[A-Za-z]\w*(/(msg|action|srv))?/[A-Za-z]\w*", re.ASCII)
_IDL_PART = re.compile(r"^={80}\nIDL: .*\n", re.MULTILINE)

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
    return rosbags


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
