"""Where the drives of KITTI raw are: in folders and zip archives, by date or alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.sources.trees import FolderTree, Tree, ZipTree

_DATE = re.compile(r"\d{4}_\d{2}_\d{2}")
_DRIVE = re.compile(r"(\d{4}_\d{2}_\d{2}_drive_\d{4})_(sync|extract)")
_CALIBRATION = "calib_cam_to_cam.txt"


@dataclass(frozen=True)
class Drive:
    """One drive and where it is stored."""

    name: str  # such as 2011_09_26_drive_0001
    tree: Tree
    folder: str  # of the drive, below the tree's root
    trees: tuple[Tree, ...] = field(repr=False)  # all trees that were given; the calibration may be in another one

    @property
    def date(self) -> str:
        return self.name[:10]

    def below(self, name: str) -> str:
        """A path inside the drive, from the root of its tree."""
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def is_rectified(self) -> bool:
        """Whether its pictures have no distortion: those of `extract` drives are as the lens gave them."""
        root = self.tree.root.resolve().name if isinstance(self.tree, FolderTree) else ""
        return not (self.folder or root).endswith("_extract")

    def find_calibration(self) -> tuple[Tree, str] | None:
        """The tree and the folder with the calibration files of this drive's date, if they are there."""
        places = self._calibration_places()
        return next(((tree, folder) for tree, folder in places if _CALIBRATION in tree.files(folder)), None)

    def calibration(self) -> tuple[Tree, str]:
        """The same, needed."""
        found = self.find_calibration()
        if found is not None:
            return found
        raise DataError(
            f"{self.name}: the calibration files ({_CALIBRATION} and the two others) of {self.date} are missing; "
            "put them beside the drives of that date, or leave out pose_of=camera"
        )

    def _calibration_places(self) -> Iterator[tuple[Tree, str]]:
        """Beside the drive first, then in any folder named by its date: other dates have other cameras."""
        if self.folder:
            yield self.tree, self.folder.rpartition("/")[0]
        for tree in self.trees:
            yield tree, self.date
            if isinstance(tree, FolderTree):
                root = tree.root.resolve()
                if not self.folder and tree == self.tree:  # the drive itself was given
                    yield FolderTree(root.parent), ""
                if root.name == self.date:
                    yield tree, ""


def find_drives(path: Path) -> list[Drive]:
    """All drives below a path, by name.

    If a drive is found twice, the one with packets is used, then the synchronised one, then the one in a folder.
    """
    trees = _trees(path)
    best: dict[str, tuple[tuple[bool, bool], Drive]] = {}
    for tree in trees:
        for folder in _drive_folders(tree, path):
            match = _DRIVE.fullmatch(folder.rsplit("/", 1)[-1] or path.resolve().name)
            if match is None:
                continue
            drive = Drive(match[1], tree, folder, trees)
            merit = ("oxts" in tree.folders(folder), match[2] == "sync")
            if drive.name not in best or merit > best[drive.name][0]:
                best[drive.name] = (merit, drive)
    if not best:
        raise DataError(
            f"{path}: contains no drive such as 2011_09_26/2011_09_26_drive_0001_sync, and no zip archive with one"
        )
    return [best[name][1] for name in sorted(best)]


def choose_drives(found: list[Drive], wanted: str, path: Path) -> list[Drive]:
    """The drives whose names begin with one of the wanted words, such as "2011_09_26,2011_09_30_drive_0020"."""
    if wanted == "all":
        return found
    chosen: list[Drive] = []
    for word in (part.strip() for part in wanted.split(",")):
        matching = [drive for drive in found if drive.name.startswith(word)] if word else []
        if not matching:
            names = ", ".join(drive.name for drive in found[:5]) + (", ..." if len(found) > 5 else "")
            raise DataError(f"{path}: no drive's name begins with {word!r}; the drives are {names}")
        chosen += [drive for drive in matching if drive not in chosen]
    return chosen


def _trees(path: Path) -> tuple[Tree, ...]:
    if not path.exists():
        raise DataError(f"{path} does not exist: give the folder or zip archive with KITTI raw drives")
    if path.is_file():
        return (ZipTree(path),)
    archives = sorted({*path.glob("[!.]*.zip"), *path.glob("*/[!.]*.zip")})
    return (FolderTree(path), *(ZipTree(archive) for archive in archives if archive.is_file()))


def _drive_folders(tree: Tree, path: Path) -> Iterator[str]:
    """Folders of drives: below dates, at the root (a date was given), or the root itself (a drive was given)."""
    if isinstance(tree, FolderTree) and _DRIVE.fullmatch(path.resolve().name):
        yield ""
    for first in tree.folders():
        if _DRIVE.fullmatch(first):
            yield first
        else:  # a date, or a folder inside an archive
            for second in tree.folders(first):
                if _DRIVE.fullmatch(second):
                    yield f"{first}/{second}"
                elif _DATE.fullmatch(second):
                    yield from (f"{first}/{second}/{name}" for name in tree.folders(f"{first}/{second}"))
