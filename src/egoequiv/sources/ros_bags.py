"""Bags of ROS 1 and ROS 2 on disk: where they are, their topics, and their messages by time."""

from __future__ import annotations

import heapq
import io
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from egoequiv.errors import DataError
from egoequiv.sources.ros_library import bound_chunks, rosbags, types_for, unreadable

SUFFIXES = (".bag", ".db3", ".mcap")
METADATA = "metadata.yaml"
_FIRST_SKIP_NS = 10_000_000
_MOST_SKIPS = 200


@dataclass(frozen=True)
class BagPath:
    """One bag: a file, or a folder of ROS 2 with its metadata.yaml."""

    name: str  # unique among those that were found together
    path: Path


@dataclass(frozen=True)
class Topic:
    """One topic of a bag."""

    name: str
    kind: str  # the type, such as sensor_msgs/msg/Image
    count: int


@dataclass(frozen=True)
class RawMessage:
    """One message as it is in the bag."""

    topic: str
    kind: str
    log_ns: int  # when it was received
    data: bytes


def find_bags(path: Path) -> list[BagPath]:
    """The bags at a path: the path itself, or those in a folder; sorted by name."""
    if not path.is_dir():
        return [BagPath(path.stem, path)]
    if is_bag_folder(path):
        return [BagPath(path.resolve().name, path)]
    found = [entry for entry in sorted(path.iterdir()) if is_bag_folder(entry) or _is_bag_file(entry)]
    stems = [entry.stem if entry.is_file() else entry.name for entry in found]
    return [
        BagPath(stem if stems.count(stem) == 1 else entry.name, entry) for stem, entry in zip(stems, found, strict=True)
    ]


def is_bag_folder(path: Path) -> bool:
    """Whether a folder is a bag of ROS 2, by the beginning of its metadata.yaml."""
    try:
        with open(path / METADATA, "rb") as file:
            return b"rosbag2_bagfile_information" in file.read(4096)
    except OSError:
        return False


def _is_bag_file(path: Path) -> bool:
    return path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")


