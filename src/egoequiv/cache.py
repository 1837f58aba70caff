"""What is kept between commands: the folder for it, and digests that tell whether it still holds."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

from egoequiv.errors import DataError

CACHE_VARIABLE = "EGOEQUIV_CACHE"


def cache_folder() -> Path:
    """Where copies are kept: EGOEQUIV_CACHE, or egoequiv in the user's cache folder."""
    chosen, users = os.environ.get(CACHE_VARIABLE), os.environ.get("XDG_CACHE_HOME")
    try:
        if chosen:
            return Path(chosen).expanduser().resolve()
        return Path(users or "~/.cache").expanduser().resolve() / "egoequiv"
    except RuntimeError as problem:  # a user without a home
        raise DataError(f"no cache folder ({problem}): name one in {CACHE_VARIABLE}") from problem


@cache
def program_digest(*rooms: str) -> str:
    """What identifies the code of some rooms, such as pose and sources: a corrected program does its work again."""
    root = Path(__file__).parent
    files = sorted(file for room in rooms for file in (root / room).rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def file_states(files: Iterable[Path]) -> bytes:
    """Files by name, size and time of change; those that are gone are left out."""
    states: list[str] = []
    for file in sorted(files):
        try:
            status = file.stat()
        except OSError:
            continue
        states.append(repr((str(file), status.st_size, status.st_mtime_ns)))
    return "".join(states).encode("utf-8", "replace")
