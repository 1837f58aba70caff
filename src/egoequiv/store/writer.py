"""From a source to a frame store: decode and resize every frame once, in parallel, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv import __version__
from egoequiv.errors import ConfigError, DataError
from egoequiv.files import new_folder, replacing, write_json
from egoequiv.processes import end_with_parent, spawn_context, stop_now
from egoequiv.sources import Recording, Source
from egoequiv.store.frame_store import (
    ATTRIBUTE_PREFIX,
    FORMAT,
    IMAGES,
    INDEX,
    META,
    POSE_PREFIX,
    VERSION,
    FrameStore,
)

Progress = Callable[[int, int], None]  # frames done, frames in all

_SMALL = 400  # below this many frames, starting worker processes costs more than it saves
_FRAMES_A_JOB = 256


def ingest(
    source: Source,
    out: str | Path,
    *,
    size: tuple[int, int] | None = None,
    color: bool = False,
    workers: int = 1,
    overwrite: bool = False,
    on_progress: Progress | None = None,
) -> FrameStore:
    """Write the frames of `source` as a store at `out`, resized to `size` (height, width) if given.

    More than one worker needs a script whose main part stands under `if __name__ == "__main__":`.
    """
    out = Path(out)
    if not source.frame_count:
        raise DataError(f"source {source.name!r} has no frames")
    _check(source)
    height, width = size or next(r for r in source.recordings if len(r)).image(0).shape[:2]
    if min(height, width) < 1:
        raise ConfigError(f"size {height} x {width}: expected at least 1 x 1")
    shape = (source.frame_count, height, width, 3 if color else 1)
    if overwrite and out.is_dir() and any(out.iterdir()) and not (out / META).exists():
        raise DataError(f"{out} is not empty and not a frame store: choose another name")
    with new_folder(out, overwrite) as folder:
        _reserve(folder / IMAGES, shape)
        _fill(source.recordings, folder / IMAGES, workers, on_progress)
        _write_index(source, folder / INDEX)
        write_json(
            folder / META,
            {
                "format": FORMAT,
                "version": VERSION,
                "made_by": f"egoequiv {__version__}",
                "source": source.name,
                "settings": dict(source.settings),
                "space": source.space.describe(),
                "frames": shape[0],
                "image_shape": list(shape[1:]),
            },
        )
    return FrameStore.open(out)


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
    seen: set[str] = set()
    row = 0
    for recording in source.recordings:
        if recording.name in seen:
            raise DataError(f"source {source.name!r} has two recordings of the name {recording.name!r}")
        seen.add(recording.name)
        for what, values in (("times", recording.times_s), ("labels", recording.labels)):
            if values is not None and len(values) != len(recording):
                raise DataError(f"{recording.name} has {len(recording)} frames but {len(values)} {what}")
        if np.shape(recording.poses) != (len(recording), len(source.space.pose_names)):
            wanted = f"{len(recording)} x {len(source.space.pose_names)} ({', '.join(source.space.pose_names)})"
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


def _fill(recordings: Sequence[Recording], path: Path, workers: int, on_progress: Progress | None) -> None:
    total = sum(len(recording) for recording in recordings)
    report = on_progress or _silent
    jobs = _jobs(recordings)
    done = 0
    report(done, total)
    if workers == 1 or total < _SMALL:
        for recording, frames, offset in jobs:
            done += _decode(recording, frames, path, offset)
            report(done, total)
        return
    with ProcessPoolExecutor(workers, spawn_context(), end_with_parent) as pool:
        pending = {pool.submit(_decode, recording, frames, path, offset) for recording, frames, offset in jobs}
        try:
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                done += sum(job.result() for job in finished)
                report(done, total)
        except BrokenProcessPool:
            raise DataError(
                "a worker process could not start or was ended from outside; in a script, put the main part under "
                "if __name__ == '__main__':, or use one worker"
            ) from None
        except BaseException:
            stop_now(pool)
            raise


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _jobs(recordings: Sequence[Recording]) -> Iterator[tuple[Recording, range, int]]:
    """Pieces of recordings with the row at which each piece starts in the store."""
    offset = 0
    for recording in recordings:
        for start in range(0, len(recording), _FRAMES_A_JOB):
            frames = range(start, min(start + _FRAMES_A_JOB, len(recording)))
            yield recording, frames, offset + start
        offset += len(recording)


def _decode(recording: Recording, frames: range, path: Path, offset: int) -> int:
    images = np.lib.format.open_memmap(path, "r+")
    _, height, width, channels = images.shape
    for row, frame in enumerate(frames, offset):
        images[row] = fit_image(recording.image(frame), height, width, channels)
    return len(frames)


def fit_image(image: NDArray[np.uint8], height: int, width: int, channels: int) -> NDArray[np.uint8]:
    """Bring an image (H, W) or (H, W, 3) to (height, width, channels), squeezing it if the aspect differs."""
    if image.dtype != np.uint8 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
        raise DataError(f"expected a uint8 image (H, W) or (H, W, 3), found {image.dtype} {image.shape}")
    mode = "L" if channels == 1 else "RGB"
    if image.shape[:2] != (height, width) or (image.ndim == 3) != (channels == 3):
        picture = PillowImage.fromarray(image).convert(mode)
        # Pillow widens the filter when it shrinks, so bilinear does not alias.
        image = np.asarray(picture.resize((width, height), PillowImage.Resampling.BILINEAR))
    return image.reshape(height, width, channels)


def _write_index(source: Source, path: Path) -> None:
    lengths = [len(recording) for recording in source.recordings]
    columns: dict[str, pa.Array] = {
        "recording": pa.array(np.repeat([r.name for r in source.recordings], lengths)),
        "frame": pa.array(np.concatenate([np.arange(n) for n in lengths])),
        "time_s": pa.array(_concatenated(source, "times_s"), pa.float64()),
        "label": pa.array(_concatenated(source, "labels"), pa.string()),
    }
    poses = np.concatenate([recording.poses for recording in source.recordings])
    for column, name in enumerate(source.space.pose_names):
        columns[POSE_PREFIX + name] = pa.array(poses[:, column])
    for name in dict.fromkeys(key for recording in source.recordings for key in recording.attributes):
        values = [recording.attributes.get(name, "") for recording in source.recordings]
        columns[ATTRIBUTE_PREFIX + name] = pa.array(np.repeat(values, lengths))
    with replacing(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")


def _concatenated(source: Source, field: str) -> list[object]:
    values: list[object] = []
    for recording in source.recordings:
        own = getattr(recording, field)
        values += [None] * len(recording) if own is None else list(own)
    return values
