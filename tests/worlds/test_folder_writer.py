"""Class folders: written without loss, all or nothing, and read back by the scenes source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.pose import NoMotion
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv_worlds.places import places
from egoequiv_worlds.writers import write_class_folders


@dataclass(frozen=True, eq=False)
class Noise(Recording):
    """Pictures of noise."""

    name: str
    labels: Sequence[str] | None
    attributes: Mapping[str, str] = field(default_factory=lambda: {"part": "train"})
    shape: tuple[int, ...] = (5, 7)
    poses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 0)))
    times_s: None = None

    def image(self, frame: int) -> Image:
        return np.random.default_rng(frame).integers(0, 256, self.shape, np.uint8)


def source(*recordings: Recording) -> Source:
    return Source("noise", NoMotion(), recordings)


@pytest.mark.parametrize("color", [False, True])
def test_the_scenes_source_reads_the_same_back(tmp_path: Path, color: bool) -> None:
    written = places(images_per_class=3, width=48, height=24, color=color)
    write_class_folders(written, tmp_path / "places")
    read = open_source("scenes", tmp_path / "places")
    assert [r.name for r in read.recordings] == [r.name for r in written.recordings]
    for one, other in zip(written.recordings, read.recordings, strict=True):
        assert one.attributes["part"] == other.attributes["part"]
        assert list(one.labels or ()) == list(other.labels or ())
        for k in range(len(one)):
            assert np.array_equal(one.image(k), other.image(k))


def test_files_are_numbered_by_part_and_class(tmp_path: Path) -> None:
    first, second = Noise("a", ("cat", "dog")), Noise("b", ("dog", "dog"))
    write_class_folders(source(first, second), tmp_path / "out")
    files = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.png"))
    assert files == [f"out/train/{name}.png" for name in ("cat/0000", "dog/0000", "dog/0001", "dog/0002")]


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    write_class_folders(
        source(Noise("a", ("x", "y"))), tmp_path / "out", lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 2), (2, 2)]


def test_an_empty_folder_may_be_there(tmp_path: Path) -> None:
    write_class_folders(source(Noise("a", ("x", "y"))), tmp_path)
    assert (tmp_path / "train" / "x" / "0000.png").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="exists already and is not empty: choose another name"):
        write_class_folders(source(Noise("a", ("x", "y"))), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_class_folders(source(Noise("a", ("x", "y"))), tmp_path / "out", stop)
    assert list(tmp_path.iterdir()) == []


UNLABELLED = "a has no labels or no part: only labelled pictures can be written as class folders"


@pytest.mark.parametrize(
    ("recording", "message"),
    [
        (Noise("a", None), UNLABELLED),
        (
            Noise("a", ("x", "y"), {}),
            UNLABELLED,
        ),
        (Noise("a", ("x", "../y")), "a: '../y' cannot be the name of a folder"),
        (Noise("a", ("x", "..")), "a: '..' cannot be the name of a folder"),
    ],
)
def test_sources_that_cannot_be_written(tmp_path: Path, recording: Recording, message: str) -> None:
    with pytest.raises(DataError) as problem:
        write_class_folders(source(recording), tmp_path / "out")
    assert str(problem.value) == message
    assert list(tmp_path.iterdir()) == []


def test_a_source_without_frames(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no frames"):
        write_class_folders(source(), tmp_path / "out")
