"""A typed interface to numba, and a folder for machine code that notices every change of a package."""

from __future__ import annotations

import hashlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from egoequiv.cache import cache_folder
from egoequiv.errors import EgoEquivError

Function = TypeVar("Function", bound=Callable[..., object])

PREFIX = "compiled-"
OPTIONS = {"nogil": True, "error_model": "numpy"}  # no check for a zero before each division


def compiled(function: Function) -> Function:
    """Compile a function on its first call, and keep the machine code on disk if that is possible.

    numba does not notice when something that a function uses changes in *another* file. So the folder for machine
    code has the digest of all sources of the package in its name, and compiled functions may call those of any file
    of their package. A function outside of a package is compiled again in each process.
    """
    numba = importlib.import_module("numba")  # by name, because numba has no types
    chosen: str = numba.config.CACHE_DIR
    package = sys.modules[function.__module__.partition(".")[0]]
    file = package.__file__ if hasattr(package, "__path__") else None
    folder = None if file is None else machine_code_folder(Path(file).parent, chosen)
    if folder is not None:
        numba.config.CACHE_DIR = str(folder)
        try:
            kept: Function = numba.njit(cache=True, **OPTIONS)(function)
            return kept
        except RuntimeError:  # a function without a file
            pass
        finally:
            numba.config.CACHE_DIR = chosen
    forgotten: Function = numba.njit(**OPTIONS)(function)
    return forgotten


def inlined(function: Function) -> Function:
    """Inline a function into the compiled functions that call it; for what runs in each pixel, this gains a third."""
    numba = importlib.import_module("numba")
    melted: Function = numba.njit(forceinline=True, **OPTIONS)(function)
    return melted


@cache
def machine_code_folder(root: Path, chosen: str) -> Path | None:
    """Where the machine code of the sources below `root` is kept: below `chosen`, beside them, or with the user."""
    name = PREFIX + source_digest(root)
    beside = root / "__pycache__"
    if chosen:
        return _ready(Path(chosen) / name)
    folder = _ready(beside / name)
    if folder is not None:
        for other in beside.glob(f"{PREFIX}*"):  # that of earlier sources
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
        return folder
    try:
        return _ready(cache_folder() / name)
    except EgoEquivError:  # a user without a home
        return None


def source_digest(root: Path) -> str:
    """What identifies all Python files below a folder, and how they are compiled."""
    digest = hashlib.sha256(repr(OPTIONS).encode())
    for file in sorted(root.rglob("*.py")):
        if file.name.startswith("."):  # of an editor
            continue
        text = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:16]


def _ready(folder: Path) -> Path | None:
    """The folder, made if it is missing; None if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder
