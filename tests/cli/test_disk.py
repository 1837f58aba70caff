"""A disk that is full and folders that cannot be written: one line, exit 2, nothing half-written."""

import subprocess
import sys
from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from running import Cli

# A limit on the size of a file stands in for a full disk: the write fails in the same way, and no root is needed.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["egoequiv", *sys.argv[2:]]
from egoequiv.cli.main import main
main()
"""


def run_limited(limit: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(limit), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def assert_one_line(finished: subprocess.CompletedProcess[str], *words: str) -> None:
    assert finished.returncode == 2, finished.stderr
    lines = [line for line in finished.stderr.splitlines() if line.startswith("egoequiv: error:")]
    assert len(lines) == 1, finished.stderr
    assert "Traceback" not in finished.stderr
    for word in words:
        assert word in lines[0]


def test_ingest_on_a_full_disk(tmp_path: Path) -> None:
    world = ["--set=toys_per_category=1", "--set=lightings=1", "--set=elevations=2", "--set=azimuths=4", "--workers=1"]
    finished = run_limited(30_000, "ingest", "turntable", "-o", tmp_path / "toys", "--size", "48", *world)
    assert_one_line(finished, "no room for")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("limit", [200, 20_000])
def test_train_on_a_full_disk(limit: int, small_store: FrameStore, cli: Cli, tmp_path: Path) -> None:
    settings = ["--method", "equiv", "--iterations", "20", "--set", "log_every=10", "--per-class", "3"]
    finished = run_limited(limit, "train", small_store.path, "-o", tmp_path / "run", *settings)
    assert_one_line(finished, str(tmp_path / "run"))
    assert not list((tmp_path / "run").glob("*.partial"))
    assert not (tmp_path / "run" / "result.json").exists()
    cli("train", small_store.path, "-o", tmp_path / "run", *settings, "--resume")  # where there is room, it goes on


def test_a_picture_in_a_folder_that_cannot_be_made(small_store: FrameStore, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = cli("info", small_store.path, "--sheet", tmp_path / "file" / "sheet.png", code=2).err
    (line,) = (line for line in said.splitlines() if line.startswith("egoequiv: error:"))
    assert "file" in line
