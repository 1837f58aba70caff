"""Two walks brought into line: the cheapest monotone path, and when it is believed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.evaluation.walk_alignment import JUMP, NOWHERE, OUTSIDE, UNEVEN, _standardised, align_walks


def walked(count: int, seed: int = 0, reach: int = 4) -> np.ndarray:
    """What a camera sees at each place of a route, (N, D): places near each other share some of it."""
    seen = np.random.default_rng(seed).normal(size=(count + reach, 40))
    return np.stack([seen[k : k + reach].mean(axis=0) for k in range(count)])


def distances(query: np.ndarray, reference: np.ndarray, noise: float = 0.0) -> np.ndarray:
    apart = np.abs(query[:, None] - reference[None]).mean(axis=2)
    return apart + noise * np.random.default_rng(1).normal(size=apart.shape)


def all_paths(count: int, length: int) -> Iterator[tuple[int, ...]]:
    """Every path that never goes back, perhaps nowhere before it enters at 0 and after it leaves at the end."""
    for before, after in product(range(count), repeat=2):
        inside = count - before - after
        for places in product(range(length), repeat=max(inside, 0)):
            is_whole = inside > 0 and (not before or places[0] == 0) and (not after or places[-1] == length - 1)
            if is_whole and all(a <= b for a, b in pairwise(places)):
                yield (NOWHERE,) * before + places + (NOWHERE,) * after


def cost_of(near: np.ndarray, path: tuple[int, ...]) -> float:
    usual = near.shape[1] / len(near)
    steps = [b - a for a, b in pairwise(path) if NOWHERE not in (a, b)]
    cost = sum(min(UNEVEN / max(usual, 1) * abs(step - usual), JUMP) for step in steps)
    return cost + sum(OUTSIDE if place == NOWHERE else near[query, place] for query, place in enumerate(path))


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5), st.floats(0.3, 6))
def test_no_path_is_cheaper(seed: int, count: int, length: int, scale: float) -> None:
    distance = np.random.default_rng(seed).gamma(0.5, scale, (count, length))
    near = _standardised(distance)
    found = align_walks(distance).place
    best = min(cost_of(near, path) for path in all_paths(count, length))
    assert cost_of(near, tuple(found.tolist())) == pytest.approx(best)


@pytest.mark.parametrize("dropped", [7, 3])
@pytest.mark.parametrize("of_query", [True, False])
def test_dropped_frames_are_found(dropped: int, of_query: bool) -> None:
    route = walked(120)
    kept = np.flatnonzero(np.arange(120) % dropped)
    if of_query:
        found = align_walks(distances(route[kept], route, 0.02))
        assert (found.place == kept).mean() > 0.98
    else:
        found = align_walks(distances(route, route[kept], 0.02))
        assert np.abs(kept[found.place] - np.arange(120)).max() <= 2
    assert found.is_convincing


def test_a_stop_and_a_change_of_speed_are_followed() -> None:
    route = walked(150)
    walk = np.concatenate([np.arange(40), np.full(30, 40), np.arange(40, 100), np.arange(100, 150, 3)])
    for query, reference in ((walk, np.arange(150)), (np.arange(150), walk)):
        found = align_walks(distances(route[query], route[reference], 0.02))
        assert np.abs(reference[found.place] - query).max() <= 3
        assert found.is_convincing


def test_frames_before_the_reference_begins_and_after_it_ends_are_nowhere() -> None:
    route = walked(120)
    found = align_walks(distances(route, route[20:100], 0.02))
    assert np.flatnonzero(found.place != NOWHERE)[[0, -1]] == pytest.approx([20, 99], abs=1)
    np.testing.assert_array_equal(found.place[22:98], np.arange(2, 78))


def test_only_one_route_in_one_direction_is_believed() -> None:
    route, elsewhere = walked(120), walked(100, seed=7)
    assert not align_walks(distances(route, elsewhere)).is_convincing
    assert not align_walks(distances(route, route[:110][::-1])).is_convincing
    half = np.concatenate([elsewhere, route[60:]])  # the first half of the way is another one
    assert not align_walks(distances(np.delete(route, [3, 9], axis=0), half)).is_convincing
    nothing = align_walks(np.ones((30, 40)))
    assert (nothing.gain, nothing.is_convincing) == (0, False)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 30))
def test_places_never_go_back(seed: int, count: int, length: int) -> None:
    found = align_walks(np.random.default_rng(seed).random((count, length))).place
    inside = found[found != NOWHERE]
    assert (np.diff(inside) >= 0).all()
    assert np.ptp(np.flatnonzero(found != NOWHERE)) == len(inside) - 1
