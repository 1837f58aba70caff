"""The episodes of a LeRobot data set: rows of its tables, each with its frame and its motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.remarks import Remark
from egoequiv.sources.lerobot_cameras import Camera, disagreements
from egoequiv.sources.lerobot_files import LeRobotFiles, episode_name, read_table, same_numbers, table_episode
from egoequiv.sources.lerobot_frames import TablePictures, check_clocks, match_rows
from egoequiv.sources.lerobot_motion import Motion
from egoequiv.sources.logged import FrameReader, LoggedRecording, VideoFrames, seconds_since_first
from egoequiv.sources.video import described
from egoequiv.sources.video_frames import VideoIndex, index_video

if TYPE_CHECKING:
    import pyarrow as pa

Match = Literal["time", "number"]
_KEPT = ("episode_index", "timestamp", "frame_index")
_SHOWN = 5  # of episodes with the same fault
_EPOCH_S = 1e6  # stamps count from the start of an episode; later ones are the time of day


@dataclass
class Episodes:
    """The episodes of a data set, read one after another, and what was found odd about them."""

    files: LeRobotFiles
    camera: Camera
    motion: Motion
    match: Match
    left: list[str] = field(default_factory=list)  # episodes that are left out, and why
    odd: dict[str, list[str]] = field(default_factory=dict)  # what is odd, and in which episodes
    details: str = ""  # of the camera, by its first video
    seen: dict[int, Path] = field(default_factory=dict)  # episodes so far, and the table of each

    def recordings(self) -> Iterator[LoggedRecording]:
        """Every episode that can be read, by its number in each table."""
        for file in self.files.tables:
            yield from (recording for recording, _ in self.of_table(file))
        listed = self.files.info.get("total_episodes")
        if isinstance(listed, int) and listed != len(self.seen):
            self.files.notes.append(f"info.json lists {listed} episodes, {len(self.seen)} are here")

    def of_table(self, file: Path) -> Iterator[tuple[LoggedRecording, NDArray[np.int64]]]:
        """The episodes of a table that can be read, each with the rows of the table that its frames belong to (N,)."""
        try:
            table = read_table(file, [*_KEPT, *self.motion.features])
            episodes = list(self._episodes(table, file))
        except DataError as problem:
            self.left.append(str(problem))
            return
        for number, rows in episodes:
            name = episode_name(number)
            try:
                if number in self.seen:
                    raise DataError(f"{file} holds it a second time, after {self.seen[number]}")
                self.seen[number] = file
                recording = self._recording(number, table.take(rows), rows, file)
                yield recording, rows[recording.numbers]
            except DataError as problem:
                self.left.append(f"recording {name} left out: {problem}")

    def _episodes(self, table: pa.Table, file: Path) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The episodes of a table and their rows."""
        named = table_episode(file)
        if "episode_index" not in table.column_names or named is not None:
            if named is None:
                raise DataError(f"{file} has no column episode_index, and its name is not that of an episode")
            if table.num_rows and "episode_index" in table.column_names and _first(table["episode_index"]) != named:
                self._say("the column episode_index is not the number in the name", episode_name(named))
            yield named, np.arange(table.num_rows)
            return
        try:
            numbers = table["episode_index"].cast("int64").fill_null(-1).to_numpy()
        except (ValueError, TypeError, NotImplementedError):  # what pyarrow raises is one of these, too
            raise DataError(f"{file}: the column episode_index has values that are no whole numbers") from None
        for number in np.unique(numbers[numbers >= 0]).tolist():
            yield number, np.flatnonzero(numbers == number)

    def _recording(self, number: int, table: pa.Table, rows: NDArray[np.int64], file: Path) -> LoggedRecording:
        name = episode_name(number)
        if not table.num_rows:
            raise DataError(f"{file} has no rows")
        times_ns, kept = self._times(table, name, file)
        reader: FrameReader
        if self.camera.in_table:
            reader, usable, frames = TablePictures.of(self.files.root, file, self.camera.name), kept, rows[kept]
            self.details = self.details or f"{plural(len(reader), 'picture')} in {file.name}"
        else:
            index, start_ns, end_ns = self._video(number, rows, file)
            places, frames = self._matched(times_ns, index, start_ns, end_ns, name)
            reader, usable, times_ns = VideoFrames(index), kept[places], times_ns[places]
        values, known = self.motion.values(table.take(usable), times_ns, str(file))
        if not known.all():
            self._say("rows whose motion is not known", f"{name} ({int((~known).sum())} of {len(known)})")
        if not known.any():
            raise DataError(f"{file}: none of its {len(known)} rows has a frame and a motion")
        times_s = seconds_since_first(times_ns[known])
        said = self.files.episodes.get(number, {})
        if isinstance(said.get("length"), int) and said["length"] != table.num_rows:
            self._say("the metadata has another length than the table", f"{name} ({said['length']}, {table.num_rows})")
        return LoggedRecording(
            *(name, values[known], times_s, reader, frames[known]),
            attributes=_attributes(said),
            numbers=usable[known],
        )

    def _times(self, table: pa.Table, name: str, file: Path) -> tuple[Nanoseconds, NDArray[np.int64]]:
        """The times of rows, and the rows whose stamps can be used."""
        where = f"{file}, {name}, timestamp"
        for column, scale in (("timestamp", 1.0), ("frame_index", 1.0 / self.files.rate_hz)):
            if column in table.column_names:
                try:
                    values = np.asarray(table[column].to_numpy(), np.float64) * scale
                except (ValueError, TypeError):
                    raise DataError(f"{file}: the column {column} has values that are not numbers") from None
                break
        else:
            values = np.arange(table.num_rows) / self.files.rate_hz
        if "timestamp" not in table.column_names:
            self._say(f"no column timestamp, so {self.files.rate_hz:g} rows a second as in info.json", name)
        stamps = read_clock(np.asarray(values, np.float64).reshape(-1), where, "s")
        self.files.notes.extend(stamps.notes)
        if not len(stamps.times_ns):
            raise DataError(f"{where}: no stamp can be used")
        if stamps.times_ns[0] > _EPOCH_S * 1e9:
            self._say(Remark("stamps are the time of day, counted from the first of them"), name)
            return stamps.times_ns - stamps.times_ns[0], stamps.rows
        return stamps.times_ns, stamps.rows

    def _video(self, number: int, rows: NDArray[np.int64], file: Path) -> tuple[VideoIndex, int, int | None]:
        """The video of an episode, and from which time to which its frames are there (None: to the end)."""
        own = self.files.videos.get((self.camera.folder, -1, number))
        said = self.files.episodes.get(number, {})
        found = own or self._shared_video(said, file)
        if not self.files.is_where_it_should("video_path", found):
            template = self.files.info["video_path"]
            self._say(f"videos are not at {template} as info.json says, but at", str(found.parent), once=True)
        index = index_video(found)
        self.details = self.details or described(index)
        for note in (*index.notes, *disagreements(self.camera, index)):
            self._say(note, found.name, once=True)
        if own is not None:
            return index, 0, None
        start_s, end_s = (_seconds(said.get(f"videos/{self.camera.name}/{edge}_timestamp")) for edge in ("from", "to"))
        if start_s is not None:
            return index, round(start_s * 1e9), None if end_s is None else round(end_s * 1e9)
        if len(index) <= rows[-1]:
            raise DataError(f"meta/episodes does not say where it begins in {found}")
        # Without metadata, a table and a video with the same numbers hold the same rows.
        self._say(
            "meta/episodes does not say where they begin in their video, so it is taken from their rows", str(file)
        )
        start, end = (int(index.times_ns[row] - index.times_ns[0]) for row in (rows[0], rows[-1]))
        return index, start, end

    def _shared_video(self, said: dict[str, Any], file: Path) -> Path:
        """The video of several episodes: that of the metadata, or else the one with the numbers of the table."""
        chunk, place = (said.get(f"videos/{self.camera.name}/{what}_index") for what in ("chunk", "file"))
        numbers = (chunk, place) if isinstance(chunk, int) and isinstance(place, int) else same_numbers(file)
        found = self.files.videos.get((self.camera.folder, *numbers)) if numbers else None
        if found is None:
            raise DataError(f"its video of {self.camera.name} is not there")
        return found

    def _matched(
        self, row_ns: Nanoseconds, index: VideoIndex, start_ns: int, end_ns: int | None, name: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and the frames of the video that belong to them."""
        frame_ns = index.times_ns - index.times_ns[0] - start_ns
        half = 0.5e9 / (index.rate_hz or self.files.rate_hz)
        inside = frame_ns >= -half
        if end_ns is not None:
            inside &= frame_ns <= end_ns - start_ns + half
        own = np.flatnonzero(inside)
        if abs(len(own) - len(row_ns)) > 1:
            lengths = f"{plural(len(row_ns), 'row')}, {plural(len(own), 'frame')}"
            self._say("table and video differ in length", f"{name} ({lengths})")
        if self.match == "number":
            both = np.arange(min(len(own), len(row_ns)))
            return both, own[both]
        check_clocks(row_ns, frame_ns[own])
        places, frames = match_rows(row_ns, frame_ns[own])
        if len(places) < len(row_ns):
            lost = f"{name} ({len(row_ns) - len(places)} of {len(row_ns)})"
            self._say("rows left out, because no frame is within half a frame of their time", lost)
        return places, own[frames]

    def _say(self, what: str, episode: str, once: bool = False) -> None:
        said = self.odd.setdefault(what, [])
        if not once or episode not in said:
            said.append(episode)

    def notes(self) -> Iterator[str]:
        """What was odd, each once with some of its episodes, and what was left out."""
        for what, episodes in self.odd.items():
            more = f" and {len(episodes) - _SHOWN} more" if len(episodes) > _SHOWN else ""
            text = f"{what}: {', '.join(episodes[:_SHOWN])}{more}"
            yield Remark(text) if isinstance(what, Remark) else text
        yield from self.left[:_SHOWN]
        if len(self.left) > _SHOWN:
            yield f"{len(self.left) - _SHOWN} more recordings or tables are left out"


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else None


def _attributes(said: dict[str, Any]) -> dict[str, str]:
    tasks = said.get("tasks")
    return {"task": "; ".join(map(str, tasks))} if isinstance(tasks, list) and tasks else {}


def _first(column: pa.ChunkedArray) -> int | None:
    """The first value of a column of whole numbers; None for one of another kind, which may hold anything."""
    import pyarrow as pa

    return column[0].as_py() if pa.types.is_integer(column.type) else None
