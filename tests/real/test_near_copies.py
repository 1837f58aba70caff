"""Near copies in real logs: laps and a car that comes back are counted, other roads and rooms seen once are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from egoequiv.catalog import open_source
from egoequiv.pairs import count_leaked, count_near_copies, make_split
from egoequiv.store import FrameStore, ingest


def stored(real_data: Path, folder: Path, source: str, place: str, size: tuple[int, int]) -> FrameStore:
    return ingest(open_source(source, real_data / place), folder / "store", size=size, progress=False)


@pytest.mark.parametrize(
    ("source", "place", "size", "split", "least", "most"),
    [
        ("table", "thunderhill/day1/poses.csv", (25, 80), "by-time", 0.85, 0.95),  # laps of a race track
        ("donkey", "donkey_tub", (60, 80), "by-time", 0.5, 0.75),  # laps of a few seconds, without positions
        ("donkey", "donkey_tub", (60, 80), "by-recording", 0.0, 0.08),  # elsewhere, but for the same standstill
        ("kitti", "kitti", (32, 64), "by-time", 0.15, 0.3),  # one of the drives comes back to its way
        ("kitti", "kitti", (32, 64), "by-recording", 0.0, 0.0),
        ("seven-scenes", "seven_scenes_redkitchen", (48, 64), "by-time", 0.0, 0.0),
    ],
)
def test_the_share_of_near_copies(
    real_data: Path,
    tmp_path: Path,
    source: str,
    place: str,
    size: tuple[int, int],
    split: str,
    least: float,
    most: float,
) -> None:
    store = stored(real_data, tmp_path, source, place, size)
    for seed in range(2):
        frames = make_split(store, split, seed=seed)
        count = count_near_copies(store, frames)
        assert count_leaked(store, frames) == 0
        assert count is not None
        assert least <= count / len(frames.validation) <= most
