"""The task `next-view`, and the walks it is made of."""

from __future__ import annotations

import json

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.chains import first_successors
from egoequiv.evaluation.next_view import NextViewSelector
from egoequiv.evaluation.next_view_task import NextViewResult, choose_views, moves_of
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.walks import POLICIES, Policy, take_walks
from egoequiv.pairs import MinedPatterns, MotionPairs, declare_patterns, find_motion_pairs
from egoequiv.pose import PlanarSpace
from evaluation.task_worlds import FRAMES, MadeData, made_data, telling_world
from helpers import GRID, bare_store

MOVES = ("up", "down", "right")


@pytest.fixture(scope="module")
def data() -> MadeData:
    store, z = telling_world()
    return made_data(store, z, np.arange(8 * FRAMES, 12 * FRAMES))


@pytest.fixture(scope="module")
def found(data: MadeData) -> NextViewResult:
    return choose_views(data, TaskOptions(motions=MOVES, steps=3, neighbours=5))


def test_walks_by_hand() -> None:
    """Two classes, one view that tells nothing, and two moves of which one ends right for each policy to find."""
    features = np.array([[0.0], [4.0], [0.0], [-4.0], [0.0], [0.5], [0.0], [-0.5], [0.0], [4.0], [-1.0]], np.float32)
    # Training: x -> 4 or -4 by a (which tells the classes apart), x -> 0.5 or -0.5 by b. The start is frame 8, of class
    # 0; a leads to frame 9, which looks like class 0, and b to frame 10, which looks like class 1.
    pairs = MotionPairs(np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7]), np.array([0, 0, 1, 1]), ("a", "b"))
    classes = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0])
    selector = NextViewSelector(features, classes, ("ball", "bar"), np.arange(8), pairs, k=1)
    successors = np.full((11, 2), -1)
    successors[8] = [9, 10]
    walks = take_walks(selector, classes, successors, np.array([8]), steps=2)
    assert walks["best"].frames.tolist() == [[8, 9, -1]]
    assert walks["best"].moves.tolist() == [[0, -1]]
    assert walks["best"].right[0, 1:].tolist() == [1, 1]  # it stays with what it has seen
    assert walks["random"].right[0, 1] == 0.5  # one of the two moves ends right
    assert walks["chosen"].expected_bits[0, 0] == 0
    assert np.isnan(walks["chosen"].expected_bits[0, 1])


