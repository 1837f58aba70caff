"""Any path of the user as a store: a store as it is, a log ingested once and used again while it is unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from egoequiv.catalog import open_log
from egoequiv.engines import Engine
from egoequiv.errors import DataError
from egoequiv.files import read_json
from egoequiv.progress import Progress
from egoequiv.sources import Source
from egoequiv.sources.inspection import first_image_size, suggested_size
from egoequiv.store.frame_store import KIND, META
from egoequiv.store.remote import cache_folder, full_place, is_url
from egoequiv.store.writer import ingest

INPUTS = "inputs"  # in the description of a store: the digest of what it was made from
Say = Callable[[str], None]


@dataclass(frozen=True)
class LogOptions:
    """How a log becomes a store."""

    source: str | None = None  # None: guessed
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the source
    size: tuple[int, int] | None = None  # height and width; None: chosen by the first image
    color: bool = False


def is_store(place: str | Path) -> bool:
    """Whether a place is a store already, or a URL, which can be nothing else."""
    return is_url(place) or (Path(place) / META).is_file()


def store_at(
    place: str | Path,
    folder: Path | None = None,
    options: LogOptions | None = None,
    *,
    engine: Engine | None = None,
    say: Say | None = None,
    on_progress: Progress | None = None,
) -> str:
    """Where the store of a place is; a log is ingested first, unless that was done before and the log is unchanged.

    Args:
        place: a store, a URL of one, or any log that `egoequiv inspect` understands.
        folder: where the store of a log goes; by default below the cache folder.
        options: the source and its settings, size and colour.
        engine: where frames are decoded.
        say: gets a line about what is done.
        on_progress: gets frames done and frames in all.

    Returns:
        The place of the store.

    Example:
        >>> FrameStore.open(store_at("drive.bag"))  # doctest: +SKIP

    """
    if is_store(place):
        return str(place)
    say, options, path = say or _silent, options or LogOptions(), Path(place)
    if not path.exists():
        raise DataError(f"{path} does not exist: give a store, or a log that `egoequiv inspect` understands")
    inputs = inputs_digest(path, options)
    folder = folder or cache_folder() / "logs" / f"{path.resolve().name}-{inputs[:16]}"
    if made_from(folder) == inputs:
        say(f"{path}: ingested before, in {folder}")
        return str(folder)
    source, title = open_log(path, options.source, **options.settings)
    say(f"{path} is {title} (source {source.name})")
    size = options.size or _default_size(source)
    store = ingest(
        source,
        folder,
        size=size,
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


def _default_size(source: Source) -> tuple[int, int] | None:
    """The size at which the frames of a source are learned from; None where there are none."""
    found = first_image_size(source.recordings) if source.has_images else None
    return None if found is None else suggested_size(found)


def inputs_digest(path: Path, options: LogOptions) -> str:
    """What identifies the files of a log and how they are read: names, sizes and times of change."""
    digest = sha256(repr((full_place(str(path)), options.source, sorted(options.settings.items()))).encode())
    digest.update(repr((options.size, options.color)).encode())
    files = [path] if path.is_file() else sorted(_files_below(path))
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        digest.update(
            repr((str(file.relative_to(path)), status.st_size, status.st_mtime_ns)).encode("utf-8", "replace")
        )
    return digest.hexdigest()


def _files_below(folder: Path) -> list[Path]:
    return [Path(root) / name for root, _, names in os.walk(folder) for name in names]


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
