"""Writing files so that a reader sees either the old content or the whole new one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite, nan
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from egoequiv.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success flush it and rename it to `path`, else remove it."""
    path = Path(os.path.abspath(path))
    if path.is_dir():
        raise DataError(f"{path} is a folder: give the name of a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    except OSError as problem:
        raise cannot_write(path, problem) from problem
    finally:
        temporary.unlink(missing_ok=True)


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
def new_folder(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success rename it to `path`, else remove it."""
    path = Path(os.path.abspath(path))  # "." has no name to write beside
    _check_free(path, overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    old = path.with_name(f".{path.name}.{os.getpid()}.old.partial")
    try:
        yield temporary
        _check_free(path, overwrite)  # once more: somebody else may have finished one meanwhile
        if path.exists():
            os.rename(path, old)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if old.exists() and not path.exists():
            os.rename(old, path)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold a folder for this process alone; the lock goes with the process, however it ends."""
    with open(folder / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"another process is at work on {what} {folder}: wait for it, or stop it") from None
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
        temporary.write_text(text, encoding="utf-8")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: tuples are lists, and what is not defined is null, for JSON has no NaN."""
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


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object; `what` names in the error what its folder should be."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} is not {what}") from None
    except NotADirectoryError:
        raise DataError(f"{path.parent} is a file: expected {what}, which is a folder") from None
    except (ValueError, RecursionError) as problem:  # bad JSON, bad text, too long a number, too deep a nest
        raise DataError(f"{path} is damaged ({problem}): make {what} anew") from problem
    if not isinstance(value, dict):
        raise DataError(f"{path} is damaged (not a JSON object): make {what} anew")
    return value


def _remove_abandoned(path: Path) -> None:
    """Remove temporary folders for `path` whose process is gone (it was killed in the middle)."""
    for left in path.parent.glob(f".{path.name}.*.partial"):
        pid = left.name.removeprefix(f".{path.name}.").split(".")[0]
        if pid.isdigit() and not _is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
