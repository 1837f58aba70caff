"""Every source and world by name, in one visible dict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.files import SEARCH, kind_of_folder
from egoequiv.names import Door, load_code, what_is
from egoequiv.signatures import checked_settings, takes
from egoequiv.sources import (
    Source,
    colmap,
    donkey,
    euroc,
    kitti,
    kitti_odometry,
    lerobot,
    norb,
    phone,
    ros,
    scenes,
    seven_scenes,
    table,
    transforms,
    tum,
    video,
)
from egoequiv.sources.formats import FORMATS, guess_format
from egoequiv.user_code import is_built_in, user_code

Writer = Callable[[Source, Path, Callable[[int, int], None] | None], None]

# A source reads the files below its first argument, `path`; a world makes its own frames and has none. The embedded
# worlds are a package of their own. They are named as code of users is, and imported when they are named.
SOURCES: dict[str, Callable[..., Source] | str] = {
    "norb": norb,
    "kitti": kitti,
    "kitti-odometry": kitti_odometry,
    "ros": ros,
    "tum": tum,
    "euroc": euroc,
    "seven-scenes": seven_scenes,
    "colmap": colmap,
    "transforms": transforms,
    "donkey": donkey,
    "scenes": scenes,
    "lerobot": lerobot,
    "phone": phone,
    "video": video,
    "table": table,
    "turntable": "egoequiv_worlds:turntable",
    "drive": "egoequiv_worlds:drive",
    "places": "egoequiv_worlds:places",
}

# Worlds that can be written as files: the source that reads them back, and the writer.
WRITERS: dict[str, tuple[str, str]] = {
    "drive": ("kitti", "egoequiv_worlds:write_kitti_raw"),
    "places": ("scenes", "egoequiv_worlds:write_class_folders"),
}


DOOR = Door(
    "source",
    SOURCES,
    "egoequiv.sources",
    "a function that returns an egoequiv.Source, or a Source",
    lambda found: callable(found) or isinstance(found, Source),
)


def open_source(name: str | Callable[..., Source], path: str | Path | None = None, **settings: Any) -> Source:
    """Open a source.

    Args:
        name: of a built-in or registered source, `package.module:name`, `path/to/file.py:name`, or the function itself.
        path: where its files are, for a source that reads files: one whose function has an argument `path`.
        settings: the other arguments of the function; they may be text, as they come from a command line.

    Returns:
        The source, ready for `egoequiv.ingest`.

    """
    found = DOOR.find(name) if isinstance(name, str) else name
    if isinstance(found, str):
        found = DOOR.find(found)
    what = f"source {name!r}" if isinstance(name, str) else f"source {getattr(name, '__name__', name)!r}"
    if isinstance(found, Source):
        if path is not None or settings:
            raise ConfigError(f"{what} is a Source already: it takes no path and no settings")
        return found
    reads = takes(found, "path")
    if reads == "always" and path is None:
        raise ConfigError(f"{what} reads files: give their folder after the name")
    if reads is None and path is not None:
        raise ConfigError(f"{what} is rendered in process and reads no files: leave out {str(path)!r}")
    checked = checked_settings(what, found, settings, taken=("path",))
    arguments = {"path": Path(path), **checked} if path is not None else checked
    if is_built_in(found):
        return found(**arguments)
    with user_code(what):
        source = found(**arguments)
    if not isinstance(source, Source):
        raise ConfigError(f"{what}: expected a function that returns an egoequiv.Source, it returns {what_is(source)}")
    return source


def find_writer(world: str) -> tuple[str, Writer]:
    """The name of the source that reads the files of a world, and the function that writes them."""
    if world not in WRITERS:
        raise ConfigError(f"world {world!r} cannot be written as files; choose one of {', '.join(WRITERS)}")
    reader, code = WRITERS[world]
    return reader, load_code(code)


NOT_LOGS = {
    "a store": "`egoequiv info` shows it",
    "a run": "its frames are those of `data` in its config.json",
    "an export": "give the log or the store with the frames",
    SEARCH: "give the log or the store with the frames",
}


def open_log(path: str | Path, source: str | None = None, **settings: Any) -> tuple[Source, str]:
    """Open files of any known format.

    Args:
        path: a file or folder.
        source: the name of its source; by default it is guessed from the names and first bytes of the files.
        settings: of the source.

    Returns:
        The source, and its format in words.

    Example:
        >>> open_log("rgbd_dataset_freiburg1_xyz")  # doctest: +SKIP

    """
    if source is None:
        if (kind := kind_of_folder(Path(path))) is not None:
            raise DataError(f"{path} is {kind}, not a log: {NOT_LOGS[kind]}")
        guessed = guess_format(Path(path))
        return open_source(guessed.source, path, **settings), guessed.title
    titles = {one.source: one.title for one in reversed(FORMATS)}  # of two of one source, the first
    return open_source(source, path, **settings), titles.get(source, source)
