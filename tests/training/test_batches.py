"""The order of batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.training.batches import BatchOrder, ClipOrder


@given(rows=st.integers(1, 40), batch=st.integers(1, 50), seed=st.integers(0, 5))
def test_each_pass_visits_every_row_once(rows: int, batch: int, seed: int) -> None:
    order = BatchOrder(rows, batch, (seed,))
    seen = np.concatenate([order.batch(t) for t in range(3 * rows)])
    for number in range(len(seen) // rows):
        assert sorted(seen[number * rows : (number + 1) * rows]) == list(range(rows))


def test_a_batch_depends_on_seed_and_iteration_only() -> None:
    walked, jumped = BatchOrder(10, 4, (7,)), BatchOrder(10, 4, (7,))
    batches = [walked.batch(t) for t in range(20)]
    assert np.array_equal(jumped.batch(13), batches[13])
    assert np.array_equal(jumped.batch(2), batches[2])
    assert not np.array_equal(
        np.concatenate(batches), np.concatenate([BatchOrder(10, 4, (8,)).batch(t) for t in range(20)])
    )


def clip_order(counts: list[int], batch: int, clip_pairs: int = 4, seed: int = 7) -> ClipOrder:
    """The order of so many pairs of each clip; the numbers of clips have gaps."""
    return ClipOrder(np.repeat(3 * np.arange(len(counts)), counts), batch, clip_pairs, (seed,))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 50), st.integers(1, 8), st.integers(0, 50))
def test_a_batch_has_about_as_many_pairs_from_each_of_its_clips(
    counts: list[int], batch: int, clip_pairs: int, iteration: int
) -> None:
    rows = clip_order(counts, batch, clip_pairs).batch(iteration)
    assert rows.shape == (batch,)
    assert 0 <= rows.min() <= rows.max() < sum(counts)
    clip = np.repeat(np.arange(len(counts)), counts)[rows]
    shares = np.unique(clip, return_counts=True)[1]
    assert len(shares) == min(max(batch // clip_pairs, 2), len(counts), batch)
    assert shares.max() - shares.min() <= 1
    assert (np.diff(clip) >= 0).all()


def test_a_batch_of_clips_depends_on_seed_and_iteration_only() -> None:
    counts = [5] * 20
    walked, jumped = clip_order(counts, 16), clip_order(counts, 16)
    batches = [walked.batch(t) for t in range(30)]
    assert np.array_equal(jumped.batch(13), batches[13])
    assert np.array_equal(jumped.batch(2), batches[2])
    assert not np.array_equal(batches[0], batches[1])
    assert not np.array_equal(clip_order(counts, 16, seed=8).batch(0), batches[0])
    assert len(np.unique(np.concatenate(batches))) > 90  # all pairs come sooner or later


def test_long_clips_come_no_more_often_than_short_ones() -> None:
    counts = [100, 2, 2, 2, 2, 2]
    order = clip_order(counts, 8, clip_pairs=4)
    clip = np.repeat(np.arange(6), counts)
    seen = np.concatenate([clip[order.batch(t)] for t in range(600)])
    shares = np.bincount(seen) / len(seen)
    assert np.abs(shares - 1 / 6).max() < 0.04
