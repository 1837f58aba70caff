"""Stores elsewhere: any fsspec URL, copied whole into a local cache and opened there as any other store."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from egoequiv.cache import CACHE_VARIABLE, cache_folder
from egoequiv.errors import DataError, EgoEquivError
from egoequiv.store.frame_store import IMAGES, INDEX, META, FrameStore

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Progress = Callable[[int, int], None]  # bytes done, bytes in all

# What file systems call that which changes with a file, the surest first; many know one of these only.
_VERSIONS = ("ETag", "etag", "Content-MD5", "md5Hash", "content_md5", "sha", "CRC")
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "modificationTime", "created")


def is_url(place: str | Path) -> bool:
    """Whether a store's place is a URL, such as s3://bucket/store or zip://::store.zip, and not a local path."""
    return "://" in str(place)


def full_place(place: str) -> str:
    """A place that means the same from every folder: a URL as it is, a local path in full, also within a URL."""
    if not is_url(place):
        return os.path.realpath(place)  # which, unlike Path.resolve, takes a loop of links as it is
    *outer, last = place.split("::")  # of zip://toys::toys.zip, the part that says where the archive is
    protocol, is_protocol, path = last.rpartition("://")
    if protocol in ("", "file", "local"):
        last = f"{protocol}{is_protocol}{os.path.realpath(os.path.expanduser(path))}"
    return "::".join([*outer, last])


def fetch_store(url: str, on_progress: Progress | None = None) -> Path:
    """The folder of the local copy of a store; fetched, unless the cache has what is at the URL now.

    Processes that want the same store wait for the one that fetches it. Only whole stores that can be opened get
    into the cache; then what was fetched from this URL before is removed, and a process that has it mapped can
    continue to read.
    """
    url = full_place(url)
    remote = _look(url)
    home = cache_folder() / "stores" / _folder_name(url)
    copy = home / remote.digest
    if copy.is_dir():
        return copy
    with _writing(url, home), _alone(home):
        if not copy.is_dir():  # or another process has fetched it while this one waited
            _fetch(remote, copy, on_progress or _silent)
    return copy


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _folder_name(url: str) -> str:
    """A name for the copies of one URL: a digest, with a word that people can recognise."""
    word = re.sub(r"[^A-Za-z0-9]+", "-", url.rstrip("/").rpartition("/")[2])[-40:].strip("-")
    return f"{word or 'store'}-{sha256(url.rstrip('/').encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class _Remote:
    """A store at a URL, as it is at one moment; the images are not read yet."""

    url: str
    files: Any  # the fsspec file system
    root: str
    small: Mapping[str, bytes]  # the description and the index, which are read whole
    images: Mapping[str, Any] | None  # what the file system knows of the images; None for poses alone

    @property
    def images_size(self) -> int | None:
        """Bytes, None where the file system does not know."""
        return None if self.images is None else self.images.get("size")

    @property
    def digest(self) -> str:
        """What identifies this store among others at the same URL."""
        images = self.images or {}
        version = next((images[key] for key in (*_VERSIONS, *_TIMES) if images.get(key) is not None), None)
        read = [sha256(content).hexdigest() for content in self.small.values()]
        return sha256(repr([*read, self.images_size, str(version)]).encode()).hexdigest()[:32]

    def fetch_images(self, path: Path, on_bytes: Callable[[int], None]) -> None:
        """Copy the file of the images to a local path; the driver does it, a piece at a time."""
        from fsspec.callbacks import Callback

        callback = Callback(hooks={"report": lambda _size, value, **_: on_bytes(value)})
        with _reading(self.url):
            self.files.get_file(_join(self.root, IMAGES), str(path), callback=callback)
        found, expected = path.stat().st_size, self.images_size
        if expected is not None and found != expected:
            raise DataError(f"{self.url}/{IMAGES} ended after {found} of {expected} bytes: try again")


