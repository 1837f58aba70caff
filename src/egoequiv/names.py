"""The one door for everything that has a name: built in, registered by a package, in a module or in a file."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from egoequiv.errors import ConfigError
from egoequiv.user_code import (
    CODE_VARIABLE,
    import_file,
    import_named,
    is_trusted_file,
    is_trusted_module,
    places_of,
    user_code,
)

T = TypeVar("T")

FORMS = "package.module:name or path/to/file.py:name"
FILE = re.compile(r"(?P<place>.+\.py):(?P<attribute>[A-Za-z_][\w.]*)", re.DOTALL)
MODULE = re.compile(r"(?P<place>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):(?P<attribute>[A-Za-z_][\w.]*)")


@dataclass(frozen=True)
class Door(Generic[T]):
    """Finds things of one kind by name.

    Args:
        kind: what they are, in one word, for messages.
        known: the built-in ones.
        group: the group of entry points under which packages register theirs.
        wanted: what is accepted, in words.
        accepts: whether an object is of that kind.

    """

    kind: str
    known: Mapping[str, T]
    group: str
    wanted: str
    accepts: Callable[[Any], bool] = callable

    def names(self) -> list[str]:
        """The built-in names and those that installed packages have registered."""
        return list(dict.fromkeys([*self.known, *registered(self.group)]))

    def has(self, name: str) -> bool:
        """Whether a name is one of those, or names code."""
        return name in self.known or is_code(name) or name in registered(self.group)

    def find(self, name: str) -> Any:
        """What has this name: built in, registered, or code as `module:name` or `file.py:name`.

        What comes from a user's code is of the kind that `accepts` knows; the built-in dict is taken as it is.
        """
        if name in self.known:
            return self.known[name]
        if is_code(name):
            found = self._load(name, name)
        else:
            entry = registered(self.group).get(name)
            if entry is None:
                raise ConfigError(self._unknown(name))
            found = self._load(f"{entry.module}:{entry.attr}", f"{name} ({entry.value})")
        if not self.accepts(found):
            raise ConfigError(f"{self.kind} {name}: expected {self.wanted}, found {what_is(found)}")
        return found

    def _load(self, code: str, shown: str) -> Any:
        try:
            return load_code(code)
        except ConfigError as problem:
            raise ConfigError(f"{self.kind} {shown}: {problem}") from problem

    def _unknown(self, name: str) -> str:
        if name.endswith(".py"):
            return f"{self.kind} {name!r} names a file: say what is meant in it, as {name}:NAME"
        names = self.names()
        near = get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{self.kind} {name!r} is not known; choose one of {', '.join(names)}, or your own as {FORMS}{hint}"


@cache
def registered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group; read when first needed, because that takes a while, and then kept."""
    return {entry.name: entry for entry in entry_points(group=group)}


def is_code(name: str) -> bool:
    """Whether a name is `module:name` or `file.py:name`."""
    return (FILE.fullmatch(name) or MODULE.fullmatch(name)) is not None