def test_the_second_view_against_a_plain_computation(data: MadeData, found: NextViewResult) -> None:
    store, z, train = data.store, data.features, data.split.train
    patterns = declare_patterns(GRID, MOVES)
    training, asked = (find_motion_pairs(store, frames, patterns) for frames in (train, data.split.validation))
    successors = {move: first_successors(asked, move, len(store)) for move in MOVES}
    homogeneous = np.column_stack([z, np.ones(len(z))]).astype(float)
    maps = {}
    for move in MOVES:
        own = training.of(move)
        maps[move] = np.linalg.lstsq(homogeneous[own.i], z[own.j].astype(float), rcond=None)[0]

    def votes(move: str, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        own = training.of(move)
        apart = ((z[own.i] - first) ** 2).sum(axis=1) + ((z[own.j] - second) ** 2).sum(axis=1)
        return np.bincount(store.labels[own.i[np.argsort(apart, kind="stable")[:5]]], minlength=2)

    walk = found.walks["chosen"]
    right = []
    for row, start in enumerate(walk.frames[:, 0]):
        bits, ends = [], []
        for move in MOVES:
            end = successors[move][start]
            share = votes(move, z[start], homogeneous[start] @ maps[move]) / 5
            entropy = -sum(p * np.log2(p) for p in share if p > 0)
            bits.append(entropy if end >= 0 else np.inf)
            ends.append(bool(votes(move, z[start], z[end]).argmax() == store.labels[start]) if end >= 0 else None)
        chosen = int(np.argmin(np.round(bits, 9)))
        assert walk.moves[row, 0] == chosen
        assert walk.right[row, 1] == ends[chosen]
        able = [end for end in ends if end is not None]
        assert found.walks["random"].right[row, 1] == pytest.approx(np.mean(able))
        assert found.walks["best"].right[row, 1] == max(able)
        right.append(ends[chosen])
    assert accuracy(found, "chosen", 2) == pytest.approx(100 * np.mean(right))


def accuracy(found: NextViewResult, policy: Policy, views: int) -> float:
    """How often the class is right after so many views, in per cent."""
    return 100 * float(found.walks[policy].right[:, views - 1].mean())


def test_floor_and_ceiling(found: NextViewResult) -> None:
    assert accuracy(found, "best", 2) >= accuracy(found, "chosen", 2)
    assert accuracy(found, "best", 2) >= accuracy(found, "random", 2)
    assert accuracy(found, "chosen", 2) > accuracy(found, "random", 2) + 3  # looking up tells the classes apart
    assert len({accuracy(found, policy, 1) for policy in POLICIES}) == 1


def test_no_walk_comes_back(found: NextViewResult, data: MadeData) -> None:
    held = set(data.split.validation.tolist())
    for walk in found.walks.values():
        for frames, moves in zip(walk.frames, walk.moves, strict=True):
            seen = frames[frames >= 0].tolist()
            assert len(set(seen)) == len(seen)
            assert set(seen) <= held
            assert (frames[1:] >= 0).tolist() == (moves >= 0).tolist()


def test_the_same_seed_gives_the_same(found: NextViewResult, data: MadeData) -> None:
    again = choose_views(data, TaskOptions(motions=MOVES, steps=3, neighbours=5))
    assert again.finding(data.store).details == found.finding(data.store).details


def test_what_is_said(found: NextViewResult, data: MadeData) -> None:
    finding = found.finding(data.store)
    described = json.loads(json.dumps(finding.details, allow_nan=False))
    assert [row["views"] for row in described["accuracy_pct"]] == [1, 2, 3, 4]
    count = described["starting_views"]
    assert count == 4 * FRAMES  # to the right one can always go, and up or down
    assert {len(column) for column in described["each_starting_view"].values()} == {count}
    assert sum(row["chosen"] for row in described["each_move"]) == count
    views, moves = finding.tables
    assert len(views.rows) == 4
    assert {len(row) for row in views.rows} == {len(views.columns)}
    assert {len(row) for row in moves.rows} == {len(moves.columns)}
    assert [row[0].text for row in moves.rows] == list(MOVES)
    two, one, *_ = finding.values
    assert (two.name, two.value) == ("two_views", accuracy(found, "chosen", 2))
    assert two.baselines == {"one view": accuracy(found, "chosen", 1), "random move": accuracy(found, "random", 2)}
    assert one.note == "what is measured comes from 4 recordings, and an interval needs 5"
    assert finding.arrays["gallery_images"].shape == (12, 4, 1, 1, 1)
    assert finding.arrays["gallery_guess"].shape == (12, 4)


def test_the_first_view_alone_is_asked_of_as_many_frames(found: NextViewResult) -> None:
    assert found.one_view.shape == (4 * FRAMES, 4)
    np.testing.assert_array_equal(found.one_view[:, 0], found.walks["chosen"].right[:, 0])
    assert 0 <= found.one_view.min() <= found.one_view.max() <= 1


def test_mined_patterns_are_chosen_by_name() -> None:
    space = PlanarSpace()
    patterns = MinedPatterns(("left", "right", "on"), np.array([[1.0, 9], [1, -9], [5, 0], [0, 0]]), np.ones(2), space)
    data = made_data(bare_store(np.zeros((4, 2)), [0] * 4, space=space), np.zeros((4, 1)), np.arange(2), patterns)
    assert moves_of(data, None) is patterns
    some = moves_of(data, ("on", "left"))
    assert some.names == ("on", "left")
    motions = np.array([[5.0, 0], [1, 9], [1, -9], [0, 0]])
    assert some.assign(motions).tolist() == [0, 1, -1, -1]
    with pytest.raises(ConfigError, match="motion 'up' is not known here; choose from left, right, on"):
        moves_of(data, ("up",))


def test_nothing_to_choose_is_told(data: MadeData) -> None:
    with pytest.raises(ConfigError, match="next-view chooses between motions: name at least two"):
        choose_views(data, TaskOptions(motions=("up",), neighbours=5))
    with pytest.raises(ConfigError, match="'sideways' is not known here"):
        choose_views(data, TaskOptions(motions=("sideways", "up")))
    with pytest.raises(ConfigError, match="--steps must be at least 1, found 0"):
        choose_views(data, TaskOptions(steps=0))
    bare = bare_store(data.store.poses, data.store.recording.tolist())
    with pytest.raises(DataError, match="has no labels"):
        choose_views(made_data(bare, data.features, data.split.validation), TaskOptions())
