"""Gardens Point Walking, the same path twice by day: read as traverses, and the baseline of pixels."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from egoequiv.catalog import open_log
from egoequiv.evaluation.place_filter import filter_places
from egoequiv.evaluation.place_search import mean_differences, patch_normalised, search
from egoequiv.evaluation.traverses import Tolerance, Traverse, traverses_of, true_places
from egoequiv.evaluation.walk_alignment import align_walks
from egoequiv.store import ingest


@pytest.fixture(scope="module")
def walks(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Traverse]:
    found = []
    for name in ("day_left", "day_right"):
        source, title = open_log(real_data / "gardens_point" / name)
        assert title == "pictures without a table"
        store = ingest(source, tmp_path_factory.mktemp("walks") / name, size=(64, 64), progress=False)
        (walk,) = traverses_of(store).values()
        found.append(walk)
    return found


def test_the_frames_are_read_in_order(walks: list[Traverse]) -> None:
    for walk in walks:
        assert walk.numbers.tolist() == list(range(200))
        assert walk.store.files is not None
        assert walk.store.files[walk.rows[[0, 9, 10, 199]]].tolist() == [
            "Image000.jpg",
            "Image009.jpg",
            "Image010.jpg",
            "Image199.jpg",
        ]


def test_patch_normalised_pixels_find_places(walks: list[Traverse]) -> None:
    """0.42 to 0.48 of the frames within 2 frames, by the size of the pictures; chance is 0.025."""
    left, right = walks
    truth = true_places(left, right, Tolerance(2, False))
    distance = mean_differences(*(patch_normalised(one.store.images[one.rows]) for one in (right, left)))
    found = search(distance, truth)
    assert 0.40 < found.hits(1).mean() < 0.50
    assert 0.60 < found.hits(5).mean() < 0.75
    with_prior = search(filter_places(distance, right.along, left.along), truth)
    assert with_prior.hits(1).mean() > 0.8


@pytest.mark.parametrize("side", ["query", "reference"])
def test_walks_are_aligned_after_every_seventh_frame_of_one_is_dropped(walks: list[Traverse], side: str) -> None:
    """To the hand-made alignment of the data set: 1 frame off on average, 9 of 10 within 2."""
    left, right = walks
    distance = mean_differences(*(patch_normalised(one.store.images[one.rows]) for one in (right, left)))
    kept, every = np.flatnonzero(np.arange(200) % 7), np.arange(200)
    query, reference = (kept, every) if side == "query" else (every, kept)
    found = align_walks(distance[np.ix_(query, reference)])
    off = np.abs(reference[found.place] - query)
    assert off.mean() < 1.2
    assert (off <= 2).mean() > 0.9
    assert found.is_convincing
    assert not align_walks(distance[np.ix_(query, reference[::-1])]).is_convincing


def test_pixels_against_an_independent_computation(real_data: Path) -> None:
    """With OpenCV, from the files, one patch at a time."""

    def look(side: str) -> np.ndarray:
        rows = []
        for k in range(0, 200, 10):
            gray = cv2.imread(str(real_data / "gardens_point" / side / f"Image{k:03d}.jpg"), cv2.IMREAD_GRAYSCALE)
            small = cv2.resize(gray, (64, 32), interpolation=cv2.INTER_AREA).astype(float)
            for y in range(0, 32, 8):
                for x in range(0, 64, 8):
                    patch = small[y : y + 8, x : x + 8]
                    small[y : y + 8, x : x + 8] = (patch - patch.mean()) / max(patch.std(), 1)
            rows.append(small.reshape(-1))
        return np.array(rows)

    left, right = look("day_left"), look("day_right")
    expected = np.abs(right[:, None] - left[None]).mean(axis=2)
    found = []
    for side in ("day_right", "day_left"):
        files = [real_data / "gardens_point" / side / f"Image{k:03d}.jpg" for k in range(0, 200, 10)]
        images = np.stack([cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in files])[..., None]
        found.append(patch_normalised(images))
    assert np.corrcoef(mean_differences(*found).ravel(), expected.ravel())[0, 1] > 0.97
