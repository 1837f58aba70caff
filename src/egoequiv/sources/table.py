"""Pictures or a video beside a table of poses or sensor columns; also pictures alone."""

from __future__ import annotations

import itertools
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, NoMotion
from egoequiv.pose.track import ColumnRule, Interpolation
from egoequiv.remarks import Remark
from egoequiv.signatures import checked_settings
from egoequiv.sources import table_columns as usual
from egoequiv.sources.logged import LoggedRecording, seconds_since_first
from egoequiv.sources.recording import Listed, Source
from egoequiv.sources.sequences import in_order_of_capture
from egoequiv.sources.table_columns import one_column, words_of
from egoequiv.sources.table_frames import (
    PICTURE_SUFFIXES,
    OnDisk,
    choose_camera,
    find_times,
    frame_stamps,
    look_below,
    resolve_file,
)
from egoequiv.sources.table_groups import Keys, groups_of_rows
from egoequiv.sources.table_motion import choose_columns, read_motion
from egoequiv.sources.table_notes import notes_on_columns
from egoequiv.sources.table_recordings import Rows
from egoequiv.sources.table_settings import FILE, TableSettings, read_declarations
from egoequiv.sources.tables import SUFFIXES, Table, read_table
from egoequiv.sources.video_frames import SUFFIXES as VIDEO_SUFFIXES

_LOOK = 200  # rows, to see what a table holds
_MOST_EXTRAS = 32
_MOST_FOLDERS = 100  # that are looked into for a first picture
_WORTH = {"pose": 6, "plane": 6, "rates": 5, "angles": 4, "columns": 3, "none": 0}  # of what a table may hold


def table(
    path: Path,
    *,
    poses: str | None = None,
    times: str | None = None,
    camera: str | None = None,
    file: str | None = None,
    time: str | None = None,
    frame: str | None = None,
    recording: str | None = None,
    label: str | None = None,
    position: str | None = None,
    rotation: str | None = None,
    columns: str | None = None,
    rates: str | None = None,
    axes: str | None = None,
    quaternion: str | None = None,
    mount: str | None = None,
    time_unit: str | None = None,
    length_unit: str | None = None,
    angle_unit: str | None = None,
    offset_s: float | None = None,
    max_gap_s: float | None = None,
    interpolation: Interpolation | None = None,
    rule: ColumnRule | None = None,
    rate_hz: float | None = None,
    outside: bool | None = None,
) -> Source:
    """Read a folder with pictures or a video and a CSV, JSON lines or Parquet table; or a table with its pictures.

    Columns are found by their usual names; `TableSettings` says what each setting declares. Settings may also stand
    in the section [table] of a file egoequiv.toml beside the data; those given here win.
    """
    given = {name: value for name, value in locals().items() if name != "path" and value is not None}
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist")
    root = path if path.is_dir() else path.parent
    declarations = checked_settings(f"{root / FILE}", table, read_declarations(root), taken=("path",))
    settings = TableSettings(**{**_of_file(path), **declarations, **given})
    return _open(path, root, settings)


def _of_file(path: Path) -> dict[str, Any]:
    """What a path to a single file says: the table, or the video and the table of its name."""
    if path.is_dir():
        return {}
    if not path.name.lower().endswith(VIDEO_SUFFIXES):
        return {"poses": path.name}
    beside = [path.with_suffix(suffix).name for suffix in SUFFIXES if path.with_suffix(suffix).is_file()]
    return {"camera": path.name} | ({"poses": beside[0]} if beside else {"poses": "-"})


