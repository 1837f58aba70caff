"""Compiled functions compute the same, and their machine code on disk never outlives the sources it came from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from egoequiv.compiled import PREFIX, compiled, inlined, machine_code_folder, source_digest

HELPER = "from egoequiv.compiled import inlined\n\n@inlined\ndef grown(x):\n    return x + {by}.0\n"
USER = """
from egoequiv.compiled import compiled
from drawing.render.helper import grown

@compiled
def drawn(x):
    return 10.0 * grown(x)
"""


def doubled(x: float) -> float:
    return 2.0 * x


def test_a_compiled_function_computes_the_same() -> None:
    assert compiled(doubled)(1.5) == inlined(doubled)(1.5) == doubled(1.5) == 3.0


def write_package(folder: Path, by: int) -> None:
    """A package whose compiled function calls a helper of another file; the helper's file keeps its size and time."""
    render = folder / "drawing" / "render"
    render.mkdir(parents=True, exist_ok=True)
    texts = {"helper": HELPER.format(by=by), "user": USER}
    for name, text in {**texts, "__init__": ""}.items():
        (render / f"{name}.py").write_text(text)
        os.utime(render / f"{name}.py", (1e9, 1e9))
    (folder / "drawing" / "__init__.py").touch()


def draw(folder: Path) -> str:
    """What a new process computes, and how many functions it had to compile."""
    program = "from drawing.render.user import drawn; print(drawn(1.0), sum(drawn.stats.cache_misses.values()))"
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_a_changed_helper_leaves_nothing_stale(tmp_path: Path) -> None:
    write_package(tmp_path, by=1)
    assert draw(tmp_path) == "20.0 1"
    assert draw(tmp_path) == "20.0 0"  # kept on disk
    write_package(tmp_path, by=2)
    assert draw(tmp_path) == "30.0 1"
    assert len(list((tmp_path / "drawing" / "__pycache__").glob(f"{PREFIX}*"))) == 1  # that of earlier sources is gone


def test_the_digest_tells_every_change_of_sources(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "room").mkdir()
    seen = {source_digest(tmp_path)}
    for name, text in (("a.py", "x = 2\n"), ("room/b.py", ""), ("room/b.py", "x = 2\n"), ("room/c.py", "x = 2\n")):
        (tmp_path / name).write_text(text)
        seen.add(source_digest(tmp_path))
    assert len(seen) == 5
    (tmp_path / "notes.txt").write_text("no source")
    assert source_digest(tmp_path) in seen


def test_the_folder_that_a_user_chose_for_numba_is_used(tmp_path: Path) -> None:
    folder = machine_code_folder(tmp_path / "sources", str(tmp_path / "chosen"))
    assert folder is not None
    assert folder.parent == tmp_path / "chosen"


def test_without_a_folder_for_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__pycache__").write_text("a file, so that no folder can be made here")
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "users"))
    beside_nothing = machine_code_folder(tmp_path, "")
    assert beside_nothing is not None
    assert beside_nothing.parent == tmp_path / "users"
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "__pycache__"))
    machine_code_folder.cache_clear()
    assert machine_code_folder(tmp_path, "") is None
    machine_code_folder.cache_clear()


@pytest.mark.parametrize("folder", [True, False])
def test_the_setting_of_numba_is_left_as_it_was(folder: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not folder:
        monkeypatch.setattr("egoequiv.compiled.machine_code_folder", lambda root, chosen: None)
    before = numba.config.CACHE_DIR
    assert compiled(doubled)(1.5) == 3.0
    assert before == numba.config.CACHE_DIR
