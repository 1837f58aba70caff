"""Poses on a grid: differences, composition and wrap-around."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import Axis, GridSpace, space_from_description
from helpers import GRID

NORB = GridSpace(
    (
        Axis("elevation", "deg", step=5.0, plus="up", minus="down"),
        Axis("azimuth", "deg", step=20.0, plus="right", minus="left", period=360.0),
    )
)
# Quarter degrees are exact in binary, so the laws below hold without a tolerance.
quarters = st.integers(-4_000, 4_000).map(lambda n: n / 4)
vectors = st.tuples(quarters, quarters).map(np.array)


@pytest.mark.parametrize(
    ("pose_i", "pose_j", "motion"),
    [
        ([30, 340], [30, 0], [0, 20]),  # over the seam, to the right
        ([30, 0], [30, 340], [0, -20]),  # and back
        ([30, 10], [35, 10], [5, 0]),
        ([30, 0], [30, 180], [0, -180]),  # half a turn has one name only
        ([30, 180], [30, 0], [0, -180]),
        ([70, 0], [30, 350], [-40, -10]),  # elevation does not wrap
    ],
)
def test_differences_by_hand(pose_i: list[float], pose_j: list[float], motion: list[float]) -> None:
    assert NORB.difference(np.array(pose_i), np.array(pose_j)).tolist() == motion


def test_compose_and_invert_by_hand() -> None:
    assert NORB.compose(np.array([5.0, 170.0]), np.array([5.0, 20.0])).tolist() == [10.0, -170.0]
    assert NORB.invert(np.array([5.0, -20.0])).tolist() == [-5.0, 20.0]
    assert NORB.invert(np.array([0.0, -180.0])).tolist() == [0.0, -180.0]


def test_many_poses_at_once() -> None:
    poses = np.array([[30.0, 0.0], [40.0, 350.0], [30.0, 180.0]])
    motions = NORB.difference(poses[:, None], poses[None])
    assert motions.shape == (3, 3, 2)
    for i in range(3):
        for j in range(3):
            assert motions[i, j].tolist() == NORB.difference(poses[i], poses[j]).tolist()


def test_inputs_are_left_alone() -> None:
    pose_i, pose_j = np.array([30.0, 340.0]), np.array([30.0, 0.0])
    NORB.difference(pose_i, pose_j)
    NORB.invert(pose_i)
    assert (pose_i.tolist(), pose_j.tolist()) == ([30.0, 340.0], [30.0, 0.0])


@given(vectors, vectors)
def test_cyclic_differences_are_short_and_right_modulo_the_period(pose_i: np.ndarray, pose_j: np.ndarray) -> None:
    elevation, azimuth = NORB.difference(pose_i, pose_j)
    assert elevation == pose_j[0] - pose_i[0]
    assert -180 <= azimuth < 180
    assert (azimuth - (pose_j[1] - pose_i[1])) % 360 == 0


@given(vectors, vectors, vectors)
def test_differences_form_a_group(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    ab, bc, ac = NORB.difference(a, b), NORB.difference(b, c), NORB.difference(a, c)
    assert NORB.compose(ab, bc).tolist() == ac.tolist()
    assert NORB.invert(ab).tolist() == NORB.difference(b, a).tolist()
    assert NORB.compose(ab, NORB.invert(ab)).tolist() == [0, 0]
    assert NORB.compose(ab, bc).tolist() == NORB.compose(bc, ab).tolist()
    assert NORB.compose(NORB.compose(ab, bc), ac).tolist() == NORB.compose(ab, NORB.compose(bc, ac)).tolist()


@given(vectors, st.integers(-3, 3))
def test_whole_turns_change_nothing(pose: np.ndarray, turns: int) -> None:
    turned = pose + np.array([0.0, 360.0 * turns])
    assert NORB.difference(pose, turned).tolist() == [0, 0]


@pytest.mark.parametrize("azimuth", [np.nextafter(-180.0, -np.inf), np.nextafter(180.0, np.inf), -180.0, 180.0])
def test_a_hair_beside_half_a_turn_stays_in_range(azimuth: float) -> None:
    pose = np.array([0.0, azimuth])
    for motion in (NORB.difference(np.zeros(2), pose), NORB.compose(np.zeros(2), pose), NORB.invert(pose)):
        assert motion[1] == pytest.approx(-180) or motion[1] == pytest.approx(180)
        assert -180 <= motion[1] < 180


def test_what_is_not_a_number_stays_so() -> None:
    assert np.isnan(NORB.difference(np.zeros(2), np.array([0.0, np.nan]))[1])


def test_an_axis_in_words() -> None:
    elevation, azimuth = NORB.axes
    assert (elevation.in_words(5.0), elevation.in_words(-5.0)) == ("up 5°", "down 5°")
    assert (azimuth.in_words(20.0), azimuth.in_words(-20.0)) == ("right 20°", "left 20°")


def test_names_of_poses_and_motions() -> None:
    assert NORB.pose_names == ("elevation_deg", "azimuth_deg")
    named = {name: motion.tolist() for name, motion in NORB.named_motions().items()}
    assert named == {"up": [5, 0], "down": [-5, 0], "right": [0, 20], "left": [0, -20]}
    assert list(named) == ["up", "down", "right", "left"]


@given(vectors)
def test_every_named_motion_has_its_opposite(pose: np.ndarray) -> None:
    named = NORB.named_motions()
    for there, back in (("up", "down"), ("right", "left")):
        assert NORB.compose(named[there], named[back]).tolist() == [0, 0]
        moved = pose + named[there]
        assert NORB.difference(moved, pose).tolist() == named[back].tolist()


@pytest.mark.parametrize(
    ("motion", "near"),
    [
        ([0, 0], True),
        ([5, 20], True),  # the diagonal is one step
        ([-5, -20], True),
        ([6.25, 25], True),  # just within the tolerance of a quarter of a step
        ([6.5, 0], False),
        ([0, 25.5], False),
        ([10, 0], False),
        ([0, 40], False),
    ],
)
def test_within_one_step(motion: list[float], near: bool) -> None:
    assert bool(NORB.within_one_step(np.array(motion))) is near
    assert NORB.within_one_step(np.array([motion] * 3)).tolist() == [near] * 3


@given(vectors, vectors)
def test_being_within_one_step_is_mutual(a: np.ndarray, b: np.ndarray) -> None:
    there = NORB.within_one_step(NORB.difference(a, b))
    back = NORB.within_one_step(NORB.difference(b, a))
    assert bool(there) == bool(back)


@pytest.mark.parametrize("space", [NORB, GRID])
def test_a_space_survives_json(space: GridSpace) -> None:
    assert space_from_description(json.loads(json.dumps(space.describe()))) == space


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"kind": "sphere", "axes": []},
        {"kind": "grid"},
        {"kind": "grid", "axes": [{"name": "x"}]},
        {"kind": "grid", "axes": [{**NORB.describe()["axes"][0], "colour": "red"}]},
        {"kind": "grid", "axes": [3]},
    ],
)
def test_a_damaged_description_is_refused(description: dict[str, object]) -> None:
    with pytest.raises(DataError, match="motion space"):
        space_from_description(description)


@pytest.mark.parametrize("step", [0.0, -5.0, float("nan")])
def test_a_step_must_be_positive(step: float) -> None:
    with pytest.raises(ConfigError, match=r"axis 'a': the step must be positive"):
        GridSpace((Axis("a", "m", step, "on", "back"),))


@pytest.mark.parametrize("period", [20.0, 10.0, 0.0, float("nan")])
def test_a_period_must_be_longer_than_a_step(period: float) -> None:
    with pytest.raises(ConfigError, match=r"axis 'a': period .* is not longer than one step of 20"):
        GridSpace((Axis("a", "deg", 20.0, "on", "back", period),))
