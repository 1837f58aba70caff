"""Validation frames that look nearly the same as training frames: laps, and what is no lap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pairs import Split, count_leaked, count_near_copies, make_split, near_copies, near_copies_in_words
from egoequiv.pose import NoMotion
from egoequiv.store import FrameStore
from helpers import bare_store, grid_poses

LAP = 240  # frames of a lap at 10 Hz
WIDTH = 32


def ring(seed: int = 0, roughness: float = 12) -> np.ndarray:
    """A painted wall round a track, (16, LAP): smooth, so that neighbouring frames are nearly the same."""
    rng = np.random.default_rng(seed)
    noise = np.fft.rfft(rng.normal(size=(16, LAP)), axis=1) * np.exp(-np.arange(LAP // 2 + 1) / roughness)
    wall = np.fft.irfft(noise, LAP, axis=1)
    return 128 + 100 * wall / np.abs(wall).max()


def seen(wall: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The pictures (N, 16, WIDTH, 1) from some places along the wall."""
    columns = (places[:, None] + np.arange(WIDTH)) % LAP
    return wall[:, columns].transpose(1, 0, 2)[..., None].round().astype(np.uint8)


def video(images: np.ndarray, recording: list[int] | None = None, rate_hz: float = 10.0) -> FrameStore:
    """Frames with times and without poses."""
    codes = np.asarray(recording or [0] * len(images))
    frame = np.concatenate([np.arange(n) for n in np.bincount(codes)])
    store = bare_store(np.empty((len(images), 0)), codes.tolist(), (frame / rate_hz).tolist(), NoMotion())
    return replace(store, images=images, frame=frame)


def laps(count: int = 4) -> FrameStore:
    """A camera that goes round the track, never exactly at the same places again."""
    rng = np.random.default_rng(5)
    places = np.concatenate([np.arange(0, LAP, 2) + rng.integers(0, 2) for _ in range(count)])
    return video(seen(ring(), places))


def slow_count(store: FrameStore, split: Split, limit: float) -> int:
    """The same for a known limit, by looking at all pairs."""

    def small(row: int) -> np.ndarray:
        gray = store.images[row].astype(float).mean(axis=2)
        means = np.array([[gray[a : a + 1, b : b + 2].mean() for b in range(0, WIDTH, 2)] for a in range(16)]).round()
        return means - means.mean()

    found = 0
    for v in split.validation.tolist():
        cosines = [
            float((small(v) * small(t)).sum() / np.linalg.norm(small(v)) / np.linalg.norm(small(t)))
            for t in split.train.tolist()
        ]
        found += 1 - max(cosines) <= limit
    return found


def test_laps_without_poses_are_counted() -> None:
    store = laps()
    split = make_split(store, "by-time")
    assert count_leaked(store, split) == 0
    assert count_near_copies(store, split) == len(split.validation)
    untimed = replace(store, times_s=None)
    assert count_near_copies(untimed, split) == len(split.validation)


def test_a_way_that_is_seen_once_has_no_near_copies() -> None:
    images = np.concatenate([seen(ring(seed), np.arange(0, LAP - WIDTH)) for seed in range(3)])
    split = make_split(video(images), "by-time")
    assert count_near_copies(video(images), split) == 0
    two = video(images[: 2 * (LAP - WIDTH)], [0] * (LAP - WIDTH) + [1] * (LAP - WIDTH))
    assert count_near_copies(two, make_split(two, "by-recording")) == 0


@pytest.mark.parametrize(("step", "is_capped"), [(1, False), (2, False), (4, True)])
def test_the_limit_is_a_usual_step_and_a_quarter_at_any_rate(step: int, is_capped: bool) -> None:
    """With 10, 20 and 40 frames a second, a step is 1, 2 and 4 frames."""
    wall = ring(roughness=8)
    store = video(seen(wall, np.arange(LAP)), rate_hz=10.0 * step)
    rows = np.arange(LAP)
    small = seen(wall, rows).astype(float).reshape(LAP, 16, 16, 2).mean(axis=3).round().reshape(LAP, -1)
    small -= small.mean(axis=1, keepdims=True)
    small /= np.linalg.norm(small, axis=1, keepdims=True)
    distance = 1 - (small[:-step] * small[step:]).sum(axis=1)
    expected = 1.25 * np.median(distance[distance > 0.1 * np.percentile(distance, 90)])
    assert is_capped == (expected > 0.1)
    assert near_copies._limits(store, rows)[0] == pytest.approx(min(expected, 0.1), rel=1e-4)


