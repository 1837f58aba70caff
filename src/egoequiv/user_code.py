"""Code of users: imported from a module or a file, and run so that what it does wrong is one clear line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from site import getsitepackages
from sysconfig import get_paths
from traceback import extract_tb
from types import ModuleType
from typing import Any

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.files import SEARCH, kind_of_folder

# A script that was never meant to be imported may end the program; Ctrl-C is the user's and passes.
FAULTS = (Exception, SystemExit)

# The folders from which a run may name code, beside those of the Python path; what the user names needs none.
CODE_VARIABLE = "EGOEQUIV_CODE"

_OWN = ("egoequiv", "egoequiv_worlds")
_PACKAGES = tuple(Path(__file__).resolve().parents[1] / name for name in _OWN)
_LIBRARIES = tuple({get_paths()["stdlib"], *getsitepackages()})

# Modules of files are named egoequiv.user_code.HEX, where HEX is the path. So two files of one name do not collide,
# and a worker process finds the class of an object that it is sent. `__path__` makes this module their parent.
__path__: list[str] = []


class _UserFiles:
    """The finder of modules whose names hold the path of a file."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        parent, _, code = name.rpartition(".")
        try:
            file = bytes.fromhex(code).decode() if parent == __name__ else ""
        except ValueError:  # a name that this module does not have
            return None
        return spec_from_file_location(name, file) if file.startswith("/") else None


if _UserFiles not in sys.meta_path:
    sys.meta_path.append(_UserFiles)


def import_file(path: Path) -> ModuleType:
    """The module of a Python file; of the script that is running, that script itself."""
    path = path.expanduser().resolve()
    if path == _running_script():
        return sys.modules["__main__"]
    if not path.is_file():
        raise ConfigError(f"{path} does not exist or is no file: check its name; a run needs it where it was trained")
    refuse_data(path)
    with _importing():
        return import_module(_module_name(path))


def _module_name(file: Path) -> str:
    return f"{__name__}.{str(file).encode().hex()}"


