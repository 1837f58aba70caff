"""Transforms between frames: chains of moving and fixed links against matrices, and what is not a tree."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from egoequiv.errors import DataError
from egoequiv.sources.ros_frames import build_tree, is_optical, plain_name, usable_poses


def transform(parent: str, child: str, values: Any) -> Any:
    x, y, z, qx, qy, qz, qw = (float(value) for value in values)
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=parent),
        child_frame_id=child,
        transform=SimpleNamespace(
            translation=SimpleNamespace(x=x, y=y, z=z), rotation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw)
        ),
    )


def matrix(values: Any) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3] = Rotation.from_quat(values[3:]).as_matrix()
    found[:3, 3] = values[:3]
    return found


def poses(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.concatenate([rng.normal(size=(count, 3)), Rotation.random(count, rng).as_quat()], axis=1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_any_two_frames_are_joined_as_their_matrices_are(seed: int) -> None:
    """The tree: world -> odom -> base -> camera -> optical, and world -> beacon; odom and base move."""
    rng = np.random.default_rng(seed)
    moving = {"odom": poses(rng, 4), "base": poses(rng, 4)}
    fixed = {"camera": poses(rng, 1)[0], "optical": poses(rng, 1)[0], "beacon": poses(rng, 1)[0]}
    parents = {"odom": "world", "base": "odom", "camera": "base", "optical": "camera", "beacon": "world"}
    sent = [(0, True, transform(parents[name], name, values)) for name, values in fixed.items()]
    for name, rows in moving.items():
        sent += [(k * 100, False, transform(f"/{parents[name]}", name, row)) for k, row in enumerate(rows)]
    tree = build_tree(sent, "bag")

    def t_world(name: str, k: int) -> np.ndarray:
        if name == "world":
            return np.eye(4)
        here = fixed[name] if name in fixed else moving[name][k]
        return t_world(parents[name], k) @ matrix(here)

    names = ["world", *parents]
    outer, inner = (names[k] for k in rng.choice(len(names), 2, replace=False))
    expected = [np.linalg.inv(t_world(outer, k)) @ t_world(inner, k) for k in range(4)]
    if np.ptp(expected, axis=0).max() < 1e-9:
        np.testing.assert_allclose(tree.fixed(outer, inner), expected[0], atol=1e-9)
        with pytest.raises(DataError, match="never moves"):
            tree.track(outer, inner, "bag")
    else:
        assert tree.fixed(outer, inner) is None
        track = tree.track(outer, inner, "bag")
        found = [matrix(row) for row in np.hstack([track.position_m, track.quaternion])]
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert track.times_ns.tolist() == [0, 100, 200, 300]
    assert tree.root_of(inner) == "world"


def test_what_is_sent_again_and_again_without_change_is_fixed() -> None:
    still = [1, 2, 3, 0, 0, 0, 1]
    tree = build_tree([(k, False, transform("a", "b", still)) for k in range(5)], "bag")
    np.testing.assert_allclose(tree.fixed("a", "b"), matrix(still))
    np.testing.assert_allclose(tree.fixed("b", "a"), np.linalg.inv(matrix(still)))


def test_what_moves_under_one_stamp_is_named() -> None:
    """The clock of a publisher stands still; the first of its transforms counts, and that is said."""
    sent = [(7, False, transform("a", "b", [k, 0, 0, 0, 0, 0, 1])) for k in range(5)]
    tree = build_tree([*sent, *((k, False, transform("b", "c", [0, k, 0, 0, 0, 0, 1])) for k in range(5))], "bag")
    assert tree.fixed("a", "b") is not None
    words = "bag, transform a -> b: 5 transforms that differ have one stamp, so one of them counts for all times"
    assert [note.startswith(words) for note in tree.notes_between("a", "b")] == [True, False]
    np.testing.assert_allclose(tree.track("a", "c", "bag").position_m[:, 1], range(5))
    assert any(note.startswith(words) for note in tree.notes)
    with pytest.raises(DataError, match=r"'b' never moves in 'a': .* 5 transforms that differ have one stamp"):
        tree.track("a", "b", "bag")


def test_links_are_interpolated_and_times_that_one_of_them_lacks_are_left_out() -> None:
    sent = [(k * 100, False, transform("a", "b", [k, 0, 0, 0, 0, 0, 1])) for k in range(10)]
    sent += [(k * 200 + 50, False, transform("b", "c", [0, 2 * k, 0, 0, 0, 0, 1])) for k in range(3)]
    track = build_tree(sent, "bag").track("a", "c", "bag")
    assert track.times_ns.tolist() == [100, 200, 300, 400]
    np.testing.assert_allclose(track.position_m, [[1, 0.5, 0], [2, 1.5, 0], [3, 2.5, 0], [4, 3.5, 0]])


def test_circles_two_parents_strangers_and_rotations_that_are_none() -> None:
    unit = [0, 0, 0, 0, 0, 0, 1]
    circle = build_tree([(0, True, transform("a", "b", unit)), (0, True, transform("b", "a", unit))], "bag")
    assert circle.chain("a", "x") is None
    assert circle.root_of("a") == "b"
    with pytest.raises(DataError, match="no transforms lead from 'a' to 'x'; the frames are: a, b"):
        circle.track("a", "x", "bag")
    sent = [(k, False, transform("a", "c", [k, 0, 0, 0, 0, 0, 1])) for k in range(3)]
    two = build_tree([*sent, (5, False, transform("b", "c", unit))], "bag")
    assert two.links["c"].parent == "a"
    assert two.notes == ["bag: frame 'c' has parent 'a' and also b: the first is used"]
    broken = build_tree([(0, True, transform("a", "b", [0] * 7)), (0, True, transform("a", "c", [np.nan] * 7))], "bag")
    assert not broken.links
    assert len(broken.notes) == 2


def test_names_of_frames() -> None:
    assert plain_name("/base_link") == "base_link"
    assert is_optical("camera_color_optical_frame")
    assert not is_optical("camera_link")


def test_poses_that_can_be_used_by_hand() -> None:
    rows = [
        [0, 0, 0, 0, 0, 0, 1],
        [1e300, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1e300, 0, 0, 1],
        [np.inf, 0, 0, 0, 0, 0, 1],
        [0, 0, np.nan, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0.9],
        [5e5, 5e6, 300, 0.5, -0.5, 0.5, -0.5],
    ]
    assert usable_poses(np.array(rows, np.float64)).tolist() == [True, False, False, False, False, False, True]
