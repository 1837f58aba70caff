"""Any path of the user as a store: a store as it is, a log ingested once and used again while it is unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from inspect import getsourcefile
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.cache import cache_folder, file_states, program_digest
from egoequiv.catalog import DOOR, open_log
from egoequiv.engines import Engine
from egoequiv.errors import DataError
from egoequiv.files import read_json
from egoequiv.names import is_code
from egoequiv.progress import Progress
from egoequiv.sources import Source
from egoequiv.sources.inspection import AREA, colour_remark, first_image_size, suggested_size
from egoequiv.sources.joined import join
from egoequiv.store.frame_store import KIND, META
from egoequiv.store.motion import MotionOptions, with_motion
from egoequiv.store.remote import full_place, is_url
from egoequiv.store.writer import ingest

_ROOMS = ("pose", "sources", "store")  # the code that reads logs: a corrected reader reads them again
INPUTS = "inputs"  # in the description of a store: the digest of what it was made from
Say = Callable[[str], None]


@dataclass(frozen=True)
class LogOptions:
    """How a log becomes a store."""

    source: str | None = None  # None: guessed
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the source
    size: tuple[int, int] | None = None  # height and width; None: chosen by the first image
    color: bool = False
    area: int = AREA  # pixels of an image, where no size is given
    motion: MotionOptions = field(default_factory=MotionOptions)
    is_for_network: bool = False  # size and colour are those that a network takes, so nothing is said of them


@dataclass(frozen=True)
class Logs:
    """Several logs that become one store."""

    learned: tuple[str, ...]
    tested: tuple[str, ...] = ()  # only measured on
    same_map: bool = False  # whether the poses of all are in one map

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(map(Path, (*self.learned, *self.tested)))

    def __str__(self) -> str:
        return " and ".join(map(str, self.paths))


def is_store(place: str | Path) -> bool:
    """Whether a place is a store already, or a URL, which can be nothing else."""
    return is_url(place) or (Path(place) / META).is_file()


def store_at(
    place: str | Path | Logs,
    folder: Path | None = None,
    options: LogOptions | None = None,
    *,
    may_replace: bool = True,
    engine: Engine | None = None,
    say: Say | None = None,
    on_progress: Progress | None = None,
    on_motion: Progress | None = None,
) -> str:
    """Where the store of a place is; a log is ingested first, unless that was done before and the log is unchanged.

    Args:
        place: a store, a URL of one, any log that `egoequiv inspect` understands, or several such logs.
        folder: where the store of a log goes; by default below the cache folder.
        options: the source and its settings, size and colour.
        may_replace: whether a store of another log, or of this log before it changed, may be replaced in `folder`.
        engine: where frames are decoded.
        say: gets a line about what is done.
        on_progress: gets frames done and frames in all.
        on_motion: the same, while poses are found in the pictures, before any frame is written.

    Returns:
        The place of the store.

    Example:
        >>> FrameStore.open(store_at("drive.bag"))  # doctest: +SKIP

    """
    if not isinstance(place, Logs) and is_store(place):
        return str(place)
    say, options = say or _silent, options or LogOptions()
    logs = place if isinstance(place, Logs) else Logs((str(place),))
    opened = [_open(path, options) for path in logs.paths]
    inputs = inputs_digest(opened[0][0], logs.paths[0], options)
    if isinstance(place, Logs):
        more = [inputs_digest(source, path, options) for (source, _), path in zip(opened, logs.paths, strict=True)]
        inputs = sha256(repr((more, logs)).encode()).hexdigest()
    folder = folder or cache_folder() / "logs" / f"{logs.paths[0].resolve().name}-{inputs[:16]}"
    if _is_made(folder, str(place), inputs, may_replace):
        say(f"{place}: ingested before, in {folder}")
        return str(folder)
    for path, (source, title) in zip(logs.paths, opened, strict=True):
        say(f"{path} is {title} (source {source.name})")
    source = opened[0][0]
    if isinstance(place, Logs):
        is_test = [False] * len(logs.learned) + [True] * len(logs.tested)
        parts = zip(logs.paths, opened, is_test, strict=True)
        source = join([(str(path), own, only) for path, (own, _), only in parts], logs.same_map)
    if not (options.color or options.is_for_network) and (remark := colour_remark(source)):
        say(f"remark: {remark}")
    source = with_motion(source, options.motion, engine, on_motion)
    store = ingest(
        source,
        folder,
        size=options.size or _default_size(source, options.area),
        color=options.color,
        overwrite=made_from(folder) is not None,
        engine=engine,
        on_progress=on_progress,
        inputs=inputs,
    )
    for kind in ("remark", "note"):
        for text in store.meta.get(f"{kind}s", []):
            say(f"{kind}: {text}")
    return str(folder)


def _open(path: Path, options: LogOptions) -> tuple[Source, str]:
    """The source of a log, and its format in words."""
    if is_store(path):
        raise DataError(f"{path} is a store: several logs are given as they are, and become one store")
    if not path.exists():
        raise DataError(f"{path} does not exist: give a store, or a log that `egoequiv inspect` understands")
    return open_log(path, options.source, **options.settings)


def _is_made(folder: Path, path: str, inputs: str, may_replace: bool) -> bool:
    """Whether a folder holds the store of these inputs; one of others is refused, unless it may be replaced."""
    made = made_from(folder)
    if made is not None and made != inputs and (not made or not may_replace):
        raise DataError(
            f"{folder} holds other frames than {path} gives now (another log, other settings, or the log has changed): "
            "choose another -o, or remove it"
        )
    return made == inputs


def _default_size(source: Source, area: int) -> tuple[int, int] | None:
    """The size at which the frames of a source are learned from; None where there are none."""
    found = first_image_size(source.recordings) if source.has_images else None
    return None if found is None else suggested_size(found, area)


def inputs_digest(source: Source, path: Path, options: LogOptions) -> str:
    """What identifies the frames of a log.

    These are poses, times, labels and lenses as they were read, the program that reads them, and the files of the
    pictures by name, size and time of change: those that the recordings name, or else all below the path.
    """
    given = (source.name, sorted((key, str(value)) for key, value in options.settings.items()))
    images = (options.size, options.color, options.area)
    digest = sha256(repr((full_place(str(path)), given, *images, program_digest(*_ROOMS))).encode())
    digest.update(options.motion.identity(source).encode())
    if options.source is not None and is_code(options.source):
        digest.update(Path(getsourcefile(DOOR.find(options.source)) or ".").read_bytes())
    files: set[Path] = set()
    for recording in source.recordings:
        for part in (recording.poses, recording.times_s):
            digest.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        labels = None if recording.labels is None else list(recording.labels)
        known = (recording.name, labels, sorted(recording.attributes.items()), recording.lens)
        digest.update(repr(known).encode("utf-8", "replace"))
        read = recording.files_read()
        files |= _files_below(path) if read is None else set(read)
    digest.update(file_states(files))
    return digest.hexdigest()


@cache
def _files_below(path: Path) -> frozenset[Path]:
    """All files below a folder, through links too, but not those of stores and runs, which commands write there."""
    if path.is_file():
        return frozenset([path])
    found: set[Path] = set()
    seen: set[str] = set()
    for root, folders, names in os.walk(path, followlinks=True):
        real = os.path.realpath(root)
        if real in seen or META in names or ("config.json" in names and "model.json" in names):
            folders.clear()
            continue
        seen.add(real)
        found |= {Path(root) / name for name in names}
    return frozenset(found)


def made_from(folder: Path) -> str | None:
    """What the store in a folder was made from; None where there is none, empty where it does not say."""
    if not (folder / META).is_file():
        return None
    try:
        return str(read_json(folder / META, KIND).get(INPUTS, ""))
    except DataError:
        return ""


def _silent(text: str) -> None:
    """Say nothing."""