def _look(url: str) -> _Remote:
    """Read the small files of the store at a URL, and what is known of the large one."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as problem:
        raise DataError(f"to read {url}, install fsspec: pip install 'egoequiv[remote]'") from problem
    with _reading(url):
        files, root = url_to_fs(url)
        files.invalidate_cache()  # a long-lived process must see that a store was replaced
        small = {name: files.cat_file(_join(root, name)) for name in (META, INDEX)}
        try:
            images = files.info(_join(root, IMAGES))
        except FileNotFoundError:
            images = None
    return _Remote(url, files, root, small, images)


def _join(root: str, name: str) -> str:
    return f"{root.rstrip('/')}/{name}" if root else name  # the root of an archive has no name


@contextmanager
def _reading(url: str) -> Iterator[None]:
    """Say in one line why a URL cannot be read."""
    try:
        yield
    except EgoEquivError:
        raise
    except Exception as problem:  # each driver has errors of its own, which nothing unites
        if isinstance(problem, OSError) and problem.errno in _NO_ROOM:
            raise  # of the copy, not of the URL
        reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise DataError(_explain(url, problem, reason)) from problem


def _explain(url: str, problem: Exception, reason: str) -> str:
    if isinstance(problem, ImportError):
        return f"{url} needs a package that is not installed: {reason} (with pip, beside egoequiv[remote])"
    if isinstance(problem, FileNotFoundError):
        return (
            f"{url} holds no frame store (not found: {reason}): check the address, or make a store with "
            "`egoequiv ingest` and copy its folder there"
        )
    if isinstance(problem, PermissionError):
        return f"no permission to read {url} ({reason}): check the address and the credentials"
    if isinstance(problem, ValueError) and "rotocol" in reason:
        return f"{url}: {reason}; fsspec reads file, http, https, s3, gs, az, sftp, zip and others"
    return (
        f"cannot read {url} ({type(problem).__name__}: {reason}): check the address, the network and the "
        "credentials, then try again"
    )


@contextmanager
def _writing(url: str, home: Path) -> Iterator[None]:
    """Say in one line why a copy cannot be kept."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as problem:
        raise _no_copy(url, home, problem.strerror or str(problem)) from problem


def _no_copy(url: str, home: Path, reason: str) -> DataError:
    return DataError(
        f"cannot keep a copy of {url} in {home}: {reason}; make room there, or name another folder in {CACHE_VARIABLE}"
    )


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Wait until no other process fetches from this URL; the lock goes with the process, however it ends."""
    with open(home / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(remote: _Remote, copy: Path, report: Progress) -> None:
    """Fetch a store to a temporary folder, check it and rename it to `copy`; then remove older ones."""
    home, partial = copy.parent, copy.with_suffix(".partial")
    for abandoned in home.glob("*.partial"):  # no other process is at work here: the one that made it was killed
        shutil.rmtree(abandoned)
    partial.mkdir()
    try:
        read = sum(map(len, remote.small.values()))
        total = read + (remote.images_size or 0)
        free = shutil.disk_usage(home).free
        if total > free:
            raise _no_copy(remote.url, home, f"it has {total / 1e6:.1f} MB, and {free / 1e6:.1f} MB are free")
        for name, content in remote.small.items():
            (partial / name).write_bytes(content)
        report(read, total)
        if remote.images is not None:
            remote.fetch_images(partial / IMAGES, lambda done: report(read + done, max(read + done, total)))
            report(total, total)  # not every driver reports progress
        _check(remote, partial)
        _flush(partial)
        os.rename(partial, copy)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    for old in home.iterdir():
        if old.is_dir() and old != copy:
            shutil.rmtree(old, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Have the files on disk before they get their name, so that a crash of the machine leaves nothing half."""
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def _check(remote: _Remote, partial: Path) -> None:
    """Refuse what is not a whole store, or was replaced while it was fetched, so that old and new would be mixed."""
    if _look(remote.url).digest != remote.digest:
        raise DataError(f"{remote.url} was changed while it was fetched: try again")
    try:
        FrameStore.open(partial)
    except DataError as problem:
        raise DataError(str(problem).replace(str(partial), remote.url)) from problem
