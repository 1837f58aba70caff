"""Blocks of time take the place of recordings where these are too few, so that one recording gives numbers."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isnan

import numpy as np
import pytest

from egoequiv.evaluation.kept_apart import BLOCK, keep_apart
from egoequiv.evaluation.task import TaskData, TaskOptions, silent
from egoequiv.evaluation.tasks import TASKS
from egoequiv.models import EgoNet, NetSpec
from egoequiv.pairs import Split, mine_patterns
from egoequiv.pose import PlanarSpace
from egoequiv.store import FrameStore
from helpers import bare_store

HZ = 4


def drive_store(recordings: int = 1, frames: int = 600) -> FrameStore:
    """Drives at 4 Hz, one after the other."""
    rng = np.random.default_rng(0)
    count = recordings * frames
    turns = np.cumsum(np.repeat(rng.choice([-4.0, 0.0, 4.0], count // 6), 6))
    store = bare_store(
        np.stack([np.cumsum(rng.uniform(1.0, 1.5, count)), turns], axis=1),
        np.repeat(np.arange(recordings), frames).tolist(),
        times_s=np.tile(np.arange(frames) / HZ, recordings).tolist(),
        space=PlanarSpace(),
    )
    images = rng.integers(0, 60, (count, 6, 6, 1)) + (np.abs(turns) % 180).astype(int)[:, None, None, None]
    return replace(store, images=images.astype(np.uint8))


def test_blocks_have_a_gap_between_them() -> None:
    store = drive_store()
    frames = np.arange(100, 400)
    apart = keep_apart(store, frames, fewest=2, max_gap_s=1.0)
    assert (apart.name, apart.count(frames)) == (BLOCK, 10)
    assert (apart.groups[:100] == -1).all()
    kept = apart.only(frames)
    assert len(kept) == 300 - 9 * HZ  # a second of frames after each block but the last
    assert store.times_s is not None
    for block in range(10):
        own = apart.groups[kept] == block
        between = np.abs(np.asarray(store.times_s)[kept[own]][:, None] - np.asarray(store.times_s)[kept[~own]])
        assert between.min() > 1.0
    inside = apart.within(np.array([100, 100, 128]), np.array([101, 399, 132]))
    assert inside.tolist() == [True, False, False]
    assert "1 recording is too few" in apart.notes[0]


@pytest.mark.parametrize(("frames", "blocks", "words"), [(50, 5, "1 s between them"), (12, 10, "without a gap")])
def test_short_recordings_have_fewer_blocks_or_no_gaps(frames: int, blocks: int, words: str) -> None:
    apart = keep_apart(drive_store(), np.arange(frames), fewest=2, max_gap_s=1.0)
    assert apart.count(np.arange(frames)) == blocks
    assert words in apart.notes[0]


def test_recordings_are_kept_where_they_are_enough() -> None:
    store = drive_store(3, 60)
    apart = keep_apart(store, np.arange(180), fewest=3, max_gap_s=1.0)
    assert (apart.name, apart.notes) == ("recording", ())
    few = keep_apart(store, np.arange(120), fewest=3, max_gap_s=0.1)
    assert (few.name, few.count(np.arange(120))) == (BLOCK, 10)  # five of each
    assert (np.unique(few.groups[:60][few.groups[:60] >= 0]) < 5).all()
    without = replace(store, times_s=None)
    assert keep_apart(without, np.arange(60), fewest=2, max_gap_s=1.0).name == "recording"


@pytest.fixture(scope="module")
def one_recording() -> TaskData:
    """Validation on the later half of one drive."""
    store = drive_store()
    net = EgoNet(NetSpec("norb", (6, 6, 1), encoder_settings={"feature_dim": 6})).eval()
    patterns = mine_patterns(store, np.arange(300), clusters=4, keep=3).patterns
    return TaskData(net, store, Split(np.arange(300), np.arange(308, 600), "by-time"), patterns)


@pytest.mark.parametrize("name", ["readout", "retrieval", "prediction", "analogy"])
def test_a_single_validation_recording_gives_numbers(one_recording: TaskData, name: str) -> None:
    found = TASKS[name].measure(one_recording, TaskOptions(), silent)
    assert all(isfinite(value.value) for value in found.values)
    assert all(isnan(end) for value in found.values for end in value.interval)  # blocks are no recordings
    assert "comes from 1 recording" in found.values[0].note
    said = " ".join([*found.notes, *(note for table in found.tables for note in table.notes)])
    assert ("blocks of time" in said) == (name != "retrieval")  # which leaves out what is near in time
    if name == "readout":
        assert "every block of time is read by a probe fitted on others" in said
