"""From a source to a frame store: decode and resize every frame once, in parallel, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from egoequiv import __version__
from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.files import new_folder, readable, replacing, write_json
from egoequiv.machine import check_fits, check_memory
from egoequiv.progress import Progress, shown
from egoequiv.sources import Recording, Source
from egoequiv.store.decoding import cut_into_pieces, decode_piece, decoded_frames
from egoequiv.store.decoding import fit_image as fit_image
from egoequiv.store.frame_store import (
    ATTRIBUTE_PREFIX,
    FILE,
    FORMAT,
    IMAGES,
    INDEX,
    META,
    NO_IMAGES,
    POSE_PREFIX,
    VERSION,
    FrameStore,
)

_SMALL = 400  # below this many frames, starting worker processes costs more than it saves
_FRAMES_MOVED = 256  # at once, when gaps are closed


def ingest(
    source: Source,
    out: str | Path,
    *,
    size: tuple[int, int] | None = None,
    color: bool = False,
    workers: int = 1,
    overwrite: bool = False,
    strict: bool = False,
    engine: Engine | None = None,
    progress: bool = True,
    on_progress: Progress | None = None,
    inputs: str | None = None,
) -> FrameStore:
    """Decode the frames of a source and write them as a store.

    More than one worker needs a script whose main part is under `if __name__ == "__main__":`.

    Args:
        source: where the frames come from, such as `open_source("kitti", folder)`.
        out: the folder of the store; it appears when the store is complete.
        size: (height, width) to which pictures are resized; by default that of the first picture.
        color: whether to keep colour; by default pictures are turned to gray.
        workers: how many processes decode.
        overwrite: whether a store that is there already is replaced.
        strict: whether a picture that cannot be read is an error; by default it is left out, and a note says so.
        engine: where the work is done, in place of `workers`. All machines of a Ray cluster have to see the source's
            files and `out`.
        progress: whether to show on stderr how far it is.
        on_progress: called with the frames done and the frames in all, in place of what `progress` shows.
        inputs: what identifies the files that the frames come from; kept in the store's description.

    Returns:
        The store, opened.
    """
    out = Path(out)
    if strict and source.notes:
        raise DataError(f"{source.notes[0]} (stopped because of strict)")
    if not source.frame_count:
        raise DataError(f"source {source.name!r} has no frames")
    _check(source)
    shape = (source.frame_count, *_image_shape(source, size, color))
    _check_room(out, shape)
    if overwrite and out.is_dir() and any(out.iterdir()) and not (out / META).exists():
        raise DataError(f"{out} is not empty and not a frame store: choose another name")
    with new_folder(out, overwrite) as folder:
        broken: dict[int, str] = {}
        if source.has_images:
            _reserve(folder / IMAGES, shape)
            chosen = _engine(engine, workers, shape[0])
            with shown("frames", progress and on_progress is None) as update:
                broken = _fill(source.recordings, folder / IMAGES, shape, strict, chosen, on_progress or update)
            _leave_out(folder / IMAGES, broken)
        _write_index(source, folder / INDEX, broken)
        write_json(
            folder / META,
            {
                "format": FORMAT,
                "version": VERSION,
                "made_by": f"egoequiv {__version__}",
                "source": source.name,
                "settings": dict(source.settings),
                "space": source.space.describe(),
                "notes": [*source.notes, *_broken_notes(broken)],
                "frames": shape[0] - len(broken),
                "image_shape": list(shape[1:]),
                **({} if inputs is None else {"inputs": inputs}),
            },
        )
    return FrameStore.open(out)


def _image_shape(source: Source, size: tuple[int, int] | None, color: bool) -> list[int]:
    """Height, width and channels of the store's images."""
    if not source.has_images:
        return NO_IMAGES
    height, width = size or _first_image_size(source)
    if min(height, width) < 1:
        raise ConfigError(f"size {height} x {width}: expected at least 1 x 1")
    return [height, width, 3 if color else 1]


def _check_room(out: Path, shape: tuple[int, ...]) -> None:
    """Refuse what cannot fit, before any of the work is done."""
    nearest = next(folder for folder in Path(os.path.abspath(out)).parents if folder.is_dir())
    check_fits(f"{shape[0]:,} images of {' x '.join(map(str, shape[1:]))}", prod(shape), nearest)
    check_memory(f"one image of {' x '.join(map(str, shape[1:]))}", 2 * prod(shape[1:]))  # decoded, and resized


def _first_image_size(source: Source) -> tuple[int, int]:
    for recording in source.recordings:
        for decoded in decoded_frames(recording, range(len(recording))):
            if isinstance(decoded, np.ndarray):
                return decoded.shape[0], decoded.shape[1]
            if not isinstance(decoded, BrokenFrameError):
                return decoded.height, decoded.width
    raise DataError(f"source {source.name!r}: none of its {source.frame_count} pictures can be read")


def _broken_notes(broken: dict[int, str]) -> list[str]:
    """The pictures that were left out: how many, and the first few."""
    if not broken:
        return []
    listed = "; ".join(broken[row] for row in sorted(broken)[:3])
    return [f"{len(broken)} pictures could not be read and were left out: {listed}{'; ...' if len(broken) > 3 else ''}"]


