"""The 15-scene set: real pictures of rooms, streets and landscapes."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from egoequiv.sources import Source
from egoequiv.sources.scenes import scenes


@pytest.fixture(scope="module")
def source(real_data: Path) -> Source:
    return scenes(real_data / "scene15")


def test_there_are_15_classes_in_two_parts(source: Source) -> None:
    assert len(source.recordings) == 30
    count = Counter[str]()
    for recording in source.recordings:
        count[recording.attributes["part"]] += len(recording)
    assert count == {"train": 1_500, "test": 2_985}
    assert {len(r) for r in source.recordings if r.attributes["part"] == "train"} == {100}
    assert len({label for r in source.recordings for label in r.labels or ()}) == 15
    assert source.notes == ()


def test_the_pictures_are_gray_and_their_short_side_is_64(source: Source) -> None:
    for recording in source.recordings[::7]:
        image = recording.image(len(recording) // 2)
        assert image.ndim == 2
        assert min(image.shape) == 64
        assert image.std() > 10


def test_a_crop_has_the_shape_of_a_car_camera(real_data: Path, source: Source) -> None:
    recording = scenes(real_data / "scene15", aspect="1242x375").recordings[0]
    whole, crop = source.recordings[0].image(0), recording.image(0)
    assert crop.shape[1] / crop.shape[0] == pytest.approx(1242 / 375, rel=0.05)
    start = (whole.shape[0] - crop.shape[0]) // 2
    assert np.array_equal(crop, whole[start : start + crop.shape[0]])
