"""Frames of anything that a user names, in order and in batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drives import Drive, drive_source
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.store import FrameStore, fit_image, frame_batches, ingest
from egoequiv.store.frame_batches import FrameBatches
from egoequiv.store.inputs import RecordingFrames, open_inputs
from logs.video import moving_pictures, write_video

SHAPE = (6, 8, 1)


def write_pictures(folder: Path, numbers: list[int], pattern: str = "view{}.png") -> None:
    """Flat gray pictures of 12 x 16 whose level is their number."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        Image.fromarray(np.full((12, 16), number, np.uint8)).save(folder / pattern.format(number))


def all_of(batches: FrameBatches) -> tuple[list[dict[str, object]], np.ndarray]:
    found = [(known.to_pylist(), images.copy()) for known, images in batches.batches()]
    return [row for rows, _ in found for row in rows], np.concatenate([images for _, images in found])


def test_pictures_are_read_in_natural_order_whatever_the_shell_gives(tmp_path: Path) -> None:
    write_pictures(tmp_path / "b", [10, 2, 1])
    write_pictures(tmp_path / "a", [30, 4])
    given = [str(tmp_path / name) for name in ("b/view10.png", "a/view30.png", "b/view1.png", "b/view2.png")]
    opened = open_inputs([*given, str(tmp_path / "a" / "*.png"), given[0]])
    rows, images = all_of(FrameBatches(opened.frames, SHAPE))
    assert [row["file"] for row in rows] == ["view4.png", "view30.png", "view1.png", "view2.png", "view10.png"]
    assert images[:, 0, 0, 0].tolist() == [4, 30, 1, 2, 10]
    assert [row["frame"] for row in rows] == [0, 1, 0, 1, 2]
    assert [row["recording"] for row in rows] == [str(tmp_path / "a")] * 2 + [str(tmp_path / "b")] * 3
    assert images.shape == (5, *SHAPE)


def test_a_folder_a_video_a_store_and_a_glob_are_rows_of_one_table(tmp_path: Path, small_store: FrameStore) -> None:
    write_pictures(tmp_path / "photos", [5, 6])
    write_video(tmp_path / "clip.mkv", moving_pictures(4, 12, 16)[..., 0], codec="ffv1", rate=5)
    places = [str(tmp_path / "photos"), str(tmp_path / "clip.mkv"), str(small_store.path), str(tmp_path / "p*/*.png")]
    opened = open_inputs(places)
    batches = FrameBatches(opened.frames, (12, 16, 1))
    rows, images = all_of(batches)
    assert len(opened) == len(rows) == 2 + 4 + len(small_store) + 2
    assert batches.schema().names[:3] == ["input", "recording", "frame"]
    assert [row["input"] for row in rows] == np.repeat(places, (2, 4, len(small_store), 2)).tolist()
    assert [row["time_s"] for row in rows[:6]] == [None, None, 0.0, 0.2, 0.4, 0.6]
    assert [row["frame"] for row in rows[2:6]] == [0, 1, 2, 3]
    np.testing.assert_array_equal(images[2:6, ..., 0], moving_pictures(4, 12, 16)[..., 0])
    first = small_store.images[0, ..., 0]
    np.testing.assert_array_equal(images[6], fit_image(first, 12, 16, 1))
    assert rows[6]["label"] == small_store.class_names[small_store.labels[0]]


def test_batches_do_not_depend_on_their_size_and_keep_few_frames(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pictures(tmp_path / "photos", list(range(40)))
    frames = open_inputs([str(small_store.path), str(tmp_path / "photos")]).frames
    whole = all_of(FrameBatches(frames, SHAPE))
    monkeypatch.setattr(frame_batches, "BATCH", 7)
    sizes = {len(images) for _, images in FrameBatches(frames, SHAPE).batches()}
    assert max(sizes) == 7
    rows, images = all_of(FrameBatches(frames, SHAPE))
    assert rows == whole[0]
    np.testing.assert_array_equal(images, whole[1])


def test_a_log_keeps_the_numbers_of_its_frames_its_times_and_its_attributes(tmp_path: Path) -> None:
    drive = drive_source().recordings[0]
    assert isinstance(drive, Drive)
    known = RecordingFrames("log", drive).known(np.array([3, 5]))
    assert drive.times_s is not None
    assert known["time_s"].to_pylist() == drive.times_s[[3, 5]].tolist()
    assert known["recording"].to_pylist() == [drive.name] * 2
    store = ingest(drive_source(), tmp_path / "store", size=(8, 8))
    of_store = FrameBatches(open_inputs([str(store.path)]).frames, (8, 8, 1)).schema().names
    assert {f"attr_{name}" for name in store.attributes} <= set(of_store)


def test_a_broken_picture_is_one_line_or_is_counted(tmp_path: Path) -> None:
    write_pictures(tmp_path / "photos", [1, 2, 3])
    (tmp_path / "photos" / "view2.png").write_bytes(b"no picture")
    frames = open_inputs([str(tmp_path / "photos")]).frames
    with pytest.raises(BrokenFrameError, match=r"view2\.png: not a picture.*--skip-broken"):
        all_of(FrameBatches(frames, SHAPE))
    skipping = FrameBatches(frames, SHAPE, skip_broken=True)
    rows, images = all_of(skipping)
    assert [row["file"] for row in rows] == ["view1.png", "view3.png"]
    assert images[:, 0, 0, 0].tolist() == [1, 3]
    assert len(skipping.broken) == 1
    assert "view2.png" in skipping.broken[0]


def test_what_cannot_be_opened_is_named(tmp_path: Path, small_store: FrameStore) -> None:
    with pytest.raises(DataError, match=r"no file matches .*\*\.jpg"):
        open_inputs([str(tmp_path / "*.jpg")])
    with pytest.raises(DataError, match="does not exist"):
        open_inputs([str(tmp_path / "nothing")])
    with pytest.raises(ConfigError, match="--read says how a log is read"):
        open_inputs([str(small_store.path)], None, {"camera": "x"})
