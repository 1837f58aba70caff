"""Recordings of a table: its rows brought together with the frames that they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.pose import ColumnTrack, PoseTrack
from egoequiv.pose.clock import Nanoseconds, nearest_in_time, read_clock
from egoequiv.pose.track import longest_gap_ns
from egoequiv.remarks import Remark
from egoequiv.sources.logged import (
    FrameReader,
    LoggedRecording,
    PictureFiles,
    Timing,
    VideoFrames,
    seconds_since_first,
    start_of,
    values_at_frames,
)
from egoequiv.sources.table_frames import FrameTimes, OnDisk, frame_stamps, numbers_in_names, resolve_file
from egoequiv.sources.table_groups import Keys, other_folders
from egoequiv.sources.table_motion import Motion
from egoequiv.sources.table_settings import TableSettings
from egoequiv.sources.table_units import time_unit_of
from egoequiv.sources.tables import Table
from egoequiv.sources.trees import FolderTree

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """All that is known of the rows of a table."""

    table: Table
    keys: Keys
    motion: Motion
    extras: tuple[str, ...]  # further columns of numbers
    disk: OnDisk
    times: FrameTimes | None
    settings: TableSettings
    notes: list[str] = field(default_factory=list)
    parts: dict[str, Indices] = field(default_factory=dict)  # by recording, after how many gaps each of its frames lies

    def of_files(self, name: str, rows: Indices, every: Indices) -> LoggedRecording:
        """A recording with a picture file in each row; `every` row counts, those without a motion too."""
        rows, stamps = self._in_time(rows)
        names = self.table.texts(self.keys.file)
        number_of = {text: number for number, text in enumerate(dict.fromkeys(names[row] for row in every))}
        found = {int(row): self._file(int(row), names[row]) for row in rows}
        there = {path: row for row, path in reversed(found.items()) if path is not None}  # the first row of each
        kept = np.array([k for k, row in enumerate(rows) if there.get(found[int(row)] or "") == row], np.int64)
        if len(kept) < len(rows):
            missing = [names[row] for row, path in found.items() if path is None]
            twice = len(rows) - len(kept) - len(missing)
            absent = plural(len(missing), "picture is", "pictures are")
            what = [f"{absent} missing, such as {missing[0]!r}"] if missing else []
            what += [f"{twice} name a picture again"] if twice else []
            self.notes.append(f"{name}: {len(rows) - len(kept)} of {len(rows)} rows left out: {', '.join(what)}")
        self.notes.extend(other_folders(name, {names[row]: path for row, path in found.items() if path is not None}))
        reader = PictureFiles(FolderTree(self.disk.root), tuple(str(found[int(rows[k])]) for k in kept))
        numbers = np.array([number_of[names[row]] for row in rows[kept]], np.int64)
        if stamps is None:
            own = frame_stamps(reader, self.times, self.settings.rate_hz, self.notes, numbers)
        else:
            own = stamps[kept]
        made = self._recording(name, reader, np.arange(len(kept)), rows[kept], own)
        return replace(made, numbers=numbers[made.rows])

    def _file(self, row: int, name: str) -> str | None:
        try:
            return resolve_file(self.disk, name, self.settings.outside) if name else None
        except DataError as problem:
            raise DataError(f"{self.table.where(row, self.keys.file)}: {problem}") from None

    def of_camera(self, name: str, rows: Indices, camera: str) -> LoggedRecording:
        """A recording whose rows belong to the frames of a folder of pictures or of a video."""
        reader = self.disk.reader(camera)
        if self.keys.frame and (places := self._places(name, rows, reader)) is not None:
            order = np.argsort(places, kind="stable")
            order = order[np.concatenate([[True], np.diff(places[order]) > 0])] if len(order) else order
            kept = order[(places[order] >= 0) & (places[order] < len(reader))]
            if len(kept) < len(rows):
                self.notes.append(f"{name}: {len(rows) - len(kept)} of {len(rows)} rows name no frame, or one again")
            stamps = self._stamps_of(rows[kept])
            if stamps is None:
                all_ns = frame_stamps(reader, self.times, self.settings.rate_hz, self.notes)
                stamps = None if all_ns is None else all_ns[places[kept]]
            return self._recording(name, reader, places[kept], rows[kept], stamps)
        frame_ns = frame_stamps(reader, self.times, self.settings.rate_hz, self.notes)
        if frame_ns is not None:
            timed, own = self._in_time(rows, frame_ns)
            if own is not None:
                return self._at_times(name, reader, np.arange(len(reader)), frame_ns, timed, own)
        if len(rows) != len(reader):
            hint = (
                "name their column (--read file=, frame= or time=)"
                if not self.keys.time
                else "give --read rate_hz= or times="
            )
            raise DataError(
                f"{self.table.path.name} has {plural(len(rows), 'row')} for {plural(len(reader), 'frame')} of "
                f"{camera or 'the folder'}, "
                f"and nothing says which belong together: {hint}"
            )
        self.notes.append(
            Remark(f"{name}: rows and frames are as many, {len(rows)}, and belong together in their order")
        )
        stamps = self._stamps_of(rows)
        return self._recording(name, reader, np.arange(len(rows)), rows, frame_ns if stamps is None else stamps)

    def _places(self, name: str, rows: Indices, reader: FrameReader) -> Indices | None:
        """The frame of each row; None where the numbers are not those of frames, and times can be used."""
        numbers = self.table.numbers(self.keys.frame)[rows]
        if not np.isfinite(numbers.astype(np.float64)).all() or (numbers != np.floor(numbers)).any():
            raise DataError(f"{self.table.path.name}, column {self.keys.frame!r}: expected the whole numbers of frames")
        places = numbers.astype(np.int64)
        known = numbers_in_names(reader.files) if isinstance(reader, PictureFiles) else None
        if known is not None and len(set(known) & set(places.tolist())) > len(places) / 2:
            at = {number: place for place, number in enumerate(known)}
            return np.array([at.get(number, -1) for number in places.tolist()], np.int64)
        if len(places) and places.min() == 1 and not (self.table.numbers(self.keys.frame) == 0).any():
            self.notes.append(Remark(f"{name}: frames are counted from 1, as the smallest number is 1"))
            places = places - 1
        if self.keys.time and (places >= len(reader)).mean() > 0.1:
            self.notes.append(
                Remark(f"{name}: column {self.keys.frame!r} counts more than the frames, so times are used")
            )
            return None
        return places

    def _at_times(
        self, name: str, reader: FrameReader, frames: Indices, frame_ns: Nanoseconds, rows: Indices, stamps: Nanoseconds
    ) -> LoggedRecording:
        """Rows at their own times (R,), interpolated at the times of frames (F,)."""
        if isinstance(reader, VideoFrames) and len(stamps) and not _overlap(stamps, frame_ns):
            self.notes.append(
                Remark(
                    f"{name}: the video has a clock of its own, so its first frame is put at the first row "
                    "(--read offset_s= moves them)"
                )
            )
            frame_ns = frame_ns - frame_ns[0] + stamps[0]
        track = self.motion.track(rows, stamps, self.table.path.name)
        timing = Timing(
            self.settings.offset_s, self.settings.max_gap_s, self.settings.interpolation, self.settings.rule
        )
        values, known, notes = values_at_frames(track, frame_ns, timing, name)
        self.notes.extend(notes)
        asked = timing.shifted(frame_ns[known])
        more = ColumnTrack(stamps, self._extra(rows), self.extras).at(asked, timing.max_gap_s, timing.rule)[0]
        nearest = nearest_in_time(stamps, asked)
        poses = np.concatenate([values, more], axis=1)
        self._find_gaps(name, stamps, asked)
        return self._made(name, reader, frames[known], poses, frame_ns[known], rows[nearest])

    def _recording(
        self, name: str, reader: FrameReader, frames: Indices, rows: Indices, stamps: Nanoseconds | None
    ) -> LoggedRecording:
        """One row for each frame."""
        if self.motion.choice.kind == "rates" and stamps is None:
            raise DataError(f"{name}: rates are integrated over time, and frames have none: --read rate_hz= or time=")
        values = _values(self.motion.track(rows, stamps, self.table.path.name)) if len(rows) else self._nothing()
        if self.settings.offset_s and stamps is not None:
            return self._at_times(name, reader, frames, stamps, rows, stamps)
        if stamps is not None:
            self._find_gaps(name, stamps, stamps)
        return self._made(name, reader, frames, np.concatenate([values, self._extra(rows)], axis=1), stamps, rows)

    def _find_gaps(self, name: str, stamps: Nanoseconds, asked: Nanoseconds) -> None:
        """Rates are not known in gaps between rows, so an integral goes on only until the next one."""
        if self.motion.choice.kind == "rates":
            ends = stamps[1:][np.diff(stamps) > longest_gap_ns(stamps, self.settings.max_gap_s)]
            self.parts[name] = np.searchsorted(ends, asked, side="right")

    def in_parts(self, recording: LoggedRecording) -> list[LoggedRecording]:
        """A recording cut at the gaps of its rates."""
        after = self.parts.get(recording.name, np.zeros(len(recording), np.int64))
        cuts = np.flatnonzero(np.diff(after)) + 1
        if not len(cuts):
            return [recording]
        parts = [part for part in np.split(np.arange(len(recording)), cuts) if len(part) > 1]
        alone = len(recording) - sum(map(len, parts))
        lost = plural(alone, "frame between two gaps is", "frames between two gaps are")
        rest = f"; {lost} left out" if alone else ""
        self.notes.append(
            f"{recording.name}: cut into {len(parts)} recordings, because rates are not known in gaps (max_gap_s){rest}"
        )
        return [recording.part(f"{recording.name}/{number}", part) for number, part in enumerate(parts, 1)]

    def _nothing(self) -> Array:
        return np.empty((0, len(self.motion.space.pose_names)))

    def _made(
        self, name: str, reader: FrameReader, frames: Indices, poses: Array, stamps: Nanoseconds | None, rows: Indices
    ) -> LoggedRecording:
        texts = self.table.texts(self.keys.label) if self.keys.label else None
        labels = None if texts is None else [texts[row] or None for row in rows]
        times_s = None if stamps is None else seconds_since_first(stamps)
        start = {} if stamps is None else start_of(stamps)
        return LoggedRecording(name, poses, times_s, reader, frames, labels, start)  # type: ignore[arg-type]

    def _extra(self, rows: Indices) -> Array:
        columns = [self.table.numbers(name)[rows].astype(np.float64) for name in self.extras]
        return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))

    def _in_time(self, rows: Indices, like: Nanoseconds | None = None) -> tuple[Indices, Nanoseconds | None]:
        """Rows in order of time with their stamps; as they are where there is no column of times.

        Where two units are possible, stamps last about as long as those of the frames, `like`.
        """
        if not self.keys.time:
            return rows, None
        where = f"{self.table.path.name}, column {self.keys.time}"
        unit = self.settings.time_unit
        if unit == "auto":
            unit = time_unit_of(self.table.taken(rows), self.keys.time, like, self.notes)
        found = read_clock(self.table.times(self.keys.time)[rows], where, unit)
        self.notes.extend(note for note in found.notes if note not in self.notes)
        return rows[found.rows], found.times_ns

    def _stamps_of(self, rows: Indices) -> Nanoseconds | None:
        kept, stamps = self._in_time(rows)
        return stamps if stamps is not None and np.array_equal(kept, rows) else None


def _values(track: PoseTrack | ColumnTrack) -> Array:
    if isinstance(track, ColumnTrack):
        return track.values
    return np.concatenate([track.position_m, track.quaternion], axis=1)


def _overlap(stamps: Nanoseconds, frame_ns: Nanoseconds) -> bool:
    return bool(stamps[0] <= frame_ns[-1] and frame_ns[0] <= stamps[-1])
