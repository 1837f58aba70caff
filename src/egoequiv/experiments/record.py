"""How an experiment was made: the command, the versions and the machine, kept in its folder."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from egoequiv import __version__
from egoequiv.files import read_json, write_json

COMMAND = "command.json"
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


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


def record_command(out: Path, arguments: Sequence[str]) -> None:
    """Keep the command that makes a folder, before it does; one that goes on with it later is kept beside it."""
    path = out / COMMAND
    command = shlex.join(["egoequiv", *arguments])
    before: dict[str, Any] = read_json(path, "an experiment's folder") if path.exists() else {}
    earlier = [*before.get("earlier", []), *([before["command"]] if "command" in before else [])]
    write_json(
        path,
        {
            "command": command,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
            "machine": machine(),
            "earlier": [one for one in dict.fromkeys(earlier) if one != command],
        },
    )
