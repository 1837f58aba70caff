"""Every source and world by name, in one visible dict."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError, validate_call

from egoequiv.errors import ConfigError
from egoequiv.sources import Source, kitti, kitti_odometry, norb, scenes
from egoequiv.worlds import drive, places, turntable, write_class_folders, write_kitti_raw

# A source reads the files below its first argument, `path`; a world makes its own frames and has none.
SOURCES: dict[str, Callable[..., Source]] = {
    "norb": norb,
    "kitti": kitti,
    "kitti-odometry": kitti_odometry,
    "scenes": scenes,
    "turntable": turntable,
    "drive": drive,
    "places": places,
}

# Worlds that can be written as files: the source that reads them back, and the writer.
WRITERS: dict[str, tuple[str, Callable[[Source, Path, Callable[[int, int], None] | None], None]]] = {
    "drive": ("kitti", write_kitti_raw),
    "places": ("scenes", write_class_folders),
}


def open_source(name: str, path: Path | None = None, **settings: Any) -> Source:
    """Open a source by name; settings may be strings, as they come from a command line."""
    if name not in SOURCES:
        raise ConfigError(f"source {name!r} is not known; choose one of {', '.join(SOURCES)}")
    function = SOURCES[name]
    known = inspect.signature(function).parameters
    needs_path = "path" in known
    if needs_path and path is None:
        raise ConfigError(f"source {name!r} reads files: give their folder after the name")
    if not needs_path and path is not None:
        raise ConfigError(f"source {name!r} is rendered in process and reads no files: leave out {str(path)!r}")
    choices = [key for key in known if key != "path"]
    for key in settings:
        if key not in choices:
            raise ConfigError(f"source {name!r} has no setting {key!r}; it has {', '.join(choices)}")
    try:
        checked = validate_call(function)
        return checked(path, **settings) if needs_path else checked(**settings)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"source {name!r}, setting {where}={first['input']!r}: {first['msg']}") from problem
