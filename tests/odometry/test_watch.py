"""Watching a source in pieces: the same as in one go, kept, continued, and forgotten when the pictures change."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.engines import LocalEngine
from egoequiv.odometry import watch as module
from egoequiv.odometry.steps import VisualSteps, key_frames, visual_steps
from egoequiv.odometry.watch import Watched, watch
from egoequiv.pose.camera import Lens
from odometry.conftest import LENS
from odometry.test_sfm import empty


@dataclass(frozen=True)
class Brief:
    """What the tests keep of a picture."""

    brightness: float
    digest: int
    corner: np.ndarray


def brief(image: Any) -> Brief:
    pixels = np.asarray(image)
    return Brief(float(pixels.mean()), int(pixels.astype(np.uint64).sum()) + 2**63, pixels[:2, :3])


def equal(one: VisualSteps, other: VisualSteps) -> bool:
    pairs = [(getattr(one, part.name), getattr(other, part.name)) for part in fields(VisualSteps)]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Videos are cut into pieces of twenty frames."""
    monkeypatch.setattr(module, "_FRAMES_A_PIECE", 20)


@dataclass(frozen=True)
class Before:
    """A video that was watched once, for all tests."""

    cache: Path
    seen: Watched
    done: list[tuple[int, int]]


@pytest.fixture(scope="module")
def watched(drive_video: Path, tmp_path_factory: pytest.TempPathFactory) -> Before:
    cache, done = tmp_path_factory.mktemp("watched") / "cache", list[tuple[int, int]]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_FRAMES_A_PIECE", 20)
        source = open_source("video", drive_video)
        seen = watch(source, lens=LENS, cache=cache, look=brief, on_progress=lambda *now: done.append(now))[0]
    return Before(cache, seen, done)


@pytest.mark.slow
def test_pieces_are_as_good_as_one_go(drive_video: Path, watched: Before) -> None:
    found, done = watched.seen, watched.done
    recording = open_source("video", drive_video).recordings[0]
    whole = visual_steps(recording, LENS, key_frames(recording))
    assert len(list(watched.cache.rglob("*.npz"))) == 2 * 3  # steps and looks of three pieces
    assert equal(found.steps, whole)
    assert np.isfinite(found.steps.length_ratio[1:]).mean() > 0.5
    assert [look.brightness for look in found.looks] == [float(recording.image(k).mean()) for k in range(60)]
    assert found.looks[7].digest == brief(recording.image(7)).digest
    assert np.array_equal(found.looks[7].corner, recording.image(7)[:2, :3])
    assert done[0] == (0, 60)
    assert done[-1] == (60, 60)


@pytest.mark.slow
def test_what_is_kept_is_not_done_again(
    drive_video: Path, watched: Before, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = shutil.copytree(watched.cache, tmp_path / "cache")
    bytes_before = {file: file.read_bytes() for file in sorted(cache.rglob("*.npz"))}
    half, lost, _ = (file for file in bytes_before if "rotation_deg" in np.load(file).files)
    lost.unlink()  # as if the work had been stopped
    half.write_bytes(b"half a file")
    looked: list[int] = []
    steps_of = module._steps_of
    monkeypatch.setattr(module, "_steps_of", lambda *a: looked.append(a[2].start) or steps_of(*a))
    again = watch(open_source("video", drive_video), lens=LENS, cache=cache, look=brief)[0]
    assert looked == [0, 20]
    assert equal(watched.seen.steps, again.steps)
    assert {file: file.read_bytes() for file in cache.rglob("*.npz")} == bytes_before


@pytest.mark.slow
def test_other_pictures_and_another_lens_are_watched_again(
    drive_video: Path, watched: Before, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {part.name: getattr(watched.seen.steps, part.name) for part in fields(VisualSteps)}
    # Which pieces are asked for counts here, not their steps.
    monkeypatch.setattr(module, "_steps_of", lambda *_: {name: array.copy() for name, array in seen.items()})
    cache, short = tmp_path / "cache", Path(shutil.copy(drive_video, tmp_path / "drive.mkv"))
    watch(open_source("video", short), lens=LENS, cache=cache)
    watch(open_source("video", short), lens=70.0, cache=cache)
    assert len(list(cache.rglob("*.npz"))) == 6
    os.utime(short, ns=(1, 1))
    watch(open_source("video", short), lens=LENS, cache=cache)
    assert len(list(cache.rglob("*.npz"))) == 9


@pytest.mark.slow
def test_worker_processes_find_the_same(drive_video: Path, watched: Before, tmp_path: Path) -> None:
    here, source = watched.seen, open_source("video", drive_video)
    there = watch(source, lens=LENS, cache=tmp_path, look=brief, engine=LocalEngine(2))[0]
    assert equal(here.steps, there.steps)
    assert [look.digest for look in here.looks] == [look.digest for look in there.looks]
    one, two = ({f.relative_to(r): f.read_bytes() for f in r.rglob("*.npz")} for r in (watched.cache, tmp_path))
    assert one == two


def test_progress_is_shown_before_the_lens_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    def guess(*_: object) -> list[Lens]:
        assert told == [(0, 6)]
        return [LENS]

    monkeypatch.setattr(module, "lenses_of", guess)
    (seen,) = watch(empty(6), on_progress=lambda *now: told.append(now))
    assert not seen.steps.rotation_known.any()
    assert told[-1] == (6, 6)
