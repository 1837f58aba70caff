"""Recordings and sources."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from egoequiv.remarks import Remark
from egoequiv.sources import Recording, Source
from helpers import GRID, grid_recording, grid_source


def test_a_frame_holds_all_that_is_known_of_it() -> None:
    times = np.arange(24) / 8
    recording = grid_recording(1, 0, times_s=times)
    frame = recording.frame(5)
    assert frame.image.tolist() == recording.image(5).tolist()
    assert frame.pose.tolist() == [30.0, 300.0]
    assert frame.time_s == 0.625
    assert isinstance(frame.time_s, float)
    assert frame.label == "bar"


def test_times_and_labels_may_be_missing() -> None:
    frame = grid_recording(0, 0, labels=None).frame(0)
    assert frame.time_s is None
    assert frame.label is None


def test_a_recording_is_as_long_as_its_poses() -> None:
    assert len(grid_recording(0, 0)) == 24
    assert len(grid_recording(0, 0, poses=np.zeros((3, 2)))) == 3


def test_a_recording_without_images_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="image"):
        Recording()  # type: ignore[abstract]


def test_a_source_counts_its_frames() -> None:
    assert grid_source().frame_count == 144
    assert Source("none", GRID, []).frame_count == 0


def test_recordings_survive_pickling() -> None:
    recording = grid_recording(2, 1)
    again = pickle.loads(pickle.dumps(recording))
    assert again.image(7).tolist() == recording.image(7).tolist()
    assert again.attributes == recording.attributes


def test_choices_and_facts_are_told_apart_from_what_was_left_out() -> None:
    source = Source("log", GRID, [], notes=(Remark("camera a of 2"), "3 rows left out", Remark("camera a of 2")))
    assert source.notes == ("3 rows left out",)
    assert source.remarks == ("camera a of 2",)
    assert replace(source, name="other").remarks == ("camera a of 2",)
    assert type(source.remarks[0]) is str
