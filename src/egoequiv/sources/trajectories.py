"""Trajectory files: one row of a time, a position and a quaternion for each pose; frames get the pose at their time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.clock import Nanoseconds, read_clock, with_own_stamp
from egoequiv.pose.conventions import are_unit_quaternions
from egoequiv.pose.rigid import SE3Space
from egoequiv.pose.track import CAMERA_POSES, PoseTrack
from egoequiv.remarks import Remark
from egoequiv.sources.logged import (
    LoggedRecording,
    NoFrames,
    PictureFiles,
    Timing,
    seconds_since_first,
    start_of,
    values_at_frames,
)
from egoequiv.sources.recording import Listed, Recording, Source
from egoequiv.sources.sequences import FilesThere, named, pictures_in, present, stream_words
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]
Clock = NDArray[np.int64] | NDArray[np.float64]

COLUMNS = 8  # time, x y z, and four of a quaternion
_WHOLE = re.compile(r"[0-9]{1,18}|[1-8][0-9]{18}")  # those that 64 bits hold
_LONGEST_ROW = 4000  # characters; a longer one is not a row of a table


@dataclass
class TimedSequences:
    """Reads trajectories and the pictures that belong to them, and keeps what there is to say about them."""

    timing: Timing
    time_unit: str = "auto"
    notes: list[str] = field(default_factory=list)
    listed: list[Listed] = field(default_factory=list)

    def source(
        self, name: str, recordings: list[Recording], settings: dict[str, Any], *, has_images: bool, convention: str
    ) -> Source:
        """The source of these recordings, with what there is to say about them."""
        return Source(
            name,
            SE3Space(),
            recordings,
            settings,
            pose_names=CAMERA_POSES,
            has_images=has_images,
            notes=tuple(dict.fromkeys(self.notes)),
            listed=tuple(self.listed),
            convention=convention,
        )

    def choose_camera(self, cameras: Mapping[str, str], asked: str, usual: str, where: str) -> str:
        """The requested camera, or the usual one, of those there are with their files; others are listed."""
        chosen = asked or usual
        if chosen not in cameras:
            raise ConfigError(f"camera={chosen!r}: {where} has {', '.join(cameras)}, or none")
        others = [name for name in cameras if name != chosen]
        self.listed += [Listed("camera", name, cameras[name], False, f"camera={name}") for name in others]
        if others and not asked:
            self.notes.append(Remark(f"camera {chosen} of {len(cameras)}: choose with --read camera={others[0]}"))
        return chosen

    def track(self, tree: Tree, file: str, *, order: str, axes: str, mount: Array | None = None) -> PoseTrack:
        """The track of the camera from a file of time, x y z and a quaternion; rows without a rotation are left out.

        Args:
            tree: where the file is.
            file: its path.
            order: of the quaternion: xyzw or wxyz.
            axes: where x, y and z of the camera point.
            mount: T_body_camera (4, 4), if the poses are those of a body.

        """
        where = tree.where(file)
        stamps, values = number_rows(decode(tree.read(file)), where, COLUMNS, self.notes)
        usable = are_unit_quaternions(values[:, 3:])
        if not usable.any():
            raise DataError(
                f"{where}: no row has a quaternion of length 1, the first is {values[0, 3:].tolist()}: are these the "
                "columns of a trajectory (time, position, quaternion)?"
            )
        if not usable.all():
            first = values[int(np.flatnonzero(~usable)[0]), 3:].tolist()
            self.notes.append(
                f"{where}: {int((~usable).sum())} of {len(values)} poses left out, their quaternion is not of length "
                f"1: first {first}"
            )
        usable, more = with_own_stamp(stamps, usable, where)
        clock = read_clock(stamps[usable], where, self.time_unit)
        self.notes += [*more, *clock.notes]
        rows = values[usable][clock.rows]
        self.listed.append(Listed("poses", file, stream_words(clock.times_ns, "poses")))
        return PoseTrack.of(clock.times_ns, rows[:, :3], rows[:, 3:], where, axes=axes, order=order, mount=mount)

    def pictures(
        self, name: str, tree: Tree, table: str, folders: Sequence[str], track: PoseTrack, camera: str
    ) -> LoggedRecording:
        """Picture files, each with the pose at its time.

        Args:
            name: of the recording.
            tree: where the files are.
            table: a file of rows of a time and a file name.
            folders: where the files are looked for; if there is no table, those in the first have their time as name.
            track: the poses.
            camera: how the camera is listed.

        """
        stamps, names = self._picture_list(tree, table, folders[0])
        clock = read_clock(stamps, f"{name}, pictures", self.time_unit)
        self.notes += clock.notes
        names = [names[row] for row in clock.rows]
        found = FilesThere(tree).find(names, folders, name, self.notes)
        files, at = present(found, names, name, self.notes)
        times_ns: Nanoseconds = clock.times_ns[at]
        self.listed.append(Listed("camera", camera, stream_words(times_ns, "frames"), choose=f"camera={camera}"))
        poses, rows, more = values_at_frames(track, times_ns, self.timing, name)
        if not len(rows):
            raise DataError(more[0] if more else f"{name}: none of its {len(names)} pictures is there")
        self.notes += more
        return LoggedRecording(
            name=name,
            poses=poses,
            times_s=seconds_since_first(times_ns[rows]),
            reader=PictureFiles(tree, tuple(files)),
            rows=rows,
            attributes=start_of(times_ns[rows]),
            numbers=clock.rows[at][rows],
        )

    def _picture_list(self, tree: Tree, table: str, folder: str) -> tuple[Clock, list[str]]:
        """Times and names of pictures; without a table, the names of the files are their times."""
        where = tree.where(table)
        parent, _, file = table.rpartition("/")
        if file not in tree.files(parent):
            names = pictures_in(tree, folder)
            self.notes.append(Remark(f"{where} is missing: the names of {len(names)} pictures are their times"))
            return stamps_of([name.rpartition(".")[0] for name in names]), names
        rows = [(line, re.split(r"[,\s]+", row, maxsplit=1)) for line, row in data_rows(decode(tree.read(table)))]
        whole = [words for _, words in rows if len(words) == 2 and words[1]]
        if len(whole) < len(rows):
            line, words = next((line, words) for line, words in rows if len(words) < 2 or not words[1])
            self.notes.append(
                f"{where}: {len(rows) - len(whole)} of {len(rows)} rows are not a time and a file, first line {line}, "
                f"{named(' '.join(words))}"
            )
        return stamps_of([words[0] for words in whole]), [words[1] for words in whole]


def poses_alone(name: str, track: PoseTrack) -> LoggedRecording:
    """A trajectory without pictures, as a recording."""
    poses = np.concatenate([track.position_m, track.quaternion], axis=1)
    times_s, rows = seconds_since_first(track.times_ns), np.arange(len(poses))
    return LoggedRecording(name, poses, times_s, NoFrames(), rows, attributes=start_of(track.times_ns))


def decode(data: bytes) -> str:
    """Text; bytes that are not UTF-8 become a mark, so that a comment in another encoding does no harm."""
    return data.decode("utf-8-sig", "replace")


def data_rows(text: str) -> list[tuple[int, str]]:
    """The rows that are neither blank nor a comment, with their line numbers from 1."""
    lines = enumerate(text.split("\n"), 1)
    return [(k, line.strip()[:_LONGEST_ROW]) for k, line in lines if line.strip() and not line.lstrip().startswith("#")]


def number_rows(text: str, where: str, least: int, notes: list[str]) -> tuple[Clock, Array]:
    """The times and the other numbers of a table, (N,) and (N, `least` - 1); broken rows are counted and left out.

    Between numbers are commas, blanks or both; what follows them is not read. A first row of names is not broken.
    """
    rows = data_rows(text)
    stamps: list[str] = []
    values: list[list[float]] = []
    broken: list[int] = []
    for place, (line, row) in enumerate(rows):
        words = row.replace(",", " ").split()
        numbers = [_number(word) for word in words[:least]]
        if len(numbers) >= least and all(map(isfinite, numbers)):
            stamps.append(words[0])
            values.append(numbers[1:])
        elif place or not row[:1].isalpha():
            broken.append(line)
    if not values:
        found = f"the first row is {rows[0][1][:60]!r}" if rows else "it has no rows"
        raise DataError(f"{where}: expected rows of {least} numbers; {found}")
    if broken:
        notes.append(f"{where}: {len(broken)} of {len(rows)} rows are not {least} numbers, first line {broken[0]}")
    return stamps_of(stamps), np.array(values)


def stamps_of(words: Sequence[str]) -> Clock:
    """Times as they are written: whole numbers keep all their digits."""
    if all(_WHOLE.fullmatch(word) for word in words):
        return np.array([int(word) for word in words], np.int64)
    return np.array([_number(word) for word in words], np.float64)


def _number(word: str) -> float:
    try:
        return np.nan if "_" in word else float(word)
    except ValueError:
        return np.nan
