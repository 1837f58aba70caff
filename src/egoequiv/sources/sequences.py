"""Where the sequences of a data set are, which of their pictures are there, and what is left when some are broken."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.pose.clock import Nanoseconds
from egoequiv.pose.track import usual_step_ns
from egoequiv.sources.recording import Recording
from egoequiv.sources.trees import FolderTree, Tree, ZipTree

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
TimeUnit = Literal["auto", "s", "ms", "us", "ns"]
_LOOKED_AT = 20  # folders of each depth, to recognise a format
_NAMED = 60  # characters of a name that messages show


def tree_at(path: Path) -> Tree:
    """The files below a folder or in a zip archive."""
    if path.is_dir():
        return FolderTree(path)
    if path.suffix.lower() == ".zip" and path.is_file():
        return ZipTree(path)
    if path.exists():
        raise DataError(f"{path} is neither a folder nor a zip archive")
    raise DataError(f"{path} does not exist")


def folders_with(tree: Tree, is_one: Callable[[Tree, str], bool], depth: int = 2, most: int | None = None) -> list[str]:
    """The folders that are what is looked for: the root alone if it is one, else those below it, to a depth.

    With `most`, only so many folders of each depth are looked at.
    """
    found: list[str] = []
    level = [""]
    for _ in range(depth + 1):
        hits = [folder for folder in level if is_one(tree, folder)]
        if hits and level == [""]:
            return hits
        found += hits
        level = [
            join(folder, name)
            for folder in level
            if folder not in hits
            for name in tree.folders(folder)
            if not name.startswith((".", "__MACOSX"))
        ][:most]
    return sorted(found)


def is_in(path: Path, is_one: Callable[[Tree, str], bool], depth: int = 2) -> bool:
    """Whether a folder or archive is or has what is looked for; never an error."""
    try:
        return bool(folders_with(tree_at(path), is_one, depth, _LOOKED_AT))
    except (DataError, OSError, ValueError):
        return False


def join(*parts: str) -> str:
    """A path in a tree, of parts of which some may be empty."""
    return "/".join(part for part in parts if part)


def name_of(path: Path, folder: str) -> str:
    """The name of the sequence in a folder of the tree at `path`: of the folder, or of the path itself."""
    whole = path.resolve()
    return folder or (whole.stem if whole.suffix == ".zip" else whole.name) or "recording"


def named(text: str) -> str:
    """A name as messages show it: in quotes, without line breaks, and not longer than a line."""
    return repr(text if len(text) <= _NAMED else f"{text[:_NAMED]}...")


def in_order_of_capture(name: str) -> tuple[list[str | int], str]:
    """A key that sorts names with their numbers by size: view2 before view10, and view02 before view2."""
    parts = re.split(r"([0-9]{1,4000})", name)  # int() takes no more digits than 4300
    return [int(part) if k % 2 else part for k, part in enumerate(parts)], name


def read_each(found: Iterable[str], read: Callable[[str], Recording], notes: list[str]) -> list[Recording]:
    """Read sequences by name; one that is broken is a note, and only if none can be read the first reason is raised."""
    recordings: list[Recording] = []
    problems: list[EgoEquivError] = []
    for name in found:
        try:
            recordings.append(read(name))
        except EgoEquivError as problem:
            problems.append(problem)
            notes.append(f"recording {named(name)} left out: {problem}")
    if not recordings:
        raise problems[0] if problems else DataError("no recording was found")
    return recordings


@dataclass
class FilesThere:
    """Which of the pictures that metadata name are on disk, asked folder by folder."""

    tree: Tree
    _listed: dict[str, frozenset[str]] = field(default_factory=dict)

    def find(self, names: Sequence[str], folders: Sequence[str], where: str, notes: list[str]) -> list[str | None]:
        """The path of each picture in the tree, or None.

        A picture is looked for as it is named, in each of the folders; then by the last part of its name, and with
        other endings. What is found in that way counts only if no two names lead to it, and is noted. Nothing
        outside the tree is looked at.
        """
        exact = [self._exact(name, folders) for name in names]
        near = [self._near(name, folders) if file is None else None for name, file in zip(names, exact, strict=True)]
        taken = {file for file in exact if file is not None}
        wanted = Counter((file, name) for file, name in zip(near, names, strict=True) if file is not None)
        claims = Counter(file for file, _ in wanted)
        usable = [file if file is not None and file not in taken and claims[file] == 1 else None for file in near]
        if any(file is not None for file in usable):
            first = next(k for k, file in enumerate(usable) if file is not None)
            notes.append(
                f"{where}: {sum(file is not None for file in usable)} of {len(names)} pictures are not where they "
                f"should be; first {named(names[first])}, read from {named(str(usable[first]))}"
            )
        return [one if one is not None else other for one, other in zip(exact, usable, strict=True)]

    def _exact(self, name: str, folders: Sequence[str]) -> str | None:
        """As it is named; the ending may be missing, as it often is on purpose."""
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, name))
            place, _, file = path.rpartition("/")
            there = frozenset() if path.startswith(("/", "../")) else self._in(place)
            for ending in ("", *PICTURE_ENDINGS):
                if file + ending in there:
                    return path + ending
        return None

    def _near(self, name: str, folders: Sequence[str]) -> str | None:
        """By its last part, and with another ending."""
        last = posixpath.basename(name.replace("\\", "/"))
        relative = posixpath.normpath(name.replace("\\", "/"))
        for wanted in dict.fromkeys((last, posixpath.splitext(relative)[0], posixpath.splitext(last)[0])):
            found = self._exact(wanted, folders) if wanted else None
            if found is not None:
                return found
        return None

    def _in(self, folder: str) -> frozenset[str]:
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(self.tree.files(folder))
            except (DataError, ValueError):  # a name that no file system takes
                self._listed[folder] = frozenset()
        return self._listed[folder]


def pictures_in(tree: Tree, folder: str) -> list[str]:
    """The names of the pictures in a folder, sorted."""
    return [n for n in tree.files(folder) if n.lower().endswith(PICTURE_ENDINGS) and not n.startswith(".")]


def present(
    files: Sequence[str | None], names: Sequence[str], where: str, notes: list[str]
) -> tuple[list[str], NDArray[np.int64]]:
    """The files that are there and their places in the list; those that are not are counted in a note."""
    rows = np.array([k for k, file in enumerate(files) if file is not None], np.int64)
    if len(rows) < len(files):
        first = next(name for name, file in zip(names, files, strict=True) if file is None)
        notes.append(f"{where}: {len(files) - len(rows)} of {len(files)} pictures are missing, first {named(first)}")
    return [file for file in files if file is not None], rows


def stream_words(times_ns: Nanoseconds, what: str) -> str:
    """How much there is of a stream, such as "798 frames, 30.0 Hz, 26.6 s"."""
    step = usual_step_ns(times_ns)
    if not step:
        return f"{len(times_ns):,} {what}"
    return f"{len(times_ns):,} {what}, {1e9 / step:.1f} Hz, {(times_ns[-1] - times_ns[0]) / 1e9:.1f} s"
