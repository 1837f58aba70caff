"""Motion patterns: which motions have which name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.pairs import atomic_names, composite_names, declare_patterns
from egoequiv.pairs.patterns import name_in_steps
from egoequiv.pose import Axis, GridSpace
from helpers import GRID

LINE = GridSpace((Axis("place", "m", 2.0, "on", "back"),))
CUBE = GridSpace(tuple(Axis(n, "m", 1.0, f"+{n}", f"-{n}") for n in "abc"))


def test_motions_by_name() -> None:
    patterns = declare_patterns(GRID, ["up", "right", "up+right", "up+left", "down+right", "up+up"])
    assert patterns.motions.tolist() == [[10, 0], [0, 60], [10, 60], [10, -60], [-10, 60], [20, 0]]
    assert patterns.names == ("up", "right", "up+right", "up+left", "down+right", "up+up")
    assert len(patterns) == 6


@pytest.mark.parametrize(
    ("motion", "number"),
    [
        ([10, 0], 0),
        ([12.5, 0], 0),  # a quarter of a step off
        ([12.6, 0], -1),
        ([10, 15], 0),
        ([10, 15.1], -1),
        ([0, 60], 1),
        ([-10, 0], -1),
        ([0, 0], -1),
        ([10, 60], 2),
        ([0, 120], -1),
    ],
)
def test_assignment_by_hand(motion: list[float], number: int) -> None:
    patterns = declare_patterns(GRID, ["up", "right", "up+right"])
    assert patterns.assign(np.array(motion, float)).tolist() == number
    assert patterns.assign(np.array([[motion]], float)).tolist() == [[number]]


def test_half_a_turn_either_way_is_one_motion() -> None:
    patterns = declare_patterns(GRID, ["right+right+right"])
    assert patterns.assign(np.array([[0.0, 180.0], [0.0, -180.0], [0.0, 170.0], [0.0, -170.0]])).tolist() == [0] * 4


def test_two_names_for_one_motion_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'right\+up' is the same"):
        declare_patterns(GRID, ["up+right", "right+up"])


@given(st.integers(-5, 5), st.integers(-8, 8), st.permutations(["up", "down", "right", "left"]))
def test_assignment_follows_the_grid(elevation: int, azimuth: int, names: list[str]) -> None:
    patterns = declare_patterns(GRID, names)
    around = (azimuth + 3) % 6 - 3
    known = {(1, 0): "up", (-1, 0): "down", (0, 1): "right", (0, -1): "left"}
    expected = known.get((elevation, around))
    number = int(patterns.assign(np.array([10.0 * elevation, 60.0 * azimuth])))
    assert (names[number] if number >= 0 else None) == expected


def test_names_of_spaces_with_one_two_and_three_axes() -> None:
    assert atomic_names(LINE) == ("on",)
    assert composite_names(LINE) == ()
    assert atomic_names(GRID) == ("up", "right")
    assert composite_names(GRID) == ("up+right", "up+left", "down+right")
    assert atomic_names(CUBE) == ("+a", "+b", "+c")
    assert len(composite_names(CUBE)) == 9


def test_atomic_and_composite_names_can_be_declared() -> None:
    patterns = declare_patterns(GRID, atomic_names(GRID) + composite_names(GRID))
    assert len(np.unique(patterns.motions, axis=0)) == 5


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "no motions"),
        (["up", "up"], "named twice"),
        (["forward"], "'forward' is not known here; choose from up, down, right, left"),
        (["up+forward"], "motion 'up\\+forward': 'forward'"),
        (["up+"], "'' is not known"),
        ([""], "'' is not known"),
    ],
)
def test_bad_names_are_named(names: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        declare_patterns(GRID, names)


def test_motions_are_named_in_whole_steps() -> None:
    for motion, name in (([4.0], "on+on"), ([-2.0], "back"), ([1.0], None), ([0.0], None), ([5.0], None)):
        assert name_in_steps(LINE, np.array(motion)) == name
    for name in ("up", "up+right", "up+up", "down+left+left"):
        assert name_in_steps(GRID, declare_patterns(GRID, [name]).motions[0]) == name
