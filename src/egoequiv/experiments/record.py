"""How an experiment was made: the command, the versions and the machine, kept in its folder."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from egoequiv import __version__
from egoequiv.errors import DataError
from egoequiv.file_names import readable
from egoequiv.files import write_text

COMMAND = "command.json"
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


class CommandRecord(BaseModel):
    """The command that made a folder, when, with which versions and on which kind of machine."""

    model_config = ConfigDict(frozen=True)

    command: str
    started: str = "at an unknown time"
    versions: dict[str, str] = {}
    machine: str = "an unknown machine"
    earlier: list[str] = []  # commands that began or continued the folder before


def versions() -> dict[str, str]:
    """The versions that results may depend on; nothing is imported for it."""
    found = {"egoequiv": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> str:
    """The kind of machine in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def read_command(folder: Path) -> CommandRecord | None:
    """The record of a folder; None where it has none."""
    path = folder / COMMAND
    try:
        return CommandRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValidationError, OSError) as problem:
        reason = problem.errors()[0]["msg"] if isinstance(problem, ValidationError) else problem.strerror
        raise DataError(f"{path} is damaged ({reason}): remove it, and the folder can be read without it") from problem


def record_command(out: Path, arguments: Sequence[str]) -> None:
    """Keep the command that makes a folder, before it does; one that continues it later is kept beside it."""
    command = readable(shlex.join(["egoequiv", *arguments]))
    before = read_command(out)
    earlier = [] if before is None else [*before.earlier, before.command]
    record = CommandRecord(
        command=command,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
        machine=machine(),
        earlier=[one for one in dict.fromkeys(earlier) if one != command],
    )
    write_text(out / COMMAND, record.model_dump_json(indent=2) + "\n")
