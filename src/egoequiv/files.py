"""Writing files so that a reader sees either the old content or the whole new one."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import Any

from egoequiv.errors import DataError

SEARCH = "the folder of a search"
MARKS: dict[str, list[tuple[str, ...]]] = {  # the files by which a folder is recognised
    "a store": [("store.json",)],
    "a run": [("config.json", "model.json"), ("config.json", "data.json")],
    "an export": [("config.json", "model.safetensors", "checksums.txt")],
    SEARCH: [("selection.json",)],
}
UNFINISHED = ".unfinished"
OLD = ".old"  # what is replaced, for the moment between two renames
MOST_JSON_BYTES = 2**29  # a file that is larger was not written by this program


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success flush it and rename it to `path`, else remove it.

    What a killed process left of the same file is removed first. The file gets the permissions that the umask leaves,
    whatever the writer chose.
    """
    path = Path(os.path.abspath(path))
    if path.is_dir():
        raise DataError(f"{path} is a folder: give the name of a file")
    try:
        with _workspace(path) as workspace:
            temporary = workspace / path.name
            yield temporary
            with open(temporary, "rb") as written:
                os.fchmod(written.fileno(), workspace.stat().st_mode & 0o666)
                os.fsync(written.fileno())
            os.replace(temporary, path)
    except OSError as problem:
        raise cannot_write(path, problem) from problem


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before work is done for it; nothing is left behind."""
    path = Path(os.path.abspath(path))
    if path.is_dir():
        raise DataError(f"{path} is a folder: give the name of a file")
    nearest = next(folder for folder in path.parents if folder.exists())
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as problem:
        raise cannot_write(path, problem) from problem


def cannot_write(path: Path, problem: OSError) -> DataError:
    """The error for a write that failed; a full disk does not say which file it was, so this does."""
    return DataError(f"cannot write {path}: {problem.strerror or problem}")


@contextmanager
def new_folder(path: Path, overwrite: bool = False, key: str | None = None) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success rename it to `path`, else remove it.

    With a `key`, what a stopped process has left under the same key is given again, to be continued.
    """
    path = Path(os.path.abspath(path))  # "." has no name to write beside
    if path.parent.is_dir():
        remove_abandoned(path.parent, path.name)
    _check_free(path, overwrite)
    with _workspace(path) if key is None else _kept_workspace(path, key) as workspace:
        temporary, old = workspace / path.name, workspace / OLD
        temporary.mkdir(exist_ok=key is not None)
        try:
            yield temporary
            _check_free(path, overwrite)  # once more: another process may have finished one meanwhile
            if path.exists():
                os.rename(path, old)
            os.rename(temporary, path)
        finally:
            _bring_back(workspace, path)


@contextmanager
def _kept_workspace(path: Path, key: str) -> Iterator[Path]:
    """A hidden folder beside `path` that stays when the process is stopped, and goes when it succeeds or fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    workspace = path.with_name(f".{path.name}.{key}{UNFINISHED}")
    for left in [Path(entry.path) for entry in os.scandir(path.parent)]:
        if left.name.startswith(f".{path.name}.") and left.name.endswith(UNFINISHED) and left != workspace:
            _remove_if_free(left)
    workspace.mkdir(exist_ok=True)
    lock = _lock(workspace)
    try:
        if lock.is_held is False:
            raise DataError(f"another process is writing {path}: wait for it, or stop it")
        with _busy():
            yield workspace
            shutil.rmtree(workspace, ignore_errors=True)
    except Exception:
        if lock.is_held is not False:
            shutil.rmtree(workspace, ignore_errors=True)
        raise
    finally:
        lock.release()


def _remove_if_free(folder: Path) -> None:
    """Remove what was left for inputs that have changed since, unless a process is at work there."""
    lock = _lock(folder)
    try:
        if lock.is_held and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()


@contextmanager
def _workspace(path: Path) -> Iterator[Path]:
    """A hidden folder beside `path` that is locked while it is in use, and removed afterwards.

    The lock goes with the process, however it ends. So a process that can take it knows that no other is at work
    there. A process number alone does not say that: numbers are used again, and mean nothing in another container.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path.parent, path.name)
    with _busy():
        lock, workspace = _Lock(None, False), path
        try:
            while lock.is_held is False or not workspace.exists():  # or another process took it for an abandoned one
                lock.release()
                workspace = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}.partial")
                workspace.mkdir()
                lock = _lock(workspace)
            yield workspace
        finally:
            if workspace != path:
                shutil.rmtree(workspace, ignore_errors=True)
            lock.release()


