"""Spaces by name and from their descriptions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import (
    SPACES,
    ColumnsSpace,
    MotionSpace,
    NoMotion,
    PlanarSpace,
    SE2Space,
    SE3Space,
    space_from_description,
    space_named,
)
from helpers import GRID


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("planar", PlanarSpace()),
        ("se2", SE2Space()),
        ("se3", SE3Space()),
        ("none", NoMotion()),
        ("columns:steering", ColumnsSpace(("steering",))),
        ("columns: steering_deg , throttle", ColumnsSpace(("steering_deg", "throttle"))),
    ],
)
def test_a_space_by_name_survives_json(name: str, space: MotionSpace) -> None:
    assert space_named(name) == space
    assert type(space_named(name)) is type(space)
    again = space_from_description(json.loads(json.dumps(space.describe())))
    assert again == space
    assert type(again) is type(space)


def test_every_named_space_has_one_motion_axis_for_each_of_its_words() -> None:
    assert list(SPACES) == ["planar", "se2", "se3", "scale-free", "none"]
    for name in SPACES:
        words = [word for axis in space_named(name).axes for word in (axis.plus, axis.minus)]
        assert len(set(words)) == len(words)


@pytest.mark.parametrize("name", ["", "SE2", "se4", "columns", "grid"])
def test_an_unknown_name_is_told_with_the_choices(name: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"motion space {name!r} is not known; choose planar, se2, se3, scale-free, none or col"
    ):
        space_named(name)


@pytest.mark.parametrize("name", ["columns:", "columns:a,,b", "columns:a,a", "columns: ,"])
def test_columns_must_be_named_each_once(name: str) -> None:
    with pytest.raises(ConfigError, match="each named once"):
        space_named(name)


@pytest.mark.parametrize(
    "description",
    [
        None,
        3,
        [],
        {},
        {"kind": None},
        {"kind": []},
        {"kind": {"kind": "se2"}},
        {"kind": "SE2"},
        {"kind": "columns"},
        {"kind": "columns", "columns": None},
        {"kind": "columns", "columns": "steering"},
        {"kind": "columns", "columns": [1, 2]},
        {"kind": "columns", "columns": {"a": 1}},
        {"kind": "grid", "axes": None},
        {"kind": "grid", "axes": [{**GRID.describe()["axes"][0], "step": "10"}]},
    ],
)
def test_a_damaged_description_is_refused_in_one_line(description: Any) -> None:
    with pytest.raises(DataError, match="motion space") as caught:
        space_from_description(description)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("columns", [[], ["a", "a"], [""]])
def test_described_columns_must_make_a_space(columns: list[str]) -> None:
    with pytest.raises(ConfigError, match="each named once"):
        space_from_description({"kind": "columns", "columns": columns})
