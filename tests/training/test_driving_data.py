"""The data of runs on drives: mined patterns, their files, other stores for the labels, and gaps in time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import drive_source, poses_only, write_scenes
from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.run_model import open_run_model
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments import RunMeasurer, measure_run
from egoequiv.pairs import MinedPatterns, are_neighbours, find_motion_pairs, make_split, mine_patterns
from egoequiv.pairs.candidates import half_a_step_s
from egoequiv.pose import DRIVING_POSES, PlanarSpace, SE2Space
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import RunData, make_config, prepare_data, train
from egoequiv.training.data import choose_patterns, motions_of
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.streams import POSITIVE_FRACTION
from helpers import GRID, grid_recording

SHORT = {
    "method": "equiv",
    "per_class": 3,
    "batch_size": 8,
    "iterations": 4,
    "log_every": 2,
    "checkpoint_every": 2,
    "validate_every": 2,
}
SHORT |= {"threads": 1, "motion_pairs": 400, "neighbour_pairs": 200, "encoder": "norb", "split": "paper"}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(drive_source(4), tmp_path_factory.mktemp("drives") / "store", workers=1)


@pytest.fixture(scope="module")
def mined(drives: FrameStore) -> MinedPatterns:
    return mine_patterns(drives).patterns


def data_of(store: FrameStore, **settings: Any) -> RunData:
    return prepare_data(make_config({"data": str(store.path), **SHORT, **settings}))


def write_patterns(path: Path, patterns: MinedPatterns) -> Path:
    path.write_text(json.dumps(patterns.describe()))
    return path


def test_planar_motions_are_mined_from_the_training_frames(drives: FrameStore) -> None:
    data = data_of(drives, motion_pairs=100_000)
    split = make_split(drives, "paper")
    expected = mine_patterns(drives, split.train).patterns
    assert isinstance(data.patterns, MinedPatterns)
    assert data.patterns.describe() == expected.describe()
    assert len(data.patterns) == 3
    for streams, frames in ((data.train, split.train), (data.validation, split.validation)):
        stream, pairs = streams["motion"], find_motion_pairs(drives, frames, expected)
        assert stream.j is not None
        positive = stream.target >= 0
        assert positive.sum() == len(pairs.i[pairs.pattern >= 0])
        assert set(stream.target[~positive].tolist()) == {-1}
        assert set(np.concatenate([stream.i, stream.j]).tolist()) <= set(frames.tolist())


def test_clusters_and_kept_patterns_may_be_chosen(drives: FrameStore) -> None:
    data = data_of(drives, clusters=4, keep=2, max_gap_s=0.5)
    assert isinstance(data.patterns, MinedPatterns)
    assert data.patterns.centres.shape == (4, 2)
    assert len(data.patterns) == 2
    stream = data.train["motion"]
    assert drives.times_s is not None
    assert stream.j is not None
    gap = drives.times_s[stream.j] - drives.times_s[stream.i]
    assert gap.min() > 0
    assert 0.45 < gap.max() <= 0.5 + half_a_step_s(drives)
    with pytest.raises(ConfigError, match="between 1 and clusters=2, found 3"):
        data_of(drives, clusters=2)


def test_pairs_are_one_to_three_and_as_many_as_asked_for(drives: FrameStore) -> None:
    stream = data_of(drives, motion_pairs=800).train["motion"]
    assert len(stream) == 800
    assert (stream.target >= 0).sum() == POSITIVE_FRACTION * 800
    assert set(stream.target.tolist()) == {-1, 0, 1, 2}
    other = data_of(drives, motion_pairs=800, pair_seed=1).train["motion"]
    assert other.i.tolist() != stream.i.tolist()
    assert data_of(drives, motion_pairs=800, seed=5).train["motion"].i.tolist() == stream.i.tolist()


def test_patterns_from_a_file(drives: FrameStore, mined: MinedPatterns, tmp_path: Path) -> None:
    file = write_patterns(tmp_path / "patterns.json", replace(mined, names=("a", "b", "c")))
    data = data_of(drives, patterns=str(file))
    assert data.patterns is not None
    assert data.patterns.names == ("a", "b", "c")
    assert set(data.train["motion"].target.tolist()) == {-1, 0, 1, 2}


def test_patterns_of_another_space_are_refused(drives: FrameStore, mined: MinedPatterns, tmp_path: Path) -> None:
    flat = mine_patterns(drives.in_space(SE2Space())).patterns
    file = write_patterns(tmp_path / "flat.json", flat)
    with pytest.raises(ConfigError, match=r"flat\.json was mined in another motion space"):
        data_of(drives, patterns=str(file))
    assert data_of(drives, patterns=str(file), space="se2").patterns is not None
    planar = write_patterns(tmp_path / "planar.json", mined)
    with pytest.raises(ConfigError, match="another motion space"):
        data_of(drives, patterns=str(planar), space="se2")


def test_a_file_without_patterns_is_named(drives: FrameStore, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.json is missing"):
        data_of(drives, patterns=str(tmp_path / "nowhere.json"))
    (tmp_path / "other.json").write_text('{"names": ["a"]}')
    with pytest.raises(DataError, match=r"other\.json contains no motion patterns"):
        data_of(drives, patterns=str(tmp_path / "other.json"))


def test_motions_of_a_drive_can_be_named(drives: FrameStore) -> None:
    patterns = data_of(drives, motions="forward 3 m,left turn 5 deg and forward 3 m").patterns
    assert patterns is not None
    assert patterns.names == ("forward 3 m", "left turn 5 deg and forward 3 m")
    with pytest.raises(ConfigError, match="motion 'up' is not known here"):
        data_of(drives, motions="up,right")


@pytest.mark.parametrize(
    ("given", "methods"),
    [
        ({}, "random, clsnet, .*temporal, drlim, "),
        ({"use_labels": False}, "random, temporal, drlim, "),
    ],
)
def test_a_method_that_needs_poses_says_so(drives: FrameStore, given: dict[str, Any], methods: str) -> None:
    config = make_config({"data": str(drives.path), "method": "equiv", "space": "none", **given})
    with pytest.raises(DataError, match=rf"has no poses, and method 'equiv' .* needs none: {methods}"):
        prepare_data(config)


def test_pictures_have_no_neighbours_either(tmp_path: Path) -> None:
    write_scenes(tmp_path / "scenes")
    store = ingest(open_source("scenes", tmp_path / "scenes"), tmp_path / "store", size=(8, 8), workers=1)
    with pytest.raises(DataError, match=r"method 'equiv\+drlim' .* needs none: random, clsnet, .*recording"):
        prepare_data(make_config({"data": str(store.path), "method": "equiv+drlim"}))


def test_motions_are_named_or_read_from_a_file_but_not_both(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="motions and patterns"):
        make_config({"data": "store", "motions": "up", "patterns": str(tmp_path / "patterns.json")})


def test_an_unknown_space_or_column_is_named(drives: FrameStore) -> None:
    with pytest.raises(ConfigError, match="motion space 'moon' is not known"):
        data_of(drives, space="moon")
    with pytest.raises(DataError, match="'steering'"):
        data_of(drives, space="columns:steering,yaw_deg")
    assert data_of(drives, space="columns:yaw_deg,z_m", clusters=3, keep=2).patterns is not None


def test_a_grid_still_has_its_declared_motions(small_store: FrameStore) -> None:
    data = data_of(small_store)
    assert data.patterns is not None
    assert data.patterns.names == ("up", "right")
    assert set(data.train["motion"].target.tolist()) == {0, 1}


def test_poses_alone_cannot_be_trained_on(tmp_path: Path) -> None:
    store = ingest(poses_only(2), tmp_path / "store", workers=1)
    with pytest.raises(DataError, match="holds poses but no images, and training needs them"):
        train(store.path, tmp_path / "run", **SHORT)
    assert not (tmp_path / "run").exists()


def test_neighbours_are_two_seconds_apart_at_most(drives: FrameStore) -> None:
    assert drives.times_s is not None
    for gap, settings in ((2.0, {}), (0.5, {"neighbour_gap_s": 0.5})):
        stream = data_of(drives, method="drlim", **settings).train["neighbour"]
        assert stream.j is not None
        near = stream.target == 1
        apart = np.abs(drives.times_s[stream.j] - drives.times_s[stream.i])
        assert near.sum() == len(stream) / 4 == 50
        assert (apart[near] <= gap).all()
        assert apart[near].max() > 0.8 * gap
        assert not are_neighbours(drives, stream.i[~near], stream.j[~near], gap).any()
        assert (drives.recording[stream.i[near]] == drives.recording[stream.j[near]]).all()


def test_patterns_are_kept_with_the_run_and_used_again(
    drives: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(metrics: dict[str, float]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(drives.path, tmp_path / "run", on_metrics=interrupt, **SHORT)
    kept = RunFolder(tmp_path / "run").patterns()
    assert kept is not None
    assert kept.describe() == mine_patterns(drives, make_split(drives, "paper").train).patterns.describe()
    marked = replace(kept, names=("alpha", "beta", "gamma"), centres=kept.centres * 1.01)
    (tmp_path / "run" / "patterns.json").write_text(json.dumps(marked.describe()))

    def nobody_mines(*_: object, **__: object) -> None:
        raise AssertionError("the patterns were mined again")

    monkeypatch.setattr("egoequiv.training.data.mine_patterns", nobody_mines)
    run = train(drives.path, tmp_path / "run", resume=True, **SHORT)
    assert run.result["patterns"] == ["alpha", "beta", "gamma"]
    names = {value.name for one in measure_run(run.path) for value in one.values}
    assert motions_measured(run.path) == ["alpha", "beta", "gamma"]
    assert {"rho_alpha", "rho_atomic", "top1", "top1_class_mean"} <= names
    assert "rho_composite" not in names
    elsewhere = RunMeasurer(run.path, str(drives.path), everything=True).measure(TASKS["equivariance"])
    assert [motion["motion"] for motion in elsewhere.details["motions"]] == ["alpha", "beta", "gamma"]


def motions_measured(run: Path) -> list[str]:
    (measured,) = measure_run(run, ["equivariance"])
    return [motion["motion"] for motion in measured.details["motions"]]


def test_the_file_of_patterns_may_go_when_the_run_has_begun(
    drives: FrameStore, mined: MinedPatterns, tmp_path: Path
) -> None:
    file = write_patterns(tmp_path / "patterns.json", mined)
    run = train(drives.path, tmp_path / "run", patterns=str(file), **SHORT)
    file.unlink()
    assert motions_measured(run.path) == list(mined.names)
    again = train(drives.path, tmp_path / "run", patterns=str(file), resume=True, **SHORT)
    assert again.result == run.result


def test_maps_of_any_motion_keep_patterns_for_their_names_and_need_no_store(drives: FrameStore, tmp_path: Path) -> None:
    settings = {**SHORT, "method": "recording+motion", "use_labels": False, "iterations": 2}
    run = train(drives.path, tmp_path / "run", **settings)
    text = (run.path / "config.json").read_text()
    (run.path / "config.json").write_text(text.replace(str(drives.path), str(tmp_path / "gone")))
    model = open_run_model(run.path)
    expected = mine_patterns(drives, make_split(drives, run.config.split).train).patterns
    assert model.space == drives.space
    assert tuple(model.motions) == expected.names
    np.testing.assert_array_equal(list(model.motions.values()), expected.centres[: len(expected.names)])


def test_runs_without_motion_keep_no_patterns_but_are_measured_on_mined_ones(
    drives: FrameStore, tmp_path: Path
) -> None:
    run = train(drives.path, tmp_path / "run", **{**SHORT, "method": "clsnet"})
    assert not (run.path / "patterns.json").exists()
    expected = mine_patterns(drives, make_split(drives, "paper").train).patterns.names
    assert tuple(motions_measured(run.path)) == expected


def test_a_run_is_not_measured_on_motions_of_another_space(drives: FrameStore, tmp_path: Path) -> None:
    grid = ingest(Source("grid", GRID, [grid_recording(0, 0, size=16)]), tmp_path / "grid", workers=1)
    run = train(drives.path, tmp_path / "run", **SHORT)
    with pytest.raises(ConfigError, match="motions of another motion space"):
        RunMeasurer(run.path, str(grid.path), everything=True).measure(TASKS["equivariance"])


def test_poses_without_times_are_mined_and_measured(drives: FrameStore, tmp_path: Path) -> None:
    timeless = Source("d", PlanarSpace(), drive_source(4, times_s=None).recordings, pose_names=DRIVING_POSES)
    store = ingest(timeless, tmp_path / "store", workers=1)
    split, config = make_split(store, "paper"), make_config({"data": str(store.path), **SHORT, "method": "clsnet"})
    patterns = choose_patterns(store, split, config)
    motions = motions_of(store, split, config)
    assert motions is not None
    assert motions.names == patterns.names
    run = train(store.path, tmp_path / "run", **{**SHORT, "method": "clsnet"})
    recognition, equivariance = measure_run(run.path)
    assert equivariance.problem is None
    assert recognition.values[0].value >= 0


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, FrameStore]:
    """Six classes of scenes, with parts and without."""
    made = {}
    for parts in (True, False):
        root = tmp_path_factory.mktemp("scenes")
        tree = write_scenes(root / "tree", classes=6, train=7, test=3, parts=parts)
        made[parts] = ingest(open_source("scenes", tree), root / "store", workers=1)
    return made


def test_labels_from_a_store_with_parts_are_split_as_given(drives: FrameStore, scenes: dict[bool, FrameStore]) -> None:
    data = data_of(drives, labels=str(scenes[True].path), method="equiv+drlim")
    task = data.recognition
    assert task is not None
    assert task.split.kind == "given"
    assert set(task.store.attribute("part")[task.split.train].tolist()) == {"train"}
    assert set(task.store.attribute("part")[task.split.validation].tolist()) == {"test"}
    assert task.class_names == tuple(f"class-{k:02d}" for k in range(6))
    assert len(data.train["labelled"]) == 6 * 3
    assert len(data.validation["labelled"]) == 6 * 3
    assert data.train["labelled"].store.path == scenes[True].path
    assert data.train["motion"].store.path == drives.path
    assert data.split.kind == "paper"
    assert len(data.fingerprint().split()) == 2


def test_labels_from_a_store_without_parts_are_split_like_the_video(
    drives: FrameStore, scenes: dict[bool, FrameStore]
) -> None:
    labels = str(scenes[False].path)
    task = data_of(drives, labels=labels).recognition
    assert task is not None
    assert task.split.kind == "paper"
    assert len(task.split.train) == round(0.67 * 60)
    chosen = data_of(drives, labels=labels, split="by-recording", label_split="paper")
    assert chosen.split.kind == "by-recording"
    assert chosen.recognition is not None
    assert chosen.recognition.split.kind == "paper"
    with pytest.raises(ConfigError, match="no attribute 'part'"):
        data_of(drives, labels=labels, label_split="given")


def test_a_holdout_is_cut_from_the_training_parts_alone(drives: FrameStore, scenes: dict[bool, FrameStore]) -> None:
    labels = str(scenes[True].path)
    whole = data_of(drives, labels=labels, split="by-recording")
    held = data_of(
        drives, labels=labels, split="by-recording", holdout_split="paper", holdout_fraction=0.25, per_class=2
    )
    for a, b in ((whole.split, held.split), (whole.recognition.split, held.recognition.split)):  # type: ignore[union-attr]
        assert sorted([*b.train.tolist(), *b.validation.tolist()]) == sorted(a.train.tolist())
        assert len(b.train) == round(0.75 * len(a.train))
    assert held.split.kind == "paper"
    recordings = [set(drives.recording[part].tolist()) for part in (held.split.train, held.split.validation)]
    assert recordings[0] == recordings[1]  # frames of one drive on both sides, as a holdout at random has


def test_a_holdout_is_cut_like_the_split_unless_told_otherwise(drives: FrameStore) -> None:
    store = ingest_more(drives)
    held = data_of(store, split="by-recording", holdout_fraction=0.3)
    outer = make_split(store, "by-recording")
    train, validation = (set(store.recording[p].tolist()) for p in (held.split.train, held.split.validation))
    assert not train & validation
    assert train | validation == set(store.recording[outer.train].tolist())


def ingest_more(drives: FrameStore) -> FrameStore:
    """Twelve short drives beside the given ones."""
    path = drives.path.parent / "more"
    legs = ((2.0, 5.0, 0.0), (2.0, 4.0, 16.0), (2.0, 14.0, 0.0), (2.0, 5.0, -15.0))
    return ingest(drive_source(12, legs=legs), path, workers=1)


def test_labelled_images_of_another_size_are_named(drives: FrameStore, tmp_path: Path) -> None:
    tree = write_scenes(tmp_path / "tree", classes=3)
    small = ingest(open_source("scenes", tree), tmp_path / "small", size=(8, 8), workers=1)
    with pytest.raises(DataError, match=r"8 x 8 x 1 but .* 16 x 16 x 1: .*--size 16x16"):
        data_of(drives, labels=str(small.path))


def test_training_on_two_stores_learns_from_both(
    drives: FrameStore, scenes: dict[bool, FrameStore], tmp_path: Path
) -> None:
    run = train(drives.path, tmp_path / "run", labels=str(scenes[True].path), **{**SHORT, "encoder": "kitti"})
    assert run.result["training_rows"] == {"labelled": 18, "motion": 400}
    measured = {value.name: value.value for value in measure_run(run.path, ["recognition"])[0].values}
    assert measured["top1"] >= 0
    assert "top5" in measured
    assert "top10" not in measured  # six classes have no ten
