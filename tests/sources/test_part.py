"""Some frames of a recording with other poses."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.sources.part import RecordingPart
from egoequiv.sources.recording import Image, Recording


class Numbered(Recording):
    """Frames whose pixels are their number."""

    name = "whole"
    poses = np.zeros((10, 0))
    times_s = np.arange(10) / 4
    labels = tuple("abcdefghij")

    def __init__(self, start: str) -> None:
        self.attributes = {"lighting": "3", **({"start": start} if start else {})}

    def image(self, frame: int) -> Image:
        return np.full((2, 2), frame, np.uint8)

    def starts(self) -> list[int]:
        return [0, 2, 4, 8]


@pytest.mark.parametrize(
    ("start", "later"),
    [
        ("1700000000.250000000", "1700000001.000000000"),
        ("12.5", "13.250000000"),
        ("", "0.750000000"),
        ("2031-05-01 07:00:00", "2031-05-01T07:00:00.750000"),
        ("yesterday", None),
    ],
)
def test_a_part_begins_later(start: str, later: str | None) -> None:
    part = RecordingPart(Numbered(start), range(3, 9), "whole-part2", np.ones((6, 1)))
    assert part.attributes.get("start") == later
    assert part.attributes["part_of"] == "whole"
    assert part.attributes["world"] == "whole-part2"
    assert part.attributes["lighting"] == "3"


def test_frames_are_those_of_the_whole() -> None:
    part = RecordingPart(Numbered(""), range(3, 9), "part", np.ones((6, 1)))
    assert len(part) == 6
    assert [int(np.asarray(image)[0, 0]) for image in part.images(range(1, 4))] == [4, 5, 6]
    assert int(part.image(5)[0, 0]) == 8
    assert list(part.starts()) == [0, 1, 5]
    assert list(part.labels or ()) == list("defghi")
    assert part.times_s is not None
    assert part.times_s.tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]
    numbers = part.log_frames()
    assert numbers is not None
    assert numbers.tolist() == [3, 4, 5, 6, 7, 8]


def test_a_whole_recording_is_not_a_part() -> None:
    assert "part_of" not in RecordingPart(Numbered(""), range(10), "whole", np.ones((10, 1))).attributes
