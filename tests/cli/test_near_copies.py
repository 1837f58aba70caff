"""Laps of one track without poses: what is said of validation frames that look like training frames."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from running import Cli

LAP, LAPS = 60, 4  # frames, ten a second


def write_laps(folder: Path) -> Path:
    """A camera that goes round a smooth wall."""
    folder.mkdir()
    noise = np.fft.rfft(np.random.default_rng(0).normal(size=(16, 4 * LAP)), axis=1)
    wall = np.fft.irfft(noise * np.exp(-np.arange(2 * LAP + 1) / 3), 4 * LAP, axis=1)
    painted = np.tile((128 + 100 * wall / np.abs(wall).max()).astype(np.uint8), 2)
    for k in range(LAP * LAPS):
        place = 4 * (k % LAP) + k // LAP
        Image.fromarray(painted[:, place : place + 32]).save(folder / f"frame{k:03d}.png")
    return folder


@pytest.mark.slow
def test_laps_are_counted_wherever_leakage_is_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "cache"))
    laps = write_laps(tmp_path / "laps")
    store, run = tmp_path / "store", tmp_path / "run"
    cli("ingest", "table", laps, "-o", store, "--size", "16x32", "--poses", "log", "--read", "rate_hz=10")
    split = json.loads(cli("info", store, "--json").out)["split"]
    count = split["validation_frames"]
    assert (split["kind"], split["leaked_validation_frames"]) == ("by-time", 0)
    assert split["near_copy_validation_frames"] == count
    said = f"{count} of {count} validation frames look nearly the same as a training frame"
    assert said in " ".join(cli("info", store).out.split())
    trained = cli("train", store, "-o", run, "--method", "random", "--no-labels", "--encoder", "residual")
    whole = " ".join((trained.out + trained.err).split())
    assert f"{said} of another time or recording (by pixels, as similar as neighbouring frames): results on" in whole
    assert "no validation frame has a near copy" not in whole
    assert json.loads((run / "result.json").read_text())["near_copy_validation_frames"] == count
    (found,) = json.loads(cli("evaluate", run, "--task", "slowness", "--json").out)["measurements"]
    assert (found["leaked"], found["near_copies"]) == (0, count)
    assert said in " ".join(cli("evaluate", run, "--task", "slowness").out.split())
    page = tmp_path / "report.html"
    cli("report", run, "-o", page, "--task", "slowness", "--workers", "1")
    assert said in " ".join(page.read_text().split())
