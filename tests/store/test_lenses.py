"""Lenses in a store: as the recordings have them, and refused in one line where they are damaged."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from egoequiv.errors import ConfigError
from egoequiv.pose.camera import Lens
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.store.logs import LogOptions, inputs_digest
from helpers import GridRecording, data_error, grid_source

LENS = Lens(0.75, 1.5, 0.51, 0.48, (0.1, -0.2, 0.0, 0.001), "calib.txt")


@dataclass(frozen=True, eq=False)
class SeenRecording(GridRecording):
    """A recording whose lens is known."""

    lens: Any = None


def seen(*lenses: Any) -> Source:
    """The recordings of the grid, the first of them with these lenses."""
    source = grid_source()
    given = [*lenses, *[None] * (len(source.recordings) - len(lenses))]
    fields = [{**vars(one), "lens": lens} for one, lens in zip(source.recordings, given, strict=True)]
    return replace(source, recordings=[SeenRecording(**one) for one in fields])


@pytest.fixture
def store(tmp_path: Path) -> FrameStore:
    return ingest(seen(LENS), tmp_path / "store", size=(5, 7))


def test_a_store_keeps_the_lenses_that_are_known(store: FrameStore) -> None:
    first, second, *_ = store.recording_names
    assert store.lens(first) == LENS  # pictures are squeezed to fit, so fractions stay
    assert store.lens(second) is None
    assert list(json.loads((store.path / "store.json").read_text())["lenses"]) == [first]
    with pytest.raises(ConfigError, match="has no recording 'nothing'"):
        store.lens("nothing")


def test_a_store_without_lenses_does_not_mention_them(small_store: FrameStore) -> None:
    assert "lenses" not in small_store.meta
    assert small_store.lens(small_store.recording_names[0]) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"focal_x": 0},
        {"focal_x": "1"},
        {"focal_y": None},
        {"center_x": True},
        {"center_y": 10**400},
        {"distortion": 3},
        {"distortion": [0.1, None]},
        {"origin": 5},
    ],
)
def test_a_damaged_lens_is_one_line(store: FrameStore, changes: dict[str, Any]) -> None:
    file = store.path / "store.json"
    meta = json.loads(file.read_text())
    name = store.recording_names[0]
    meta["lenses"][name] |= changes
    file.write_text(json.dumps(meta))
    with data_error(str(file), repr(name), "ingest the data again"):
        FrameStore.open(store.path)


@pytest.mark.parametrize("lenses", [[], "lens", 3, None, {"a": 1}, {"a": None}, {"a": {}}])
def test_something_else_in_the_place_of_lenses_is_one_line(store: FrameStore, lenses: object) -> None:
    file = store.path / "store.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "lenses": lenses}))
    with data_error(str(file), "ingest the data again"):
        FrameStore.open(store.path)


def test_a_lens_of_a_users_recording_that_is_none_is_named(tmp_path: Path) -> None:
    with data_error("expected lens to be egoequiv.pose.camera.Lens or None, found"):
        ingest(seen((0.75, 1.5)), tmp_path / "store")


def test_another_lens_is_another_log(tmp_path: Path) -> None:
    digests = {
        inputs_digest(seen(*lenses), tmp_path, LogOptions()) for lenses in ([], [LENS], [replace(LENS, focal_x=1.0)])
    }
    assert len(digests) == 3
    assert inputs_digest(seen(LENS), tmp_path, LogOptions()) in digests
