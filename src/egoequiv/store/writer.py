"""From a source to a frame store: decode and resize every frame once, in parallel, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b, file_digest, sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from egoequiv import __version__
from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.file_names import readable
from egoequiv.files import new_folder, replacing, write_json
from egoequiv.machine import check_fits, check_memory
from egoequiv.plurals import plural
from egoequiv.progress import Progress, shown
from egoequiv.sources import Recording, Source
from egoequiv.sources.check import check_source
from egoequiv.sources.decoded import decoded_frames
from egoequiv.store.decoding import cut_into_pieces, decode_piece, forget_journals, pieces_done
from egoequiv.store.decoding import fit_image as fit_image
from egoequiv.store.frame_store import (
    ATTRIBUTE_PREFIX,
    FILE,
    FORMAT,
    IMAGES,
    INDEX,
    LOG_FRAME,
    META,
    NO_IMAGES,
    POSE_PREFIX,
    VERSION,
    FrameStore,
)
from egoequiv.store.lenses import LENSES, described_lenses
from egoequiv.user_code import is_built_in, user_code

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
        strict: whether anything that would be left out, a picture that cannot be read too, is an error; by default a
            note says so. Remarks, which leave nothing out, are none.
        engine: where the work is done, in place of `workers`. All machines of a Ray cluster have to see the source's
            files and `out`.
        progress: whether to show on stderr how far it is.
        on_progress: called with the frames done and the frames in all, in place of what `progress` shows.
        inputs: what identifies the files that the frames come from; kept in the store's description. Then work that was
            stopped is continued by the next call with the same inputs, sizes and `out`.

    Returns:
        The store, opened.
    """
    out = Path(out)
    if strict and source.notes:
        raise DataError(f"{source.notes[0]} (stopped because of strict)")
    check_source(source)
    shape = (source.frame_count, *_image_shape(source, size, color))
    _check_room(out, shape)
    if overwrite and out.is_dir() and any(out.iterdir()) and not (out / META).exists():
        raise DataError(f"{out} is not empty and not a frame store: choose another name")
    key = None if inputs is None else sha256(repr((inputs, shape, strict)).encode()).hexdigest()[:16]
    with new_folder(out, overwrite, key) as folder:
        broken: dict[int, str] = {}
        if source.has_images:
            chosen = _engine(engine, workers, shape[0])
            with shown("frames", progress and on_progress is None) as update:
                broken = _fill(source.recordings, folder / IMAGES, shape, strict, chosen, on_progress or update)
            forget_journals(folder / IMAGES)
            _leave_out(folder / IMAGES, broken)
        _write_index(source, folder / INDEX, broken)
        write_json(folder / META, _description(source, folder, shape, broken, inputs))
    return FrameStore.open(out)


def _description(
    source: Source, folder: Path, shape: tuple[int, ...], broken: dict[int, str], inputs: str | None
) -> dict[str, Any]:
    """What the description of a store says."""
    lenses = described_lenses(source.recordings)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"egoequiv {__version__}",
        "source": source.name,
        "settings": dict(source.settings),
        "space": source.space.describe(),
        "notes": [*source.notes, *_broken_notes(broken)],
        "remarks": list(source.remarks),
        "frames": shape[0] - len(broken),
        "image_shape": list(shape[1:]),
        "images_blake2b": _digest(folder / IMAGES) if source.has_images else None,
        **({LENSES: lenses} if lenses else {}),
        **({} if inputs is None else {"inputs": inputs}),
    }


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
    lost = plural(len(broken), "picture could not be read and was", "pictures could not be read and were")
    return [f"{lost} left out: {listed}{'; ...' if len(broken) > 3 else ''}"]


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


def _digest(path: Path) -> str:
    """A digest of the image file, a piece at a time; with it, a store of other pictures has another fingerprint."""
    with open(path, "rb") as file:
        return file_digest(file, partial(blake2b, digest_size=32)).hexdigest()


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


def _fill(
    recordings: Sequence[Recording], path: Path, shape: tuple[int, ...], strict: bool, engine: Engine, report: Progress
) -> dict[int, str]:
    """Decode every frame into its row; the rows of those that cannot be read come back with the reason.

    Pieces that were decoded before the work was stopped are not decoded again.
    """
    total = shape[0]
    pieces = cut_into_pieces(recordings, prod(shape[1:]))
    broken = pieces_done(path) if _is_reserved(path, shape) else {}
    if not broken:
        _reserve(path, shape)
    left = [piece for piece in pieces if piece.row not in broken]
    before = total - sum(len(piece.frames) for piece in left)
    report(before, total)
    decode = partial(decode_piece, recordings, path, shape, strict)
    found = engine.run(decode, left, lambda done: report(before + done, total), short=True)
    return {row: reason for part in (*broken.values(), *found) for row, reason in part.items()}


def _is_reserved(path: Path, shape: tuple[int, ...]) -> bool:
    """Whether there is a file for these images already."""
    try:
        images = np.lib.format.open_memmap(path, "r")
    except (OSError, ValueError):
        return False
    return bool(images.shape == shape)


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
    files = [_file_name(recording, k) for recording in source.recordings for k in range(len(recording))]
    if any(name is not None for name in files):
        columns[FILE] = pa.array(files, pa.string())
    if any((numbers := recording.log_frames()) is not None and len(numbers) for recording in source.recordings):
        columns[LOG_FRAME] = pa.array(np.concatenate([_log_frames(recording) for recording in source.recordings]))
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


def _log_frames(recording: Recording) -> NDArray[np.int64]:
    """The numbers of frames in the log; those of a recording that does not know them are their places."""
    found = recording.log_frames()
    numbers = np.arange(len(recording)) if found is None else np.asarray(found)
    if numbers.shape != (len(recording),) or numbers.dtype.kind not in "iu":
        raise DataError(f"recording {recording.name!r}: expected {len(recording)} whole numbers of frames in the log")
    return numbers.astype(np.int64)


def _file_name(recording: Recording, frame: int) -> str | None:
    """A file name as text; bytes that are not UTF-8 become a question mark."""
    what = f"recording {recording.name!r}, frame {frame}"
    with nullcontext() if is_built_in(recording) else user_code(what):
        name = recording.file_name(frame)
    if not (name is None or isinstance(name, str)):
        raise DataError(f"{what}: a file name must be text or None, found {name!r}")
    return None if name is None else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