def test_against_an_independent_computation() -> None:
    rng = np.random.default_rng(3)
    wall = ring()
    places = np.concatenate([np.arange(40), np.arange(40) + rng.integers(0, 12)])
    noisy = np.clip(seen(wall, places) + rng.integers(0, 9, (80, 16, WIDTH, 1)), 0, 255).astype(np.uint8)
    store = video(noisy, [0] * 40 + [1] * 40)
    split = Split(np.arange(40), np.arange(40, 80), "by-recording")
    limit = float(near_copies._limits(store, split.validation)[1])
    assert 0 < slow_count(store, split, limit) < 40
    assert count_near_copies(store, split) == slow_count(store, split, limit)


@given(st.integers(0, 1000), st.floats(0.2, 1.0), st.integers(0, 40))
def test_neither_light_nor_fewer_training_frames_raise_the_count(seed: int, contrast: float, less: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.concatenate([np.arange(40), np.arange(40) + int(rng.integers(0, 40))])
    images = seen(ring(seed), places)
    split = Split(np.arange(40), np.arange(40, 80), "by-recording")
    recording = [0] * 40 + [1] * 40
    found = count_near_copies(video(images, recording), split)
    assert found is not None
    fewer = count_near_copies(video(images, recording), replace(split, train=split.train[min(less, 39) :]))
    assert fewer is not None
    assert fewer <= found
    darker = count_near_copies(video((images * contrast + 20).clip(0, 255).astype(np.uint8), recording), split)
    assert darker == pytest.approx(found, abs=4)  # gray levels are rounded


def test_what_leaks_by_time_is_not_counted_again() -> None:
    store = laps(2)
    split = make_split(store, "paper")
    assert count_leaked(store, split) == len(split.validation)
    assert count_near_copies(store, split) == 0
    assert 0 < (count_near_copies(store, split, max_gap_s=0.05) or 0) <= len(split.validation)


def test_a_stop_says_nothing_of_a_step() -> None:
    """A camera that stands still most of the time has the limit of its motion."""
    moving = seen(ring(), np.arange(0, LAP, 2))
    stopped = np.concatenate([moving[:60], np.repeat(moving[60:61], 400, axis=0), moving[60:]])
    one, other = (near_copies._limits(video(images), np.arange(len(images)))[0] for images in (moving, stopped))
    assert one == pytest.approx(other, rel=0.05)


def test_what_cannot_be_compared_is_none() -> None:
    split = Split(np.arange(12), np.arange(12, 24), "paper")
    grid = replace(bare_store(grid_poses(), [0] * 24), images=seen(ring(), np.arange(24)))
    assert count_near_copies(grid, split) is None
    noise = np.random.default_rng(0).integers(0, 256, (24, 16, WIDTH, 1), np.uint8)  # photographs, not a video
    halves = [0] * 12 + [1] * 12
    assert count_near_copies(video(noise, halves), split) is None
    assert count_near_copies(video(np.full((24, 16, WIDTH, 1), 7, np.uint8), halves), split) is None
    assert count_near_copies(video(seen(ring(), np.arange(24)), list(range(24))), split) is None
    assert count_near_copies(video(np.empty((24, 0, 0, 1), np.uint8), halves), split) is None


def test_many_frames_are_estimated_from_some(monkeypatch: pytest.MonkeyPatch) -> None:
    store = laps()
    split = make_split(store, "by-time")
    monkeypatch.setattr(near_copies, "MOST_FRAMES", 50)
    monkeypatch.setattr(near_copies, "AT_ONCE", 7)
    assert count_near_copies(store, split) == len(split.validation)
    assert near_copies_in_words(60, 90).startswith("about 60 of 90 validation frames look")


def test_the_words() -> None:
    assert near_copies_in_words(1200, 2000).startswith("1,200 of 2,000 validation frames look nearly the same as a")
    assert near_copies_in_words(1, 20).startswith("1 of 20 validation frames looks nearly")
    assert near_copies_in_words(0, 20).startswith("0 of 20 validation frames look nearly")
