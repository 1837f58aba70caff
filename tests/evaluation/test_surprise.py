"""Features that follow the camera exactly believe a right log, and not a wrong one."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from numpy.typing import NDArray

from drives import FAST, LEFT, RIGHT, SLOW, drive_track, make_drive
from egoequiv.doctor.finding import Finding
from egoequiv.evaluation.beliefs import Beliefs, Reader, make_reader
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.surprise import read_surprise
from egoequiv.pairs import MotionPatterns, Split
from egoequiv.pairs.mining import mine_patterns
from egoequiv.pose import PlanarSpace
from egoequiv.store import FrameStore
from helpers import bare_store

LEGS = 2 * (LEFT, FAST, RIGHT, SLOW)
TURNS = 4 * (LEFT, RIGHT)
RECORDINGS = 6


def store_of(tracks: list[NDArray[np.float64]]) -> FrameStore:
    """A store in memory, of poses (N, 2) at 10 Hz."""
    lengths = [len(track) for track in tracks]
    times = np.concatenate([np.arange(count) / 10 for count in lengths])
    return bare_store(np.concatenate(tracks), np.repeat(np.arange(len(tracks)), lengths), list(times), PlanarSpace())


def followed(poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Features of which every motion is one linear map."""
    angles = np.stack([poses[:, 0] / 10, np.deg2rad(poses[:, 1])])
    return np.concatenate([np.cos(angles), np.sin(angles)]).T


def tracks(count: int) -> list[NDArray[np.float64]]:
    return [drive_track(LEGS[k % 4 :] + LEGS[: k % 4], seed=k)[1][:, 7:9] for k in range(count)]


@pytest.fixture(scope="module")
def own() -> FrameStore:
    return store_of(tracks(RECORDINGS))


@pytest.fixture(scope="module")
def split(own: FrameStore) -> Split:
    rows = np.arange(len(own))
    return Split(rows[own.recording < 4], rows[own.recording >= 4], "by-recording")


@pytest.fixture(scope="module")
def patterns(own: FrameStore, split: Split) -> MotionPatterns:
    return mine_patterns(own, split.train, clusters=6, keep=6).patterns


@pytest.fixture(scope="module")
def reader(own: FrameStore, split: Split, patterns: MotionPatterns) -> Reader:
    return make_reader(FrameFeatures(own, np.arange(len(own)), followed(own.poses)), split, patterns)


def judge(reader: Reader, logged: NDArray[np.float64], real: NDArray[np.float64]) -> Finding:
    """What is said about one recording whose log says `logged` where the camera moved as `real`."""
    store, drive = store_of([logged]), make_drive(0, LEGS)
    assert len(drive) == len(logged)
    features = FrameFeatures(store, np.arange(len(store)), followed(real))
    return read_surprise(reader, features, replace(drive, name="recording-0")).finding


def test_a_right_log_is_believed_and_a_shuffled_one_is_not(reader: Reader) -> None:
    assert reader.reference.value > 0.7
    real = tracks(1)[0]
    sound = judge(reader, real, real)
    assert sound.score == 0.0
    values = dict(sound.values)
    assert values["share"] > values["chance"] + 0.3
    assert values["share"] == pytest.approx(values["reference"], abs=0.15)
    steps = np.diff(real, axis=0)
    order = np.random.default_rng(0).permutation(len(steps) // 15)  # stretches of 1.5 s in another order
    mixed = np.concatenate([steps[15 * k : 15 * k + 15] for k in order] + [steps[15 * len(order) :]])
    shuffled = judge(reader, np.concatenate([real[:1], real[0] + np.cumsum(mixed, axis=0)]), real)
    assert shuffled.is_fault
    assert dict(shuffled.values)["share"] < values["share"] / 2
    assert dict(shuffled.values)["median_rho"] > 1.5 * values["median_rho"]
    assert shuffled.moments


def test_a_wrong_sign_is_a_fault(reader: Reader) -> None:
    real = drive_track(TURNS)[1][:, 7:9]
    assert judge(reader, real, real).score < 0.2
    assert judge(reader, real * [1, -1], real).is_fault


def test_a_stretch_of_wrong_motion_is_the_worst_moment(reader: Reader) -> None:
    real = tracks(1)[0]
    logged = real.copy()
    logged[70:90, 1] += 8.0 * np.arange(20)  # a turn that the camera does not make
    logged[90:, 1] += 8.0 * 20
    found = judge(reader, logged, real)
    assert not found.is_fault
    assert 55 <= found.moments[0].first <= found.moments[0].last <= 95


def test_what_it_cannot_tell(reader: Reader, own: FrameStore, split: Split, patterns: MotionPatterns) -> None:
    real, rng = tracks(1)[0], np.random.default_rng(1)
    noise = make_reader(FrameFeatures(own, np.arange(len(own)), rng.normal(size=(len(own), 4))), split, patterns)
    blind = judge(noise, real, real)
    assert isnan(blind.score)
    assert "does not tell motions apart on its own validation frames" in blind.text
    straight = np.outer(np.arange(len(real)), [1.4, 0.0])
    assert "the same motion" in judge(reader, straight, straight).text
    foreign = judge(reader, real, 100 * real[::-1] ** 2 % 77)  # pictures that nothing in the run prepares for
    assert isnan(foreign.score)
    assert "new to it" in foreign.text
    few = make_reader(
        FrameFeatures(own, np.arange(len(own)), followed(own.poses)), replace(split, train=split.train[:9]), patterns
    )
    assert "fewer than two motions" in judge(few, real, real).text


def test_agreement_is_cohens_kappa() -> None:
    """Against scikit-learn, and by hand: 8 of 12 hits, chance 1/2, kappa 1/3."""
    from sklearn.metrics import cohen_kappa_score

    logged = np.repeat([0, 1], 6)
    best = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0])
    share = np.bincount(best) / 12
    nothing = np.zeros(12)
    beliefs = Beliefs(
        np.arange(12), np.arange(12) // 2, (best == logged) * 1.0, share[logged], nothing, nothing, nothing, nothing
    )
    assert beliefs.agreement().value == pytest.approx(1 / 3)
    assert beliefs.agreement().value == pytest.approx(cohen_kappa_score(logged, best))
    one = replace(beliefs, hit=np.ones(12), chance=np.ones(12))
    assert isnan(one.agreement().value)  # one motion alone says nothing