def load_code(name: str) -> Any:
    """Import what `module:name` or `file.py:name` means."""
    of_file = FILE.fullmatch(name)
    match = of_file or MODULE.fullmatch(name)
    if match is None:
        raise ConfigError(f"{name!r} is no name of code: expected {FORMS}")
    found: Any = import_file(Path(match["place"])) if of_file else import_named(match["place"])
    for part in match["attribute"].split("."):
        with user_code(f"cannot take {part!r} of {match['place']}"):
            if not hasattr(found, part):
                near = get_close_matches(part, dir(found), 1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                raise ConfigError(f"{match['place']} has no {match['attribute']!r}{hint}")
            found = getattr(found, part)
    owner = str(getattr(found, "__module__", "")).partition(".")[0]
    if isinstance(found, ModuleType) or owner in sys.stdlib_module_names - {"__main__"}:
        raise ConfigError(f"{name} is part of Python itself, or a module: name a function, class or object of your own")
    return found


def full_name(value: object) -> object:
    """A name under which the same is found from every folder: files by their full path, code by where it is defined.

    What is neither a name nor a function or class comes back as it is.
    """
    if isinstance(value, str):
        match = FILE.fullmatch(value)
        return f"{_full_path(match['place'])}:{match['attribute']}" if match else value
    if not callable(value) or not hasattr(value, "__qualname__"):
        return value
    module, name = str(value.__module__), str(value.__qualname__)
    place = getattr(sys.modules.get(module), "__file__", None)
    if "<" in name or place is None:
        raise ConfigError(
            f"{name} is defined inside a function, a shell or a notebook, where a later command cannot find it: "
            "define it at the top level of a file"
        )
    # The name of a running script, or of a file that was imported by its path, says nothing in another process.
    is_file = module == "__main__" or module.startswith("egoequiv.user_code.")
    return f"{Path(place).resolve()}:{name}" if is_file else f"{module}:{name}"


def _full_path(place: str) -> Path:
    try:
        return Path(place).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as problem:
        raise ConfigError(f"{place!r} is no path of a file: {problem}") from problem


def short_name(name: str) -> str:
    """A name for tables and folders: of code, what comes after the colon."""
    return name.rpartition(":")[2] if is_code(name) else name


def check_recorded(kind: str, names: Iterable[str], folder: Path) -> None:
    """Refuse code that a run names, unless it lies where the user's own code does.

    A file inside the run, or one whose place depends on where one is, is never run. Other code must be imported
    already, as that is which the user has named, or be at one of the places that `egoequiv.user_code` trusts.

    Args:
        kind: what is named, for messages.
        names: the names that the run has recorded.
        folder: the folder of the run.

    """
    inside = folder.resolve()
    for name in names:
        of_file, of_module = FILE.fullmatch(name), MODULE.fullmatch(name)
        if of_file and not Path(of_file["place"]).is_absolute():
            raise ConfigError(f"{folder} names the {kind} {name}, which is not a full path: no code is run from there")
        places = [_full_path(of_file["place"])] if of_file else places_of(of_module["place"]) if of_module else []
        if any(place.is_relative_to(inside) for place in places):
            raise ConfigError(f"{folder} names the {kind} {name}, which lies inside it: no code is run from a run")
        if of_file and str(places[0]) != of_file["place"]:  # a link, such as /proc/self/cwd, may lead anywhere
            raise ConfigError(
                f"{folder} names the {kind} {name}, whose full path is {places[0]}: no code is run by another path"
            )
        if of_file and not is_trusted_file(places[0]):
            raise ConfigError(
                f"{folder} names the {kind} {name}, which you did not name: if you trust this code, start in a folder "
                f"above it, or set {CODE_VARIABLE}={shlex.quote(str(places[0].parent))}"
            )
        if of_module and not is_trusted_module(of_module["place"]):
            raise ConfigError(
                f"{folder} names the {kind} {name}, a module of the current folder that you did not name: "
                f"if you trust this code, set {CODE_VARIABLE}={shlex.quote(str(Path.cwd()))}"
            )


def trust_prefix(names: Iterable[str]) -> str:
    """What must stand before a later command, so that it trusts the code that a run of these names records.

    `EGOEQUIV_CODE=FOLDER ` with a space behind it, or nothing.
    """
    folders: list[Path] = []
    for name in names:
        of_file, of_module = FILE.fullmatch(name), MODULE.fullmatch(name)
        if of_file and not is_trusted_file(_full_path(of_file["place"]), if_imported=False):
            folders.append(_full_path(of_file["place"]).parent)
        elif of_module and not is_trusted_module(of_module["place"], if_imported=False):
            folders.append(Path.cwd())
    if not folders:
        return ""
    before = [place for place in os.environ.get(CODE_VARIABLE, "").split(os.pathsep) if place]
    return f"{CODE_VARIABLE}={shlex.quote(os.pathsep.join(dict.fromkeys([*before, *map(str, folders)])))} "


def what_is(thing: object) -> str:
    """A thing in words, for messages: "the class Net", "the number 3", "a list"."""
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    if callable(thing):
        return f"the function {getattr(thing, '__name__', type(thing).__name__)}"
    return f"a {type(thing).__name__}"
