"""`egoequiv doctor --run`: the features of a run as a second opinion."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from drives import FAST, LEFT, RIGHT, SLOW, Drive, draw, make_drive
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.sources import Source
from egoequiv.store import ingest
from egoequiv.training import train
from logs.table import write_csv
from running import Cli

LEGS = 2 * (LEFT, FAST, RIGHT, SLOW)


@dataclass(frozen=True, eq=False)
class Misread(Drive):
    """A drive whose pictures were taken at other poses than the log says."""

    real: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 9)))

    def image(self, frame: int) -> NDArray[np.uint8]:
        return draw(self.kind, self.real[frame, 7], self.real[frame, 8], self.size)


def source_of(*drives: Drive) -> Source:
    return Source("drives", PlanarSpace(), drives, pose_names=DRIVING_POSES)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run on six drives."""
    folder = tmp_path_factory.mktemp("surprise")
    drives = [make_drive(k, LEGS[k % 4 :] + LEGS[: k % 4], kind=0, labels=None) for k in range(6)]
    store = ingest(source_of(*drives), folder / "own", workers=1)
    settings: dict[str, Any] = {"use_labels": False, "keep": 6, "encoder": "norb", "batch_size": 4}
    train(store.path, folder / "run", iterations=20, **settings)
    return folder / "run"


def found_by(cli: Cli, log: Path, run: Path, page: Path, code: int) -> dict[str, Any]:
    told = json.loads(cli("doctor", log, "--run", run, "-o", page, "--json", "--workers", 1, code=code).out)
    (found,) = (one for one in told["recordings"][0]["findings"] if one["check"] == "surprise")
    return dict(found)


@pytest.mark.slow
def test_a_sound_log_and_one_of_another_drive(cli: Cli, run: Path, tmp_path: Path) -> None:
    sound = make_drive(7, LEGS, kind=0, labels=None)
    wrong = Misread("wrong", sound.poses, sound.times_s, real=make_drive(8, LEGS[::-1]).poses)
    ingest(source_of(sound), tmp_path / "sound", size=(20, 20), workers=1)  # brought to the size of the network
    ingest(source_of(wrong), tmp_path / "wrong", workers=1)
    believed = found_by(cli, tmp_path / "sound", run, tmp_path / "sound.html", 0)
    assert believed["score"] < 1
    assert believed["values"]["share"] > believed["values"]["chance"] + 0.2
    doubted = found_by(cli, tmp_path / "wrong", run, tmp_path / "wrong.html", 1)
    assert doubted["fault"]
    assert doubted["values"]["share"] < believed["values"]["share"]
    page = (tmp_path / "wrong.html").read_text()
    assert "the features agree with the logged motion in" in page
    assert "surprise" in page


def test_a_log_of_other_motions(cli: Cli, run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for frame in range(30):
        Image.fromarray(draw(0, frame / 5, frame, 64)).save(folder / f"{frame:04d}.png")
    files, times = [f"{frame:04d}.png" for frame in range(30)], np.arange(30) / 10
    write_csv(folder / "poses.csv", {"file": files, "t_s": times, "steering": np.sin(times)})
    told = cli("doctor", folder, "--run", run, "-o", tmp_path / "page.html", "--json", "--workers", 1, code=0)
    (found,) = (one for one in json.loads(told.out)["recordings"][0]["findings"] if one["check"] == "surprise")
    assert found["score"] is None
    assert "the log has not the motions of the run" in found["text"]


def test_what_is_not_a_run_is_refused_before_the_work(cli: Cli, tmp_path: Path) -> None:
    refused = cli("doctor", tmp_path / "log", "--run", tmp_path / "nothing", "-o", tmp_path / "page.html", code=2)
    assert refused.err.count("\n") == 1
    assert "nothing" in refused.err