def _open(path: Path, root: Path, settings: TableSettings) -> Source:
    notes: list[str] = []
    disk = look_below(root, depth=4 if path.is_dir() or path.suffix.lower() in SUFFIXES else 0)
    found, listed = _choose_table(root, settings, disk, notes)
    if found is None:
        return _without_table(path, disk, settings, notes, listed)
    name = path.resolve().name if path.is_dir() else path.stem
    keys = _keys(found, settings, disk)
    groups, names = groups_of_rows(keys, found, name, disk, settings.outside)
    choice = choose_columns(found, settings, keys.names, has_time=bool(keys.time))
    motion = read_motion(found, choice, settings, groups)
    notes += [*found.notes, *motion.notes]
    notes += notes_on_columns(found, choice, settings, keys.names)
    extras, extra_names = _extras(found, keys, motion.choice.names, motion.good, motion.space.pose_names)
    times = find_times([root, *(root / one for one in disk.pictures)], settings, found.path)
    rows = Rows(found, keys, motion, extras, disk, times, settings, notes)
    recordings = _recordings(rows, groups, names, listed)
    pose_names = (*motion.space.pose_names, *extra_names)
    described = {one.name: getattr(settings, one.name) for one in fields(settings)}
    if len(choice.rotation) == 4:  # what a user has to type to read the same columns in another order
        described |= {"rotation": ",".join(choice.rotation), "quaternion": choice.order}
    return Source(
        *("table", motion.space, recordings, {"path": str(path), **described}, pose_names),
        notes=tuple(dict.fromkeys(notes)),
        listed=tuple(listed),
        convention=motion.convention,
    )


def _choose_table(
    root: Path, settings: TableSettings, disk: OnDisk, notes: list[str]
) -> tuple[Table | None, list[Listed]]:
    """The table that tells most of the motion; others are listed."""
    if settings.poses == "-":
        return None, []
    if settings.poses:
        chosen = read_table(root / settings.poses)
        return chosen, [Listed("table", chosen.path.name, plural(len(chosen), "row"))]
    worth: dict[Path, float] = {}
    problems: list[DataError] = []
    for path in sorted(root.iterdir(), key=lambda one: in_order_of_capture(one.name)):
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("."):
            try:
                worth[path] = _worth(read_table(path, _LOOK), settings, disk)
            except DataError as problem:
                problems.append(problem)
                notes.append(f"{path.name} left out: {problem}")
            except ConfigError:
                worth[path] = 0.0  # it does not have the declared columns
    if not worth:
        if problems:
            raise problems[0]
        return None, []
    best = max(worth, key=lambda one: worth[one])
    if worth[best] <= 0 and any(
        getattr(settings, name) for name in ("position", "rotation", "columns", "rates", "file")
    ):
        _worth(read_table(best, _LOOK), settings, disk)  # says which declared column is missing
    listed = [
        Listed("table", one.name, ", ".join(list(read_table(one, 1).columns)[:12]), one == best, f"poses={one.name}")
        for one in worth
    ]
    if worth[best] <= 0:
        notes.append(f"{best.name} has no column that says anything of the pictures, and is not used")
        return None, listed
    if len(worth) > 1:
        other = next(one for one in worth if one != best)
        notes.append(Remark(f"table {best.name} of {len(worth)}: choose with --read poses={other.name}"))
    return read_table(best), listed


def _worth(look: Table, settings: TableSettings, disk: OnDisk) -> float:
    """How much a table says: of motion first, then of the frames that its rows belong to."""
    keys = _keys(look, settings, disk)
    motion = _WORTH[choose_columns(look, settings, keys.names, has_time=bool(keys.time)).kind]
    return motion + 0.5 * bool(keys.file) + 0.2 * bool(keys.frame) + 0.1 * bool(keys.time) + 0.1 * bool(keys.label)


def _keys(found: Table, settings: TableSettings, disk: OnDisk) -> Keys:
    """The columns that name the frame of a row."""
    file = one_column(found, settings.file, "file", usual.FILE)
    if file and not settings.file and not _names_pictures(found, file, disk):
        file = ""
    time = one_column(found, settings.time, "time", usual.TIME, [file])
    frame = one_column(found, settings.frame, "frame", usual.FRAME, [file, time])
    recording = one_column(found, settings.recording, "recording", usual.RECORDING, [file, time, frame])
    label = one_column(found, settings.label, "label", usual.LABEL, [file, time, frame, recording])
    return Keys(file, frame, time, recording, label)


def _names_pictures(found: Table, column: str, disk: OnDisk) -> bool:
    """Whether a column holds names of pictures: not numbers, unless pictures are named so."""
    first = next((text for text in found.texts(column) if text), "")
    return bool(first) and (not found.is_numeric(column) or resolve_file(disk, first, outside=True) is not None)


