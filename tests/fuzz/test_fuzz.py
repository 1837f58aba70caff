"""A small part of the campaigns, and proof that they would see what they look for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoequiv.catalog import open_source
from egoequiv.sources.logged import LoggedRecording
from egoequiv.store import FrameStore, ingest
from egoequiv.store.frame_store import INDEX
from fuzz import running
from fuzz.cases import Case, Target
from fuzz.inputs import Inputs
from fuzz.log_check import wrong_poses
from fuzz.logs import LOGS, Log
from fuzz.running import _changes, _judge, snapshot
from fuzz.targets import TARGETS

TESTS = Path(__file__).parents[1]
# All that can be made in seconds: what reads files and stores, and options.
QUICK = ("norb", "kitti", "scenes", "sun397", "store", "remote", "file-url", "patterns-file", "options")


def run(*lines: tuple[str, Sequence[object]]) -> subprocess.CompletedProcess[str]:
    """Modules with arguments in one process of their own, because a fork of one that has run torch may hang."""
    calls = [(module, [str(word) for word in line]) for module, line in lines]
    script = f"""
import sys
from importlib import import_module
sys.path.insert(0, {str(TESTS)!r})
sys.exit(max(import_module(module).main(line) for module, line in {calls!r}))
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_part_of_the_campaigns() -> None:
    """Damaged inputs, and kills; tests/training/test_kill.py kills `train`."""
    done = run(
        ("fuzz.__main__", ("--cases", 24, "--seed", 7, "--only", *QUICK)),
        ("fuzz.__main__", ("--cases", 16, "--seed", 11, "--only", "log-")),
        ("fuzz.kills", ("--kills", 2, "--only", "ingest", "patterns")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 cases, 0 failures" in done.stdout
    assert "16 cases, 0 failures" in done.stdout
    assert done.stdout.count('"killed"') == 2


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("logs"))


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_poses_of_another_frame_are_seen(log: Log, logs: Inputs, tmp_path: Path) -> None:
    """A whole log passes; with the poses, or the times, of the frames beside it, it does not."""
    whole = logs[f"{log.name}_store"]
    assert wrong_poses(whole, whole, (), log.most) == ""
    store = FrameStore.open(whole)
    for prefix, words in (("pose_", "wrong pose"), ("time", "times are wrong")):
        shutil.copytree(whole, tmp_path / prefix)
        index = pq.read_table(tmp_path / prefix / INDEX)
        columns = [name for name in index.column_names if name.startswith(prefix)]
        if not columns or (prefix == "time" and store.times_s is None) or (prefix == "pose_" and log.source == "video"):
            continue
        for name in columns:
            values = index[name].to_numpy().copy()
            values[:-1] = values[1:] if prefix == "pose_" else 1.5 * values[:-1]
            index = index.set_column(index.column_names.index(name), name, pa.array(values))
        pq.write_table(index, tmp_path / prefix / INDEX)
        assert words in wrong_poses(tmp_path / prefix, whole, (), log.most)


@pytest.mark.slow
def test_frames_that_are_lost_without_a_word_are_seen(logs: Inputs, tmp_path: Path) -> None:
    (log,) = (log for log in LOGS if log.name == "tum")
    source = open_source("tum", logs["log_tum"], max_gap_s=1.0)
    (recording,) = source.recordings
    assert isinstance(recording, LoggedRecording)
    rows = np.arange(8)
    short = recording.part(recording.name, rows)
    ingest(replace(source, recordings=[short]), tmp_path / "store", progress=False)
    assert "4 of 12 frames are lost" in wrong_poses(tmp_path / "store", logs["tum_store"], ("odd_cell x",), log.most)
    assert wrong_poses(tmp_path / "store", logs["tum_store"], ("lose_rows x",), log.most) == ""


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

    targets = [one for one in TARGETS if one.input in ("scenes", "sun397", "log_tum", "log_donkey", "log_r3d")]
    inputs = Inputs(tmp_path / "inputs")
    folders = [tmp_path / name for name in ("a", "b")]
    for number in range(16):
        cases = [draw(3, number, targets, inputs, folder / str(number)) for folder in folders]
        assert cases[0].damaged == cases[1].damaged
    assert snapshot(folders[0]) == snapshot(folders[1])