class OpenBag:
    """A bag, opened; its messages are read in order of the time at which they were received."""

    def __init__(self, path: Path) -> None:
        library = rosbags()
        self.path = path
        self.notes: list[str] = []
        self._readers: list[Any] = []
        weakref.finalize(self, _close, self._readers)
        self._stores: dict[str, Any] = {}
        self.is_ros1 = path.suffix == ".bag" and path.is_file()
        if self.is_ros1:
            self._readers.append(self._opened(library.rosbag1.Reader, path))
            bound_chunks(self._readers[0])
        else:
            self._open_ros2(library)
        self.notes.extend(_left_in_journal(path))
        self._connections = [one for reader in self._readers for one in reader.connections]

    def _open_ros2(self, library: ModuleType) -> None:
        try:
            self._readers.append(self._opened(library.rosbag2.Reader, self.path))
        except DataError as problem:
            files = [one for one in sorted(self.path.iterdir()) if _is_bag_file(one)] if self.path.is_dir() else []
            for file in files:  # the metadata is wrong or damaged, but the storage may be whole
                try:
                    self._readers.append(self._opened(library.rosbag2.Reader, file))
                except DataError as other:
                    self.notes.append(f"{other}; left out")
            if not self._readers:
                raise
            self.notes.append(f"{problem}; its {len(self._readers)} files are read without {METADATA}")

    @staticmethod
    def _opened(kind: Callable[[Path], Any], path: Path) -> Any:
        if path.suffix == ".db3" and (odd := set("?#%") & set(str(path))):
            raise DataError(f"{path} cannot be read: SQLite gives {min(odd)!r} in a path a meaning; rename it")
        try:
            reader = kind(path)
            reader.open()
        except Exception as problem:  # on damaged bytes the readers raise almost anything
            raise unreadable(path, problem) from problem
        return reader

    @property
    def is_indexed(self) -> bool:
        """Whether messages can be found by time; in an MCAP without chunks, all of them are read up to the wanted."""
        storages = [getattr(reader, "storage", None) for reader in self._readers]
        parts = [part for one in storages for part in (getattr(one, "storages", None) or [one])]
        return all(getattr(part, "chunks", True) for part in parts)

    def topics(self) -> list[Topic]:
        """All topics, by name; one with several types has that of its first connection."""
        kinds: dict[str, str] = {}
        counts: dict[str, int] = {}
        for one in self._connections:
            kinds.setdefault(one.topic, one.msgtype)
            counts[one.topic] = counts.get(one.topic, 0) + one.msgcount
        return [Topic(name, kinds[name], counts[name]) for name in sorted(kinds)]

    def duration_s(self) -> float:
        """Seconds from the first message to the last; 0 for an empty bag."""
        first = min((reader.start_time for reader in self._readers), default=0)
        return float(max(max((reader.end_time for reader in self._readers), default=0) - first, 0)) / 1e9

    def messages(
        self,
        topics: Collection[str],
        start: int | None = None,
        stop: int | None = None,
        damage: list[str] | None = None,
    ) -> Iterator[RawMessage]:
        """Messages of topics that were received from `start` to before `stop`, in nanoseconds.

        Where the bag is damaged, reading goes on after the damage and a line is added to `damage`.
        """
        skip = _FIRST_SKIP_NS
        last = start
        for tries in range(_MOST_SKIPS):
            try:
                for message in self._read(topics, start, stop):
                    last, skip = message.log_ns, _FIRST_SKIP_NS
                    yield message
                return
            except Exception as problem:
                if damage is None:
                    raise unreadable(self.path, problem) from problem
                self._after_damage()
                if not tries:
                    damage.append(f"{unreadable(self.path, problem)}; what can be read is used")
                first = min(reader.start_time for reader in self._readers)
                start = max(first if last is None else last, start or first) + skip
                skip *= 2
                if start >= max(reader.end_time for reader in self._readers):
                    return

    def _read(self, topics: Collection[str], start: int | None, stop: int | None) -> Iterator[RawMessage]:
        streams = []
        for reader in self._readers:
            connections = [one for one in reader.connections if one.topic in topics]
            if connections:
                streams.append(reader.messages(connections=connections, start=start, stop=stop))
        merged = streams[0] if len(streams) == 1 else heapq.merge(*streams, key=lambda found: int(found[1]))
        for connection, log_ns, data in merged:
            yield RawMessage(connection.topic, connection.msgtype, log_ns, data)

    def _after_damage(self) -> None:
        """Forget the chunk that could not be unpacked: the reader of ROS 1 keeps one that is closed."""
        for reader in self._readers:
            if self.is_ros1:
                reader.current_chunk = (-1, io.BytesIO())

    def parse(self, message: RawMessage) -> Any:
        """The fields of a message; raise `DataError` if its bytes do not fit its type."""
        where = f"{self.path}, {message.topic} at {message.log_ns} ns"
        store = self._store(message.kind)
        try:
            if self.is_ros1:
                return store.deserialize_ros1(message.data, message.kind)
            return store.deserialize_cdr(message.data, message.kind)
        except Exception as problem:
            raise unreadable(Path(where), problem) from problem

    def _store(self, kind: str) -> Any:
        """Types by name, with which messages of one type are parsed."""
        if kind not in self._stores:
            found = next((one.msgdef for one in self._connections if one.msgtype == kind and one.msgdef.data), None)
            self._stores[kind] = types_for(kind, found, self.is_ros1, self.path)
        return self._stores[kind]


def _close(readers: list[Any]) -> None:
    for reader in readers:
        with suppress(Exception):  # one that is damaged cannot always be closed
            reader.close()


def _left_in_journal(path: Path) -> list[str]:
    """Messages that SQLite had not yet moved into the database when it was stopped."""
    journals = path.glob("*.db3-wal") if path.is_dir() else [path.with_name(f"{path.name}-wal")]
    return [
        f"{one} holds messages that are not yet in the database and are not read: open and close it with sqlite3 once"
        for one in journals
        if one.is_file() and one.stat().st_size
    ]


def open_bag(path: Path) -> OpenBag:
    """A bag, opened once in each process, and again if it was replaced."""
    try:
        files = [path, *sorted(path.iterdir())] if path.is_dir() else [path]
        state = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}") from problem
    return _open(path, state)


@lru_cache(maxsize=4)
def _open(path: Path, state: tuple[tuple[int, int], ...]) -> OpenBag:  # noqa: ARG001
    return OpenBag(path)
