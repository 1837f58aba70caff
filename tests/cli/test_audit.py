"""`egoequiv audit` from the command line, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from auditing.toys import TinyNet, driving_store
from egoequiv.pairs import mine_patterns
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from helpers import GridRecording
from running import Cli

TINY = "auditing.toys:tiny"


def test_the_table_says_how_it_was_measured(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    printed = cli("audit", TINY, "--store", small_store.path, "--motions", "up,right", "-o", tmp_path)
    for words in ("rho up", "1.00 is the copy baseline", "Euclidean norm", "pairs to fit", "12 x 12 x 1"):
        assert words in printed.out
    for name in ("pixels", "random", "tiny"):
        assert name in printed.out
    assert "audit.png" in printed.err
    page = (tmp_path / "audit.md").read_text()
    assert "| tiny |" in page
    assert (tmp_path / "audit.png").stat().st_size > 5_000
    described = json.loads((tmp_path / "audit.json").read_text())
    told = json.loads(cli("audit", TINY, "--store", small_store.path, "--motions", "up,right", "--json").out)
    assert told == described | {"files": []}
    assert [row["model"] for row in told["rows"]] == ["pixels", "random", "tiny"]


def test_models_have_names_and_settings(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    save_file(TinyNet(channels=3).state_dict(), tmp_path / "tiny.safetensors")
    arguments = ["audit", "colour=auditing.toys:tiny_of_colour", f"gray={TINY}", "small=pixels", "--no-baselines"]
    arguments += [
        "--set",
        "mean=0.5",
        "--set",
        "colour.channels=3",
        "--set",
        "small.size=4x5",
        "--set",
        "gray.mean=0.25",
    ]
    arguments += ["--set", f"colour.weights={tmp_path / 'tiny.safetensors'}", "--layer", "body", "--pool", "flatten"]
    told = json.loads(cli(*arguments, "--store", small_store.path, "--motions", "up", "--limit", 60, "--json").out)
    assert {row["model"]: row["preprocessing"] for row in told["rows"]} == {
        "colour": "12 x 12 x 3, mean 0.5, std 1",
        "gray": "12 x 12 x 1, mean 0.25, std 1",
        "small": "4 x 5 x 1, mean 0, std 1",
    }
    assert {row["layer"]: row["dimension"] for row in told["rows"] if row["model"] == "gray"} == {
        "output": 5,
        "body": 4 * 5 * 5,
    }


def test_one_model_in_cells_and_as_the_mean(cli: Cli, small_store: FrameStore) -> None:
    arguments = [f"mean={TINY}", f"cells={TINY}", "--set", "layer=body", "--set", "cells.grid=2x3"]
    measured = ["--store", small_store.path, "--motions", "up", "--limit", 60, "--no-baselines", "--json"]
    sizes = {
        (row["model"], row["layer"]): row["dimension"]
        for row in json.loads(cli("audit", *arguments, *measured).out)["rows"]
    }
    assert sizes == {("mean", "body"): 4, ("cells", "body"): 4 * 6}
    told = json.loads(cli("audit", TINY, "--layer", "body", "--grid", "1x2", *measured).out)
    assert [row["dimension"] for row in told["rows"]] == [5, 8]
    assert "tiny: maps and tokens are averaged to 1x2 cells" in told["notes"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument"),
        (["what is this"], "is no model: expected a folder of a run"),
        (["weights.pth"], "nothing is unpickled"),
        (["auditing.toys:ending_factory"], "toys.py line 85: it called sys.exit("),
        (["auditing.toys:ending_model"], "it called sys.exit(3), which a model must not, on images of 12 x 12 x 1"),
        (
            ["a=auditing.toys:tiny_of_colour", "--set", "channels=1"],
            "takes images of 3 channels and was shown 1: declare channels=3",
        ),
        ([TINY, "--max-gap", "-1"], "--max-gap must be a number of seconds above 0"),
        ([TINY, "--frames", "validation"], "none of these models is a run that was trained on"),
        ([TINY, "--set", "dtype=int8"], "dtype must be float32 or uint8"),
        ([TINY, "--set", "dtype=uint8", "--set", "mean=0.5"], "declare no mean and std"),
        ([TINY, "--layer", "haed"], "did you mean head"),
        ([TINY, "--grid", "3by8"], "grid='3by8': expected two numbers such as 3x8"),
        ([TINY, "--grid", "3x8", "--pool", "flatten"], "--grid and --pool flatten both say"),
        (["pixels", "--grid", "3x8"], "--grid 3x8: none of these models takes it; name one"),
        ([TINY, "--set", "tiny.layer=haed"], "'haed' is not known in model tiny; did you mean head"),
        ([TINY, "--set", "size=large"], "size 'large'"),
        ([TINY, "--set", "mean=gray"], "--set mean=gray: expected numbers"),
        ([TINY, "--set", "colour=3"], "--set colour=3: no such setting"),
        ([TINY, "--set", "other.size=3"], "no model is named 'other'"),
        ([TINY, "--set", "std=0"], "std above 0"),
        (["pixels", "--set", "size=3"], "none of these models takes it"),
        ([f"pixels={TINY}"], f"model pixels ({TINY}) has the name of a baseline: give it another"),
        ([TINY, "-o", __file__], "cannot write"),
        (["a=pixels", "a=random"], "two models are named 'a'"),
        (["pixels", "--weights", "w.safetensors"], "0 models are given as package.module:factory"),
        ([TINY, "--weights", "w.safetensors"], "weights w.safetensors do not exist or are no file"),
        ([TINY, "--motions", "sideways"], "'sideways' is not known here"),
        ([TINY, "--motions", "up", "--patterns", "p.json"], "give one of them"),
        ([TINY, "--patterns", "p.json"], "p.json is missing"),
        ([TINY, "--device", "abacus"], "device 'abacus' cannot be used here"),
        ([TINY, "--hold-out", "colour"], "no attribute 'colour'"),
        ([TINY, "--limit", "10"], "at most 10 pairs of a motion (--limit) are too few"),
    ],
)
def test_mistakes_are_one_line(cli: Cli, small_store: FrameStore, arguments: list[str], words: str) -> None:
    error = cli("audit", *arguments, "--store", small_store.path, code=2).err
    assert words in " ".join(error.split())
    assert "Traceback" not in error


class Still(GridRecording):
    """Pictures of nothing."""

    def image(self, frame: int) -> NDArray[np.uint8]:
        return np.full((self.size, self.size), frame, np.uint8)


def test_pictures_without_poses_are_refused(cli: Cli, tmp_path: Path) -> None:
    recording = Still("still", kind=0, poses=np.empty((24, 0)))
    ingest(Source("pictures", NoMotion(), [recording], {}), tmp_path / "pictures", workers=1)
    assert "has no poses" in cli("audit", "pixels", "--store", tmp_path / "pictures", code=2).err


def test_patterns_of_another_space_are_refused(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "patterns.json").write_text(json.dumps(mine_patterns(driving_store()).patterns.describe()))
    error = cli("audit", "pixels", "--store", small_store.path, "--patterns", tmp_path / "patterns.json", code=2).err
    assert "another motion space" in error


def test_torch_computes_as_before(cli: Cli, small_store: FrameStore) -> None:
    cli("audit", TINY, "--store", small_store.path, "--motions", "up", "--limit", 60, "--json")
    assert torch.is_grad_enabled()


def test_json_stays_json_whatever_a_model_prints(cli: Cli, small_store: FrameStore) -> None:
    arguments = ("--store", small_store.path, "--motions", "up", "--limit", 60, "--json", "--no-baselines")
    printed = cli("audit", "auditing.toys:talking", *arguments)
    assert json.loads(printed.out)["rows"][0]["motions"][0]["constant"] > 0
    assert "built" in printed.err


def test_a_folder_that_cannot_be_written_is_told_first(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "audit.png").mkdir()
    error = cli("audit", TINY, "--store", small_store.path, "-o", tmp_path, code=2).err
    assert "audit.png is a folder" in " ".join(error.split())
    assert "features of" not in error
