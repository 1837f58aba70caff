"""Turntables: angles in even steps as a grid."""

from pathlib import Path

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.pose import ColumnsSpace, GridSpace
from egoequiv.sources.table_grid import step_of
from egoequiv.store import ingest
from logs.table import write_csv, write_pictures


def names(count: int) -> list[str]:
    return [f"{k}.png" for k in range(count)]


@pytest.mark.parametrize(
    ("angles", "step"),
    [
        ([0, 10, 20, 30], 10.0),
        ([0, 0.1, 10, 20.1, 30], 10.0),
        (np.round(np.arange(16) * 22.5), 22.5),
        (np.round(np.arange(48) * 7.5 + 3), 7.5),
        ([0, 22, 45, 67, 68, 90, 112, 113], 22.5),  # rounded in two ways
        ([30, 37, 44, 51, 58], 7.0),
        (np.arange(10) * 3.6, 3.6),
        ([0, 10, 20, 35], None),
        ([0, 10, 30, 40], None),
        ([5, 5, 5], None),
        ([0, 10], None),
        ([], None),
    ],
)
def test_steps_by_hand(angles: list[float], step: float | None) -> None:
    found = step_of(np.array(angles, np.float64))
    assert found == (None if step is None else pytest.approx(step, abs=1e-6))


def rounds(tmp_path: Path, **columns: object) -> Path:
    """Six rounds of 16 views, 22.5 degrees apart and rounded to whole degrees."""
    write_pictures(tmp_path, names(96))
    azimuth = np.tile(np.round(np.arange(16) * 22.5), 6)
    write_csv(tmp_path / "views.csv", {"file": names(96), "azimuth": azimuth, **columns})
    return tmp_path


def test_a_turntable_whose_steps_are_rounded_is_a_grid(tmp_path: Path) -> None:
    source = open_source("table", rounds(tmp_path, object=np.repeat(list("abcdef"), 16), elevation=np.full(96, 30)))
    assert isinstance(source.space, GridSpace)
    (axis,) = source.space.grid_axes
    assert (axis.step, axis.period) == (22.5, 360.0)
    poses = source.recordings[0].poses
    assert source.space.within_one_step(source.space.difference(poses[-1], poses[0]))


def test_views_in_any_order_are_not_unwrapped(tmp_path: Path) -> None:
    source = open_source("table", rounds(tmp_path))
    assert source.space == ColumnsSpace(("azimuth",), (360.0,))
    poses = source.recordings[0].poses
    assert poses.max() == 338  # not 5 rounds more
    assert source.space.difference(poses[15], poses[16]).tolist() == [22]
    store = ingest(source, tmp_path / "store", progress=False)
    assert store.space == source.space


@pytest.mark.parametrize(("stop", "period"), [(360, 360.0), (180, None)])
def test_a_turntable_is_a_grid(tmp_path: Path, stop: int, period: float | None) -> None:
    angles = np.arange(5, stop, 10)
    write_pictures(tmp_path, names(len(angles)))
    noise = np.random.default_rng(0).uniform(-0.2, 0.2, len(angles))
    write_csv(tmp_path / "angles.csv", {"file": names(len(angles)), "angle": angles + noise})
    source = open_source("table", tmp_path)
    assert isinstance(source.space, GridSpace)
    (axis,) = source.space.grid_axes
    assert axis.step == pytest.approx(10, abs=0.2)
    assert (axis.name, axis.period, axis.plus, axis.minus) == ("angle", period, "right", "left")


def test_a_turntable_with_two_axes_and_several_objects(tmp_path: Path) -> None:
    views = [(o, e, a) for o in ("cup", "car") for e in (30, 40, 50) for a in range(0, 360, 20)]
    files = [f"{o}_{e}_{a}.png" for o, e, a in views]
    write_pictures(tmp_path, files)
    o, e, a = zip(*views, strict=True)
    write_csv(tmp_path / "v.csv", {"file": files, "object": o, "elevation": e, "azimuth": a, "label": o})
    source = open_source("table", tmp_path)
    assert isinstance(source.space, GridSpace)
    assert source.space.pose_names == ("elevation_deg", "azimuth_deg")
    assert [recording.name for recording in source.recordings] == ["cup", "car"]
    store = ingest(source, tmp_path / "store", progress=False)
    assert store.class_names == ("car", "cup")


def test_a_steering_angle_is_no_turntable(tmp_path: Path) -> None:
    columns = {"image": names(12), "angle": [0, 0.1, 0.2] * 4, "throttle": np.arange(12)}
    write_pictures(tmp_path, names(12))
    write_csv(tmp_path / "log.csv", columns)
    source = open_source("table", tmp_path)
    assert source.space == ColumnsSpace(("angle", "throttle"))
    assert any("not a turntable" in note for note in source.remarks)
