"""The task of places, on traverses whose features are made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import DataError
from egoequiv.evaluation.metric import Value
from egoequiv.evaluation.places import AREA, PRIOR, places
from egoequiv.evaluation.task import Finding, TaskOptions, silent
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pose import NoMotion, PlanarSpace
from egoequiv.report.figures.places import places_figures
from egoequiv.store import FrameStore
from evaluation.task_worlds import MadeData, made_data
from helpers import bare_store, draw_few_blocks
from report.made import measurement

COUNT = 90


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_few_blocks(monkeypatch)


def wall(count: int, seed: int = 0) -> np.ndarray:
    """Pictures (N, 8, 16, 1) along a wall of bricks, one brick from one to the next."""
    bricks = np.random.default_rng(seed).integers(0, 256, (2, 4 + count)).astype(np.uint8)
    painted = np.kron(bricks, np.ones((4, 4), np.uint8))
    return np.stack([painted[:, 4 * k : 4 * k + 16, None] for k in range(count)])


def two_traverses(wrong: int = 3) -> MadeData:
    """Pictures of both are the same; every `wrong`-th query frame has the features of one that is 30 frames off."""
    bare = bare_store(np.empty((2 * COUNT, 0)), [0] * COUNT + [1] * COUNT, space=NoMotion())
    store = replace(bare, images=np.concatenate([wall(COUNT)] * 2), frame=np.tile(np.arange(COUNT), 2))
    reference = np.random.default_rng(1).normal(size=(COUNT, 64))
    shown = np.arange(COUNT)
    shown[::wrong] = (shown[::wrong] + 30) % COUNT
    return made_data(store, np.concatenate([reference, reference[shown]]), np.arange(COUNT, 2 * COUNT))


def by_name(found: Finding) -> dict[str, Value]:
    return {value.name: value for value in found.values}


def test_recall_of_two_traverses_by_hand() -> None:
    found = by_name(places(two_traverses(), TaskOptions(tolerance="0"), silent))
    assert found["recall@1"].value == pytest.approx(2 / 3)
    assert found["recall@1"].baselines["pixels"] == 1
    assert found["recall@1"].baselines["chance"] == pytest.approx(1 / COUNT)
    assert "untrained" not in found["recall@1"].baselines
    low, high = found["recall@1"].interval
    assert 0.5 < low < 2 / 3 < high < 0.85
    assert found[AREA].value <= 2 / 3 + 1e-12
    # One wrong frame of three is corrected by where the camera was and how far it has come.
    assert found[f"recall@1, {PRIOR}"].value > 0.85


def unequal_traverses(wrong: int = 3) -> MadeData:
    """The same, without every seventh frame of the query: frame i of it is no longer frame i of the reference."""
    data = two_traverses(wrong)
    kept = np.concatenate([np.arange(COUNT), COUNT + np.flatnonzero(np.arange(COUNT) % 7)])
    shorter = len(kept) - COUNT
    store = data.store
    store = replace(
        store,
        images=store.images[kept],
        recording=store.recording[kept],
        poses=store.poses[kept],
        frame=np.concatenate([np.arange(COUNT), np.arange(shorter)]),
        labels=store.labels[kept],
    )
    return made_data(store, data.features[kept], np.arange(COUNT, COUNT + shorter))


def test_walks_of_unequal_length_are_aligned_by_their_pictures() -> None:
    kept = np.flatnonzero(np.arange(COUNT) % 7)
    found = places(unequal_traverses(), TaskOptions(tolerance="0"), silent)
    values = by_name(found)
    assert values["recall@1"].value == pytest.approx((kept % 3 != 0).mean())
    assert values["recall@1"].baselines["pixels"] == 1
    assert found.details["truth"] == "alignment of pixels"
    said = " ".join(found.tables[0].notes)
    assert f"recording-1 has {len(kept)} frames and recording-0 {COUNT}, so the truth is an alignment" in said
    assert "It favours pixels" in said
    equal = places(two_traverses(), TaskOptions(tolerance="0"), silent)
    assert equal.details["truth"] == "order"
    assert "because both have 90 frames" in " ".join(equal.tables[0].notes)


def test_query_frames_beyond_the_reference_are_left_out() -> None:
    data = two_traverses()
    kept = np.concatenate([np.arange(15, 80), np.arange(COUNT, 2 * COUNT)])
    store = data.store
    frame = np.concatenate([np.arange(65), np.arange(COUNT)])
    cut = replace(store, images=store.images[kept], recording=store.recording[kept], poses=store.poses[kept])
    cut = replace(cut, frame=frame, labels=store.labels[kept])
    found = places(made_data(cut, data.features[kept], np.arange(65, len(kept))), TaskOptions(tolerance="0"), silent)
    assert found.arrays["query_frame"].tolist() == list(range(15, 80))
    assert "25 query frames are left out" in " ".join(found.tables[0].notes)
    assert by_name(found)["recall@1"].baselines["pixels"] == 1


def test_walks_that_cannot_be_aligned_are_refused() -> None:
    data = unequal_traverses()
    images = data.store.images.copy()
    images[COUNT:] = wall(len(images) - COUNT, seed=5)
    elsewhere = replace(data, store=replace(data.store, images=images))
    with pytest.raises(DataError, match=r"pictures cannot be aligned: .* say with --truth FILE which frames"):
        places(elsewhere, TaskOptions(), silent)


def test_the_difference_to_pixels_is_paired_and_the_frames_are_the_queries() -> None:
    found = places(two_traverses(), TaskOptions(tolerance="0"), silent)
    gain = found.details["gains"]["pixels"]
    assert gain["difference"] == pytest.approx(-1 / 3)
    assert gain["interval"][1] < 0
    assert found.notes[0].startswith("recall@1 above pixels: -0.333")
    assert found.frames is not None
    assert found.frames[1].tolist() == list(range(COUNT, 2 * COUNT))
    assert found.arrays["match_pixels"].tolist() == list(range(COUNT))
    assert [row[0].text for row in found.tables[0].rows][:2] == ["features", f"features + {PRIOR}"]


def test_a_wider_tolerance_never_lowers_recall() -> None:
    data = two_traverses()
    recalls = [places(data, TaskOptions(tolerance=str(t)), silent).values[0].value for t in (0, 2, 30, 89)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1


def test_features_that_say_nothing_find_nothing() -> None:
    data = replace(two_traverses(), made=np.ones((2 * COUNT, 4), np.float32))
    found = by_name(places(data, TaskOptions(tolerance="0"), silent))
    assert found["recall@1"].value == found["recall@10"].value == found[AREA].value == 0


@pytest.mark.parametrize("bad", [slice(None), slice(COUNT + 7, COUNT + 8)])
def test_features_that_are_not_finite_are_refused(bad: slice) -> None:
    data = two_traverses()
    made = data.features.copy()
    made[bad] = np.nan
    number = 0 if bad.start is None else 7
    with pytest.raises(DataError, match=f"frame {number} of recording-1 are not finite: the network has diverged"):
        places(replace(data, made=made), TaskOptions(tolerance="0"), silent)


def test_the_untrained_network_is_a_baseline(tmp_path: Path) -> None:
    import torch

    untrained = EgoNet(NetSpec("norb", (8, 16, 1)))
    initialise(untrained, torch.Generator().manual_seed(0))
    found = by_name(places(replace(two_traverses(), untrained=untrained), TaskOptions(), silent))
    assert found["recall@1"].baselines["untrained"] == 1  # the same pictures have the same features


def loop() -> tuple[FrameStore, np.ndarray]:
    """A drive of 120 frames at 10 Hz round a square of 60 frames, one metre at a time, twice."""
    side = np.arange(15.0)
    x = np.concatenate([side, np.full(15, 15), 15 - side, np.zeros(15)])
    y = np.concatenate([np.zeros(15), side, np.full(15, 15), 15 - side])
    where = np.tile(np.stack([x, y], axis=1), (2, 1))
    bare = bare_store(np.zeros((120, 2)), [0] * 120, np.arange(120) / 10, PlanarSpace())
    columns = {"x_m": where[:, 0], "y_m": where[:, 1]}
    return replace(bare, images=np.tile(wall(60), (2, 1, 1, 1)), pose_columns=columns), where


def test_loop_closure_finds_places_that_were_seen_before() -> None:
    store, _ = loop()
    features = np.tile(np.random.default_rng(0).normal(size=(60, 32)), (2, 1))
    features[110:] = np.random.default_rng(5).normal(size=(10, 32))  # the last ten frames look like nothing before
    found = places(made_data(store, features, np.arange(120)), TaskOptions(tolerance="0.5m", revisit_s=3), silent)
    assert found.details["queries"] == 60
    values = by_name(found)
    assert values["recall@1"].value == pytest.approx(50 / 60, abs=0.02)
    assert values["recall@1"].baselines["pixels"] == 1
    assert "loop closure" in found.tables[0].notes[0]
    # Frame t may be any of the t - 29 that are 3 s old, and one of them is right.
    assert values["recall@1"].baselines["chance"] == pytest.approx(np.mean(1 / np.arange(31, 91)), rel=0.05)


def test_what_cannot_be_measured_is_said() -> None:
    store, _ = loop()
    features = np.ones((120, 4))
    with pytest.raises(DataError, match=r"shows a place of .* that was seen 11 s before or earlier \(--revisit\)"):
        places(made_data(store, features, np.arange(120)), TaskOptions(tolerance="0.5m", revisit_s=11), silent)
    bare = replace(store, pose_columns={})
    with pytest.raises(DataError, match="loop closure needs times and positions in metres"):
        places(made_data(bare, features, np.arange(120)), TaskOptions(), silent)


def test_matches_and_precision_over_recall_are_drawn() -> None:
    found = places(two_traverses(), TaskOptions(tolerance="0"), silent)
    (figure,) = places_figures(measurement("places", details=found.details, arrays=found.arrays)).values()
    matches, _, curves = figure.axes
    wrong, right = (np.asarray(points.get_offsets()) for points in matches.collections)
    assert len(wrong) == COUNT / 3
    np.testing.assert_array_equal(right[:, 0], right[:, 1])  # a right match has the number of its query
    ends = {str(line.get_label()): line.get_xydata()[-1] for line in curves.lines}  # all matches accepted
    np.testing.assert_allclose(ends["this run"], [2 / 3, 2 / 3])
    np.testing.assert_allclose(ends["pixels"], [1, 1])