def _running_script() -> Path | None:
    """The file of the script that is running, if there is one."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(str(file)).resolve() if file else None


def import_named(name: str) -> ModuleType:
    """A module of the Python path, to which the current folder belongs, as with `python -m`."""
    if name.partition(".")[0] in sys.stdlib_module_names:  # a run could name os:abort and the like
        raise ConfigError(f"module {name!r} belongs to Python itself: name a file of yours as path/to/file.py:name")
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    add_current_folder()
    for place in places_of(name):
        refuse_data(place)
    with _importing():
        try:
            return import_module(name)
        except ModuleNotFoundError as problem:
            if problem.name is None or not f"{name}.".startswith(f"{problem.name}."):
                raise  # of something that the module itself imports
            raise ConfigError(
                f"there is no module {problem.name!r} on the Python path: install its package, add its folder to "
                "PYTHONPATH, start in that folder, or name the file instead, as path/to/file.py:name"
            ) from problem


def places_of(name: str, if_imported: bool = True) -> list[Path]:
    """The files or folders from which the top package of a module would be imported; nothing is imported.

    Of one that is imported already, those it came from, or if that does not count, those on the Python path.
    """
    try:
        spec = (find_spec if if_imported else PathFinder.find_spec)(name.partition(".")[0])
    except (ImportError, ValueError):  # ValueError: of a module that somebody made by hand
        return []
    if spec is None:
        return []
    found = [*(spec.submodule_search_locations or ()), *([spec.origin] if spec.has_location and spec.origin else [])]
    return [Path(place).resolve() for place in found]


def add_current_folder() -> None:
    """Put the current folder first on the Python path, as `python -m` does; not if it is inside a run or a store.

    It may be there already, because of PYTHONPATH or of an installed package: then it is there twice.
    """
    here = _current_folder()
    if here is not None and sys.path[:1] not in ([""], [str(here)]) and data_folder(here / "any.py") is None:
        sys.path.insert(0, str(here))


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return None


def is_trusted_file(file: Path, if_imported: bool = True) -> bool:
    """Whether a file that a run names may be imported, although the user has not named it.

    It may if it is imported already, below the current folder, a folder of the Python path or one of `EGOEQUIV_CODE`.
    """
    if if_imported and (file == _running_script() or _module_name(file) in sys.modules):
        return True
    of_python = {Path(get_paths()[name]).resolve() for name in ("stdlib", "platstdlib")}
    on_path = {Path(place).resolve() for place in sys.path if place} - of_python
    folders = [*on_path, *_code_folders(), _current_folder()]
    return any(file.is_relative_to(folder) for folder in folders if folder is not None)


def is_trusted_module(name: str, if_imported: bool = True) -> bool:
    """Whether a module that a run names may be imported, although the user has not named it.

    It may if it is imported already, installed, on PYTHONPATH or below a folder of `EGOEQUIV_CODE`. The current folder
    alone does not count: where someone put a run, there may be code beside it.
    """
    top = name.partition(".")[0]
    if if_imported and top in sys.modules:
        return True
    add_current_folder()
    found = places_of(top, if_imported)
    if all(any(place.is_relative_to(folder) for folder in _code_folders()) for place in found):
        return True  # also if there is none: the import says so
    script, here, before = _running_script(), _current_folder(), list(sys.path)
    if script is not None and script.parent == here:
        return True  # the user's own script is there
    first = next((k for k, place in enumerate(before) if place in ("", str(here))), None)
    if first is None:
        return True
    try:
        del sys.path[first]
        return places_of(top, if_imported) == found
    finally:
        sys.path[:] = before


def _code_folders() -> list[Path]:
    """The folders of the variable `EGOEQUIV_CODE`, in the form of PYTHONPATH."""
    places = os.environ.get(CODE_VARIABLE, "").split(os.pathsep)
    return [Path(place).expanduser().resolve() for place in places if place]


def data_folder(file: Path) -> tuple[Path, str] | None:
    """The run or the store inside of which a file lies, and which of them it is."""
    for folder in file.resolve().parents:
        if (what := kind_of_folder(folder)) not in (None, SEARCH):
            return folder, what
    return None


def refuse_data(file: Path) -> None:
    """Refuse code inside of a run or a store: what was copied from elsewhere must not run."""
    found = data_folder(file)
    if found is not None:
        folder, what = found
        raise ConfigError(f"{file} lies inside {folder}, {what}, and no code is run from there: move it elsewhere")


@contextmanager
def _importing() -> Iterator[None]:
    """What is printed by an import goes to stderr: stdout is for results, such as one JSON object."""
    with redirect_stdout(sys.stderr), user_code("it cannot be imported"):
        yield


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """Turn what goes wrong in code of a user into one line: `what`, then the file, the line and the reason."""
    try:
        yield
    except (EgoEquivError, MemoryError):
        raise
    except FAULTS as problem:
        raise ConfigError(f"{what}: {explain(problem)}") from problem


def explain(problem: BaseException) -> str:
    """What code did, with the file and line of the user at which it did it."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{problem.filename} line {problem.lineno}: {type(problem).__name__}: {problem.msg}"
    steps = [step for step in extract_tb(problem.__traceback__) if not step.filename.startswith("<frozen")]
    own = [step for step in steps if not _is_library(step.filename)]
    where = (own or steps)[-1:]
    place = "".join(f"{step.filename} line {step.lineno}: " for step in where)
    if isinstance(problem, SystemExit):
        code = "" if problem.code is None else one_line(repr(problem.code))
        return f"{place}it called sys.exit({code}), which it must not"
    words = one_line(_words(problem))
    hint = "; install it, or add its folder to PYTHONPATH" if isinstance(problem, ModuleNotFoundError) else ""
    return f"{place}{type(problem).__name__}{': ' if words else ''}{words}{hint}"


def _words(problem: BaseException) -> str:
    """What an exception says; of a record, what is wrong with each field."""
    from pydantic import ValidationError  # here, because its import takes long

    if not isinstance(problem, ValidationError):
        return str(problem)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in problem.errors())


def _is_library(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to egoequiv."""
    real = Path(os.path.realpath(file))
    return file.startswith(_LIBRARIES) or any(real.is_relative_to(package) for package in _PACKAGES)


def is_built_in(thing: Any) -> bool:
    """Whether a function, a class or an object of one is egoequiv's own, or of its worlds."""
    module = str(getattr(thing, "__module__", None) or type(thing).__module__)
    return module.startswith(tuple(f"{package.name}." for package in _PACKAGES)) and not module.startswith(
        f"{__name__}."
    )


def one_line(text: str) -> str:
    """Text without line breaks."""
    return " ".join(text.split())
