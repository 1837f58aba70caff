"""Plain videos."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.pose import NoMotion
from egoequiv.sources.formats import guess_format
from egoequiv.sources.video import is_video
from logs.video import moving_pictures, write_video


def test_times_are_those_of_the_file_even_if_they_are_uneven(tmp_path: Path) -> None:
    milliseconds = np.array([0, 33, 66, 200, 210, 1000])
    write_video(tmp_path / "clip.mkv", moving_pictures(6), codec="ffv1", pts=milliseconds + 40)
    source = open_source("video", tmp_path / "clip.mkv")
    (clip,) = source.recordings
    np.testing.assert_allclose(clip.times_s, milliseconds / 1000)
    assert (clip.name, clip.poses.shape, source.space) == ("clip", (6, 0), NoMotion())
    copy = pickle.loads(pickle.dumps(clip))
    for k, image in enumerate(moving_pictures(6)):
        assert (copy.image(k) == image).all()


def test_a_folder_gives_a_recording_for_each_video_and_names_what_is_broken(tmp_path: Path) -> None:
    folder = tmp_path / "my clips\nof é"
    (folder / "a").mkdir(parents=True)
    for name in ("a/one.mp4", "two.MOV", "two.mp4"):
        write_video(folder / name, moving_pictures(5))
    (folder / "broken.mp4").write_bytes(b"not a video")
    (folder / "module.ts").write_text("export {}")
    source = open_source("video", folder)
    assert [clip.name for clip in source.recordings] == ["a/one", "two.MOV", "two.mp4"]
    assert len(source.notes) == 1
    assert source.notes[0].startswith("recording broken left out: ")
    assert source.listed[0].details == "64 x 48, 30.0 Hz, 5 frames, h264"
    assert guess_format(folder).source == "video"


def test_what_holds_no_video_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        open_source("video", tmp_path / "none.mp4")
    with pytest.raises(DataError, match="holds no video file"):
        open_source("video", tmp_path)
    (tmp_path / "cut.mp4").write_bytes(b"")
    with pytest.raises(DataError, match=r"recording cut left out: .*cannot be read as video"):
        open_source("video", tmp_path)
    (tmp_path / "page.ts").write_text("export {}")
    assert not is_video(tmp_path / "page.ts")
    assert not is_video(tmp_path / "missing.mp4")
    assert is_video(tmp_path / "cut.mp4")
