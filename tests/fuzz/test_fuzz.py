"""A small part of the campaigns, and proof that they would see what they look for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import running
from fuzz.cases import Case, Target
from fuzz.inputs import Inputs
from fuzz.running import _changes, _judge, snapshot
from fuzz.targets import TARGETS

TESTS = Path(__file__).parents[1]
# All that can be made in seconds: what reads files and stores, and options.
QUICK = ("norb", "kitti", "scenes", "sun397", "store", "remote", "file-url", "patterns-file", "options")


def run(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own, because a fork of one that has run torch may hang."""
    script = f"import sys; sys.path.insert(0, {str(TESTS)!r}); from {module} import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_part_of_the_campaign() -> None:
    done = run("fuzz.__main__", "--cases", 150, "--seed", 7, "--only", *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "150 cases, 0 failures" in done.stdout


@pytest.mark.slow
def test_a_part_of_the_kills() -> None:
    done = run("fuzz.kills", "--kills", 2, "--only", "ingest", "train", "patterns")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"killed"') == 3


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "config.json").write_text("{}")
    return Case(0, Target("run", "run", lambda rng, place, inputs: []), (), [])


@pytest.mark.parametrize(
    ("code", "late", "said", "failure"),
    [
        (0, "", "", ""),
        (2, "", "note: x\negoequiv: error: no\n", ""),
        (2, "", "Usage: x\nError: No such option\n", ""),
        (2, "", "", "exit 2 without a line"),
        (1, "", "", "exit 1"),
        (-11, "", "", "exit -11"),
        (2, "", "Traceback (most recent call last):\n", "traceback"),
        (0, "", "x.py:1: RuntimeWarning: overflow\n", "warning"),
        (-9, "hung", "", "hang: it did not stop on SIGTERM"),
        (143, "stopped", "stopped; x\n", f"slow: more than {running.LIMIT_S:.0f} s"),
    ],
)
def test_ends_are_judged(case: Case, code: int, late: str, said: str, failure: str) -> None:
    assert _judge(case, code, late, said) == failure


def test_files_are_watched(case: Case, tmp_path: Path) -> None:
    before = snapshot(tmp_path / "in")
    assert _changes(case, before, tmp_path) == ""
    (tmp_path / "out" / ".x.1-01234567.partial").mkdir()
    assert "left behind" in _changes(case, before, tmp_path)
    (tmp_path / "out" / ".x.1-01234567.partial").rmdir()
    (tmp_path / "in" / "config.json").write_text("[]")
    assert "input changed" in _changes(case, before, tmp_path)
    (tmp_path / "in" / "config.json").unlink()
    assert "lost: config.json" in _changes(case, before, tmp_path)
    (tmp_path / "else").touch()
    assert "outside of the output" in _changes(case, before, tmp_path)
    (tmp_path / "trapped").touch()
    assert "code of an input was run" in _changes(case, before, tmp_path)


def test_a_case_is_the_same_each_time(tmp_path: Path) -> None:
    from fuzz.cases import draw

    targets = [one for one in TARGETS if one.input in ("scenes", "sun397")]
    inputs = Inputs(tmp_path / "inputs")
    folders = [tmp_path / name for name in ("a", "b")]
    for number in range(8):
        cases = [draw(3, number, targets, inputs, folder / str(number)) for folder in folders]
        assert cases[0].damaged == cases[1].damaged
    assert snapshot(folders[0]) == snapshot(folders[1])
