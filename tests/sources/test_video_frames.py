"""Frames of video files."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.sources.logged import LoggedRecording, VideoFrames
from egoequiv.sources.video_frames import index_video
from egoequiv.store import ingest
from logs.video import write_video


def pictures(count: int, height: int = 32, width: int = 48) -> np.ndarray:
    """Smooth pictures (N, H, W), all different."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack(
        [(127 + 100 * np.sin(x / 9 + k / 5) * np.cos(y / 7 - k / 11)).astype(np.uint8) for k in range(count)]
    )


def recording(path: Path) -> LoggedRecording:
    index = index_video(path)
    poses = np.empty((len(index), 0))
    return LoggedRecording("clip", poses, index.times_ns / 1e9, VideoFrames(index), np.arange(len(index)))


@pytest.mark.parametrize(("codec", "gop"), [("ffv1", 1), ("libx264", 12), ("libx264", 250), ("mpeg4", 10)])
def test_every_frame_is_the_one_that_was_written(tmp_path: Path, codec: str, gop: int) -> None:
    written = pictures(70)
    write_video(tmp_path / "clip.mkv", written, codec=codec, gop=gop)
    clip = recording(tmp_path / "clip.mkv")
    assert len(clip) == 70
    np.testing.assert_allclose(np.diff(clip.times_s), 1 / 30, atol=1.1e-3)
    for frames in (range(70), range(33, 37), range(69, 70), range(13, 50)):
        decoded = [np.asarray(image) for image in clip.images(frames)]
        assert len(decoded) == len(frames)
        for frame, image in zip(frames, decoded, strict=True):
            gray = image if image.ndim == 2 else image[..., 0]
            assert np.abs(gray.astype(int) - written).mean(axis=(1, 2)).argmin() == frame
            if codec == "ffv1":
                assert (gray == written[frame]).all()


def nearest(image: object, written: np.ndarray) -> int:
    """The number of the picture that was written which is most like a decoded one."""
    return int(np.abs(np.asarray(image)[..., 0].astype(int) - written).mean(axis=(1, 2)).argmin())


@pytest.mark.parametrize(("gop", "b_frames"), [(1, 0), (2, 1), (12, 3), (250, 2)])
@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("clip.avi", "mpeg4"),
        ("clip.avi", "libx264"),
        ("clip.mpg", "mpeg2video"),
        ("clip.ts", "libx264"),
        ("clip.mkv", "libx264"),
        ("clip.mp4", "libx264"),
    ],
)
def test_no_container_loses_or_shifts_a_frame(tmp_path: Path, name: str, codec: str, gop: int, b_frames: int) -> None:
    written = pictures(40)
    write_video(tmp_path / name, written, codec=codec, gop=gop, b_frames=b_frames)
    clip = recording(tmp_path / name)
    assert len(clip) == 40
    # A program stream does not stamp every frame: the decoder guesses the others, and may be a frame off.
    within_s = 1.1 / 30 if name == "clip.mpg" else 1.1e-3
    np.testing.assert_allclose(clip.times_s - clip.times_s[0], np.arange(40) / 30, atol=within_s)
    starts = list(clip.starts())
    for first, end in [*zip(starts, [*starts[1:], 40], strict=True), (7, 31), (39, 40)]:
        assert [nearest(image, written) for image in clip.images(range(first, end))] == list(range(first, end))


def test_times_in_disorder_are_even_ones_and_that_is_said(tmp_path: Path) -> None:
    """AVI has no times of its own, and H.264 with frames out of order leaves those that are guessed in disorder."""
    write_video(tmp_path / "clip.avi", pictures(40), gop=12, b_frames=3)
    assert index_video(tmp_path / "clip.avi").notes == (
        f"{tmp_path / 'clip.avi'}: the times of its frames are missing or in disorder; they are taken as even, "
        "30 frames a second",
    )
    assert open_source("video", tmp_path).remarks == index_video(tmp_path / "clip.avi").notes
    write_video(tmp_path / "clip.ts", pictures(40), gop=12, b_frames=3)
    assert index_video(tmp_path / "clip.ts").notes == ()


