"""A source of labelled pictures written as folders of PNG files, one folder for each part and class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from PIL import Image as PillowImage

from egoequiv.errors import DataError
from egoequiv.files import cannot_write, new_folder
from egoequiv.sources.recording import Image, Source

Progress = Callable[[int, int], None]  # pictures done, pictures in total


def write_class_folders(source: Source, folder: str | Path, on_progress: Progress | None = None) -> None:
    """Write every picture as FOLDER/PART/CLASS/0000.png, without loss, all or nothing.

    The part is the recording's attribute "part", the class the picture's label.
    """
    folder = Path(folder)
    _check(source)
    if folder.is_dir() and not folder.is_symlink():
        if any(folder.iterdir()):
            raise DataError(f"{folder} exists already and is not empty: choose another name")
        folder.rmdir()  # it may exist and be empty, but a folder can be renamed only to a free name
    done, written = 0, Counter[tuple[str, str]]()
    with new_folder(folder) as temporary:
        for recording in source.recordings:
            part = recording.attributes["part"]
            for frame, label in enumerate(recording.labels or ()):
                number = written[part, label]
                written[part, label] += 1
                path = temporary / part / label / f"{number:04d}.png"
                _write(recording.image(frame), path)
                done += 1
                if on_progress is not None:
                    on_progress(done, source.frame_count)


def _check(source: Source) -> None:
    if not source.frame_count:
        raise DataError(f"source {source.name!r} has no frames")
    for recording in source.recordings:
        if recording.labels is None or "part" not in recording.attributes:
            raise DataError(
                f"{recording.name} has no labels or no part: only labelled pictures can be written as class folders"
            )
        for name in {recording.attributes["part"], *recording.labels}:
            if not name or name in (".", "..") or "/" in name or "\0" in name:
                raise DataError(f"{recording.name}: {name!r} cannot be the name of a folder")


def _write(image: Image, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        PillowImage.fromarray(image).save(path)
    except OSError as problem:
        raise cannot_write(path, problem) from problem
