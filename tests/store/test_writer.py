"""Ingest: frames decoded, resized and written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from drives import drive_source, make_drive, poses_only
from egoequiv.engines import WorkerLostError
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose import DRIVING_POSES, NoMotion, PlanarSpace
from egoequiv.sources import Recording, Source
from egoequiv.sources.pictures import PictureRecording, open_picture
from egoequiv.store import FrameStore, decoding, fit_image, ingest, writer
from helpers import (
    GRID,
    KINDS,
    FailingRecording,
    GridRecording,
    data_error,
    grid_recording,
    grid_source,
    wait_for,
    write_norb,
)

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, eq=False)
class DyingRecording(GridRecording):
    """A recording that ends the worker that decodes it, as the kernel does when memory runs out."""

    parent: int = 0
    died: Path = Path("died")

    def image(self, frame: int) -> np.ndarray:
        if os.getpid() != self.parent:
            self.died.touch()
            os._exit(9)
        wait_for(self.died.exists)
        return super().image(frame)


@dataclass(frozen=True, eq=False)
class FileRecording(PictureRecording):
    """Picture files of one folder."""

    name: str
    files: tuple[Path, ...]
    poses: np.ndarray
    labels: None = None
    times_s: None = None
    attributes: dict[str, str] = field(default_factory=dict)

    def picture(self, frame: int) -> Image.Image:
        return open_picture(self.files[frame], str(self.files[frame]))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run_python(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )


def failing_source() -> Source:
    bad = FailingRecording("broken/take-0", 1, labels=("bar",) * 24)
    return Source("grid", GRID, [grid_recording(0, 0), grid_recording(0, 1), bad])


def test_a_store_is_three_files(small_store: FrameStore) -> None:
    assert names(small_store.path) == ["frames.npy", "index.parquet", "store.json"]
    assert small_store.meta["source"] == "grid"
    assert small_store.meta["settings"] == {"takes": 2}
    assert small_store.meta["frames"] == 144
    assert small_store.meta["image_shape"] == [12, 12, 1]


def test_the_same_source_gives_the_same_bytes(small_store: FrameStore, tmp_path: Path) -> None:
    again = ingest(grid_source(), tmp_path / "again", workers=1)
    for name in names(small_store.path):
        assert (again.path / name).read_bytes() == (small_store.path / name).read_bytes(), name


def test_two_workers_write_the_same_bytes(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_SMALL", 0)
    monkeypatch.setattr(decoding, "_FRAMES_A_PIECE", range(7, 8))
    seen: list[tuple[int, int]] = []
    store = ingest(grid_source(), tmp_path / "two", workers=2, on_progress=lambda *done: seen.append(done))
    for name in names(small_store.path):
        assert (store.path / name).read_bytes() == (small_store.path / name).read_bytes(), name
    assert seen[0] == (0, 144)
    assert seen[-1] == (144, 144)
    assert seen == sorted(seen)


def test_other_pictures_of_the_same_names_and_poses_are_another_store(small_store: FrameStore, tmp_path: Path) -> None:
    darker = [replace(one, light=one.light * 0.99) for one in grid_source().recordings]  # type: ignore[type-var]
    other = ingest(replace(grid_source(), recordings=darker), tmp_path / "other", workers=1)
    assert (other.path / "index.parquet").read_bytes() == (small_store.path / "index.parquet").read_bytes()
    assert other.fingerprint() != small_store.fingerprint()
    whole = blake2b((other.path / "frames.npy").read_bytes(), digest_size=32).hexdigest()
    assert other.meta["images_blake2b"] == whole


def test_progress_ends_with_all_frames(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    ingest(grid_source(), tmp_path / "store", workers=1, on_progress=lambda *done: seen.append(done))
    assert seen == [(8 * k, 144) for k in range(19)]


def test_norb_files_become_a_store(tmp_path: Path) -> None:
    from egoequiv.sources import norb

    files = write_norb(tmp_path, packed=True)
    store = ingest(norb(files.folder, camera="both"), tmp_path / "store", workers=1)
    assert store.image_shape == (6, 8, 1)
    assert store.class_names == ("animal-4", "truck-4")
    left = store.images[store.attribute("camera") == "left"]
    assert sorted(image.tobytes() for image in left) == sorted(image[0].tobytes() for image in files.images)


@pytest.mark.parametrize("size", [(6, 6), (24, 8), (1, 1)])
def test_size_resizes(tmp_path: Path, size: tuple[int, int]) -> None:
    store = ingest(grid_source(), tmp_path / "store", size=size, workers=1)
    assert store.image_shape == (*size, 1)
    original = grid_source().recordings[0].image(5)
    assert store.images[5].tolist() == fit_image(original, *size, 1).tolist()


def test_colour_is_kept_or_turned_to_gray(tmp_path: Path) -> None:
    source = grid_source(color=True)
    color = ingest(source, tmp_path / "color", color=True, workers=1)
    assert color.image_shape == (12, 12, 3)
    assert color.images[3].tolist() == source.recordings[0].image(3).tolist()
    gray = ingest(source, tmp_path / "gray", workers=1)
    assert gray.image_shape == (12, 12, 1)
    expected = source.recordings[0].image(3) @ np.array([0.299, 0.587, 0.114])
    assert np.abs(gray.images[3, :, :, 0] - expected).max() <= 1


def test_gray_may_be_stored_as_colour(tmp_path: Path) -> None:
    store = ingest(grid_source(), tmp_path / "store", color=True, workers=1)
    for channel in range(3):
        assert store.images[0, :, :, channel].tolist() == grid_source().recordings[0].image(0).tolist()


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("size", [None, (5, 8)])
def test_picture_files_give_the_bytes_that_their_arrays_give(
    tmp_path: Path, color: bool, size: tuple[int, int] | None
) -> None:
    rng = np.random.default_rng(4)
    files = tuple(tmp_path / f"{k}.png" for k in range(4))
    for k, file in enumerate(files):
        Image.fromarray(rng.integers(0, 256, (20, 30, 3) if k % 2 else (20, 30), np.uint8)).save(file)
    recording = FileRecording("files", files, np.zeros((4, 2)))
    store = ingest(Source("files", GRID, [recording]), tmp_path / "store", size=size, color=color)
    for k in range(4):
        expected = fit_image(recording.image(k), *(size or (20, 30)), 3 if color else 1)
        assert store.images[k].tolist() == expected.tolist()


def test_a_picture_file_that_is_broken_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "0.png").write_bytes(b"not a picture")
    Image.new("L", (4, 4), 9).save(tmp_path / "1.png")
    recording = FileRecording("files", (tmp_path / "0.png", tmp_path / "1.png"), np.zeros((2, 2)))
    store = ingest(Source("files", GRID, [recording]), tmp_path / "store")
    assert store.images.tolist() == np.full((1, 4, 4, 1), 9).tolist()


def test_pieces_hold_every_frame_once() -> None:
    recordings = [grid_recording(0, k, poses=np.zeros((length, 2))) for k, length in enumerate((70, 0, 1, 3_000))]
    pieces = decoding.cut_into_pieces(recordings, 144)
    frames = [(piece.recording, frame) for piece in pieces for frame in piece.frames]
    assert frames == [(k, frame) for k, recording in enumerate(recordings) for frame in range(len(recording))]
    assert [piece.row for piece in pieces] == np.cumsum([0, *(len(piece.frames) for piece in pieces)])[:-1].tolist()
    assert max(len(piece.frames) for piece in pieces) == 32
    assert {len(piece.frames) for piece in decoding.cut_into_pieces(recordings, 10**10)} == {1}  # large pictures


def test_pieces_of_a_video_are_longer_and_begin_at_its_key_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    video, pictures = (grid_recording(0, k, poses=np.zeros((3_000, 2))) for k in range(2))
    key_frames = range(0, 3_000, 30)
    monkeypatch.setattr(type(video), "starts", lambda self: key_frames if self is video else range(len(self)))
    pieces = decoding.cut_into_pieces([video, pictures], 144)
    of_video, of_pictures = ([piece.frames for piece in pieces if piece.recording == k] for k in range(2))
    assert {frames.start for frames in of_video} <= set(key_frames)
    assert [frame for frames in of_video for frame in frames] == list(range(3_000))
    # 6,000 frames in 24 pieces are 250 each, so every ninth key frame; pictures keep their pieces.
    assert {len(frames) for frames in of_video[:-1]} == {270}
    assert max(map(len, of_pictures)) == 32


def test_a_piece_done_twice_changes_nothing(small_store: FrameStore, tmp_path: Path) -> None:
    path, shape = tmp_path / "frames.npy", small_store.images.shape
    recordings = grid_source().recordings
    np.lib.format.open_memmap(path, "w+", np.uint8, shape)
    pieces = decoding.cut_into_pieces(recordings, 144)
    for piece in [*pieces[5:], *pieces[:9]]:
        decoding.decode_piece(recordings, path, shape, False, piece, lambda _: None)
    assert path.read_bytes() == (small_store.path / "frames.npy").read_bytes()


def test_rows_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    recordings = grid_source().recordings
    piece = decoding.cut_into_pieces(recordings, 144)[0]
    with data_error("cannot write", str(tmp_path / "gone"), "No such file"):
        decoding.decode_piece(recordings, tmp_path / "gone", (144, 12, 12, 1), False, piece, lambda _: None)


def test_fit_image_by_hand() -> None:
    stripes = np.array([[0, 100], [0, 100]], np.uint8)
    assert fit_image(stripes, 1, 1, 1).tolist() == [[[50]]]
    assert fit_image(stripes, 2, 2, 1)[:, :, 0].tolist() == stripes.tolist()
    # Twice as wide: new centres at 0.25, 0.75, 1.25, 1.75 between old ones at 0.5 and 1.5.
    assert fit_image(stripes, 2, 4, 1)[0, :, 0].tolist() == [0, 25, 75, 100]
    red = np.zeros((1, 1, 3), np.uint8)
    red[..., 0] = 255
    assert fit_image(red, 1, 1, 1).tolist() == [[[76]]]  # 0.299 * 255
    assert fit_image(np.full((1, 1), 9, np.uint8), 1, 1, 3).tolist() == [[[9, 9, 9]]]


def test_shrinking_averages_instead_of_skipping() -> None:
    checkers = (np.indices((64, 64)).sum(axis=0) % 2 * 200).astype(np.uint8)
    small = fit_image(checkers, 8, 8, 1)
    assert np.abs(small.astype(int) - 100).max() <= 2


@given(
    arrays.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9))),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([1, 3]),
)
def test_fitting_keeps_within_the_range_of_the_image(image: np.ndarray, height: int, width: int, channels: int) -> None:
    fitted = fit_image(image, height, width, channels)
    assert fitted.shape == (height, width, channels)
    assert fitted.dtype == np.uint8
    assert image.min() <= fitted.min()
    assert fitted.max() <= image.max()
    if image.shape == (height, width):
        assert (fitted == image[:, :, None]).all()


def test_an_existing_store_is_replaced_only_when_asked(tmp_path: Path) -> None:
    out = tmp_path / "store"
    ingest(grid_source(), out, workers=1)
    with data_error(str(out), "exists", "--overwrite"):
        ingest(grid_source(), out, size=(6, 6), workers=1)
    assert FrameStore.open(out).image_shape == (12, 12, 1)
    assert ingest(grid_source(), out, size=(6, 6), workers=1, overwrite=True).image_shape == (6, 6, 1)
    assert names(tmp_path) == ["store"]


def test_a_failing_overwrite_keeps_the_old_store(tmp_path: Path) -> None:
    out = tmp_path / "store"
    ingest(grid_source(), out, workers=1)
    with data_error("broken/take-0", "frame 7"):
        ingest(failing_source(), out, workers=1, overwrite=True)
    assert len(FrameStore.open(out)) == 144
    assert names(tmp_path) == ["store"]


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("...")
    with data_error(str(tmp_path / "thesis")):
        ingest(grid_source(), tmp_path / "thesis", workers=1, overwrite=True)
    assert names(tmp_path / "thesis") == ["chapter1.tex"]


def test_a_failing_recording_leaves_nothing(tmp_path: Path) -> None:
    with data_error("broken/take-0", "frame 7"):
        ingest(failing_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


def test_a_failing_recording_leaves_nothing_with_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_SMALL", 0)
    with data_error("broken/take-0", "frame 7"):
        ingest(failing_source(), tmp_path / "store", workers=2)
    assert names(tmp_path) == []


def test_a_worker_that_is_killed_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_SMALL", 0)
    died = tmp_path / "died"
    dying = [DyingRecording(f"dying-{k}", 0, parent=os.getpid(), died=died) for k in range(100)]
    with pytest.raises(WorkerLostError, match=r"ended from outside .* with one worker"):
        ingest(Source("grid", GRID, dying), tmp_path / "store", size=(12, 12), workers=2)
    assert names(tmp_path) == ["died"]


def test_an_interrupted_ingest_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(grid_source(), tmp_path / "store", workers=1, on_progress=interrupt)
    assert names(tmp_path) == []


KILLED = """
import os, signal, sys
from egoequiv.store import ingest
from helpers import grid_source

