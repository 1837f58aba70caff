"""Writing files so that a reader sees either the old content or the whole new one."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success flush it and rename it to `path`, else remove it."""
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


def cannot_write(path: Path, problem: OSError) -> DataError:
    """The error for a write that failed; a full disk does not say which file it was, so this does."""
    return DataError(f"cannot write {path}: {problem.strerror or problem}")


@contextmanager
def new_folder(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success rename it to `path`, else remove it."""
    if path.exists() and not overwrite:
        raise DataError(f"{path} exists already: choose another name, or pass --overwrite to replace it")
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        if path.exists():
            if not path.is_dir():
                raise DataError(f"{path} is a file, not a folder: choose another name")
            shutil.rmtree(path)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file; `what` names its purpose in the error."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} is not {what}") from None
    except NotADirectoryError:
        raise DataError(f"{path.parent} is a file: expected {what}, which is a folder") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise DataError(f"{path} is damaged ({problem}): make {what} anew") from problem


def _remove_abandoned(path: Path) -> None:
    """Remove temporary folders for `path` whose process is gone (it was killed in the middle)."""
    for left in path.parent.glob(f".{path.name}.*.partial"):
        pid = left.name.rsplit(".", 2)[-2]
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