_work: list[None] = []


@contextmanager
def _busy() -> Iterator[None]:
    _work.append(None)
    try:
        yield
    finally:
        _work.pop()


def is_busy() -> bool:
    """Whether this process is in the middle of writing, or holds a folder: it has to tidy up before it may end."""
    return bool(_work)


def remove_abandoned(folder: Path, name: str = "") -> None:
    """Remove what processes that are gone have left half written in a folder; what one had moved away comes back."""
    pattern = re.compile(rf"\.(?:(.+)\.\d+-[0-9a-f]{{8}}|({re.escape(name)})\.\d+)\.partial")
    for left in [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(".partial")]:
        found = pattern.fullmatch(left.name)
        if found is None:
            continue
        lock = _lock(left)
        try:
            if lock.is_held and left.is_dir() and not left.is_symlink():
                _bring_back(left, folder / (found[1] or found[2]))
                shutil.rmtree(left, ignore_errors=True)
            elif lock.is_held:
                left.unlink(missing_ok=True)
        finally:
            lock.release()


def _bring_back(workspace: Path, path: Path) -> None:
    """Undo a replacement that did not come to its end."""
    if (workspace / OLD).exists() and not path.exists():
        os.rename(workspace / OLD, path)


@dataclass(frozen=True)
class _Lock:
    """A lock on a file or folder; `is_held` is False if another process has it, None if there can be none."""

    descriptor: int | None
    is_held: bool | None

    def release(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


def _lock(path: Path) -> _Lock:
    """Try to lock a file or folder."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return _Lock(None, False)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:  # it is taken, or the file system has no locks
        return _Lock(descriptor, False if isinstance(problem, BlockingIOError) else None)
    return _Lock(descriptor, True)


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold a folder for this process alone; the lock goes with the process, however it ends."""
    with open(folder / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"another process is at work on {what} {folder}: wait for it, or stop it") from None
        remove_abandoned(folder)
        with _busy():
            yield


def _check_free(path: Path, overwrite: bool) -> None:
    """A folder may be written where there is nothing, or a folder that is to be replaced."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise DataError(f"{path} is a file or a link, not a folder: choose another name")
    if path.exists() and not overwrite:
        raise DataError(f"{path} exists already: choose another name, or replace it with --overwrite (overwrite=True)")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as temporary:
        # A name that is not UTF-8 cannot be written as it is; escaped, it can be read, also as JSON.
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def plain(value: Any) -> Any:
    """A value as JSON can hold it: tuples are lists, and what is not defined is null, because JSON has no NaN."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def or_nan(value: float | None) -> float:
    """A number of a JSON file; what is null there is not a number here."""
    return nan if value is None else float(value)


def is_number(value: Any) -> bool:
    """Whether something of a JSON file is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite_number(value: Any) -> bool:
    """Whether something of a JSON file is a number that a float holds, and neither NaN nor infinite."""
    return is_number(value) and bool(abs(value) < 1e300)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def kind_of_folder(folder: Path) -> str | None:
    """Which of the folders that this program writes one is, in words."""
    for what, marks in MARKS.items():
        if any(all((folder / name).exists() for name in names) for names in marks):
            return what
    return None


def wrong_place(path: Path, wanted: str) -> str:
    """What is at a path where something else is wanted, in one line."""
    kind = kind_of_folder(path)
    if not path.exists():
        return f"{path} does not exist: expected {wanted}"
    if not path.is_dir():
        return f"{path} is a file: expected {wanted}, which is a folder"
    return f"{path} is not {wanted}" if kind is None or wanted.startswith(kind) else f"{path} is {kind}, not {wanted}"


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object; `what` names in the error what its folder should be."""
    try:
        if (size := path.stat().st_size) > MOST_JSON_BYTES:
            raise DataError(f"{path} has {size / 1e6:,.0f} MB and is damaged, or no file of this program")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        missing = f"{path} is missing: " if path.parent.is_dir() else ""
        raise DataError(f"{missing}{wrong_place(path.parent, what)}") from None
    except NotADirectoryError:
        raise DataError(wrong_place(path.parent, what)) from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, expected a file: {path.parent} is not {what}") from None
    except (ValueError, RecursionError) as problem:  # bad JSON, bad text, too long a number, too deep a nest
        raise DataError(f"{path} is damaged ({problem}): make {what} again") from problem
    if not isinstance(value, dict):
        raise DataError(f"{path} is damaged (not a JSON object): make {what} again")
    return value
