"""Sources by name, with settings as they come from a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from egoequiv.catalog import SOURCES, WRITERS, open_source
from egoequiv.errors import ConfigError
from helpers import write_norb

FEW = {"toys_per_category": 1, "elevations": 2, "azimuths": 3, "lightings": 1, "size": 8}


def test_a_world_needs_no_path() -> None:
    source = open_source("turntable", categories=["car"], **FEW)
    assert source.frame_count == 6
    assert source.name == "turntable"


def test_settings_may_be_strings() -> None:
    as_numbers = open_source("turntable", **FEW)
    as_strings = open_source("turntable", **{name: str(value) for name, value in FEW.items()})
    assert dict(as_strings.settings) == dict(as_numbers.settings)


def test_a_source_reads_its_path(tmp_path: Path) -> None:
    write_norb(tmp_path)
    source = open_source("norb", tmp_path, camera="both", part="training")
    assert source.frame_count == 48
    assert dict(source.settings) == {"path": str(tmp_path), "part": "training", "camera": "both"}


@pytest.mark.parametrize("name", ["nrob", "", "NORB"])
def test_an_unknown_source_is_named_with_the_choices(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name!r} is not known.*norb.*turntable"):
        open_source(name)


def test_a_missing_path_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"'norb' reads files"):
        open_source("norb")


def test_a_path_too_many_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'turntable' .* leave out '/data'"):
        open_source("turntable", Path("/data"))


def test_an_unknown_setting_is_named_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'norb' has no setting 'cammera'; it has part, camera"):
        open_source("norb", tmp_path, cammera="left")
    with pytest.raises(ConfigError, match=r"'turntable' has no setting 'sed'; it has seed, .*size"):
        open_source("turntable", sed=1)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("norb", {"camera": "middle"}, r"camera='middle'.*'left', 'right' or 'both'"),
        ("norb", {"part": "validation"}, r"part='validation'.*'training'"),
        ("turntable", {"size": "large"}, r"size='large'.*integer"),
        ("turntable", {"size": "2"}, r"size .*at least 8, found 2"),
        ("turntable", {"seed": "-1"}, r"seed .*at least 0, found -1"),
        ("turntable", {"categories": ["car", "house"]}, r"no category 'house'"),
        ("turntable", {"categories": "car"}, r"categories"),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, name: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        open_source(name, tmp_path if name == "norb" else None, **settings)
    assert "\n" not in str(caught.value)


def test_the_catalog_is_complete() -> None:
    assert list(SOURCES) == ["norb", "kitti", "kitti-odometry", "scenes", "turntable", "drive", "places"]
    assert {name: reader for name, (reader, _) in WRITERS.items()} == {"drive": "kitti", "places": "scenes"}