def _leave_out(path: Path, broken: dict[int, str]) -> None:
    """Close the gaps that broken pictures left, a piece at a time."""
    if not broken:
        return
    images = np.lib.format.open_memmap(path, "r")
    kept = np.setdiff1d(np.arange(len(images)), list(broken))
    if not len(kept):
        raise DataError(f"none of {len(images)} pictures can be read: {broken[min(broken)]}")
    whole = path.with_suffix(".whole")
    _reserve(whole, (len(kept), *images.shape[1:]))
    target = np.lib.format.open_memmap(whole, "r+")
    for start in range(0, len(kept), _FRAMES_MOVED):
        target[start : start + _FRAMES_MOVED] = images[kept[start : start + _FRAMES_MOVED]]
    target.flush()
    whole.replace(path)


def _reserve(path: Path, shape: tuple[int, ...]) -> None:
    """Create the image file with its full length on disk: a disk that is too small says so now, not by a bus error."""
    try:
        np.lib.format.open_memmap(path, "w+", np.uint8, shape)
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as problem:
        raise DataError(
            f"no room for {prod(shape) / 1e6:.1f} MB of images at {path.parent.parent}: {problem}"
        ) from problem


def _check(source: Source) -> None:
    """Check all that can be checked before the first frame is decoded."""
    for name in source.space.pose_names:
        if name not in source.pose_columns:
            have = ", ".join(source.pose_columns) or "none"
            raise DataError(
                f"source {source.name!r}: its space reads the pose column {name!r}; its columns are: {have}"
            )
    seen: set[str] = set()
    row = 0
    for recording in source.recordings:
        if (name := readable(recording.name)) in seen:
            raise DataError(f"source {source.name!r} has two recordings of the name {name!r}")
        seen.add(name)
        for what, values in (("times", recording.times_s), ("labels", recording.labels)):
            if values is not None and len(values) != len(recording):
                raise DataError(f"{recording.name} has {len(recording)} frames but {len(values)} {what}")
        if np.shape(recording.poses) != (len(recording), len(source.pose_columns)):
            wanted = f"{len(recording)} x {len(source.pose_columns)} ({', '.join(source.pose_columns)})"
            raise DataError(f"{recording.name}: expected poses of {wanted}, found {np.shape(recording.poses)}")
        if (recording.times_s is None) != (source.recordings[0].times_s is None):
            raise DataError(f"{recording.name}: either all recordings have times or none")
        if recording.times_s is not None and not np.isfinite(recording.times_s).all():
            raise DataError(f"{recording.name}: a time is not finite")
        bad = np.flatnonzero(~np.isfinite(recording.poses).all(axis=1))
        if len(bad):
            pose = recording.poses[bad[0]].tolist()
            raise DataError(f"source {source.name!r}: the pose of frame {row + int(bad[0])} is not finite: {pose}")
        row += len(recording)


def _fill(
    recordings: Sequence[Recording], path: Path, shape: tuple[int, ...], strict: bool, engine: Engine, report: Progress
) -> dict[int, str]:
    """Decode every frame into its row; the rows of those that cannot be read come back with the reason."""
    total = shape[0]
    report(0, total)
    decode = partial(decode_piece, recordings, path, shape, strict)
    pieces = cut_into_pieces(recordings, prod(shape[1:]))
    parts = engine.run(decode, pieces, lambda done: report(done, total), short=True)
    return {row: reason for broken in parts for row, reason in broken.items()}


def _engine(engine: Engine | None, workers: int, frames: int) -> Engine:
    chosen = engine or LocalEngine(workers)
    return LocalEngine(1) if isinstance(chosen, LocalEngine) and frames < _SMALL else chosen


def _write_index(source: Source, path: Path, broken: dict[int, str]) -> None:
    lengths = [len(recording) for recording in source.recordings]
    columns: dict[str, pa.Array] = {
        "recording": _texts(np.repeat([r.name for r in source.recordings], lengths)),
        "frame": pa.array(np.concatenate([np.arange(n) for n in lengths])),
        "time_s": pa.array(_concatenated(source, "times_s"), pa.float64()),
        "label": _texts(_concatenated(source, "labels")),
    }
    files = [_readable(recording.file_name(k)) for recording in source.recordings for k in range(len(recording))]
    if any(name is not None for name in files):
        columns[FILE] = pa.array(files, pa.string())
    poses = np.concatenate([recording.poses for recording in source.recordings])
    for column, name in enumerate(source.pose_columns):
        columns[POSE_PREFIX + name] = pa.array(poses[:, column])
    for name in dict.fromkeys(key for recording in source.recordings for key in recording.attributes):
        values = [recording.attributes.get(name, "") for recording in source.recordings]
        columns[ATTRIBUTE_PREFIX + name] = _texts(np.repeat(values, lengths))
    table = pa.table(columns)
    if broken:
        table = table.take(np.setdiff1d(np.arange(table.num_rows), list(broken)))
    with replacing(path) as temporary, open(temporary, "wb") as file:  # Arrow opens no name that is not UTF-8
        pq.write_table(table, file, compression="zstd")


def _texts(values: Iterable[object]) -> pa.Array:
    """A column of text. Names of files and folders that are not UTF-8 have their bytes escaped, such as caf\\xe9."""
    try:
        return pa.array(values, pa.string())
    except UnicodeError:
        return pa.array([None if value is None else readable(str(value)) for value in values], pa.string())


def _concatenated(source: Source, field: str) -> list[object]:
    """One field of all frames; None for those of recordings that do not have it."""
    values: list[object] = []
    for recording in source.recordings:
        own = getattr(recording, field)
        values += [None] * len(recording) if own is None else list(own)
    return values


def _readable(name: str | None) -> str | None:
    """A file name as text; bytes that are not UTF-8 become a question mark."""
    return None if name is None else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
