"""Which rows of a table make a recording: by a column, or by the folder of their pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.sources.table_frames import OnDisk, resolve_file
from egoequiv.sources.tables import Table

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Keys:
    """The columns that say to which frame a row belongs; "" where there is none."""

    file: str = ""
    frame: str = ""
    time: str = ""
    recording: str = ""
    label: str = ""

    @property
    def names(self) -> set[str]:
        return {name for name in (self.file, self.frame, self.time, self.recording, self.label) if name}


def groups_of_rows(keys: Keys, table: Table, alone: str, disk: OnDisk, outside: bool) -> tuple[Indices, Sequence[str]]:
    """The recording of each row: by a column, or by the folder of its picture; else there is one."""
    if keys.recording:
        texts = [text or "unnamed" for text in table.texts(keys.recording)]
    elif keys.file:
        texts = _folders(table.texts(keys.file), disk, outside)
        texts = texts if len(set(texts)) > 1 and "" not in texts else [alone] * len(table)
    else:
        texts = [alone] * len(table)
    names = list(dict.fromkeys(texts))
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[text] for text in texts], np.int64), names


def _folders(files: Sequence[str], disk: OnDisk, outside: bool) -> list[str]:
    """The folder of each picture as it is on disk, whatever the path to it: its name, or its path if two share it."""
    named = [PurePosixPath(name.replace("\\", "/")).parent.as_posix() for name in files]
    there: dict[str, str] = {}
    for folder, name in zip(named, files, strict=True):
        if folder not in there:
            try:
                found = resolve_file(disk, name, outside) if name else None
            except DataError:
                found = None
            if found is not None:
                there[folder] = PurePosixPath(found).parent.as_posix()
    paths = {folder: there.get(folder, folder) for folder in named}
    paths = {folder: "" if path == "." else path for folder, path in paths.items()}
    ends = Counter(PurePosixPath(path).name for path in set(paths.values()))
    return [path if ends[end := PurePosixPath(path).name] > 1 else end for path in map(paths.__getitem__, named)]


def other_folders(name: str, found: Mapping[str, str]) -> list[str]:
    """A note on pictures that were found by the end of their path alone, in a folder of another name.

    Args:
        name: the recording.
        found: from the path in the table to that on disk, which has the same name of the file.

    """
    pairs = [(PurePosixPath(asked.replace("\\", "/")), PurePosixPath(path)) for asked, path in found.items()]
    other = [(asked, path) for asked, path in pairs if _is_elsewhere(asked, path)]
    if not other:
        return []
    asked, path = other[0]
    return [
        f"{name}: {len(other)} of {len(pairs)} pictures are read from another folder than the table names, such as "
        f"{path.as_posix()!r} for {asked.as_posix()!r}: is it the same camera?"
    ]


def _is_elsewhere(asked: PurePosixPath, path: PurePosixPath) -> bool:
    """Whether two folders differ in the part of their paths that both have; of another machine only their names."""
    said, there = ([part for part in one.parent.parts if part not in (".", "..")][::-1] for one in (asked, path))
    depth = 1 if asked.is_absolute() or ":" in asked.parts[0] else len(said)
    return any(a != b for a, b in zip(said[:depth], there[:depth], strict=False))
