"""Folders and files whose names are not UTF-8 are taken wherever a name is."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from egoequiv.store import FrameStore
from running import Cli

pytestmark = pytest.mark.slow

FEW = ("--method", "equiv", "--set", "batch_size=8", "--iterations", "2")
ONE = ("--rates", "0.01", "--seeds", "1", "--rate-seeds", "1", "--weights", "1", "--workers", "1")


@pytest.fixture
def places(small_store: FrameStore, tmp_path: Path) -> tuple[Path, Path]:
    """A folder with such a name, and a store in it with such a name."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(small_store.path, folder / os.fsdecode(b"toys\xff"))
    return folder, folder / os.fsdecode(b"toys\xff")


def test_from_a_store_to_everything(cli: Cli, places: tuple[Path, Path]) -> None:
    folder, store = places
    run = folder / os.fsdecode(b"run\xfe")
    cli("train", store, "-o", run, *FEW)
    assert "rho" in cli("evaluate", run).out
    assert "rho" in cli("evaluate", run).out  # as it was kept
    cli("embed", run, store, "-o", folder / os.fsdecode(b"z\xff.parquet"))
    with open(folder / os.fsdecode(b"z\xff.parquet"), "rb") as file:
        assert pq.read_table(file).num_rows == 144
    cli("embed", run, store, "-o", folder / os.fsdecode(b"z\xff.npy"))
    assert r"run\xfe" in cli("audit", run, "--store", store, "--limit", 60, "-o", folder / "audit.html").out
    cli("search", store, "-o", folder / "search", "--methods", "drlim", "--iterations", 3, *ONE)
    cli("report", folder, "-o", folder / "report.html", "--task", "slowness", "--workers", 1)


def test_every_file_of_an_export(cli: Cli, places: tuple[Path, Path]) -> None:
    folder, store = places
    cli("train", store, "-o", folder / "run", *FEW)
    model = folder / os.fsdecode(b"model\xfe")
    cli("export", folder / "run", "-o", model)
    assert "toys\\xff" in (model / "README.md").read_text().replace("\\\\", "\\")
    asked = ("--store", store, "--limit", 60, "--no-baselines", "--json")
    first, *others = [json.loads(cli("audit", name, *asked).out)["rows"] for name in written(model)]
    rho = [motion["rho"] for motion in first[0]["motions"]]
    assert rho
    for rows in others:
        assert [motion["rho"] for motion in rows[0]["motions"]] == pytest.approx(rho, abs=1e-5)


def written(model: Path) -> list[Path]:
    """What can be audited, with a file that has such a name itself."""
    own = model.parent / os.fsdecode(b"e\xff.pt2")
    shutil.copy(model / "encoder.pt2", own)
    return [model, model / "encoder.onnx", model / "moved.onnx", model / "encoder.pt2", own]