def _extras(
    found: Table, keys: Keys, used: tuple[str, ...], good: Any, taken: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Further columns of numbers, whole in every row that is used, and their names in a store."""
    extras: dict[str, str] = {}
    free = [word for word in words_of(found) if word.name not in keys.names | set(used)]
    for word in free:
        name = word.column if word.column not in (*taken, *CAMERA_POSES, *extras) else f"{word.column} of the table"
        is_whole = found.is_numeric(word.name) and np.isfinite(found.numbers(word.name)[good].astype(np.float64)).all()
        if is_whole and len(extras) < _MOST_EXTRAS:
            extras[name] = word.name
    return tuple(extras.values()), tuple(extras)


def _recordings(rows: Rows, groups: Any, names: Any, listed: list[Listed]) -> list[LoggedRecording]:
    """Every recording that has frames; what is left out is noted."""
    chosen = ""
    if not rows.keys.file and len(names) == 1:
        chosen = choose_camera(rows.disk, rows.settings.camera, rows.table.path.stem, rows.notes)
    found: list[LoggedRecording] = []
    for number, name in enumerate(names):
        every = np.flatnonzero(groups == number)
        own = every[rows.motion.good[every]]
        camera = chosen if len(names) == 1 else rows.disk.named(name)
        try:
            if rows.keys.file:
                found += rows.in_parts(rows.of_files(name, own, every))
            elif camera is None:
                raise DataError(f"no folder of pictures and no video is named {name}")
            else:
                found += rows.in_parts(rows.of_camera(name, own, camera))
        except DataError as problem:
            if len(names) == 1:
                raise
            rows.notes.append(f"recording {name} left out: {problem}")
    if not rows.keys.file:
        listed += [Listed("camera", c or ".", "", c == chosen, f"camera={c or '.'}") for c in rows.disk.cameras]
    kept = [one for one in found if len(one)]
    if len({one.times_s is None for one in kept}) > 1:
        raise DataError(f"{rows.table.path}: some recordings have times and others none: give --read rate_hz=")
    if not kept:
        raise DataError(f"{rows.table.path}: no row belongs to a picture: {'; '.join(rows.notes[-3:])}")
    return kept


def _without_table(path: Path, disk: OnDisk, settings: TableSettings, notes: list[str], listed: list[Listed]) -> Source:
    """Folders of pictures, in the natural order of their names, or videos; nothing is known of their motion."""
    cameras = sorted(disk.cameras, key=in_order_of_capture)
    if settings.camera:
        cameras = [choose_camera(disk, settings.camera, "", notes)]
    if not cameras:
        raise DataError(f"{path} has neither a table ({', '.join(SUFFIXES)}) nor pictures nor a video")
    recordings = []
    for camera in cameras:
        try:
            reader = disk.reader(camera)
        except DataError as problem:
            notes.append(f"recording {camera} left out: {problem}")
            continue
        times = find_times([disk.root / camera] if camera in disk.pictures else [], TableSettings(), None)
        stamps = frame_stamps(reader, times, settings.rate_hz, notes)
        times_s = None if stamps is None else seconds_since_first(stamps)
        name = camera or path.resolve().name
        recordings.append(LoggedRecording(name, np.empty((len(reader), 0)), times_s, reader, np.arange(len(reader))))
    if not recordings:
        raise DataError(f"{path}: {'; '.join(notes)}")
    if len({one.times_s is None for one in recordings}) > 1:
        notes.append("some recordings have times and others none, so none are used")
        recordings = [LoggedRecording(r.name, r.poses, None, r.reader, r.rows) for r in recordings]
    notes.append(Remark("pictures without a table: nothing is known of their motion"))
    listed += [Listed("camera", one.name, plural(len(one), "frame")) for one in recordings]
    described = {"path": str(path), "camera": settings.camera, "rate_hz": settings.rate_hz}
    return Source("table", NoMotion(), recordings, described, notes=tuple(notes), listed=tuple(listed))


def is_table(path: Path) -> bool:
    """A table, or a folder with one and with pictures or a video."""
    if path.is_file():
        return path.suffix.lower() in SUFFIXES
    return path.is_dir() and any(one.suffix.lower() in SUFFIXES for one in path.iterdir()) and is_pictures(path)


def is_pictures(path: Path) -> bool:
    """A video, or a folder with pictures or videos in it or below it."""
    if path.is_file():
        return path.name.lower().endswith(VIDEO_SUFFIXES)
    below = itertools.islice(os.walk(path, followlinks=True), _MOST_FOLDERS)
    return any(name.lower().endswith((*PICTURE_SUFFIXES, *VIDEO_SUFFIXES)) for _, _, files in below for name in files)
