"""Traverses of a store, and which of their frames show the same place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from drives import drive_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.place_pairs import choose_pairs
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.traverses import Tolerance, share_a_map, traverses_of, true_places
from egoequiv.store import FrameStore, ingest


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(drive_source(), tmp_path_factory.mktemp("drives") / "store", size=(8, 8))


@pytest.mark.parametrize(
    ("text", "value", "in_metres"), [("2", 2, False), ("5m", 5, True), ("1.5 m", 1.5, True), ("3 frames", 3, False)]
)
def test_a_tolerance_is_in_frames_or_metres(text: str, value: float, in_metres: bool) -> None:
    assert Tolerance.parse(text) == Tolerance(value, in_metres)


@pytest.mark.parametrize("text", ["", "m", "-1", "2.5", "5 km", "nan", "1e3"])
def test_another_tolerance_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--tolerance"):
        TaskOptions(tolerance=text)


def test_a_traverse_is_a_recording_and_its_way_is_in_metres(drives: FrameStore) -> None:
    found = traverses_of(drives)
    assert list(found) == list(drives.recording_names)
    first = found[drives.recording_names[0]]
    assert first.rows.tolist() == np.flatnonzero(drives.recording == 0).tolist()
    assert first.positions_m is not None
    steps = np.linalg.norm(np.diff(first.positions_m, axis=0), axis=1)
    np.testing.assert_allclose(np.diff(first.along), steps)
    assert len(first.thinned(10)) == 10
    assert first.thinned(10).rows[[0, -1]].tolist() == first.rows[[0, -1]].tolist()


def test_parts_of_one_recording_are_one_traverse(drives: FrameStore) -> None:
    rows = np.flatnonzero(drives.recording < 2)
    whole = np.where(drives.recording < 2, "whole", "")
    numbers = np.arange(len(drives))[::-1].copy()
    cut = replace(drives, attributes={**drives.attributes, "part_of": whole}, log_frame=numbers)
    found = traverses_of(cut)
    assert next(iter(found)) == "whole"
    assert len(found) == len(drives.recording_names) - 1
    assert found["whole"].rows.tolist() == rows[::-1].tolist()
    assert (np.diff(found["whole"].numbers) > 0).all()


def test_true_places_by_hand(drives: FrameStore) -> None:
    one, other = list(traverses_of(drives).values())[:2]
    by_frame = true_places(one.thinned(5), other.thinned(5), Tolerance(0, False))
    assert by_frame.tolist() == (one.thinned(5).numbers[None] == other.thinned(5).numbers[:, None]).tolist()
    positions = np.array([[0.0, 0, 0], [3, 4, 0], [9, 0, 0]])
    here = replace(one, rows=one.rows[:3], positions_m=positions)
    there = replace(other, rows=other.rows[:2], positions_m=np.array([[0.0, 0, 0], [0, 4, 0]]))
    assert true_places(here, there, Tolerance(4, True)).tolist() == [[True, False, False], [True, True, False]]
    assert true_places(here, there, Tolerance(5, True)).tolist() == [[True, True, False], [True, True, False]]


def test_poses_of_different_maps_are_not_compared(drives: FrameStore) -> None:
    one, other = list(traverses_of(drives).values())[:2]
    assert share_a_map(one, other) is None
    assert share_a_map(one, one) is True
    apart = (replace(one, world="a"), replace(other, world="b"))
    assert share_a_map(*apart) is False
    with pytest.raises(DataError, match="in different maps"):
        true_places(*apart, Tolerance(3, True))
    with pytest.raises(DataError, match="no positions in metres"):
        true_places(replace(one, positions_m=None), other, Tolerance(3, True))


def test_which_traverses_are_compared(drives: FrameStore, tmp_path: Path) -> None:
    a, b = drives.recording_names[:2]
    pairs = choose_pairs(drives, TaskOptions(reference=a, query=b), 1.0)
    assert (pairs.reference.name, pairs.query.name, str(pairs.tolerance)) == (a, b, "2 frames")
    assert pairs.allowed() is None
    loop = choose_pairs(drives, TaskOptions(reference=a, query=a, revisit_s=2), 1.0)
    allowed = loop.allowed()
    assert loop.tolerance.in_metres
    assert allowed is not None
    times = loop.query.times_s
    assert times is not None
    assert allowed[30].tolist() == (times <= times[30] - 2).tolist()
    with pytest.raises(DataError, match="recordings: name two traverses"):
        choose_pairs(drives, TaskOptions(), 1.0)
    with pytest.raises(ConfigError, match="needs a --query"):
        choose_pairs(drives, TaskOptions(reference=a), 1.0)
    with pytest.raises(ConfigError, match="give --reference, one of"):
        choose_pairs(drives, TaskOptions(query=a), 1.0)
    with pytest.raises(ConfigError, match="neither a store nor a recording"):
        choose_pairs(drives, TaskOptions(query=str(tmp_path), reference=a), 1.0)
    with pytest.raises(ConfigError, match="measured in metres"):
        choose_pairs(drives, TaskOptions(reference=a, query=a, tolerance="2"), 1.0)


def test_a_store_that_is_named_by_its_place_is_compared_with_its_own_past(tmp_path: Path) -> None:
    one = ingest(drive_source(1), tmp_path / "store", size=(8, 8))
    copytree(one.path, tmp_path / "copy")
    for place in (one.path, tmp_path / "copy"):
        for options in (TaskOptions(query=str(place)), TaskOptions(query=str(place), reference=str(one.path))):
            pairs = choose_pairs(one, options, 1.0)
            assert pairs.revisit_s is not None  # not a store beside itself, where every frame finds itself
            assert pairs.query.store is one  # so that what the run has seen of it is known
    elsewhere = ingest(drive_source(2), tmp_path / "other", size=(8, 8))
    both = TaskOptions(query=str(one.path), reference=str(tmp_path / "copy"))
    assert choose_pairs(elsewhere, both, 1.0).revisit_s is not None
