"""The pairs of a motion in three parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.auditing.parts import FEWEST, PairParts, divide_pairs
from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.pairs import MotionPairs


def pairs_of(sizes: list[int]) -> tuple[MotionPairs, np.ndarray]:
    """So many pairs of each group, of the one motion `up`, and the group of every frame."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    first = 2 * np.arange(len(group))
    pairs = MotionPairs(first, first + 1, np.zeros(len(group), np.int64), ("up",))
    return pairs, np.repeat(group, 2)


def parts_of(divided: PairParts) -> tuple[set[int], ...]:
    return tuple(set(part.i.tolist()) for part in (divided.fit, divided.choose, divided.measure))


def test_groups_by_hand() -> None:
    # The largest are placed first, each where most is lacking of 60, 30 and 30.
    pairs, groups = pairs_of([30, 30, 20, 20, 10, 10])
    divided = divide_pairs(pairs, "up", groups, limit=1_000)
    assert divided.by == "groups"
    assert [len(part) for part in (divided.fit, divided.choose, divided.measure)] == [60, 30, 30]
    assert set(divided.measure.group.tolist()) | set(divided.choose.group.tolist()) <= {2, 3, 4, 5}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 400), st.integers(0, 5))
def test_parts_are_disjoint_and_no_larger_than_asked(sizes: list[int], limit: int, seed: int) -> None:
    pairs, groups = pairs_of(sizes)
    if min(sum(sizes), limit) < 4 * FEWEST:
        with pytest.raises(ConfigError if limit < 4 * FEWEST else TooFewPairsError, match="too few"):
            divide_pairs(pairs, "up", groups, limit, seed)
        return
    divided = divide_pairs(pairs, "up", groups, limit, seed)
    fit, choose, measure = parts_of(divided)
    assert len(fit | choose | measure) == len(fit) + len(choose) + len(measure)
    assert len(fit) + len(choose) + len(measure) <= limit + 1  # a share may be rounded up
    assert min(len(fit), len(choose), len(measure)) >= FEWEST
    if divided.by == "groups":
        seen = [set(part.group.tolist()) for part in (divided.fit, divided.choose, divided.measure)]
        assert len(set.union(*seen)) == sum(map(len, seen))
        assert len(seen[2]) >= 2
    rows = divided.rows()
    assert set(rows.tolist()) == {row for part in (fit, choose, measure) for i in part for row in (i, i + 1)}


def test_few_groups_are_not_divided() -> None:
    pairs, groups = pairs_of([100, 100])
    divided = divide_pairs(pairs, "up", groups, limit=1_000)
    assert divided.by == "frames"
    assert [len(part) for part in (divided.fit, divided.choose, divided.measure)] == [100, 50, 50]


def test_time_by_hand() -> None:
    # Two groups of 80 frames a second apart, each paired with the one three seconds on.
    first = np.concatenate([np.arange(80), 100 + np.arange(80)])
    pairs = MotionPairs(first, first + 3, np.zeros(160, np.int64), ("on",))
    divided = divide_pairs(pairs, "on", np.arange(200) // 100, 1_000, times_s=np.arange(200.0))
    assert divided.by == "time"
    # Half of 80 pairs end with frame 39 + 3; the next part begins after it, and so on.
    assert divided.fit.i.tolist() == [*range(40), *range(100, 140)]
    assert divided.choose.i.tolist() == [*range(43, 60), *range(143, 160)]
    assert divided.measure.i.tolist() == [*range(63, 80), *range(163, 180)]


def test_no_frame_is_in_two_parts() -> None:
    # Each frame is paired with the one before it and the one after it, so that parts of pairs alone would share frames.
    first = np.arange(100)
    pairs = MotionPairs(first + 1, first, np.zeros(100, np.int64), ("back",))
    for times_s, by in ((None, "frames"), (np.arange(101.0), "time")):
        divided = divide_pairs(pairs, "back", np.zeros(101, np.int64), 1_000, times_s=times_s)
        assert divided.by == by
        frames = [{*part.i, *part.j} for part in (divided.fit, divided.choose, divided.measure)]
        assert len(set.union(*frames)) == sum(map(len, frames))
        assert [len(part) for part in (divided.fit, divided.choose, divided.measure)] == [50, 24, 24]


@pytest.mark.parametrize("times_s", [None, np.arange(23.0)])
def test_too_few_frames_are_refused(times_s: np.ndarray | None) -> None:
    i, j = (rows.ravel() for rows in np.triu_indices(23, 1))
    near = j - i < 6
    pairs = MotionPairs(i[near], j[near], np.zeros(int(near.sum()), np.int64), ("on",))
    assert len(pairs) > 4 * FEWEST
    with pytest.raises(TooFewPairsError, match="23 frames with it are too few for three parts"):
        divide_pairs(pairs, "on", np.zeros(23, np.int64), 1_000, times_s=times_s)


def test_the_same_seed_divides_alike() -> None:
    pairs, groups = pairs_of([20] * 10)
    first, again, other = (divide_pairs(pairs, "up", groups, 80, seed) for seed in (1, 1, 2))
    assert parts_of(first) == parts_of(again) != parts_of(other)
