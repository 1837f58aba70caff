"""A disk that is full and folders that cannot be written: one line, exit 2, nothing half-written."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from running import Cli, Finished


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """A limit on the size of a file stands in for a full disk: a write fails in the same way, without root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def assert_one_line(finished: Finished, *words: str) -> None:
    (line,) = (line for line in finished.err.splitlines() if line.startswith("egoequiv: error:"))
    assert "Traceback" not in finished.err
    for word in words:
        assert word in line


def test_ingest_on_a_full_disk(cli: Cli, tmp_path: Path) -> None:
    world = ["--set=toys_per_category=1", "--set=lightings=1", "--set=elevations=2", "--set=azimuths=4", "--workers=1"]
    with full_disk(30_000):
        finished = cli("ingest", "turntable", "-o", tmp_path / "toys", "--size", "48", *world, code=2)
    assert_one_line(finished, "no room for")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [200, 20_000])
def test_train_on_a_full_disk(limit: int, small_store: FrameStore, cli: Cli, tmp_path: Path) -> None:
    settings = ["--method", "equiv", "--iterations", "20", "--set", "log_every=10", "--per-class", "3"]
    with full_disk(limit):
        finished = cli("train", small_store.path, "-o", tmp_path / "run", *settings, code=2)
    assert_one_line(finished, str(tmp_path / "run"))
    assert not list((tmp_path / "run").glob("*.partial"))
    assert not (tmp_path / "run" / "result.json").exists()
    cli("train", small_store.path, "-o", tmp_path / "run", *settings, "--resume")  # where there is room, it goes on


def test_a_picture_in_a_folder_that_cannot_be_made(small_store: FrameStore, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = cli("info", small_store.path, "--sheet", tmp_path / "file" / "sheet.png", code=2).err
    (line,) = (line for line in said.splitlines() if line.startswith("egoequiv: error:"))
    assert "file" in line
