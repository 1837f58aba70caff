"""`egoequiv doctor` from a log to a page: exit codes, JSON, and what goes wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.pose import CAMERA_POSES
from egoequiv_worlds import drive
from logs.table import write_csv
from running import Cli, make_cli


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> Cli:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path_factory.getbasetemp() / "doctor-cache"))  # the log is one
    return make_cli(monkeypatch, capsys)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drive round a corner: pictures, and poses in a table."""
    folder = tmp_path_factory.mktemp("doctor") / "log"
    recording = drive(seed=2, drives_per_area=1, seconds=16.0, width=414, height=125).recordings[0]
    folder.mkdir()
    frames = range(60, 160)
    for frame in frames:
        Image.fromarray(recording.image(frame)).save(folder / f"{frame:04d}.png")
    assert recording.times_s is not None
    poses = {name: recording.poses[60:160, k] for k, name in enumerate(CAMERA_POSES)}
    columns = {"file": [f"{frame:04d}.png" for frame in frames], "t_s": recording.times_s[60:160], **poses}
    write_csv(folder / "poses.csv", columns)
    return folder


@pytest.mark.slow
def test_a_sound_log(log: Path, cli: Cli, tmp_path: Path) -> None:
    told = cli("doctor", log, "-o", tmp_path / "page.html", "--fov", 81, "--workers", 2)
    assert told.out.startswith("No fault in 1 recording (100 frames)")
    page = (tmp_path / "page.html").read_text()
    assert "No fault was found." in page
    assert page.count("data:image/svg+xml") == 1  # the curves; there is no worst moment


@pytest.mark.slow
def test_a_log_with_wrong_axes_and_clock(log: Path, cli: Cli, tmp_path: Path) -> None:
    read = ("--read", "axes=opencv", "--read", "offset_s=0.7")
    told = cli("doctor", log, "-o", tmp_path / "page.html", "--fov", 81, *read, "--json", code=1)
    found = json.loads(told.out)
    assert found["recordings"][0]["faults"] == ["clock offset", "axes and signs"]  # the strongest first
    fixes = {one["check"]: one["fix"] for one in found["recordings"][0]["findings"] if one["fault"]}
    assert fixes["axes and signs"] == "--read axes=forward,left,up"
    assert float(fixes["clock offset"].removeprefix("--read offset_s=")) == pytest.approx(0.0, abs=0.05)
    page = (tmp_path / "page.html").read_text()
    assert "--read axes=forward,left,up" in page
    assert "data:image/webp" in page  # the worst moments
    again = ("--read", "axes=forward,left,up", "--read", fixes["clock offset"].removeprefix("--read "))
    cli("doctor", log, "-o", tmp_path / "page.html", "--fov", 81, *again)  # what it says to type is right


@pytest.mark.slow
def test_a_store(log: Path, cli: Cli, tmp_path: Path) -> None:
    cli("ingest", "table", log, "-o", tmp_path / "store")
    told = cli("doctor", tmp_path / "store", "-o", tmp_path / "page.html", "--fov", 81, "--json")
    assert json.loads(told.out)["recordings"][0]["steps_told"] > 90
    refused = cli("doctor", tmp_path / "store", "--read", "axes=opencv", code=2)
    assert "is a store already" in refused.err


def test_what_it_cannot_do(log: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not exist" in cli("doctor", tmp_path / "nowhere", code=2).err
    assert "expected degrees" in cli("doctor", log, "--fov", 300, "-o", tmp_path / "page.html", code=2).err
    np.savetxt(tmp_path / "poses.csv", [[0, 1], [1, 2]], header="t_s,x_m", comments="", delimiter=",")
    assert cli("doctor", tmp_path / "poses.csv", "-o", tmp_path / "page.html", code=2).err.count("\n") == 1
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "empty"))
    told = cli("doctor", log, "-o", tmp_path / "page.html", "--workers", 1, code=2)
    assert "pip install 'egoequiv[vision]'" in told.err
    assert not (tmp_path / "page.html").exists()
