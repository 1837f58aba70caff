"""Choosing the next view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import egoequiv
from egoequiv.errors import ConfigError, DataError, TooFewPairsError
from egoequiv.evaluation.next_view import NextViewSelector, declare_moves, default_moves
from egoequiv.models import EgoNet, NetSpec, initialise, load_model
from egoequiv.pairs import MotionPairs, declare_patterns, find_motion_pairs, mine_patterns
from egoequiv.pose import Axis, GridSpace, NoMotion
from egoequiv.pose.spaces import space_named
from egoequiv.store import FrameStore
from evaluation.task_worlds import FRAMES, telling_world
from helpers import GRID, bare_store

UP = MotionPairs(np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7]), np.zeros(4, np.int64), ("up",))
# Before moving both classes look alike (0 to 0.3), after it they do not (about 5, and about -5).
FEATURES = np.array([[0.0], [5.0], [0.1], [5.2], [0.2], [-5.0], [0.3], [-5.2]], np.float32)
CLASSES = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def by_hand(k: int = 2) -> NextViewSelector:
    return NextViewSelector(FEATURES, CLASSES, ("ball", "bar"), np.arange(8), UP, k=k)


def telling_selector(store: FrameStore, z: np.ndarray, frames: np.ndarray, k: int = 5) -> NextViewSelector:
    pairs = find_motion_pairs(store, frames, declare_patterns(GRID, ["up", "down", "right"]))
    return NextViewSelector(z.astype(np.float32), store.labels, store.class_names, frames, pairs, k=k)


def test_votes_by_hand() -> None:
    selector = by_hand()
    # One view: 0.15 lies nearest to 0.1 (class 0) and 0.2 (class 1); with the view after moving all is clear.
    one = selector.look(np.array([[[0.15]]], np.float32), ())
    assert one is not None
    assert one.counts.tolist() == [[1, 1]]
    two = selector.look(np.array([[[0.15], [4.0]], [[0.15], [-4.0]]], np.float32), ("up",))
    assert two is not None
    assert two.counts.tolist() == [[2, 0], [0, 2]]
    assert two.uncertainty_bits.tolist() == [0, 0]


def test_the_predicted_view_by_hand() -> None:
    # The line through (0, 5), (0.1, 5.2), (0.2, -5), (0.3, -5.2): 0 at 0.15, and the slope by the sums of regression.
    x, y = FEATURES[UP.i, 0].astype(float), FEATURES[UP.j, 0].astype(float)
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    predicted = by_hand().predict(np.array([[0.15], [0.25]], np.float32), "up")
    np.testing.assert_allclose(predicted[:, 0], [0.0, 0.1 * slope], atol=1e-4)


def test_one_view_by_the_frames_that_lead_on() -> None:
    selector = by_hand(k=1)
    one = selector.look_once(np.array([[4.9]], np.float32), ("up",))
    assert one is not None
    assert one.guess.tolist() == [1]  # 0.3 begins a pair and is of class 1; 5.0 only ends one
    whole = selector.look_once(np.array([[4.9]], np.float32), ())
    assert whole is not None
    assert whole.guess.tolist() == [0]


def test_frames_without_a_label_do_not_vote() -> None:
    classes = np.array([0, 0, 0, 0, 1, 1, -1, -1])
    selector = NextViewSelector(FEATURES, classes, ("ball", "bar"), np.arange(8), UP, k=1)
    assert selector.training_pairs == {"up": 3}
    votes = selector.look(np.array([[[0.3], [-5.2]]], np.float32), ("up",))
    assert votes is not None
    assert votes.guess.tolist() == [1]  # the pair itself is unlabelled, its neighbour 4 -> 5 is not


def test_pairs_against_a_plain_search() -> None:
    store, z = telling_world(4)
    train, test = np.arange(2 * FRAMES), np.arange(2 * FRAMES, 4 * FRAMES)
    selector = telling_selector(store, z, train, k=5)
    up = find_motion_pairs(store, train, declare_patterns(GRID, ["up"]))
    asked = find_motion_pairs(store, test, declare_patterns(GRID, ["up"]))
    votes = selector.look(np.stack([z[asked.i], z[asked.j]], axis=1).astype(np.float32), ("up",))
    assert votes is not None
    for row, (i, j) in enumerate(zip(asked.i, asked.j, strict=True)):
        apart = ((z[up.i] - z[i]) ** 2).sum(axis=1) + ((z[up.j] - z[j]) ** 2).sum(axis=1)
        nearest = store.labels[up.i[np.argsort(apart)[:5]]]
        assert votes.counts[row].tolist() == np.bincount(nearest, minlength=2).tolist()


def test_the_move_that_tells_most_is_suggested() -> None:
    store, z = telling_world()
    train = np.arange(10 * FRAMES)
    selector = telling_selector(store, z, train)
    low = np.arange(10 * FRAMES, 12 * FRAMES)
    low = low[(store.poses[low, 0] == 40)]
    bits = {}
    for move in ("up", "down"):
        seen = z[low].astype(np.float32)[:, None]
        votes = selector.look(np.concatenate([seen, selector.predict(seen[:, 0], move)[:, None]], axis=1), (move,))
        assert votes is not None
        bits[move] = votes.uncertainty_bits.mean()
    assert bits["up"] < 0.5 * bits["down"]


@pytest.fixture(scope="module")
def fitted(small_store: FrameStore) -> NextViewSelector:
    net = EgoNet(NetSpec("norb", small_store.image_shape))
    initialise(net, torch.Generator().manual_seed(0))
    return NextViewSelector.fit(net.eval(), small_store, np.arange(len(small_store)), k=5)


def test_suggestions_are_ranked(fitted: NextViewSelector, small_store: FrameStore) -> None:
    suggestions = fitted.suggest(small_store.images[8])
    assert {suggestion.move for suggestion in suggestions} == {"up", "down", "up+right", "up+left"}
    bits = [suggestion.uncertainty_bits for suggestion in suggestions]
    assert bits == sorted(bits)
    assert all(suggestion.guess in small_store.class_names for suggestion in suggestions)
    further = fitted.suggest(small_store.images[8], [("up", small_store.images[14])])
    assert {suggestion.move for suggestion in further} >= {"up", "up+left"}


def test_classes_are_told_from_views(fitted: NextViewSelector, small_store: FrameStore) -> None:
    name = small_store.class_names[small_store.labels[8]]
    one = fitted.classify(small_store.images[8])
    two = fitted.classify(small_store.images[8], [("up", small_store.images[14])])
    assert [one.guess, two.guess] == [name, name]  # both were trained on
    assert sum(one.votes.values()) == 5
    assert next(iter(one.votes)) == name


def test_the_public_name() -> None:
    assert egoequiv.NextViewSelector is NextViewSelector


def test_default_moves() -> None:
    assert default_moves(GRID) == ("up", "down", "up+right", "up+left")
    assert default_moves(GridSpace((Axis("pan", "deg", 10.0, "right", "left"),))) == ("right", "left")


def test_bad_input_is_told(fitted: NextViewSelector, small_store: FrameStore) -> None:
    with pytest.raises(ConfigError, match="move 'sideways' is not known here; choose from up, down"):
        fitted.suggest(small_store.images[0], [("sideways", small_store.images[1])])
    with pytest.raises(TooFewPairsError, match="up, up, up, up: fewer than 5 training frames"):
        fitted.classify(small_store.images[0], [("up", small_store.images[0])] * 4)
    with pytest.raises(TooFewPairsError, match="motion 'up': 4 training pairs with a label are fewer than the 6"):
        by_hand(k=6)
    with pytest.raises(DataError, match="8 training frames with a label are fewer than the 9"):
        by_hand(k=9)
    with pytest.raises(ConfigError, match="without a network"):
        by_hand().suggest(np.zeros((1, 1, 1), np.uint8))
    with pytest.raises(DataError, match="has no poses"):
        declare_moves(bare_store(np.empty((2, 0)), [0, 0], space=NoMotion()), None)
    with pytest.raises(DataError, match="has no labels"):
        NextViewSelector.fit(EgoNet(NetSpec("norb", (1, 1, 1))), bare_store(np.zeros((2, 2)), [0, 0]))
    with pytest.raises(ConfigError, match="at least 1, found 0"):
        NextViewSelector.fit(EgoNet(NetSpec("norb", (12, 12, 1))), small_store, k=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda image: image / 255, r"these are float64 of \(1, 12, 12, 1\): convert values to uint8"),
        (lambda image: image[None], r"of \(1, 1, 12, 12, 1\): leave out an axis"),
        (lambda image: image.repeat(3, axis=2), r"of \(1, 12, 12, 3\): convert them to gray, 1 channel"),
        (lambda image: image[:6], r"of \(1, 6, 12, 1\): ingest them with --size 12x12, or resize them"),
    ],
)
def test_images_of_another_kind_are_refused(
    change: Callable[[np.ndarray], np.ndarray], words: str, fitted: NextViewSelector, small_store: FrameStore
) -> None:
    image = small_store.images[8]
    with pytest.raises(DataError, match=words):
        fitted.suggest(change(image))
    with pytest.raises(DataError, match=words):
        fitted.classify(image, [("up", change(image))])


def test_a_drive_has_moves_that_are_mined() -> None:
    poses = np.column_stack([np.cumsum(np.arange(60) % 7), np.cumsum(np.repeat([0.0, 0.3], 30))])
    store = bare_store(poses, [0] * 60, list(np.arange(60) / 10), space=space_named("planar"), labels=[0, 1] * 30)
    net = EgoNet(NetSpec("norb", (1, 1, 1)))
    with pytest.raises(ConfigError, match=r"motions=mine_patterns\(store\)"):
        NextViewSelector.fit(net, store, np.arange(60))
    mined = mine_patterns(store, clusters=3, keep=2)
    features = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    selector = NextViewSelector.fit(net, store, np.arange(60), mined, k=1, features=features)
    assert selector.moves == mined.patterns.names


def test_model_and_store_may_be_folders(small_store: FrameStore, tmp_path: Path) -> None:
    few = {"iterations": 0, "use_labels": False}
    run = egoequiv.train(small_store.path, tmp_path / "run", method="random", **few).path
    by_place = NextViewSelector.fit(run, str(small_store.path), np.arange(len(small_store)), k=5)
    by_value = NextViewSelector.fit(load_model(run), small_store, np.arange(len(small_store)), k=5)
    assert by_place.suggest(small_store.images[8]) == by_value.suggest(small_store.images[8])
