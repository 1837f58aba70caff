"""The lens: given, of the log, or guessed from points that a known lens has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.odometry import lens_guess
from egoequiv.odometry.lens_guess import guess_lens, lenses_of
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Source
from egoequiv_worlds.drive import DriveRecording
from odometry.clouds import SIZE, cloud, seen
from odometry.test_visual import short_source


def pairs_seen_by(lens: Lens, turning: bool) -> list[lens_guess._Pair]:
    """Pairs of pictures of clouds, with noise."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        points = cloud(150, seed, near=3.0, far=20.0)
        turn = rng.uniform(-6, 6, 3) if turning else np.zeros(3)
        pictures = [seen(points, np.zeros(3), np.zeros(3), lens), seen(points, np.array([0.8, 0.2, 0.0]), turn, lens)]
        noisy = [picture + rng.normal(0, 0.3, picture.shape) for picture in pictures]
        found.append(lens_guess._Pair(*noisy, SIZE))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("view_deg", [45.0, 95.0])
def test_a_turning_camera_tells_its_field_of_view(view_deg: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = pairs_seen_by(Lens.of_view(view_deg, SIZE), turning=True)
    monkeypatch.setattr(lens_guess, "_moving_pairs", lambda _: pairs)
    lens = guess_lens([], SIZE)
    assert lens.view_deg == pytest.approx(view_deg, abs=4)
    assert lens.origin.startswith("guessed: field of view ")
    if view_deg == 95.0:
        assert guess_lens([], SIZE) == lens  # the same again


def test_a_camera_that_goes_straight_ahead_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    points = cloud(150)
    ahead = [seen(points, np.array([x, 0.0, 0.0]), np.zeros(3), Lens.of_view(90, SIZE)) for x in (0.0, 1.0)]
    monkeypatch.setattr(lens_guess, "_moving_pairs", lambda _: [lens_guess._Pair(*ahead, SIZE)] * 6)
    lens = guess_lens([], SIZE)
    assert lens.view_deg == pytest.approx(60)
    assert "give it with --fov" in lens.origin
    monkeypatch.setattr(lens_guess, "_moving_pairs", lambda _: [])
    assert "only 0 pairs of pictures move enough" in guess_lens([], SIZE).origin


def test_what_is_given_is_believed(residential: DriveRecording) -> None:
    source: Source = short_source(residential)
    assert lenses_of(source, 77.0)[0].view_deg == pytest.approx(77)
    assert lenses_of(source, 77.0)[0].origin == "given: field of view 77°"
    own = Lens(0.5, 0.5, origin="calib.txt")
    assert lenses_of(source, own) == [own]


def test_a_guess_is_made_once(drive_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source("video", drive_video)
    monkeypatch.setattr(lens_guess, "guess_lens", lambda *_: Lens(0.6, 0.9, origin="guessed: field of view 80°"))
    first = lenses_of(source, cache=tmp_path)
    assert first[0].origin == "guessed: field of view 80°"
    monkeypatch.setattr(lens_guess, "guess_lens", lambda *_: pytest.fail("guessed again"))
    again = lenses_of(open_source("video", drive_video), cache=tmp_path)
    assert again[0].origin == first[0].origin
    assert again[0].view_deg == pytest.approx(first[0].view_deg, abs=1e-5)
