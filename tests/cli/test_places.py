"""`egoequiv evaluate --task places`, used as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers import draw_few_blocks
from running import Cli

COUNT = 60


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_few_blocks(monkeypatch)


def write_walk(folder: Path, shift: int, seed: int = 0) -> Path:
    """A walk along a wall, seen `shift` pixels further to the right."""
    folder.mkdir()
    bricks = np.random.default_rng(seed).integers(0, 256, (6, 12 + COUNT)).astype(np.uint8)
    wall = np.kron(bricks, np.ones((4, 8), np.uint8))
    for k in range(COUNT):
        Image.fromarray(wall[:, 8 * k + shift : 8 * k + shift + 48]).save(folder / f"frame{k}.png")
    return folder


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("walks")
    return write_walk(root / "first", 0), write_walk(root / "second", 2)


@pytest.fixture
def run(cli: Cli, walks: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "cache"))
    cli(
        "ingest",
        "table",
        walks[0],
        "-o",
        tmp_path / "first",
        "--size",
        "16x32",
        "--poses",
        "log",
        "--read",
        "rate_hz=1",
    )
    cli(
        "train",
        tmp_path / "first",
        "-o",
        tmp_path / "run",
        "--method",
        "random",
        "--no-labels",
        "--encoder",
        "residual",
    )
    return tmp_path / "run"


@pytest.mark.slow
def test_a_second_walk_is_found_in_the_first(cli: Cli, run: Path, walks: tuple[Path, Path], tmp_path: Path) -> None:
    done = cli(
        "evaluate", run, "--task", "places", "--query", walks[1], "--tolerance", "1", "--json", "-o", tmp_path / "o"
    )
    (found,) = json.loads(done.out)["measurements"]
    values = {value["metric"]["name"]: value for value in found["values"]}
    assert values["recall@1"]["value"] > 0.5
    assert values["recall@1"]["baselines"]["pixels"] > 0.5
    assert values["recall@1, motion prior"]["value"] >= values["recall@1"]["value"]
    assert (found["frames"], found["leaked"]) == (COUNT, None)
    assert (found["details"]["reference"], found["details"]["query"]) == ("first", "second")
    assert json.loads((tmp_path / "o" / "places.json").read_text())["details"] == found["details"]
    shown = cli("evaluate", run, "--task", "places", "--query", walks[1], "--tolerance", "1").out
    assert "recall@10" in shown
    assert "60 query frames of second are looked for among 60 reference frames of first" in " ".join(shown.split())
    truth = tmp_path / "truth.csv"
    truth.write_text("query,reference\n" + "".join(f"frame{k}.png,{k}\n" for k in range(0, COUNT, 2)))
    asked = ("evaluate", run, "--task", "places", "--query", walks[1], "--tolerance", "1", "--truth", truth, "--json")
    (told,) = json.loads(cli(*asked).out)["measurements"]
    assert (told["frames"], told["details"]["truth"]) == (COUNT / 2, "table")
    truth.write_text("query,reference\n" + "".join(f"{k},{COUNT - 1 - k}\n" for k in range(COUNT)))
    (other,) = json.loads(cli(*asked).out)["measurements"]  # another content of the same file
    assert other["values"][0]["value"] < 0.2 < told["values"][0]["value"]


@pytest.mark.slow
def test_what_was_measured_is_kept_until_the_query_changes(
    cli: Cli, run: Path, walks: tuple[Path, Path], tmp_path: Path
) -> None:
    asked = ("evaluate", run, "--task", "places", "--query", tmp_path / "query", "--json")
    ingest = ("-o", tmp_path / "query", "--size", "16x32", "--poses", "log", "--overwrite")
    cli("ingest", "table", walks[1], *ingest)
    first = json.loads(cli(*asked).out)["measurements"][0]
    assert json.loads(cli(*asked).out)["measurements"][0] == first
    cli("ingest", "table", write_walk(tmp_path / "elsewhere", 0, seed=9), *ingest)
    other = json.loads(cli(*asked).out)["measurements"][0]
    assert other["values"][0]["value"] < 0.2 < first["values"][0]["value"]


def test_mistakes_are_one_line(cli: Cli, run: Path, walks: tuple[Path, Path], tmp_path: Path) -> None:
    def error(*arguments: object) -> str:
        failed = cli("evaluate", run, *arguments, code=2)
        (line,) = (line for line in failed.err.splitlines() if line.startswith("egoequiv: error: "))
        return line

    assert "--tolerance 'far'" in error("--task", "places", "--query", walks[1], "--tolerance", "far")
    assert "does not exist" in error("--task", "places", "--query", tmp_path / "nothing")
    assert "loop closure needs times and positions" in error("--task", "places")
    for place in (tmp_path / "first", walks[0]):  # the store of the run, and the log that it was made from
        assert "loop closure needs times and positions" in error("--task", "places", "--query", place)
    assert "no positions in metres" in error("--task", "places", "--query", walks[1], "--tolerance", "3m")
    assert "gone.csv cannot be read" in error("--task", "places", "--query", walks[1], "--truth", tmp_path / "gone.csv")
    assert "--revisit must be" in error("--task", "places", "--revisit", "-1")
    assert "--revisit is for tasks" in error("--revisit", "10")
    assert "needs a --query" in error("--task", "places", "--reference", "first")