def test_a_jump_that_ends_behind_the_frame_is_made_good(tmp_path: Path) -> None:
    """In a transport stream a jump to the time of a frame ends at a key frame after it."""
    written = pictures(40)
    write_video(tmp_path / "clip.ts", written, gop=12, b_frames=3)
    index = index_video(tmp_path / "clip.ts")
    ticks = np.round(index.times_ns * 9e-5).astype(np.int64)  # 90,000 a second
    jumping = VideoFrames(replace(index, pts=ticks, starts=np.arange(0, 40, 5), is_counted=False))
    for first in range(0, 40, 5):
        wanted = range(first, first + 5)
        assert [nearest(image, written) for image in jumping.read(wanted)] == list(wanted)


def test_a_damaged_transport_stream_gives_the_frames_that_are_left(tmp_path: Path) -> None:
    path, written = tmp_path / "clip.ts", pictures(60)
    write_video(path, written, gop=10)
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2 : len(contents) // 2 + 1000] = bytes(1000)
    path.write_bytes(contents)
    clip = recording(path)
    decoded = list(clip.images(range(len(clip))))
    assert len(decoded) > 30
    assert not any(isinstance(image, BrokenFrameError) for image in decoded)
    assert nearest(decoded[-1], written) == 59


def test_a_video_in_pieces_gives_the_same_store_as_in_one(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mkv", pictures(450), gop=20)
    source = Source("test", NoMotion(), [recording(tmp_path / "clip.mkv")])
    one, two = (ingest(source, tmp_path / f"store{n}", workers=n, size=(16, 16), progress=False) for n in (1, 2))
    assert (one.images == two.images).all()
    assert len(one) == 450


@pytest.mark.parametrize(("turned", "quarters"), [(90, 1), (180, 2), (270, 3), (0, 0)])
def test_pictures_are_turned_as_a_player_shows_them(tmp_path: Path, turned: int, quarters: int) -> None:
    image = np.zeros((1, 32, 48, 3), np.uint8)
    image[:, :8, :16] = 255
    write_video(tmp_path / "clip.mp4", image, turned=turned)
    shown = recording(tmp_path / "clip.mp4").image(0)
    np.testing.assert_allclose(shown, np.rot90(image[0], quarters), atol=12)


def test_what_an_edit_list_cuts_off_is_not_shown(tmp_path: Path) -> None:
    """The container puts the frames before time 0 behind an edit list, as phones do when a clip is trimmed."""
    write_video(tmp_path / "clip.mp4", pictures(10), gop=10, pts=np.arange(-100, 900, 100))
    index = index_video(tmp_path / "clip.mp4")
    assert (len(index), index.hidden, index.times_ns[0]) == (9, 1, 0)
    decoded = list(recording(tmp_path / "clip.mp4").images(range(9)))
    assert all(isinstance(image, np.ndarray) for image in decoded)
    assert np.abs(decoded[0][..., 0].astype(int) - pictures(10)).mean(axis=(1, 2)).argmin() == 1


def test_a_damaged_video_gives_the_frames_that_are_left(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    write_video(path, pictures(60), gop=10)
    contents = bytearray(path.read_bytes())
    half = contents.index(b"mdat") + (contents.index(b"moov") - contents.index(b"mdat")) // 2
    contents[half : half + 200] = bytes(200)
    path.write_bytes(contents)
    clip = recording(path)
    decoded = list(clip.images(range(len(clip))))
    assert len(decoded) == len(clip)
    assert sum(not isinstance(image, BrokenFrameError) for image in decoded) > 30


@pytest.mark.parametrize("contents", [b"", b"not a video", bytes(5000)])
def test_what_is_no_video_is_named(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "clip.mp4").write_bytes(contents)
    with pytest.raises(DataError, match=r"clip\.mp4"):
        index_video(tmp_path / "clip.mp4")
    with pytest.raises(DataError, match=r"none\.mp4 cannot be read"):
        index_video(tmp_path / "none.mp4")


def test_a_codec_that_is_not_known_is_named(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mp4", pictures(5))
    contents = (tmp_path / "clip.mp4").read_bytes()
    (tmp_path / "clip.mp4").write_bytes(contents.replace(b"avc1", b"zzzz"))
    with pytest.raises(DataError, match=r"clip\.mp4: no decoder is known"):
        index_video(tmp_path / "clip.mp4")


def test_a_video_that_is_mostly_holes_is_refused_before_it_is_searched(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mkv", pictures(4), codec="ffv1")
    os.truncate(tmp_path / "a.mkv", 2**36)
    with pytest.raises(
        DataError, match=r"a\.mkv has 68,719,476,736 bytes, of which [0-9,]+ were written: copy it again"
    ):
        index_video(tmp_path / "a.mkv")
