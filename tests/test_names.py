"""The door for everything that has a name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from egoequiv import names
from egoequiv.errors import ConfigError
from egoequiv.files import MARKS, SEARCH
from egoequiv.method_names import DOOR as METHOD_DOOR
from egoequiv.names import Door, check_recorded, full_name, is_code, load_code, short_name, trust_prefix

SHAPES: dict[str, Any] = {"square": 4, "triangle": 3}
DOOR = Door("shape", SHAPES, "egoequiv.shapes", "a number of corners", lambda found: isinstance(found, int))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder whose modules are forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that offers a shape."""
    entry = EntryPoint("hexagon", "shapes_of_a_package:hexagon", "egoequiv.shapes")
    monkeypatch.setattr(names, "registered", lambda group: {"hexagon": entry} if group == "egoequiv.shapes" else {})


def line_of(name: str, door: Door[Any] = DOOR) -> str:
    """What is said of a name that cannot be found."""
    with pytest.raises(ConfigError) as caught:
        door.find(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_built_in_name_needs_nothing_else() -> None:
    assert DOOR.find("square") == 4
    assert DOOR.names() == ["square", "triangle"]


def test_a_file_is_found_from_every_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "shapes.py").write_text("class Round:\n    oval = 0\n")
    name = full_name("mine/shapes.py:Round.oval")
    assert name == f"{folder}/mine/shapes.py:Round.oval"
    monkeypatch.chdir("/")
    assert DOOR.find(str(name)) == 0


def test_two_files_of_one_name_are_two_modules(folder: Path) -> None:
    for number in (5, 6):
        (folder / str(number)).mkdir()
        (folder / str(number) / "shapes.py").write_text(f"mine = {number}\n")
    assert [DOOR.find(f"{number}/shapes.py:mine") for number in (5, 6)] == [5, 6]


def test_a_module_is_found_on_the_path_and_in_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(folder))])
    (folder / "shapes_here.py").write_text("mine = 7\n")
    (folder / "elsewhere" / "shapes_package").mkdir(parents=True)
    (folder / "elsewhere" / "shapes_package" / "inner.py").write_text("mine = 8\n")
    assert DOOR.find("shapes_here:mine") == 7
    assert "no module 'shapes_package' on the Python path: install" in line_of("shapes_package.inner:mine")
    monkeypatch.syspath_prepend(folder / "elsewhere")
    assert DOOR.find("shapes_package.inner:mine") == 8


@pytest.mark.usefixtures("offered")
def test_a_package_offers_a_name(folder: Path) -> None:
    assert DOOR.names() == ["square", "triangle", "hexagon"]
    assert line_of("hexagon").startswith("shape hexagon (shapes_of_a_package:hexagon): there is no module")
    (folder / "shapes_of_a_package.py").write_text("hexagon = 6\n")
    assert DOOR.find("hexagon") == 6


def test_an_installed_package_registers_a_loss(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from egoequiv.method_names import get_method, list_methods

    about = folder / "site" / "lab-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[egoequiv.losses]\nlab-loss = lab_code:Own\n[egoequiv.methods]\nlab-method = lab_code:METHOD\n"
    )
    (folder / "site" / "lab_code.py").write_text(
        "from egoequiv.losses import Separation\nfrom egoequiv.methods import Method\n"
        "class Own(Separation):\n    name = 'own'\nMETHOD = Method('lab', 'of a lab', (Own(),))\n"
    )
    monkeypatch.syspath_prepend(folder / "site")
    names.registered.cache_clear()
    try:
        assert [term.name for term in get_method("equiv+lab-loss").terms] == ["classification", "equivariance", "own"]
        assert [term.name for term in get_method("lab-loss").terms] == ["classification", "own"]
        assert [term.name for term in get_method("lab-method").terms] == ["own"]
        assert list_methods()[-1] == "lab-method"
    finally:
        names.registered.cache_clear()


