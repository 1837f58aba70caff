"""The task `equivariance` on video: what is fitted on, what is measured, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import pytest

from egoequiv.evaluation.equivariance import MotionError, score_mapped
from egoequiv.evaluation.equivariance_task import FITTED_ON_HALF, RATIO, RHO, _far_apart, equivariance
from egoequiv.evaluation.findings import LEAKED_PAIRS
from egoequiv.evaluation.fitted_on import FITTED_APART
from egoequiv.evaluation.metric import BEST
from egoequiv.evaluation.task import Finding, TaskOptions, silent
from egoequiv.models import EgoNet, NetSpec
from egoequiv.pairs import MotionPairs, Split, declare_patterns
from egoequiv.pose import SE2Space
from evaluation.task_worlds import MadeData, made_data, turning_world
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


def error_of(motion: str, number: float, constant: float = 2.0) -> MotionError:
    ends = (number - 0.1, number + 0.1)
    return MotionError(motion, number, ends, number / 2, 9, 9, 0, None, constant, 6, None, ends, constant / 2)


def test_rho_and_the_ratio_of_means_have_the_same_baselines() -> None:
    error, others = error_of("on", 0.6), {"untrained": error_of("on", 0.9), "pixels": error_of("on", 0.5)}
    rho, ratio = (kind.value(error, others) for kind in (RHO, RATIO))
    assert rho.all_baselines() == {"copy": 1.0, "constant": 2.0, "untrained": 0.9, "pixels": 0.5}
    assert ratio.all_baselines() == {"copy": 1.0, "constant": 1.0, "untrained": 0.45, "pixels": 0.25}
    assert (ratio.name, ratio.value, ratio.interval) == ("ratio_on", 0.3, error.ratio_interval)
    assert rho.is_marked  # pixels are better
    assert ratio.is_marked


def test_a_mean_is_marked_where_each_of_its_motions_is() -> None:
    """Left is no better than a constant and right no better than pixels; of the means, each seems to be beaten."""
    left = RHO.value(error_of("left", 0.6, 0.5), {"pixels": error_of("left", 1.5)})
    right = RHO.value(error_of("right", 0.7, 1.9), {"pixels": error_of("right", 0.6)})
    assert left.is_marked
    assert right.is_marked
    mean = RHO.mean("atomic", [left, right])
    assert mean.value == pytest.approx(0.65)
    assert mean.baselines == pytest.approx({"constant": 1.2, "pixels": 1.05, BEST: 0.55})
    assert mean.is_marked
    assert BEST not in RHO.mean("atomic", [left]).baselines


def test_pixels_are_a_baseline_of_rho() -> None:
    """The store's pictures hold the features of the pose: their rho is that of these features."""
    store, z = turning_world(24)
    pixels = np.round(60 * (z[:, :3] + 2)).astype(np.uint8)
    seen = replace(store, images=np.broadcast_to(pixels[:, None, :, None], (len(z), 1, 3, 1)))
    noise, patterns = np.random.default_rng(0).normal(size=(len(z), 9)), declare_patterns(store.space, ["right"])
    found = {}
    for name, own in (("seen", seen), ("unseen", replace(store, images=np.empty((len(z), 0, 0, 1), np.uint8)))):
        data = replace(made_data(own, noise, np.arange(len(z)), patterns), untrained=None)
        found[name] = {value.name: value for value in equivariance(data, TaskOptions(), silent).values}
    values = found["seen"]
    assert values["rho_right"].baselines["pixels"] < 0.1
    assert values["rho_right"].is_marked
    assert values["ratio_right"].baselines["pixels"] < 0.1
    assert "pixels" not in found["unseen"]["rho_right"].baselines
