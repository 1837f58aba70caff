"""The task `log`: what features are good for on a log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.log_task import log_task, nearest
from egoequiv.evaluation.task import Finding, TaskOptions, silent
from egoequiv.pose import SE2Space
from egoequiv.store import FrameStore
from evaluation.task_worlds import made_data, turning_world
from helpers import bare_store

LAPS, FRAMES, RATE_HZ = 3, 200, 4.0


def laps() -> tuple[FrameStore, NDArray[np.float64]]:
    """Laps of a round track with changing speed and turn; features that tell the place, the speed and the turn."""
    rng = np.random.default_rng(0)
    along = np.linspace(0, 2 * np.pi, FRAMES, endpoint=False)
    angle = np.concatenate([along + 0.2 * np.sin(3 * along) + rng.normal(0, 0.001, FRAMES) for _ in range(LAPS)])
    x, y = 50 * np.cos(angle), 30 * np.sin(angle)
    yaw = np.degrees(np.unwrap(np.arctan2(30 * np.cos(angle), -50 * np.sin(angle))))
    recording = np.repeat(np.arange(LAPS), FRAMES)
    times = np.tile(np.arange(FRAMES) / RATE_HZ, LAPS)
    columns = {"x_m": x, "y_m": y, "yaw_deg": yaw}
    space = SE2Space()
    poses = np.stack([columns[name] for name in space.pose_names], axis=1)
    store = bare_store(poses, recording.tolist(), times.tolist(), space)
    store = replace(store, pose_columns=columns, images=np.zeros((len(store), 0, 0, 1), np.uint8))
    turns = [[np.cos(k * angle), np.sin(k * angle)] for k in range(1, 9)]
    return store, np.stack([column for pair in turns for column in pair], axis=1)


def measured(z: NDArray[np.float64], **changes: NDArray[np.float32]) -> Finding:
    store, _ = laps()
    data = made_data(store, z, np.flatnonzero(store.recording == LAPS - 1))
    return log_task(replace(data, **changes), TaskOptions(), silent)


def test_features_that_tell_the_place_tell_all() -> None:
    values = {value.name: value for value in measured(laps()[1]).values}
    assert [name.split(" from")[0] for name in values][:2] == ["R2 of forward", "R2 of yaw"]
    assert all(value.value > 0.95 for value in values.values())
    assert not any(value.is_marked for value in values.values())
    assert any("coming yaw from one frame, 200 labels" in name for name in values)
    assert list(values)[-1].startswith("place found again within")


def test_features_without_content_are_marked_beside_an_untrained_network() -> None:
    noise = np.random.default_rng(1).normal(size=(LAPS * FRAMES, 16))
    finding = measured(noise, made_before=laps()[1].astype(np.float32))
    assert all(value.is_marked for value in finding.values)
    assert all(value.baselines["untrained"] > 0.9 for value in finding.values)


def test_what_cannot_be_measured_is_said() -> None:
    store, z = laps()
    away = np.where(store.recording == 1, 1e4, 0.0)
    store = replace(store, pose_columns={**store.pose_columns, "x_m": store.pose_columns["x_m"] + away})
    data = made_data(store, z, np.flatnonzero(store.recording == 1))
    data = replace(data, split=replace(data.split, train=np.flatnonzero(store.recording == 0)))
    finding = log_task(data, TaskOptions(), silent)
    assert any("hardly comes back" in note for note in finding.notes)
    assert not any(value.name.startswith("place") for value in finding.values)


def test_views_of_a_grid_are_no_log() -> None:
    store, z = turning_world(6)
    with pytest.raises(DataError, match="not those of a log"):
        log_task(made_data(store, z, np.arange(48)), TaskOptions(), silent)


def test_the_nearest_by_cosine_against_brute_force() -> None:
    rng = np.random.default_rng(3)
    queries, references = rng.normal(size=(600, 5)), rng.normal(size=(40, 5))
    cosine = queries @ references.T / np.linalg.norm(references, axis=1)
    assert nearest(queries, references).tolist() == cosine.argmax(axis=1).tolist()
