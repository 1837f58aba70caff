"""Files below a folder or inside a zip archive, read in the same way."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from egoequiv.errors import DataError

# What the zipfile module raises on damaged bytes; RuntimeError also for encrypted files and unknown compression.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError, ValueError)

LARGEST = 1 << 30  # bytes of one file: no picture and no table of poses is as large


class Tree(ABC):
    """A tree of files; paths are relative to its root and written with slashes."""

    @abstractmethod
    def folders(self, below: str = "") -> list[str]:
        """The names of the folders directly below a folder, sorted."""

    @abstractmethod
    def files(self, below: str) -> list[str]:
        """The names of the files directly below a folder, sorted; none if there is no such folder."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The contents of one file; raise `DataError` if it is missing, damaged, or larger than `LARGEST`."""

    @abstractmethod
    def where(self, path: str) -> str:
        """The name of a file in messages."""


@dataclass(frozen=True)
class FolderTree(Tree):
    """The files below a folder on disk."""

    root: Path

    def folders(self, below: str = "") -> list[str]:
        return [entry.name for entry in self._entries(below) if entry.is_dir()]

    def files(self, below: str) -> list[str]:
        return [entry.name for entry in self._entries(below) if entry.is_file()]

    def _entries(self, below: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / below) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as problem:
            raise DataError(f"{self.root / below} cannot be listed: {problem.strerror}") from problem

    def read(self, path: str) -> bytes:
        try:
            with open(self.root / path, "rb") as file:
                check_size(os.fstat(file.fileno()).st_size, self.where(path))
                return file.read()
        except OSError as problem:
            raise DataError(f"{self.root / path} cannot be read: {problem.strerror}") from problem

    def where(self, path: str) -> str:
        return str(self.root / path)


@dataclass(frozen=True)
class ZipTree(Tree):
    """The files of a zip archive, read in place."""

    archive: Path

    @cached_property
    def _listing(self) -> Mapping[str, tuple[list[str], list[str]]]:
        """The sub-folders and the files of each folder."""
        folders: dict[str, set[str]] = {"": set()}
        files: dict[str, set[str]] = {"": set()}
        for name in _opened(self.archive).namelist():
            folder, _, file = name.rpartition("/")
            parts = folder.split("/") if folder else []
            for depth, part in enumerate(parts):
                folders.setdefault("/".join(parts[:depth]), set()).add(part)
            if file:
                files.setdefault(folder, set()).add(file)
        return {key: (sorted(folders.get(key, ())), sorted(files.get(key, ()))) for key in folders.keys() | files}

    def __reduce__(self) -> tuple[type[ZipTree], tuple[Path]]:
        return ZipTree, (self.archive,)  # a copy in a worker process lists the archive itself

    def folders(self, below: str = "") -> list[str]:
        return self._listing.get(below, ([], []))[0]

    def files(self, below: str) -> list[str]:
        return self._listing.get(below, ([], []))[1]

    def read(self, path: str) -> bytes:
        try:
            archive = _opened(self.archive)
            check_size(archive.getinfo(path).file_size, self.where(path))
            with archive.open(path) as file:  # the size in the directory may be a lie
                contents = file.read(LARGEST + 1)
            check_size(len(contents), self.where(path))
            return contents
        except KeyError:
            raise DataError(f"{self.where(path)} is not in the archive") from None
        except (*_DAMAGE, OSError) as problem:
            raise DataError(f"{self.where(path)} cannot be unpacked ({problem}); get the archive again") from problem

    def where(self, path: str) -> str:
        return f"{self.archive}/{path}"


def check_size(size: int, where: str) -> None:
    """Refuse a file that is too large to be part of a log."""
    if size > LARGEST:
        raise DataError(f"{where} has {size:,} bytes, expected at most {LARGEST:,}: it is no picture or table of a log")


def _opened(archive: Path) -> zipfile.ZipFile:
    """An archive, opened once in each process, and again if it was replaced."""
    try:
        status = archive.stat()
        return _open(archive, status.st_mtime_ns, status.st_size)
    except _DAMAGE as problem:
        raise DataError(f"{archive} is not a complete zip archive ({problem}); get the archive again") from problem
    except OSError as problem:
        raise DataError(f"{archive} cannot be read: {problem.strerror or problem}") from problem


@lru_cache(maxsize=16)
def _open(archive: Path, mtime_ns: int, size: int) -> zipfile.ZipFile:  # noqa: ARG001
    return zipfile.ZipFile(archive)
