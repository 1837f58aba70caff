"""The page about a store."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from egoequiv.pose import CAMERA_POSES, NoMotion, SE3Space
from egoequiv.report.figures.trajectory import longest_tracks, motions_figure, time_figure, way_figure
from egoequiv.report.store_view import store_report, write_store_view
from egoequiv.sources import Recording, Source
from egoequiv.store import FrameStore, ingest


class Loop(Recording):
    """A camera that goes round a circle in 20 s with a gap, and stands still at the end; optical axes in the world."""

    labels = None
    attributes: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, name: str = "loop") -> None:
        self.name = name
        self.times_s = np.concatenate([np.arange(0, 10, 0.5), np.arange(14, 24, 0.5)])
        angle = self.times_s / 24 * 2 * np.pi
        half = angle / 2
        zero = np.zeros_like(angle)
        columns = [3 * np.cos(angle), 3 * np.sin(angle), zero, zero, zero, np.sin(half), np.cos(half)]
        self.poses = np.stack(columns, axis=1)

    def image(self, frame: int) -> np.ndarray:
        return np.full((12, 16), 20 + 3 * min(frame, 37), np.uint8)  # the last two frames are repeated


@pytest.fixture
def store(tmp_path: Path) -> FrameStore:
    source = Source("test", SE3Space(), [Loop("one"), Loop("two")], pose_names=CAMERA_POSES)
    return ingest(source, tmp_path / "store", progress=False)


def test_gaps_and_repeated_pictures_are_named(store: FrameStore) -> None:
    found = store_report(store).sections[0].blocks[0].items
    assert "one: 1 gap, the longest 4.5 s" in found
    assert "one: 2 of 40 frames show the same picture as the one before" in found


def test_the_way_from_above_is_the_circle(store: FrameStore) -> None:
    figure = way_figure(store, longest_tracks(store))
    drawn = np.stack(figure.axes[0].lines[0].get_data(), axis=1)
    lengths = np.linalg.norm(np.diff(drawn, axis=0), axis=1)
    expected = np.linalg.norm(np.diff(Loop().poses[:, :3], axis=0), axis=1)
    np.testing.assert_allclose(lengths, expected, atol=1e-9)


def test_pictures_lie_below_the_way_and_their_numbers_at_their_places(store: FrameStore) -> None:
    figure = way_figure(store, longest_tracks(store))
    figure.draw_without_rendering()
    way, *pictures = figure.axes
    boxes = [axes.get_window_extent() for axes in (way, *pictures)]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert [axes.get_title() for axes in pictures] == [text.get_text() for text in way.texts] != []
    on_the_way = np.stack(way.lines[0].get_data(), axis=1)
    for text, picture in zip(way.texts, pictures, strict=True):
        frame = int(np.linalg.norm(on_the_way - text.xy, axis=1).argmin())
        np.testing.assert_allclose(on_the_way[frame], text.xy)
        assert picture.images[0].get_array()[0, 0] == Loop().image(frame)[0, 0]


def test_the_speed_is_that_of_the_circle(store: FrameStore) -> None:
    figure = time_figure(store, longest_tracks(store))
    speed = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(np.delete(speed, 19), 2 * 3 * np.sin(np.pi / 48) / 0.5, rtol=1e-9)
    turn = figure.axes[1].lines[0].get_ydata()
    np.testing.assert_allclose(turn, 15.0, rtol=1e-6)


def test_gaps_of_recordings_lie_in_rows_of_their_own(store: FrameStore) -> None:
    *curves, gaps = time_figure(store, longest_tracks(store)).axes
    assert not any(axes.patches or axes.collections for axes in curves)
    one, two = (bars.get_paths()[0].get_extents() for bars in gaps.collections)
    assert (one.x0, one.x1) == (two.x0, two.x1) == (9.5, 14.0)
    assert one.y1 < two.y0


def test_the_page_is_one_file(store: FrameStore, tmp_path: Path) -> None:
    text = write_store_view(store, tmp_path / "view.html").read_text()
    assert "The way of the camera" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert write_store_view(store, tmp_path / "again.html").read_text() == text


def test_a_store_without_motion_says_so(tmp_path: Path) -> None:
    one = Loop()
    one.poses, one.times_s = np.empty((40, 0)), None
    store = ingest(Source("test", NoMotion(), [one]), tmp_path / "still", progress=False)
    assert way_figure(store, longest_tracks(store)) is None
    assert motions_figure(store, 1.0) is None
    text = write_store_view(store, tmp_path / "view.html").read_text()
    assert "There are no times, or no poses." in text
