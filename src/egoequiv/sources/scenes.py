"""Labelled pictures without poses: a folder for each class, perhaps in parts for training and testing."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import NoMotion
from egoequiv.remarks import Remark
from egoequiv.sources.pictures import PictureRecording, crop_picture, open_picture
from egoequiv.sources.recording import Source
from egoequiv.sources.sun397 import PARTITIONS, ClassFolder, count_names, is_letter, is_sun397, sun397_classes

PARTS = ("train", "test", "val")
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif", ".pgm", ".ppm")
_EXPECTED = "expected CLASS/*.jpg, or train/CLASS/*.jpg and test/CLASS/*.jpg, or the SUN397 folder"


@dataclass(frozen=True, eq=False)
class SceneRecording(PictureRecording):
    """The pictures of one class in one part, in order of their file names."""

    name: str
    folder: Path
    files: tuple[str, ...]
    labels: tuple[str, ...]
    attributes: Mapping[str, str]
    poses: NDArray[np.float64]  # (N, 0)
    aspect: tuple[int, int] | None = None  # width, height
    times_s: None = None

    def picture(self, frame: int) -> PillowImage.Image:
        path = self.folder / self.files[frame]
        picture = open_picture(path, str(path))
        return picture if self.aspect is None else crop_picture(picture, *self.aspect)


@dataclass(frozen=True)
class Tree:
    """What is below a folder; folders are named by their path from it, and the folder itself is ""."""

    images: dict[str, list[str]]  # from each folder that contains images to their names
    empty: list[str]  # folders with neither images nor folders
    linked: list[str]  # folders that were read already under another name


def scenes(path: Path, *, partition: int | None = None, aspect: str | None = None) -> Source:
    """Read labelled pictures from a tree of class folders.

    `partition` is one of the ten of SUN397; `aspect`, such as 1242x375, is the shape of a central crop.
    """
    path = Path(path)
    shape = _parse_aspect(aspect)
    if partition is not None and partition not in PARTITIONS:
        raise ConfigError(f"partition={partition}: SUN397 has partitions {PARTITIONS[0]} to {PARTITIONS[-1]}")
    if not path.is_dir():
        problem = "is a file, not a folder" if path.exists() else "does not exist"
        raise DataError(f"{path} {problem}: {_EXPECTED}")
    root = path / "SUN397" if (path / "SUN397").is_dir() else path
    classes, notes = _read_classes(root, scan(root), partition)
    if not classes:
        raise DataError(f"{path} contains no images in class folders: {'; '.join([_EXPECTED, *notes])}")
    recordings = [_recording(root, found, shape) for found in sorted(classes, key=lambda c: (_rank(c.part), c.name))]
    settings = {"path": str(path), "partition": partition, "aspect": aspect}
    return Source("scenes", NoMotion(), recordings, settings, notes=tuple(notes))


def _read_classes(root: Path, tree: Tree, partition: int | None) -> tuple[list[ClassFolder], list[str]]:
    """The classes in the layout that the tree has, and notes on what is missing or left out."""
    tops = sorted({name.split("/")[0] for name in [*tree.images, *tree.empty] if name})
    parts = [top for top in tops if top.lower() in PARTS]
    if is_sun397(root, tree.images):
        classes, notes = sun397_classes(root, tree.images, partition)
        parts = [] if partition is None else ["train", "test"]
        strays = [""]
        empty = [name for name in tree.empty if is_letter(name.split("/")[0]) and "/" in name]
    elif partition is not None:
        raise DataError(f"partition={partition} belongs to SUN397, but {root} has another layout (not a/abbey/*.jpg)")
    elif len(parts) >= 2:
        classes, notes = _split_by_folder(root, tree, parts), []
        strays = ["", *parts]
        empty = [name for name in tree.empty if name.split("/")[0] in parts]
    else:
        classes = [ClassFolder("", name, name, files) for name, files in tree.images.items() if name]
        alone = [part for part in parts if any(name.startswith(f"{part}/") for name in tree.images)]
        notes = [
            Remark(f"{part} is read as a folder of classes, because there is no other part beside it") for part in alone
        ]
        parts, strays, empty = [], [""], tree.empty
    if empty:
        notes.append(count_names("class folders without images", empty))
    if tree.linked:
        notes.append(count_names("links to folders that were read already, left out", tree.linked))
    stray_count = sum(len(tree.images.get(folder, ())) for folder in strays)
    if stray_count:
        notes.append(f"images in no class folder, left out: {stray_count}")
    return classes, notes + _one_sided(classes, [part.lower() for part in parts])


def _split_by_folder(root: Path, tree: Tree, parts: list[str]) -> list[ClassFolder]:
    others = sorted({name.split("/")[0] for name in tree.images if name} - set(parts))
    if others:
        raise DataError(
            f"{root} contains {' and '.join(parts)} beside {others[0]}, so parts are mixed with classes: "
            "put only the parts into one folder"
        )
    if len({part.lower() for part in parts}) < len(parts):
        raise DataError(f"{root} contains {' and '.join(parts)}, two of which differ only in case: merge them")
    return [
        ClassFolder(name.split("/")[0].lower(), name.partition("/")[2], name, files)
        for name, files in tree.images.items()
        if "/" in name
    ]


def _one_sided(classes: list[ClassFolder], parts: list[str]) -> list[str]:
    """A note for each part that lacks classes of another."""
    names = {part: {found.name for found in classes if found.part == part} for part in sorted(parts, key=_rank)}
    every: set[str] = set().union(*names.values())
    lacking = {part: sorted(every - present) for part, present in names.items()}
    return [count_names(f"classes that are not in {part}", missing) for part, missing in lacking.items() if missing]


def _rank(part: str) -> int:
    return PARTS.index(part) if part else 0


def _recording(root: Path, found: ClassFolder, aspect: tuple[int, int] | None) -> SceneRecording:
    return SceneRecording(
        name=f"{found.part}/{found.name}" if found.part else found.name,
        folder=root / found.folder,
        files=tuple(sorted(found.files)),
        labels=(found.name,) * len(found.files),
        attributes={"part": found.part} if found.part else {},
        poses=np.zeros((len(found.files), 0)),
        aspect=aspect,
    )


def scan(root: Path) -> Tree:
    """Find the images below a folder; links are followed, but no folder is read twice."""
    tree = Tree({}, [], [])
    seen: set[tuple[int, int]] = set()
    folders, links = [""], deque[str]()
    while folders or links:
        name = folders.pop() if folders else links.popleft()  # links come last, so that a folder keeps its own name
        try:
            status = os.stat(root / name)
            if (status.st_dev, status.st_ino) in seen:
                tree.linked.append(name)
                continue
            seen.add((status.st_dev, status.st_ino))
            files, inner_folders, inner_links = _list(root / name)
        except OSError as problem:
            raise DataError(f"{root / name} cannot be listed: {problem.strerror}") from problem
        if files:
            tree.images[name] = files
        elif name and not inner_folders and not inner_links:
            tree.empty.append(name)
        prefix = f"{name}/" if name else ""
        folders += [prefix + folder for folder in sorted(inner_folders, reverse=True)]  # the last is read first
        links += [prefix + link for link in sorted(inner_links)]
    return tree


def _list(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """The images, the folders and the links to folders in a folder, without hidden ones."""
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name == "__MACOSX":
                continue
            if _is_folder(entry):
                (links if entry.is_symlink() else folders).append(entry.name)
            elif entry.name.lower().endswith(ENDINGS) and (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
                files.append(entry.name)  # also a link to nothing: it is counted as a frame that cannot be read
    return files, folders, links


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _parse_aspect(aspect: str | None) -> tuple[int, int] | None:
    if aspect is None:
        return None
    numbers = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", aspect)
    if numbers is None:
        raise ConfigError(f"aspect={aspect!r}: expected width x height in whole numbers, such as 1242x375")
    return int(numbers[1]), int(numbers[2])
