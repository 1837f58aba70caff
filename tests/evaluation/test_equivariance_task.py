"""The task `equivariance` on video: what is fitted on, what is measured, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
import pytest

from egoequiv.evaluation.equivariance import MotionError, score_mapped
from egoequiv.evaluation.equivariance_task import FITTED_ON_HALF, _far_apart, equivariance
from egoequiv.evaluation.findings import LEAKED_PAIRS
from egoequiv.evaluation.fitted_on import FITTED_APART
from egoequiv.evaluation.task import Finding, TaskOptions
from egoequiv.models import EgoNet, NetSpec
from egoequiv.pairs import MotionPairs, Split
from egoequiv.pose import SE2Space
from evaluation.task_worlds import MadeData
from helpers import bare_store

FRAMES = 600


@dataclass(frozen=True)
class VideoData(MadeData):
    """Pairs of successive frames, all of one motion; `asked` are the frames whose pairs were asked for."""

    asked: list[np.ndarray] = field(default_factory=list)

    def pairs(self, frames=None, patterns=None) -> MotionPairs:  # type: ignore[no-untyped-def]
        self.asked.append(frames)
        own = np.sort(frames)
        on = (np.diff(own) == 1) & (np.diff(self.store.recording[own]) == 0)
        return MotionPairs(own[:-1][on], own[1:][on], np.zeros(int(on.sum()), np.int64), ("on",))


def video(recordings: int, *, timed: bool = True, split: Split | None = None) -> VideoData:
    """Features that wander slowly and follow nothing: a map fitted on nearly the same pairs seems to predict them."""
    rng = np.random.default_rng(0)
    times = np.tile(np.arange(FRAMES // recordings) / 10, recordings) if timed else None
    recording = np.repeat(np.arange(recordings), FRAMES // recordings)
    store = bare_store(np.zeros((FRAMES, 3)), recording, times, SE2Space())
    z = np.cumsum(rng.normal(size=(FRAMES, 8)), axis=0).astype(np.float32)
    everything = Split(np.arange(FRAMES), np.arange(FRAMES), "all")
    return VideoData(EgoNet(NetSpec("norb", (1, 1, 1))), store, split or everything, None, made=z)


def measured(data: VideoData) -> Finding:
    data.__dict__["untrained_features"] = None
    return equivariance(data, TaskOptions(), lambda *_: None)


def test_all_frames_of_several_recordings_are_halved_by_recording() -> None:
    data = video(6)
    found = measured(data)
    held, fitted = data.asked
    assert not np.intersect1d(data.store.recording[held], data.store.recording[fitted]).size
    assert len(held) + len(fitted) == FRAMES
    assert FITTED_ON_HALF.format(kind="by-recording") in found.notes
    assert found.details["motions"][0]["pairs_scored"] == 3 * (FRAMES // 6 - 1)


def test_all_frames_of_one_recording_are_halved_by_time_with_a_gap() -> None:
    data = video(1)
    found = measured(data)
    held, fitted = data.asked
    assert np.abs(data.store.times_s[held][:, None] - data.store.times_s[fitted]).min() > data.max_gap_s
    assert FITTED_ON_HALF.format(kind="by-time") in found.notes
    assert "pairs of on: what is measured comes from 1 recording, and an interval needs 5" in found.notes


def test_frames_that_cannot_be_halved_are_divided_at_random_and_it_is_said() -> None:
    data = video(1, timed=False)
    assert LEAKED_PAIRS in measured(data).notes
    assert len(data.asked) == 1


def test_a_split_is_used_as_it_is() -> None:
    split = Split(np.arange(300), np.arange(320, FRAMES), "by-time")
    data = video(1, split=split)
    assert FITTED_APART in measured(data).notes
    assert [len(rows) for rows in data.asked] == [280, 300]


def test_a_rho_of_pairs_that_hardly_move_is_noted() -> None:
    """Nine pairs move by 10 and are missed by 1, one moves by 0.1 and is missed by 1: rho is 1.09, the ratio 0.11."""
    moved = np.array([10.0] * 9 + [0.1])
    z_i = np.zeros((10, 1))
    error = score_mapped(z_i + 1, z_i, moved[:, None], np.arange(10), "on")
    assert (error.rho, error.ratio_of_means) == pytest.approx((1.09, 10 / 90.1))
    (note,) = _far_apart([error])
    assert note.startswith("on: rho is 1.09, the ratio of means 0.111: rho counts pairs whose features hardly move")


@pytest.mark.parametrize(("rho", "ratio", "notes"), [(1.9, 1.0, 0), (2.1, 1.0, 1), (1.0, 2.1, 1), (nan, 1.0, 0)])
def test_a_factor_of_two_is_noted(rho: float, ratio: float, notes: int) -> None:
    assert len(_far_apart([MotionError("on", rho, (nan, nan), ratio, 9, 9, 0)])) == notes
