"""Photographs round a thing: poses in space, one recording, no times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.experiments import measure_run
from egoequiv.pairs import count_leaked, find_motion_pairs, mine_patterns
from egoequiv.pose import SE3Space
from egoequiv.sources import Recording, Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, open_data, train
from egoequiv.training.data import motions_of
from egoequiv.training.memory import pair_bytes
from running import make_cli

FEW = {
    "method": "equiv",
    "iterations": 4,
    "log_every": 2,
    "validate_every": 2,
    "checkpoint_every": 2,
    "threads": 1,
    "use_labels": False,
}


@dataclass(frozen=True, eq=False)
class Photographs(Recording):
    """Pictures whose pattern follows the angle from which they were taken."""

    name: str
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64] | None = None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def image(self, frame: int) -> NDArray[np.uint8]:
        y, x = np.mgrid[0:16, 0:16] / 16
        angle = np.arctan2(self.poses[frame, 1], self.poses[frame, 0])
        return (127 + 100 * np.cos(6 * x + angle) * np.sin(4 * y + self.poses[frame, 2])).astype(np.uint8)


def ring(count: int) -> NDArray[np.float64]:
    """Poses on a ring of 1 m, all looking inwards, at heights that vary a little."""
    rng = np.random.default_rng(0)
    angle = np.arange(count) / count * 2 * np.pi
    turns = Rotation.from_euler("zy", np.column_stack([angle + np.pi, 0.1 * rng.normal(size=count)]))
    return np.column_stack([np.cos(angle), np.sin(angle), 0.1 * rng.normal(size=count), turns.as_quat()])


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    source = Source("photographs", SE3Space(), [Photographs("thing", ring(60))])
    return ingest(source, tmp_path_factory.mktemp("photographs") / "store", workers=1)


def test_a_run_on_photographs_is_divided_by_place_and_measured(photographs: FrameStore, tmp_path: Path) -> None:
    assert photographs.times_s is None
    opened = open_data(make_config({"data": str(photographs.path), **FEW}))
    assert opened.config.split == opened.split.kind == "by-place"
    assert (opened.leaked, count_leaked(photographs, opened.split)) == (0, 0)
    assert any("at least 0.274 m between the parts" in line for line in opened.choices)
    patterns = motions_of(opened.store, opened.split, opened.config)
    assert patterns is not None
    pairs = find_motion_pairs(opened.store, opened.split.train, patterns)
    assert pair_bytes(opened.config, photographs) >= 48 * len(pairs)
    run = train(photographs.path, tmp_path / "run", **FEW)
    assert tuple(run.result["patterns"]) == patterns.names
    assert (run.result["split"], run.result["leaked_validation_frames"]) == ("by-place", 0)
    recognition, equivariance = measure_run(run.path)
    assert recognition.problem is not None  # there are no labels
    assert equivariance.problem is None
    assert (equivariance.split, equivariance.leaked) == ("by-place", 0)


def test_another_distance_is_another_split(photographs: FrameStore) -> None:
    near, far = (
        open_data(make_config({"data": str(photographs.path), **FEW, "place_m": place_m, "split": "by-place"}))
        for place_m in (0.01, 0.5)
    )
    assert len(near.split.validation) > len(far.split.validation)
    assert (near.split.place_m, far.split.place_m) == (0.01, 0.5)
    assert near.leaked == far.leaked == 0


def test_frames_at_random_leak(photographs: FrameStore) -> None:
    opened = open_data(make_config({"data": str(photographs.path), **FEW, "split": "paper"}))
    assert opened.leaked > 0.5 * len(opened.split.validation)


def test_walking_round_a_thing_is_named_so(photographs: FrameStore) -> None:
    for name in mine_patterns(photographs).patterns.names:
        turn, shift, *_ = sorted(name.split(" and "), key=lambda part: part.endswith(" m"))
        assert {turn.split()[0], shift.split()[0]} == {"pan", "shift"}
        assert turn.split()[1] != shift.split()[1]  # to the right round it, and back to the left


def test_commands_say_how_photographs_are_divided(
    photographs: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = make_cli(monkeypatch, capsys)
    shown = " ".join(cli("info", photographs.path).out.split())
    assert "split by-place by default: places that are apart" in shown
    assert "0 of those have a training frame at the same place (within place_m)" in shown
    short = [part for name, value in FEW.items() if name != "use_labels" for part in ("--set", f"{name}={value}")]
    said = " ".join(cli("train", photographs.path, "--no-labels", "-o", tmp_path / "run", *short).err.split())
    assert "split by-place: 0 of " in said
    measured = " ".join(cli("evaluate", tmp_path / "run").out.split())
    assert "split by-place: 0 of them have a training frame at the same place" in measured