ingest(
    grid_source(), sys.argv[1], workers=1,
    on_progress=lambda done, total: done < 72 or os.kill(os.getpid(), signal.SIGKILL),
)
"""


def test_a_killed_ingest_leaves_nothing_that_looks_finished(tmp_path: Path) -> None:
    assert run_python(KILLED, tmp_path / "store").returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".partial")
    with data_error(str(tmp_path / "store"), "does not exist"):
        FrameStore.open(tmp_path / "store")
    with data_error(str(left), "missing"):
        FrameStore.open(left)
    ingest(grid_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == ["store"]


def test_a_full_disk_is_told_before_any_frame_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with data_error("no room", str(tmp_path), "No space left on device"):
        ingest(failing_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


FULL = """
import resource, sys
from egoequiv.errors import DataError
from egoequiv.store import ingest
from helpers import grid_source

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    ingest(grid_source(), sys.argv[1], workers=1)
except DataError as problem:
    print("refused:", problem)
"""


# a path. The same holds for an index that does not fit.
@pytest.mark.parametrize("limit", [10_000, 50])
def test_a_file_that_may_not_grow_is_told(tmp_path: Path, limit: int) -> None:
    done = run_python(FULL, tmp_path / "store", Path(str(limit)))
    assert names(tmp_path) == []
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: ")
    assert str(tmp_path) in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_full_disk_at_the_index_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer.pq, "write_table", full)
    with pytest.raises((OSError, DataError), match="No space left on device"):
        ingest(grid_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


@pytest.mark.parametrize("below", ["store", "deeper/store"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises((OSError, DataError), match=str(tmp_path / "file")):
        ingest(grid_source(), tmp_path / "file" / below, workers=1)
    assert (tmp_path / "file").read_text() == "kept"
    assert names(tmp_path) == ["file"]


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "mkdir", denied)  # chmod does not stop root
    with pytest.raises((OSError, DataError), match=str(tmp_path)):
        ingest(grid_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


def test_a_source_without_frames_is_refused(tmp_path: Path) -> None:
    with data_error("'grid'", "no frames"):
        ingest(Source("grid", GRID, []), tmp_path / "store")
    assert names(tmp_path) == []


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (-1, 5)])
def test_a_size_must_be_positive(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match=f"size {size[0]} x {size[1]}"):
        ingest(grid_source(), tmp_path / "store", size=size)
    assert names(tmp_path) == []


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_pose_that_is_not_finite_is_named(tmp_path: Path, value: float) -> None:
    poses = grid_recording(0, 0).poses.copy()
    poses[5, 1] = value
    source = Source("grid", GRID, [grid_recording(0, 0), grid_recording(1, 0, poses=poses)])
    with data_error("'grid'", "frame 29", str(value)):
        ingest(source, tmp_path / "store", workers=1)
    assert names(tmp_path) == []


def test_an_empty_recording_may_come_first(tmp_path: Path) -> None:
    empty = grid_recording(0, 0, poses=np.empty((0, 2)), labels=())
    store = ingest(Source("grid", GRID, [empty, grid_recording(1, 0)]), tmp_path / "store", workers=1)
    assert len(store) == 24
    assert store.class_names == (KINDS[1],)


def test_two_recordings_of_one_name_are_refused(tmp_path: Path) -> None:
    with data_error("'ball/take-0'"):
        ingest(Source("grid", GRID, [grid_recording(0, 0), grid_recording(0, 0)]), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


@pytest.mark.parametrize("changes", [{"labels": ("ball",) * 23}, {"times_s": np.arange(25.0)}])
def test_labels_and_times_must_be_as_many_as_the_frames(tmp_path: Path, changes: dict[str, object]) -> None:
    with data_error("ball/take-0", "24"):
        ingest(Source("grid", GRID, [grid_recording(0, 0, **changes)]), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


BROKEN = {0: (0, 7, 239), 2: (5,)}  # of drives of 240 frames: the first, one within, the last; and one of another drive


def broken_source(broken: dict[int, tuple[int, ...]] = BROKEN, **changes: object) -> Source:
    drives = [make_drive(number, broken=broken.get(number, ()), **changes) for number in range(3)]  # type: ignore[arg-type]
    return Source("drives", PlanarSpace(), drives, pose_names=DRIVING_POSES, notes=("a note of the source",))


def test_broken_pictures_are_left_out_and_all_else_stays_aligned(tmp_path: Path) -> None:
    source = broken_source()
    store = ingest(source, tmp_path / "store", workers=1)
    assert len(store) == 3 * 240 - 4
    assert store.meta["frames"] == len(store)
    expected = [(d, k) for d in range(3) for k in range(240) if k not in BROKEN.get(d, ())]
    assert store.times_s is not None
    for row, (number, frame) in enumerate(expected):
        drive = source.recordings[number]
        assert (store.recording[row], store.frame[row]) == (number, frame)
        assert store.images[row, :, :, 0].tolist() == drive.image(frame).tolist()
        assert [store.pose_columns[name][row] for name in DRIVING_POSES] == drive.poses[frame].tolist()
        assert store.times_s[row] == drive.times_s[frame]  # type: ignore[index]
        assert store.class_names[store.labels[row]] == drive.labels[frame]  # type: ignore[index]
        assert store.attribute("location")[row] == drive.attributes["location"]
    assert names(store.path) == ["frames.npy", "index.parquet", "store.json"]


def test_broken_pictures_are_told_of_in_the_notes(tmp_path: Path) -> None:
    store = ingest(broken_source(), tmp_path / "store", workers=1)
    first, second = store.meta["notes"]
    assert first == "a note of the source"
    assert second == (
        "4 pictures could not be read and were left out: drive-0: picture 0 is damaged; drive-0: picture 7 is damaged; "
        "drive-0: picture 239 is damaged; ..."
    )
    few = ingest(broken_source({1: (3,)}), tmp_path / "few", workers=1)
    assert few.meta["notes"][1].endswith("left out: drive-1: picture 3 is damaged")
    assert ingest(grid_source(), tmp_path / "whole", workers=1).meta["notes"] == []


def test_two_workers_leave_out_the_same(tmp_path: Path) -> None:
    one = ingest(broken_source(), tmp_path / "one", workers=1)
    two = ingest(broken_source(), tmp_path / "two", workers=2)
    for name in names(one.path):
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes(), name


def test_many_pictures_are_moved_up_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_FRAMES_MOVED", 7)
    store = ingest(broken_source({0: tuple(range(0, 240, 2))}), tmp_path / "store", workers=1)
    assert store.frame[:120].tolist() == list(range(1, 240, 2))
    drive = make_drive(0)
    assert [image.tobytes() for image in store.images[:120]] == [drive.image(k).tobytes() for k in range(1, 240, 2)]


def test_the_size_is_that_of_the_first_picture_that_can_be_read(tmp_path: Path) -> None:
    store = ingest(broken_source({0: tuple(range(240))}), tmp_path / "store", workers=1)
    assert store.image_shape == (16, 16, 1)
    assert store.recording_names == ("drive-1", "drive-2")


@pytest.mark.parametrize("size", [None, (8, 8)])
def test_pictures_that_are_all_broken_are_refused(tmp_path: Path, size: tuple[int, int] | None) -> None:
    everything = {number: tuple(range(240)) for number in range(3)}
    with data_error("none of", "720 pictures can be read"):
        ingest(broken_source(everything), tmp_path / "store", size=size, workers=1)
    assert names(tmp_path) == []


def strict_source() -> Source:
    source = broken_source()
    return Source("drives", source.space, source.recordings, pose_names=DRIVING_POSES)


@pytest.mark.parametrize("workers", [1, 2])
def test_strict_makes_a_broken_picture_fatal(tmp_path: Path, workers: int) -> None:
    with pytest.raises(BrokenFrameError, match=r"drive-[02]: picture \d+ is damaged"):
        ingest(strict_source(), tmp_path / "store", workers=workers, strict=True)
    assert names(tmp_path) == []


def test_strict_refuses_what_the_source_left_out(tmp_path: Path) -> None:
    with data_error("a note of the source", "strict"):
        ingest(broken_source({}), tmp_path / "store", workers=1, strict=True)
    assert names(tmp_path) == []


def test_strict_does_not_mind_what_is_whole(tmp_path: Path) -> None:
    assert len(ingest(grid_source(), tmp_path / "store", workers=1, strict=True)) == 144


def test_other_errors_are_fatal_without_strict(tmp_path: Path) -> None:
    with data_error("broken/take-0", "frame 7"):
        ingest(failing_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


def test_no_room_to_close_the_gaps_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = os.posix_fallocate, 0

    def full_at_the_second(*arguments: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:  # a map on a full disk would end in a bus error, so the room has to be asked for
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*arguments)

    monkeypatch.setattr(os, "posix_fallocate", full_at_the_second)
    with data_error("no room", str(tmp_path), "No space left on device"):
        ingest(broken_source(), tmp_path / "store", workers=1)
    assert names(tmp_path) == []


def test_poses_alone_become_a_store(tmp_path: Path) -> None:
    source = poses_only(4)
    store = ingest(source, tmp_path / "store", size=(9, 9), color=True, workers=2)
    assert names(store.path) == ["index.parquet", "store.json"]
    assert not store.has_images
    assert store.image_shape == (0, 0, 1)
    assert len(store) == source.frame_count == 960
    assert store.times_s is not None
    assert store.poses.tolist() == np.concatenate([r.poses[:, 7:9] for r in source.recordings]).tolist()
    assert store.class_names == ("campus", "city", "residential", "road")
    assert json.loads((store.path / "store.json").read_text())["image_shape"] == [0, 0, 1]


def test_a_store_with_images_says_so(small_store: FrameStore) -> None:
    assert small_store.has_images


def test_all_columns_of_the_source_are_kept(tmp_path: Path) -> None:
    store = ingest(drive_source(1), tmp_path / "store", workers=1)
    assert tuple(store.pose_columns) == DRIVING_POSES
    assert store.space == PlanarSpace()
    assert store.poses.shape == (240, 2)


def test_a_space_that_reads_a_column_the_source_lacks_is_named(tmp_path: Path) -> None:
    drive = make_drive(0)
    for columns, poses in ((("x_m", "yaw_deg"), drive.poses[:, [0, 8]]), (("a",), drive.poses[:, :1])):
        source = Source("odd", PlanarSpace(), [replace(drive, poses=poses)], pose_names=columns, has_images=False)
        with data_error("'odd'", "'forward_m'", columns[0]):
            ingest(source, tmp_path / "store", workers=1)
        assert names(tmp_path) == []


def test_what_does_not_fit_is_refused_before_the_work_with_what_it_needs(tmp_path: Path) -> None:
    source = Source("giant", GRID, [FailingRecording("a", 0, bad=0)], {})
    with data_error("no room for 24 images of 60000000 x 60000000 x 1", "86,400.0 TB", "are free in"):
        ingest(source, tmp_path / "store", size=(60_000_000, 60_000_000), progress=False)
    assert names(tmp_path) == []


def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    recording = grid_recording(0, 0)
    odd = replace(recording, name=name, labels=(name,) * len(recording), attributes={"place": name})
    store = ingest(Source("odd", GRID, [odd], {"folder": name}), tmp_path / name, progress=False)
    assert store.recording_names == store.class_names == ("caf\\xe9",)
    assert set(store.attribute("place")) == {"caf\\xe9"}
    assert store.meta["settings"] == {"folder": name}


def test_progress_is_shown_unless_it_is_not_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ingest(grid_source(), tmp_path / "a")
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "frames: 144/144"
    assert 5 <= len(lines) <= 10
    seen: list[tuple[int, int]] = []
    ingest(grid_source(), tmp_path / "b", on_progress=lambda *now: seen.append(now))
    ingest(grid_source(), tmp_path / "c", progress=False)
    assert capsys.readouterr().err == ""
    assert seen[-1] == (144, 144)


class Stopping(Recording):
    """Twelve pieces of frames; decoding counts, and stops once at a given frame."""

    labels = None
    times_s = None
    attributes: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, counts: Path, stop_at: int | None) -> None:
        self.name, self.counts, self.stop_at = "stopping", counts, stop_at
        self.poses = np.empty((100, 0))

    def image(self, frame: int) -> np.ndarray:
        if frame == self.stop_at:
            raise KeyboardInterrupt
        if frame == 40:
            raise BrokenFrameError("frame 40 is broken")
        with open(self.counts, "a") as file:
            file.write(f"{frame}\n")
        return np.full((4, 5), frame, np.uint8)


def stopping(counts: Path, stop_at: int | None) -> Source:
    return Source("stopping", NoMotion(), [Stopping(counts, stop_at)])


def test_work_that_was_stopped_is_continued(tmp_path: Path) -> None:
    whole = ingest(stopping(tmp_path / "all", None), tmp_path / "whole", progress=False, inputs="a")
    with pytest.raises(KeyboardInterrupt):
        ingest(stopping(tmp_path / "first", 61), tmp_path / "store", progress=False, inputs="a")
    assert not (tmp_path / "store").exists()
    seen: list[tuple[int, int]] = []
    store = ingest(
        stopping(tmp_path / "second", None), tmp_path / "store", on_progress=lambda *n: seen.append(n), inputs="a"
    )
    again = {int(line) for line in (tmp_path / "second").read_text().split()}
    assert min(again - {0}) >= 56  # frame 0 is decoded to know the size of the pictures
    assert seen[0] == (56, 100)
    for name in ("frames.npy", "index.parquet", "store.json"):
        assert (store.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all", "first", "second", "store", "whole"]


def test_work_on_other_inputs_begins_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ingest(stopping(tmp_path / "first", 61), tmp_path / "store", progress=False, inputs="a")
    ingest(stopping(tmp_path / "second", None), tmp_path / "store", progress=False, inputs="b")
    assert len((tmp_path / "second").read_text().split()) >= 99
    assert sorted(p.name for p in tmp_path.iterdir()) == ["first", "second", "store"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BrokenFrameError):
        ingest(stopping(tmp_path / "first", None), tmp_path / "store", progress=False, inputs="a", strict=True)
    assert [p.name for p in tmp_path.iterdir()] == ["first"]
