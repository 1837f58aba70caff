"""Figures of mined patterns: what they show, and that the page opens offline."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageDraw

from drives import drive_source
from egoequiv.pairs import Mining, candidates, find_motion_pairs, mine_patterns
from egoequiv.pose import ColumnsSpace
from egoequiv.report.motion_figures import (
    DROPPED,
    SHOWN,
    clusters_figure,
    clusters_of,
    sample_pairs,
    write_interactive_scatter,
)
from egoequiv.store import FrameStore, ingest


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(drive_source(4), tmp_path_factory.mktemp("drives") / "store", workers=1)


@pytest.fixture(scope="module")
def mining(drives: FrameStore) -> Mining:
    return mine_patterns(drives)


def test_dropped_clusters_are_named_after_what_they_do(mining: Mining) -> None:
    names = [mining.patterns.cluster_names()[k] for k in range(6)]
    assert tuple(names[:3]) == mining.patterns.names
    assert all(name.startswith("dropped: ") for name in names[3:])
    slow = int(np.argmax(mining.patterns.centres[3:, 0])) + 3
    assert names[slow].startswith("dropped: forward 4.")


def test_the_scatter_shows_every_motion_in_the_colour_of_its_cluster(mining: Mining) -> None:
    figure = clusters_figure(clusters_of(mining), "a title")
    (axes,) = figure.axes
    clouds = axes.collections
    assert sum(len(cloud.get_offsets()) for cloud in clouds) == min(SHOWN, len(mining.sample))
    gray = [cloud for cloud in clouds if np.allclose(cloud.get_facecolor()[0][:3], 0xC8 / 255)]
    assert DROPPED == "#c8c8c8"
    assert len(gray) == 3
    assert clouds[: len(gray)] == gray  # drawn first, so that the kept ones lie on top
    assert sum(len(cloud.get_offsets()) for cloud in gray) == (mining.sample_cluster[:SHOWN] >= 3).sum()
    said = [text.get_text() for text in axes.texts]
    assert said == [f"{n} ({c:,})" for n, c in zip(mining.patterns.names, mining.counts, strict=False)]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("forward (m)", "yaw (deg)")


def test_a_single_component_is_a_histogram(drives: FrameStore, tmp_path: Path) -> None:
    found = mine_patterns(drives.in_space(ColumnsSpace(("forward_m",))), clusters=3, keep=2)
    figure = clusters_figure(clusters_of(found), "one")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("forward (m)", "motions")
    assert not axes.collections
    drawn = sum(patch.get_height() for bars in axes.containers for patch in bars)
    assert drawn == min(SHOWN, len(found.sample))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"{found.patterns.cluster_names()[k]} ({count:,})" for k, count in enumerate(found.counts)
    ]
    write_interactive_scatter(clusters_of(found), "one", tmp_path / "one.html")
    assert '"type":"histogram"' in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_the_page_opens_offline_and_names_every_cluster(mining: Mining, tmp_path: Path) -> None:
    write_interactive_scatter(clusters_of(mining), "motions of a town", tmp_path / "motions.html")
    page = (tmp_path / "motions.html").read_text(encoding="utf-8")
    assert not re.search(r"<script[^>]*\bsrc\s*=", page)
    assert not re.search(r"<link[^>]*\bhref\s*=", page)
    assert "motions of a town" in page
    for k in range(6):
        shown = mining.patterns.cluster_names()[k].replace("°", "\\u00b0")
        assert shown in page or mining.patterns.cluster_names()[k] in page
    assert len(page) > 1_000_000  # the library itself is in it


def titles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written over the rows of a picture."""
    written: list[str] = []
    text = ImageDraw.ImageDraw.text

    def watched(
        draw: ImageDraw.ImageDraw, place: tuple[float, float], words: str, *rest: object, **more: object
    ) -> None:
        written.append(words)
        text(draw, place, words, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", watched)
    return written


def test_sample_pairs_are_of_their_pattern_and_of_several_drives(
    drives: FrameStore, mining: Mining, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = titles(monkeypatch)
    picture = sample_pairs(drives, mining, 1.0)
    assert len(written) == 9
    for k, title in enumerate(written):
        name = mining.patterns.names[k // 3]
        assert title.startswith(f"{name}:  ")
        # Those nearest to the centre do what the pattern is called after.
        direction = re.match(r"[a-z ]+", name)
        assert direction is not None
        assert direction[0] in title.removeprefix(name)
    for k in range(0, 9, 3):
        assert len({title.rsplit(" ", 1)[1] for title in written[k : k + 3]}) == 3  # three drives
    scale = 8  # small frames are not blown up beyond that
    assert picture.width >= 2 * 16 * scale
    assert picture.height >= 9 * 16 * scale


def test_sample_pairs_show_the_images_of_the_pair(drives: FrameStore, mining: Mining) -> None:
    picture = sample_pairs(drives, mining, 1.0, count=1, width=16)
    pairs = find_motion_pairs(drives, np.arange(len(drives)), mining.patterns)
    own = pairs.of(mining.patterns.names[0])
    motion = drives.poses[own.j] - drives.poses[own.i]
    best = int(np.argmin((((motion - mining.patterns.centres[0]) / mining.patterns.spread) ** 2).sum(axis=1)))
    shown = np.asarray(picture)[14 : 14 + 16, 2 : 2 + 16, 0], np.asarray(picture)[14 : 14 + 16, 20 : 20 + 16, 0]
    assert shown[0].tolist() == drives.images[own.i[best], :, :, 0].tolist()
    assert shown[1].tolist() == drives.images[own.j[best], :, :, 0].tolist()


def test_one_drive_gives_all_samples_where_there_is_no_other(
    drives: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = np.flatnonzero(drives.recording == 0)
    alone = replace(
        drives,
        images=np.asarray(drives.images[frames]),
        recording=drives.recording[frames],
        poses=drives.poses[frames],
        times_s=drives.times_s[frames],  # type: ignore[index]
    )
    written = titles(monkeypatch)
    picture = sample_pairs(alone, mine_patterns(alone), 1.0, count=4, width=16)
    assert len(written) == 12
    rows = np.asarray(picture)[2:].reshape(12, 16 + 2 + 12, picture.width, 3)[:, 12:28]
    assert len({row.tobytes() for row in rows}) == 12  # no pair is shown twice


def test_blocks_do_not_change_the_samples(drives: FrameStore, mining: Mining, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sample_pairs(drives, mining, 1.0)
    monkeypatch.setattr(candidates, "BLOCK", 100)
    assert sample_pairs(drives, mining, 1.0).tobytes() == whole.tobytes()


def test_a_cluster_without_shown_motions_is_drawn_all_the_same(mining: Mining, tmp_path: Path) -> None:
    few = replace(mining, sample=mining.sample[:2], sample_cluster=mining.sample_cluster[:2])
    clusters_figure(clusters_of(few), "few")
    write_interactive_scatter(clusters_of(few), "few", tmp_path / "few.html")
    assert (tmp_path / "few.html").exists()