def test_an_unknown_name_comes_with_the_choices_and_a_guess() -> None:
    assert line_of("sqare") == (
        "shape 'sqare' is not known; choose one of square, triangle, or your own as package.module:name or "
        "path/to/file.py:name; did you mean 'square'?"
    )
    assert "did you mean" not in line_of("x")


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (None, "shapes.py:mine", "/shapes.py does not exist or is no file"),
        ("", "shapes.py", "names a file: say what is meant in it, as shapes.py:NAME"),
        ("mine = 3", "shapes.py:mien", "shapes.py has no 'mien', did you mean 'mine'?"),
        ("mine = 3", "shapes_module:other", "shapes_module has no 'other'"),
        ("mine = 'three'", "shapes.py:mine", "expected a number of corners, found a str"),
        ("def mine(): ...", "shapes.py:mine", "expected a number of corners, found the function mine"),
        ("class Mine: ...", "shapes.py:Mine", "expected a number of corners, found the class Mine"),
        ("a = 1\n\nb = a / 0", "shapes.py:b", "/shapes.py line 3: ZeroDivisionError: division by zero"),
        ("a = 1\nif a", "shapes.py:a", "/shapes.py line 2: SyntaxError"),
        ("a = (1\n\n\n", "shapes_module:a", "/shapes_module.py line 1: SyntaxError: '(' was never closed"),
        (
            "import not_there",
            "shapes.py:a",
            "/shapes.py line 1: ModuleNotFoundError: No module named 'not_there'; ",
        ),
        (
            "import sys\nsys.exit('no\\nway')",
            "shapes.py:a",
            "line 2: it called sys.exit('no\\nway'), which it must",
        ),
        (None, "os:abort", "module 'os' belongs to Python itself"),
        (None, "builtins:input", "module 'builtins' belongs to Python itself"),
        ("mine = 3", f"egoequiv.user_code.{'é.py'.encode().hex()}:mine", "there is no module 'egoequiv.user_code.c3a9"),
        ("raise KeyError", "shapes.py:a", "/shapes.py line 1: KeyError"),
        ("\x00", "shapes.py:a", "null bytes"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(folder: Path, content: str | None, name: str, words: str) -> None:
    if content is not None:
        for file in ("shapes.py", "shapes_module.py", "é.py"):
            (folder / file).write_text(content)
    line = line_of(name)
    assert line.startswith(f"shape {name!r}" if ":" not in name else f"shape {name}")
    assert words in line


def test_an_import_prints_to_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shapes.py").write_text("print('hello')\nmine = 3\n")
    assert DOOR.find("shapes.py:mine") == 3
    assert capsys.readouterr() == ("", "hello\n")


def test_ctrl_c_passes(folder: Path) -> None:
    (folder / "shapes.py").write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        DOOR.find("shapes.py:mine")


@pytest.mark.parametrize("marks", [["store.json"], ["config.json", "model.json"], ["config.json", "data.json"]])
def test_no_code_is_run_from_inside_a_run_or_a_store(
    folder: Path, marks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "data" / "inner"
    inner.mkdir(parents=True)
    ran = folder / "ran"
    code = f"from pathlib import Path\nPath({str(ran)!r}).touch()\nmine = 3\n"
    (inner / "shapes.py").write_text(code)
    (inner / "shapes_inside.py").write_text(code)
    for mark in marks:
        (folder / "data" / mark).touch()
    os.symlink(inner / "shapes.py", folder / "link.py")
    for name in ("data/inner/shapes.py:mine", "link.py:mine"):
        assert "no code is run from there" in line_of(name)
    monkeypatch.syspath_prepend(inner)
    assert "no code is run from there" in line_of("shapes_inside:mine")
    sys.path.remove(str(inner))
    monkeypatch.chdir(inner)
    assert "there is no module" in line_of("shapes_inside:mine")  # the current folder is not added there
    assert str(inner) not in sys.path
    assert not ran.exists()
    (folder / "data" / marks[0]).unlink()
    assert DOOR.find(f"{inner}/shapes.py:mine") == 3
    assert ran.exists()


def test_the_marks_are_the_files_that_runs_stores_and_exports_have() -> None:
    from egoequiv.models import saved
    from egoequiv.models.checkpoint import MODEL
    from egoequiv.models.checksums import CHECKSUMS
    from egoequiv.store.frame_store import META
    from egoequiv.training.run_folder import CONFIG, DATA
    from egoequiv.training.search import SELECTION

    export = (saved.CONFIG, saved.WEIGHTS, CHECKSUMS)
    known = {"a store": [(META,)], "a run": [(CONFIG, MODEL), (CONFIG, DATA)], "an export": [export]}
    assert {**known, SEARCH: [(SELECTION,)]} == MARKS


def test_what_a_run_has_recorded_is_not_followed_through_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path such as /proc/self/cwd/evil.py is a full path, and leads to the current folder on every machine."""
    monkeypatch.chdir(folder)
    (folder / "evil.py").write_text("")
    (folder / "link").symlink_to(folder)
    for place in (Path("/proc/self/cwd"), folder / "link"):
        with pytest.raises(ConfigError, match="whose full path is"):
            check_recorded("shape", [f"{place}/evil.py:mine"], folder / "run")


def test_what_a_run_has_recorded_may_not_lie_in_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = folder / "run"
    run.mkdir()
    (run / "inside.py").write_text("")
    (folder / "beside.py").write_text("")
    check_recorded("shape", ["square", f"{folder}/beside.py:mine", "not_there:mine"], run)
    for name in (f"{run}/inside.py:mine", f"{folder}/beside/../run/inside.py:mine"):
        with pytest.raises(ConfigError, match="which lies inside it: no code is run from a run"):
            check_recorded("shape", [name], run)
    with pytest.raises(ConfigError, match="not a full path"):
        check_recorded("shape", ["run/inside.py:mine"], run)
    monkeypatch.chdir(run)
    monkeypatch.syspath_prepend("")
    with pytest.raises(ConfigError, match="lies inside it"):
        check_recorded("shape", ["inside:mine"], Path())


def refusal(name: str, run: Path) -> str:
    """What is said of a name that a run has recorded; empty if it may be imported."""
    try:
        check_recorded("shape", [name], run)
    except ConfigError as problem:
        return str(problem)
    return ""


def test_a_file_that_a_run_names_must_lie_where_code_of_the_user_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "here", "run"):
        (folder / name).mkdir()
    (folder / "mine" / "shapes.py").write_text("round = 0\n")
    name, run = f"{folder}/mine/shapes.py:round", folder / "run"
    assert refusal(name, run) == ""  # below the current folder
    monkeypatch.chdir(folder / "here")
    assert refusal(name, run) == (
        f"{run} names the shape {name}, which you did not name: if you trust this code, start in a folder above it, or "
        f"set EGOEQUIV_CODE={folder}/mine"
    )
    for variable in (f"{folder}/mine", f"/not/there:{folder}", "../mine"):
        monkeypatch.setenv("EGOEQUIV_CODE", variable)
        assert refusal(name, run) == ""
    monkeypatch.setenv("EGOEQUIV_CODE", f"{folder}/mi")
    assert "which you did not name" in refusal(name, run)
    with monkeypatch.context() as on_path:
        on_path.syspath_prepend(folder / "mine")
        assert refusal(name, run) == ""
    assert "which you did not name" in refusal(name, run)
    assert "which you did not name" in refusal(f"{Path(os.__file__).parent}/antigravity.py:fly", run)
    load_code("../mine/shapes.py:round")  # as the user names it
    assert refusal(name, run) == ""
    assert trust_prefix(["drlim", name, name]) == f"EGOEQUIV_CODE={folder}/mi:{folder}/mine "  # for a later command
    monkeypatch.setenv("EGOEQUIV_CODE", str(folder))
    assert trust_prefix([name]) == ""


def test_a_module_that_a_run_names_must_not_be_one_of_the_current_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = folder / "run"
    run.mkdir()
    (folder / "shapes_beside.py").write_text("raise AssertionError('it was run')\n")
    line = (
        f"{run} names the shape shapes_beside:mine, a module of the current folder that you did not name: if you trust "
        f"this code, set EGOEQUIV_CODE={folder}"
    )
    assert refusal("shapes_beside:mine", run) == line
    (folder / "shapes_imported.py").write_text("mine = 0\n")
    load_code("shapes_imported:mine")  # as the user names it
    for module in ("shapes_beside", "shapes_imported"):
        assert trust_prefix([f"{module}:mine"]) == f"EGOEQUIV_CODE={folder} "
    monkeypatch.setenv("EGOEQUIV_CODE", ".")
    assert refusal("shapes_beside:mine", run) == ""
    monkeypatch.delenv("EGOEQUIV_CODE")
    sys.path.append(str(folder))  # as by PYTHONPATH, or by an installed package
    assert refusal("shapes_beside:mine", run) == ""
    sys.path.remove(str(folder))
    sys.path.remove(str(folder))
    # A module of the current folder hides an installed one, and would be imported in its place.
    (folder / "site").mkdir()
    (folder / "site" / "shapes_beside.py").write_text("mine = 3\n")
    sys.path.append(str(folder / "site"))
    assert refusal("shapes_beside:mine", run) == line
    (folder / "shapes_beside.py").unlink()
    assert refusal("shapes_beside:mine", run) == ""
    assert load_code("shapes_beside:mine") == 3


def corners() -> int:
    return 12


def test_functions_and_classes_have_full_names(folder: Path) -> None:
    assert full_name(corners) == "test_names:corners"
    assert load_code("test_names:corners") is corners
    (folder / "shapes.py").write_text("class Mine:\n    pass\n")
    assert full_name(load_code("shapes.py:Mine")) == f"{folder}/shapes.py:Mine"
    for value in (3, None, "equiv", "package.module:name"):
        assert full_name(value) == value
    with pytest.raises(ConfigError, match="define it at the top level of a file"):
        full_name(lambda: 3)


def test_a_running_script_is_not_run_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = folder / "script.py"
    script.write_text("raise AssertionError('run again')\n")
    main = type(sys)("__main__")
    main.__file__ = str(script)
    main.corners = corners  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert load_code("script.py:corners") is corners
    monkeypatch.setattr(corners, "__module__", "__main__")
    assert full_name(corners) == f"{script}:corners"


@pytest.mark.parametrize(
    ("name", "short", "code"),
    [
        ("equiv+drlim", "equiv+drlim", False),
        ("some.package:Thing.part", "Thing.part", True),
        ("/a folder/with:colon/file.py:thing", "thing", True),
        ("s3://bucket/store", "s3://bucket/store", False),
        ("random:norb", "norb", True),
        (":thing", ":thing", False),
        ("module:", "module:", False),
    ],
)
def test_short_names(name: str, short: str, code: bool) -> None:
    assert short_name(name) == short
    assert is_code(name) is code


def test_what_is_not_code_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no name of code"):
        load_code("equiv")


def test_the_doors_have_groups_of_their_own() -> None:
    from egoequiv.catalog import DOOR as SOURCES
    from egoequiv.evaluation.tasks import DOOR as TASKS
    from egoequiv.method_names import LOSS_DOOR
    from egoequiv.models.encoders import DOOR as ENCODERS
    from egoequiv.models.foreign.module import MODELS

    groups = [door.group for door in (SOURCES, METHOD_DOOR, LOSS_DOOR, ENCODERS, TASKS, MODELS)]
    assert groups == [f"egoequiv.{kind}" for kind in ("sources", "methods", "losses", "encoders", "tasks", "models")]
