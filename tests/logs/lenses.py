"""What tests of lenses share: the lens of a log, compared with numbers, or the note that says why there is none."""

import pickle

import pytest

from egoequiv.pose.camera import Lens
from egoequiv.sources import Recording, Source


def only(source: Source) -> Recording:
    (recording,) = source.recordings
    return recording


def lens_of(source: Source) -> Lens:
    """The lens of the only recording, after it was sent to a worker process."""
    lens = pickle.loads(pickle.dumps(only(source))).lens
    assert isinstance(lens, Lens)
    assert lens == only(source).lens
    return lens


def check(lens: Lens, focal: tuple[float, float], center: tuple[float, float], origin: str) -> None:
    assert (lens.focal_x, lens.focal_y) == pytest.approx(focal)
    assert (lens.center_x, lens.center_y) == pytest.approx(center)
    assert lens.origin == origin


def lacks(source: Source, *words: str) -> None:
    """No lens, and one note that says why; the frames are there."""
    assert only(source).lens is None
    assert len(only(source)) >= 2
    notes = [note for note in source.notes if note.startswith("lens not read: ")]
    assert len(notes) == 1
    assert "\n" not in notes[0]
    for word in words:
        assert word in notes[0]
