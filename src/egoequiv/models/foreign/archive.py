"""What is inside a torch.export file, looked through before torch loads it, and no pickle meanwhile.

torch.export.load unpickles where it must: example inputs, some weights, objects among the constants. It also evaluates
the expressions of sizes, and loads compiled code. A file may be from anywhere; none of this is done for it here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch

from egoequiv.errors import DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.models.foreign.calls import one_line

PROGRAMS = re.compile(r"models/.*|serialized_exported_program\.json")  # of today, and of torch before 2.8
OBJECTS = ("custom_obj", "opaque_obj")  # constants that are no tensors, which are pickled
COMPILED = "data/aotinductor/"

# Of expressions of sizes, such as "Add(Symbol('s77', integer=True), Integer(1))"; sympy would evaluate anything.
TOKEN = re.compile(r"'[^']*'|[a-z_]+=(?:True|False|\d+)|\w+|\.\D?|[^\w.]")
NAME = r"[suz][a-z]{0,2}\d+"
WORDS = r"[A-Z][A-Za-z]*|floor|ceiling|sqrt|log|oo|true|false"
ALLOWED = re.compile(rf"'(?:{NAME}|[-+.\de]+)'|[a-z_]+=\w+|{WORDS}|{NAME}|\d+|[-+*/%(),<>=!&|~. ]")

FORCED, FORBIDDEN = "TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def check_archive(path: Path) -> None:
    """Refuse a file with anything in it that would have to be unpickled as an object, evaluated or run as it is."""
    for names, read in _views(path):
        for name in names:
            if any(kind in name.lower() for kind in OBJECTS):  # torch finds names in whatever case
                raise DataError(
                    f"{path} holds an object that would have to be unpickled ({name}), which is not done here"
                )
            if name.lower().startswith(COMPILED):
                raise DataError(f"{path} holds compiled code ({name}), which is not run here: save the program itself")
            if PROGRAMS.fullmatch(name.lower()):
                _check_expressions(path, name, read)


@contextmanager
def tensors_only() -> Iterator[None]:
    """Let torch.load take nothing but tensors and plain containers, even where torch itself asks it for more."""
    before = {name: os.environ.pop(name, None) for name in (FORCED, FORBIDDEN)}
    os.environ[FORCED] = "1"
    try:
        yield
    finally:
        del os.environ[FORCED]
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _views(path: Path) -> Iterator[tuple[list[str], Callable[[str], bytes]]]:
    """The names inside and how to read them, by both of the readers that torch uses: a file could show each its own."""
    try:
        with named_in_utf8(path) as named:  # or torch ends the process
            reader: Any = torch._C.PyTorchFileReader(str(named))
            yield reader.get_all_records(), reader.get_record
    except RuntimeError:
        pass  # not a file of today
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
            if len({name.lower() for name in names}) < len(names):
                raise DataError(f"{path} is damaged: two parts in it have the same name")
            yield [name for name in names if PROGRAMS.fullmatch(name)], archive.read
    except (BadZipFile, OSError, RuntimeError):
        pass  # torch says what is wrong with it


def _check_expressions(path: Path, name: str, read: Callable[[str], bytes]) -> None:
    """Refuse a program with expressions in it that are no sizes."""
    try:
        described = json.loads(read(name))
    except Exception as problem:  # of either reader
        raise DataError(
            f"{path} is no torch.export file ({name} cannot be read: {one_line(str(problem))[:100]})"
        ) from None
    waiting = [described]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            text = value.get("expr_str", "")
            if not isinstance(text, str) or not all(map(ALLOWED.fullmatch, TOKEN.findall(text))):
                raise DataError(f"{path}: {str(text)[:60]!r} is no size, and expressions are not evaluated here")
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
