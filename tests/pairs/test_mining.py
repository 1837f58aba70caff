"""Mined patterns: known motions come out again, whatever the seed, the block and the sample."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drives import DRIVING_POSES, FAST, LEFT, RIGHT, SLOW, drive_track
from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs import MinedPatterns, candidates, find_motion_pairs, mine_patterns, mining
from egoequiv.pairs.candidates import close_pairs, half_a_step_s
from egoequiv.pairs.naming import motion_in_words, name_motions
from egoequiv.pose import ColumnsSpace, MotionSpace, NoMotion, PlanarSpace, SE2Space, SE3Space
from egoequiv.pose.scale_free import ScaleFreeSpace
from egoequiv.store import FrameStore
from helpers import GRID, bare_store, data_error, grid_poses

PLANAR = PlanarSpace()
# Seconds, metres a second, degrees a second: what a car does in a town.
STANDING, CRAWLING = (8.0, 0.0, 0.0), (8.0, 0.8, 0.0)


def track_store(
    *recordings: tuple[tuple[float, float, float], ...], hz: float = 10.0, space: MotionSpace = PLANAR
) -> FrameStore:
    """Tracks of legs, one for each recording."""
    tracks = [drive_track(legs, hz, seed=number) for number, legs in enumerate(recordings)]
    columns = [DRIVING_POSES.index(name) for name in space.pose_names]
    poses = np.concatenate([track[1] for track in tracks])
    store = bare_store(
        poses[:, columns],
        [number for number, track in enumerate(tracks) for _ in track[0]],
        times_s=np.concatenate([track[0] for track in tracks]).tolist(),
        space=space,
    )
    return replace(store, pose_columns=dict(zip(DRIVING_POSES, poses.T, strict=True)))


@pytest.fixture(scope="module")
def town() -> FrameStore:
    """Two drives at 10 Hz: 960 frames, about 9,000 motions."""
    return track_store((SLOW, LEFT, FAST, RIGHT) * 2, (FAST, RIGHT, SLOW, LEFT) * 2)


@pytest.fixture(scope="module")
def patterns(town: FrameStore) -> MinedPatterns:
    return mine_patterns(town).patterns


def test_six_motions_of_one_second_are_found_exactly() -> None:
    # At 1 Hz and 1 s all pairs are neighbours in time: six motions, and a seam between each two legs.
    store = track_store((LEFT, RIGHT, FAST, SLOW, CRAWLING, STANDING) * 6, hz=1.0)
    found = mine_patterns(store, stability_seeds=3)
    names = {"left turn 16° and forward 4.0 m", "right turn 15° and forward 5.0 m", "forward 14.0 m"}
    assert set(found.patterns.names) == names
    centres = {name: found.patterns.centres[k].tolist() for k, name in enumerate(found.patterns.names)}
    assert centres["left turn 16° and forward 4.0 m"] == pytest.approx([4.0, 16.0], abs=0.15)
    assert centres["right turn 15° and forward 5.0 m"] == pytest.approx([5.0, -15.0], abs=0.15)
    assert centres["forward 14.0 m"] == pytest.approx([14.0, 0.0], abs=0.15)
    dropped = sorted(found.patterns.centres[3:].tolist())
    np.testing.assert_allclose(dropped, [[0.0, 0.0], [0.8, 0.0], [5.0, 0.0]], atol=0.15)
    assert sum(found.counts) == found.motions == found.clustered == len(store) - 1
    assert found.wandering < 1e-6
    per_leg = dict(zip(found.patterns.names, found.counts, strict=False))
    assert (
        per_leg["left turn 16° and forward 4.0 m"]
        == per_leg["right turn 15° and forward 5.0 m"]
        == per_leg["forward 14.0 m"]
        == 6 * 6
    )


def test_the_motions_of_a_town_are_named_in_plain_words(town: FrameStore, patterns: MinedPatterns) -> None:
    words = {re.sub(r" [\d.]+( m|°)", "", name) for name in patterns.names}
    assert words == {"forward", "left turn and forward", "right turn and forward"}
    assert len(patterns) == 3
    assert patterns.centres.shape == (6, 2)
    assert patterns.space == town.space
    assert patterns.others_are_negatives


def test_the_clusters_that_move_most_are_kept(town: FrameStore, patterns: MinedPatterns) -> None:
    size = np.sqrt(((patterns.centres / patterns.spread) ** 2).sum(axis=1))
    assert size[:3].min() > size[3:].max()
    assert size.tolist() == sorted(size, reverse=True)
    fewer, all_of_them = (mine_patterns(town, keep=keep).patterns for keep in (1, 6))
    assert fewer.names == patterns.names[:1]
    np.testing.assert_allclose(fewer.centres, patterns.centres)
    assert all_of_them.names[:3] == patterns.names
    assert len(set(all_of_them.names)) == 6


def test_a_jump_is_not_kept_as_a_pattern() -> None:
    way = np.cumsum(np.tile([1.0, 3.0], 60))
    way[70:] += 40.0  # once
    store = bare_store(np.column_stack([way, 0 * way]), [0] * 120, times_s=np.arange(120.0).tolist(), space=PLANAR)
    found = mine_patterns(store, clusters=3, keep=2)
    assert found.patterns.names == ("forward 3.0 m", "forward 1.0 m")
    assert found.patterns.cluster_names()[2].startswith("dropped: forward 4")
    assert found.counts[2] == 1


def test_the_spread_is_the_standard_deviation_of_all_motions(town: FrameStore, patterns: MinedPatterns) -> None:
    gap = 1.0 + half_a_step_s(town)
    motions = [
        town.poses[j] - town.poses[i]
        for i in range(len(town))
        for j in range(i + 1, min(i + 12, len(town)))
        if town.recording[i] == town.recording[j] and town.times_s[j] - town.times_s[i] <= gap  # type: ignore[index]
    ]
    np.testing.assert_allclose(patterns.spread, np.std(motions, axis=0))
    assert mine_patterns(town).motions == len(motions)


def test_every_centre_is_the_mean_of_its_motions(town: FrameStore) -> None:
    found = mine_patterns(town)
    assert found.clustered == found.motions
    motions = np.concatenate([town.poses[j] - town.poses[i] for i, j in close_pairs(town, np.arange(len(town)), 1.05)])
    cluster = found.patterns.assign_cluster(motions)
    assert np.bincount(cluster, minlength=6).tolist() == list(found.counts)
    for k in range(6):
        off = (motions[cluster == k].mean(axis=0) - found.patterns.centres[k]) / found.patterns.spread
        assert np.abs(off).max() < 0.02


@pytest.mark.parametrize("seed", [1, 2, 2**40])
def test_any_seed_gives_nearly_the_same(town: FrameStore, patterns: MinedPatterns, seed: int) -> None:
    other = mine_patterns(town, seed=seed).patterns
    assert other.names == patterns.names
    assert np.abs((other.centres - patterns.centres) / patterns.spread)[:3].max() < 0.1


def test_the_same_seed_gives_the_same_patterns(town: FrameStore, patterns: MinedPatterns) -> None:
    assert mine_patterns(town).patterns.describe() == patterns.describe()


def test_stability_compares_with_other_seeds(town: FrameStore) -> None:
    assert mine_patterns(town).wandering == 0.0
    assert mine_patterns(town, stability_seeds=2).wandering < 0.1
    # A cloud without clusters: where its centres lie is chance.
    rng = np.random.default_rng(0)
    poses, times = np.cumsum(rng.normal(size=(300, 2)), axis=0), (np.arange(300) / 10).tolist()
    cloud = bare_store(poses, [0] * 300, times_s=times, space=PLANAR)
    assert mine_patterns(cloud, stability_seeds=3, clusters=20, keep=20).wandering > 0.3


motions_2d = st.lists(st.tuples(st.floats(-50, 50), st.floats(-90, 90)), min_size=1, max_size=30)


@given(motions_2d, st.integers(1, 5), st.integers(0, 999))
def test_a_motion_belongs_to_the_nearest_centre_in_standard_deviations(
    motions: list[tuple[float, float]], keep: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    centres, spread = rng.normal(0, 20, (5, 2)), rng.uniform(0.1, 30, 2)
    patterns = MinedPatterns(tuple("abcde"[:keep]), centres, spread, PLANAR)
    found, clusters = patterns.assign(np.array(motions)), patterns.assign_cluster(np.array(motions))
    assert found.dtype == np.int64
    for motion, pattern, cluster in zip(motions, found.tolist(), clusters.tolist(), strict=True):
        distances = [
            ((motion[0] - c[0]) / spread[0]) ** 2 + ((motion[1] - c[1]) / spread[1]) ** 2 for c in centres.tolist()
        ]
        assert distances[cluster] == pytest.approx(min(distances))
        assert pattern == (cluster if cluster < keep else -1)
        assert patterns.distance(np.array(motion), cluster) == pytest.approx(min(distances) ** 0.5)


def test_any_shape_of_motions_is_assigned(patterns: MinedPatterns) -> None:
    motions = np.random.default_rng(0).normal(0, 8, (3, 4, 2))
    assert patterns.assign(motions).shape == (3, 4)
    assert patterns.assign(motions).ravel().tolist() == patterns.assign(motions.reshape(-1, 2)).tolist()
    assert patterns.assign(np.empty((0, 2))).shape == (0,)


def test_centres_are_their_own_patterns(patterns: MinedPatterns) -> None:
    assert patterns.assign(patterns.centres).tolist() == [0, 1, 2, -1, -1, -1]


def test_only_the_given_frames_are_mined(town: FrameStore) -> None:
    # The first leg of the first drive goes straight at 5 m/s.
    found = mine_patterns(town, np.arange(60), clusters=3, keep=2)
    assert all(name.startswith(("forward", "left turn 0", "right turn 0")) for name in found.patterns.names)
    assert found.patterns.centres[:, 0].max() < 5.6
    assert found.motions == sum(60 - gap for gap in range(1, 11))


def test_a_longer_gap_gives_larger_motions(town: FrameStore) -> None:
    short, long = (mine_patterns(town, max_gap_s=gap).patterns for gap in (0.5, 2.0))
    assert np.abs(long.centres).max(axis=0).tolist() > np.abs(short.centres).max(axis=0).tolist()


def peak_blocks(store: FrameStore, gap: float) -> int:
    return max(len(i) for i, _ in close_pairs(store, np.arange(len(store)), gap))


def test_a_sample_counts_every_motion_and_gives_nearly_the_same(
    town: FrameStore, patterns: MinedPatterns, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = mine_patterns(town)
    monkeypatch.setattr(mining, "SAMPLE", 2_000)
    monkeypatch.setattr(candidates, "BLOCK", 500)
    assert peak_blocks(town, 1.05) <= 500 + 10
    sampled = mine_patterns(town)
    assert sampled.motions == whole.motions == sum(sampled.counts)
    assert 1_800 < sampled.clustered < 2_200
    assert np.abs((sampled.patterns.centres - patterns.centres) / patterns.spread)[:3].max() < 0.15
    assert [name.split()[0] for name in sampled.patterns.names] == [name.split()[0] for name in patterns.names]
    np.testing.assert_allclose(sampled.counts[:3], whole.counts[:3], rtol=0.25)
    assert mine_patterns(town).counts == sampled.counts
    assert mine_patterns(town, seed=3).sample.tolist() != sampled.sample.tolist()


def test_blocks_change_nothing(town: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "SAMPLE", 2_000)
    at_once = mine_patterns(town)
    monkeypatch.setattr(candidates, "BLOCK", 77)
    in_blocks = mine_patterns(town)
    assert in_blocks.patterns.describe() == at_once.patterns.describe()
    assert in_blocks.counts == at_once.counts
    assert in_blocks.sample.tolist() == at_once.sample.tolist()


def test_no_array_grows_with_the_number_of_motions(town: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "SAMPLE", 300)
    monkeypatch.setattr(candidates, "BLOCK", 200)
    longest = 0
    difference = PlanarSpace.difference

    def watched(space: PlanarSpace, pose_i: np.ndarray, pose_j: np.ndarray) -> np.ndarray:
        nonlocal longest
        longest = max(longest, len(pose_i))
        return difference(space, pose_i, pose_j)

    monkeypatch.setattr(PlanarSpace, "difference", watched)
    found = mine_patterns(town)
    assert found.motions > 9_000
    assert 0 < longest <= 200 + 10  # a block, and the reach of one frame
    assert len(found.sample) == found.clustered < 400


def test_progress_is_told_and_ends(town: FrameStore) -> None:
    seen: list[tuple[str, int, int]] = []
    found = mine_patterns(town, stability_seeds=2, on_progress=lambda *told: seen.append(told))
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == ["reading motions", "k-means", "sorting motions"]
    for stage, total in (("reading motions", found.motions), ("k-means", 3), ("sorting motions", found.motions)):
        own = [(done, of) for name, done, of in seen if name == stage]
        assert own[-1] == (total, total)
        assert own == sorted(own)


def test_the_sample_to_draw_has_its_clusters(town: FrameStore, patterns: MinedPatterns) -> None:
    found = mine_patterns(town)
    assert found.sample_cluster.tolist() == patterns.assign_cluster(found.sample).tolist()
    assert len(found.sample) == min(20_000, found.motions)


@pytest.mark.parametrize("space", [SE2Space(), SE3Space()])
def test_rigid_motions_are_mined_alike(town: FrameStore, space: MotionSpace, patterns: MinedPatterns) -> None:
    rigid = mine_patterns(town.in_space(space)).patterns
    assert rigid.centres.shape == (6, len(space.axes))
    ahead, turned = rigid.centres[:3, 0], rigid.centres[:3, -1]
    assert sorted(np.sign(np.round(turned, -1)).tolist()) == [-1, 0, 1]  # right, straight and left are kept
    assert ahead[np.abs(turned) < 5].tolist() == pytest.approx([11.1], abs=0.5)
    assert turned.max() == pytest.approx(patterns.centres[:, 1].max(), rel=0.2)


def test_a_recording_of_one_frame_does_not_disturb_rigid_motions(town: FrameStore) -> None:
    alone = np.concatenate([np.arange(480), [480]])  # the second drive's first frame has no partner
    for space in (SE2Space(), SE3Space()):
        assert mine_patterns(town.in_space(space), alone).motions == mine_patterns(town, np.arange(480)).motions


def test_rounding_is_no_motion() -> None:
    # A straight road to the north-east: aside is 0 but for rounding, which must not be taken for a way to move.
    way = np.cumsum(np.random.default_rng(0).uniform(0.2, 1.5, 200))
    poses = np.column_stack([1e3 + way * np.cos(0.6), way * np.sin(0.6), np.full(200, np.rad2deg(0.6))])
    store = bare_store(poses, [0] * 200, times_s=(np.arange(200) / 10).tolist(), space=SE2Space())
    assert 0 < np.ptp((SE2Space().difference(poses[:-1], poses[1:]))[:, 1]) < 1e-9
    found = mine_patterns(store)
    assert all(name.startswith("forward") for name in found.patterns.names)
    ahead, aside, turned = found.patterns.spread.tolist()
    assert ahead == aside > 0.1
    assert turned == 1.0


def test_a_component_that_stands_still_does_not_count() -> None:
    poses = np.column_stack([np.cumsum(np.arange(60.0)), np.full(60, 5.0)])
    store = bare_store(poses, [0] * 60, times_s=np.arange(60.0).tolist(), space=PLANAR)
    found = mine_patterns(store, clusters=3, keep=2)
    assert found.patterns.spread[1] == 1.0
    assert all(name.startswith("forward") for name in found.patterns.names)


def test_columns_of_any_sensor_are_mined() -> None:
    rng = np.random.default_rng(0)
    steering = np.cumsum(rng.choice([-5.0, 0.0, 5.0], 300))
    throttle = np.cumsum(rng.choice([0.0, 0.2], 300))
    space = ColumnsSpace(("steering_deg", "throttle"))
    store = bare_store(
        np.column_stack([steering, throttle]), [0] * 300, times_s=(np.arange(300) / 2).tolist(), space=space
    )
    found = mine_patterns(store, max_gap_s=0.5)
    assert found.motions == 299
    # Three steps of steering times two of throttle, all exact.
    np.testing.assert_allclose(
        sorted(found.patterns.centres.round(9).tolist()),
        [[-5, 0], [-5, 0.2], [0, 0], [0, 0.2], [5, 0], [5, 0.2]],
        atol=1e-9,
    )
    assert len(set(found.patterns.names)) == 3
    assert {"more steering", "less steering", "more throttle"} & {" ".join(n.split()[:2]) for n in found.patterns.names}


def test_turns_of_a_robot_that_always_drives_are_named() -> None:
    motions = np.array([[0.79, 34.1], [0.75, -32.7], [0.8, 0.24], [0.2, 0.0]])
    assert name_motions(PLANAR, motions, np.array([0.25, 20.0])) == (
        "forward 0.79 m and left turn 34°",
        "forward 0.75 m and right turn 33°",
        "forward 0.8 m",
        "forward 0.2 m",
    )


def test_the_largest_component_with_a_word_comes_first() -> None:
    spread = np.array([0.3, 1.0, 0.05, 5.0, 5.0, 5.0])
    motions = np.array([[0.9, 0.0, 0.29, 0.0, 0.0, yaw] for yaw in (3.0, -3.0, 0.0)])
    names = name_motions(ScaleFreeSpace(), motions, spread)
    assert [name.split(" and ")[0] for name in names] == ["forward"] * 3
    assert len(set(names)) == 3


def test_names_of_the_same_words_are_told_apart() -> None:
    spread = np.array([10.0, 1.0])
    motions = np.array([[3.6, 16.2], [7.2, 15.8], [7.2, 16.4], [7.2, 16.1], [14.4, 0.2], [-14.4, 0.2]])
    assert name_motions(PLANAR, motions, spread) == (
        "left turn 16°",
        "left turn 16° and forward 7.2 m",
        "left turn 16° and forward 7.2 m (3)",
        "left turn 16° and forward 7.2 m (4)",
        "forward 14.4 m",
        "backward 14.4 m",
    )


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=12))
def test_names_are_always_distinct(motions: list[tuple[int, int]]) -> None:
    names = name_motions(PLANAR, np.array(motions, float) / 10, np.ones(2))
    assert len(set(names)) == len(names) == len(motions)


def test_a_description_makes_equal_patterns(patterns: MinedPatterns) -> None:
    again = MinedPatterns.from_description(json.loads(json.dumps(patterns.describe())), "x.json")
    assert again.names == patterns.names
    assert again.space == patterns.space
    assert again.centres.tolist() == patterns.centres.tolist()
    assert again.spread.tolist() == patterns.spread.tolist()
    motions = np.random.default_rng(0).normal(0, 10, (500, 2))
    assert again.assign(motions).tolist() == patterns.assign(motions).tolist()


def test_a_description_may_say_more(patterns: MinedPatterns) -> None:
    again = MinedPatterns.from_description({**patterns.describe(), "pairs": 12}, "x.json")
    assert again.names == patterns.names


@pytest.mark.parametrize("key", ["names", "centres", "spread", "space"])
def test_an_incomplete_description_is_named(patterns: MinedPatterns, key: str) -> None:
    description = patterns.describe()
    del description[key]
    with data_error("some/patterns.json", key, "egoequiv patterns"):
        MinedPatterns.from_description(description, "some/patterns.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"names": []},
        {"names": ["a"] * 7},
        {"names": ["left", "left", "right"]},
        {"names": "left"},
        {"names": 3},
        {"names": [1, 2, 3]},
        {"centres": [[1.0, 2.0, 3.0]] * 6},
        {"centres": [1.0, 2.0]},
        {"centres": [[1.0], [1.0, 2.0]]},
        {"centres": [["a", "b"]] * 6},
        {"centres": [[float("nan"), 1.0]] * 6},
        {"centres": None},
        {"spread": [1.0]},
        {"spread": [1.0, 0.0]},
        {"spread": [1.0, -2.0]},
        {"spread": [1.0, float("nan")]},
        {"spread": [1.0, float("inf")]},
        {"space": {"kind": "se2"}},
        {"space": {"kind": "moon"}},
        {"space": "planar"},
        {"space": {"kind": "columns", "columns": []}},
    ],
    ids=str,
)
def test_a_damaged_description_is_named(patterns: MinedPatterns, changes: dict[str, Any]) -> None:
    with data_error("some/patterns.json"):
        MinedPatterns.from_description({**patterns.describe(), **changes}, "some/patterns.json")


def test_more_cannot_be_kept_than_there_are(town: FrameStore) -> None:
    for keep in (4, 0, -1):
        with pytest.raises(ConfigError, match=f"between 1 and clusters=3, found {keep}"):
            mine_patterns(town, clusters=3, keep=keep)


@pytest.mark.parametrize("gap", [0.0, -1.0, float("nan"), float("inf")])
def test_a_gap_must_be_a_number_above_zero(town: FrameStore, gap: float) -> None:
    with pytest.raises(ConfigError, match=f"max_gap_s .* above 0, found {gap:g}"):
        mine_patterns(town, max_gap_s=gap)


def test_frames_without_times_are_paired_both_ways_round() -> None:
    store = bare_store(grid_poses(), [0] * 12 + [1] * 12)
    found = mine_patterns(store, clusters=4, keep=4)
    assert found.motions == found.clustered == 2 * 12 * 11
    pairs = find_motion_pairs(store, np.arange(24), found.patterns)
    assert tuple(pairs.counts().values()) == found.counts
    with data_error("bare-store: 2 pairs have fewer than 4 different motions: lower --clusters"):
        mine_patterns(store, np.array([0, 1]), clusters=4)


def ring_of_photographs(count: int = 60) -> FrameStore:
    """Photographs without times, on a ring of 1 m round what they all look at."""
    angle = np.arange(count) / count * 2 * np.pi
    turns = Rotation.from_euler("z", angle[:, None] + np.pi)
    position = [np.cos(angle), np.sin(angle), 0.05 * np.random.default_rng(0).normal(size=count)]
    return bare_store(np.column_stack([*position, turns.as_quat()]), [0] * count, space=SE3Space())


def test_photographs_are_paired_with_those_near_them_in_order() -> None:
    store = ring_of_photographs()
    found = mine_patterns(store)
    assert found.motions == 2 * sum(60 - gap for gap in range(1, 4))
    np.testing.assert_allclose(found.sample.mean(axis=0)[3:], 0, atol=1e-9)  # each turn has its inverse
    assert np.abs(found.sample[:, 5]).max() == pytest.approx(18)  # three steps of 6 degrees
    # Who walks to the right round a thing and looks at it turns to the left.
    for name in found.patterns.names:
        assert re.fullmatch(r"shift right .* and pan left .*|pan left .* and shift right .*", name) or re.fullmatch(
            r"shift left .* and pan right .*|pan right .* and shift left .*", name
        )
    some = np.array([0, 1, 30, 31, 32, 59])  # the numbers of frames count, not their places among those that are mined
    assert mine_patterns(store, some, clusters=2, keep=1).motions == 2 * (1 + 3)
    long = mine_patterns(ring_of_photographs(400))
    assert long.motions == 2 * sum(400 - gap for gap in range(1, 11))
    pairs = find_motion_pairs(store, np.arange(60), found.patterns)
    assert tuple(pairs.counts().values()) == found.counts[:3]


def ring_motions(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(0, [0.1, 0.1, 0.01, 0.5, 4.0, 0.5], (500, 6))


def test_components_on_one_scale_have_one_spread() -> None:
    motions = ring_motions(0)
    poses = np.zeros((len(motions) + 1, 7))
    poses[:, 6] = 1.0
    for k, motion in enumerate(motions):  # motion by motion, so that successive frames are so far apart
        turn = Rotation.from_quat(poses[k, 3:])
        poses[k + 1, :3] = poses[k, :3] + turn.apply(motion[:3])
        poses[k + 1, 3:] = (turn * Rotation.from_rotvec(motion[3:], degrees=True)).as_quat()
    times = np.arange(len(poses), dtype=float).tolist()
    found = mine_patterns(bare_store(poses, [0] * len(poses), times_s=times, space=SE3Space()), clusters=4, keep=4)
    shift, turn = np.sqrt(motions[:, :3].var(axis=0).sum()), np.sqrt(motions[:, 3:].var(axis=0).sum())
    np.testing.assert_allclose(found.patterns.spread, [shift] * 3 + [turn] * 3, rtol=1e-6)
    words = {" ".join(name.split()[:-1]).split(" 0.")[0] for name in found.patterns.names}
    assert not {word for word in words if word.startswith(("rise", "sink", "roll", "pan"))}  # it hardly does


def test_motions_in_space_are_named_by_all_parts_that_are_considerable() -> None:
    spread = np.array([0.15, 0.15, 0.15, 7.0, 7.0, 7.0])
    motions = np.array(
        [
            [0.01, -0.25, -0.02, 3.0, -0.4, 4.0],
            [-0.06, 0.12, 0.0, 0.0, 1.0, 0.0],
            [0.0, 0.02, 0.01, 0.0, -9.0, 1.0],
            [0.02, 0.0, -0.2, 0.5, 8.0, 0.0],
            [0.0, 0.0, 0.0, -12.0, 10.0, 11.5],
            [0.01, 0.005, 0.0, 0.2, 0.4, -0.3],
        ]
    )
    assert name_motions(SE3Space(), motions, spread) == (
        "shift right 0.25 m",  # 0.57 and 0.43 spreads of turning, beside 1.67
        "shift left 0.12 m and backward 0.06 m",
        "tilt up 9°",
        "sink 0.2 m and tilt down 8°",
        "roll left 12° and pan left 12° and tilt down 10°",
        "still",
    )


def test_only_one_motion_is_still() -> None:
    motions = np.array([[0.0, 0.0], [0.05, 0.01], [0.05, 0.0], [0.2, 0.0]])
    names = name_motions(PLANAR, motions, np.ones(2))
    assert names == ("still", "forward 0.05 m", "forward 0.05 m and left turn 0.0°", "forward 0.2 m")


def test_dropped_clusters_have_names_of_their_own(patterns: MinedPatterns) -> None:
    centres = np.array([[5.0, 16.0], [5.0, 16.2], [5.0, 16.4], [0.0, 0.0], [0.01, 0.0]])
    three = MinedPatterns(("left turn 16°",), centres, np.ones(2), PLANAR)
    assert three.cluster_names() == [
        "left turn 16°",
        "dropped: left turn 16° and forward 5.0 m",
        "dropped: left turn 16° and forward 5.0 m (3)",
        "dropped: still",
        "dropped: forward 0.01 m",
    ]
    for k in range(len(patterns)):
        fewer = patterns.only(patterns.names[k:])
        assert len(set(fewer.cluster_names())) == len(patterns.centres)


def test_frames_without_poses_are_refused() -> None:
    store = bare_store(np.empty((4, 0)), [0] * 4, times_s=[0, 1, 2, 3], space=NoMotion())
    with data_error("bare-store", "no poses"):
        mine_patterns(store)


@pytest.fixture
def few_motions() -> FrameStore:
    """A car that stands still or goes 1 m a second: two motions."""
    way = np.cumsum([0, 1, 0, 1, 0, 1, 1, 0, 0, 1]) * 1.1
    return bare_store(np.column_stack([way, 0 * way]), [0] * 10, times_s=np.arange(10.0).tolist(), space=PLANAR)


def test_too_few_different_motions_are_told(few_motions: FrameStore) -> None:
    with data_error("9 pairs at most 1 s apart", "fewer than 3 different motions", "--clusters", "--max-gap"):
        mine_patterns(few_motions, clusters=3, keep=1)
    found = mine_patterns(few_motions, clusters=2, keep=1)
    assert found.patterns.names == ("forward 1.1 m",)
    assert found.counts == (5, 4)


def test_frames_too_far_apart_have_no_motions(few_motions: FrameStore) -> None:
    far = replace(few_motions, times_s=np.arange(10.0) * 5)
    with data_error("0 pairs at most 0.5 s apart", "fewer than 6"):
        mine_patterns(replace(far, recording=np.arange(10)), max_gap_s=0.5)


def test_one_frame_has_no_motion(few_motions: FrameStore) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frames in (np.array([3]), np.empty(0, np.int64)):
            with data_error("0 pairs", "fewer than 6 different motions"):
                mine_patterns(few_motions, frames)
        with data_error("0 pairs", "fewer than 1 different motions"):
            mine_patterns(few_motions, np.array([3]), clusters=1, keep=1)


def test_a_grid_with_times_can_be_mined_too() -> None:
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 4, (200, 1)) * 10.0, rng.integers(0, 6, (200, 1)) * 60.0
    store = bare_store(np.hstack(steps), [0] * 200, times_s=(np.arange(200) / 10).tolist(), space=GRID)
    found = mine_patterns(store)
    pairs = find_motion_pairs(store, np.arange(200), found.patterns)
    assert len(pairs) == found.motions
    assert tuple(pairs.counts().values()) == found.counts[:3]


def test_errors_leave_the_path_in_the_message(tmp_path: Path, few_motions: FrameStore) -> None:
    with pytest.raises(DataError, match=str(tmp_path)):
        mine_patterns(replace(few_motions, path=tmp_path))


def test_turns_are_named_turns_in_every_space_and_mixed_motions_by_both_parts() -> None:
    spread = np.array([3.0, 3.0, 8.0])
    motions = np.array([[4.8, 0.87, 20.5], [4.3, -0.9, -23.2], [0.0, 2.0, 0.0], [4.5, -0.2, -10.0]])
    assert name_motions(SE2Space(), motions, spread) == (
        "left turn 20° and forward 4.8 m",
        "right turn 23° and forward 4.3 m",
        "shift left 2.0 m",
        "forward 4.5 m and right turn 10°",
    )


def test_a_large_turn_is_named_beside_any_way() -> None:
    spread = np.array([0.4, 30.0])  # forward 2.2 m is 5.5 spreads, 17° a little more than half of one
    motions = np.array([[2.2, 17.0], [2.2, -9.0], [0.35, 60.0]])
    assert name_motions(PLANAR, motions, spread) == (
        "forward 2.2 m and left turn 17°",
        "forward 2.2 m",
        "left turn 60° and forward 0.35 m",
    )


@pytest.mark.parametrize(
    "space", [PLANAR, SE3Space(), ScaleFreeSpace(), ColumnsSpace(("gear.pos", "steering over time"))]
)
def test_a_name_says_its_motion(space: MotionSpace) -> None:
    motion = np.zeros(len(space.axes))
    motion[0], motion[-1] = 1.0, -12.0
    (name,) = name_motions(space, motion[None], np.ones(len(motion)))
    assert motion_in_words(space, name) is not None
    np.testing.assert_allclose(motion_in_words(space, name), motion)
    np.testing.assert_allclose(motion_in_words(space, name.replace("°", " deg").replace(" and ", "+")), motion)


@pytest.mark.parametrize(
    "name", ["", "up", "forward", "forward 2 deg", "forwards 2 m", "forward two m", "forward 2 m and"]
)
def test_what_describes_no_motion(name: str) -> None:
    assert motion_in_words(PLANAR, name) is None


def test_motions_can_be_named(town: FrameStore, patterns: MinedPatterns) -> None:
    dropped = patterns.cluster_names()[-1].removeprefix("dropped: ")
    found = mine_patterns(town, motions=["forward 2 m and left turn 7°", dropped]).patterns
    assert found.names == ("forward 2 m and left turn 7°", dropped)
    assert len(found.centres) == len(patterns.centres)
    np.testing.assert_allclose(found.centres[:2], [[2, 7], patterns.centres[-1]])
    assert found.assign(np.array([[2.1, 6.8], [14.0, 0.0]])).tolist() == [0, -1]
    with pytest.raises(ConfigError, match=r"motion 'sideways' is not known here.*forward 1.0 m and left turn 1°"):
        patterns.only(["sideways"])
    with pytest.raises(ConfigError, match="7 motions are named, and there are 6 clusters"):
        patterns.only([f"forward {k} m" for k in range(7)])
