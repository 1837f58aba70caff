"""Settings that follow the data, and how much memory they may take."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drives import drive_source, make_drive, write_scenes
from egoequiv.catalog import open_source
from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import defaults, make_config, open_data, open_run, run_training, train
from egoequiv.training import memory as memory_module
from egoequiv.training.defaults import choose_encoder, settings_for
from egoequiv.training.jobs import Job
from egoequiv.training.many import run_many
from egoequiv.training.memory import batch_bytes, network_bytes, pair_bytes
from egoequiv.training.search import GreedySearch
from helpers import GRID, grid_recording, grid_source
from logs import tum

FEW: dict[str, Any] = {
    "method": "equiv",
    "iterations": 4,
    "per_class": 3,
    "log_every": 2,
    "validate_every": 2,
    "checkpoint_every": 2,
    "threads": 1,
}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """Eight drives of 24 s through four places, two each."""
    return ingest(drive_source(), tmp_path_factory.mktemp("drives") / "store", workers=1)


def settled(store: FrameStore, **settings: Any) -> dict[str, Any]:
    opened = open_data(make_config({"data": str(store.path), **FEW, **settings}))
    return {name: getattr(opened.config, name) for name in ("encoder", "split", "label_split", "holdout_split")}


def test_small_gray_grids_have_full_layers_and_all_else_convolutions(
    small_store: FrameStore, drives: FrameStore, tmp_path: Path
) -> None:
    assert choose_encoder(small_store)[0] == "norb"
    assert choose_encoder(drives)[0] == "kitti"
    for name, changes, encoder in (
        ("colour", {"color": True}, "kitti"),
        ("large", {"size": 97}, "kitti"),
        ("largest dense", {"size": 96}, "norb"),
        ("tiny", {"size": 11, "color": True}, "norb"),
    ):
        source = Source("grid", GRID, [grid_recording(0, 0, **changes)])
        found, why = choose_encoder(ingest(source, tmp_path / name, workers=1, color=changes.get("color", False)))
        assert found == encoder, name
        assert ("too small" in why) == (name == "tiny")


def test_a_run_keeps_what_was_decided(drives: FrameStore, tmp_path: Path) -> None:
    notes: list[str] = []
    run = run_training(make_config({"data": str(drives.path), **FEW}), tmp_path / "run", on_note=notes.append)
    kept = json.loads((run.path / "config.json").read_text())
    assert (kept["encoder"], kept["split"]) == ("kitti", "by-recording")
    assert json.loads((run.path / "model.json").read_text())["encoder"] == "kitti"
    assert run.result["leaked_validation_frames"] == 0
    assert [note.split(":")[0] for note in notes] == ["encoder kitti", "split by-recording"]
    again = train(drives.path, run.path, resume=True, **FEW)  # with auto, as the run began
    assert again.result == run.result
    with pytest.raises(ConfigError, match="began with encoder='kitti', now encoder='norb'"):
        train(drives.path, run.path, resume=True, encoder="norb", **FEW)


def test_an_old_run_goes_on_with_its_own_split(drives: FrameStore, tmp_path: Path) -> None:
    old = {"encoder": "norb", "split": "paper"}
    train(drives.path, tmp_path / "run", **FEW, **old)
    (tmp_path / "run" / "result.json").unlink()
    assert train(drives.path, tmp_path / "run", resume=True, **FEW).config.split == "paper"
    job = Job(make_config({"data": str(drives.path), **FEW}), tmp_path / "run")
    (outcome,) = run_many([job], engine=LocalEngine(1))
    assert (outcome.job.config.encoder, outcome.job.config.split) == ("norb", "paper")


def test_what_is_given_is_not_decided(small_store: FrameStore) -> None:
    given = {"encoder": "kitti", "split": "paper"}
    assert settled(small_store, **given, holdout_fraction=0.25) == {**given, "label_split": None, "holdout_split": None}


def test_one_recording_on_a_grid_is_divided_at_random_with_a_warning(tmp_path: Path) -> None:
    store = ingest(Source("grid", GRID, [grid_recording(0, 0)]), tmp_path / "store", workers=1)
    opened = open_data(make_config({"data": str(store.path), **FEW, "use_labels": False}))
    assert opened.config.split == "paper"
    assert opened.leaked > 0
    counts = f"{opened.leaked} of {len(opened.split.validation)}"
    assert opened.choices[-1].startswith(f"warning: {counts} validation frames")


def test_validation_on_one_recording_is_said(tmp_path: Path) -> None:
    store = ingest(Source("grid", GRID, [grid_recording(0, take) for take in range(2)]), tmp_path / "two", workers=1)
    opened = open_data(make_config({"data": str(store.path), **FEW, "use_labels": False}))
    assert opened.config.split == "by-recording"
    assert "(one recording alone for validation: ball/take-" in opened.choices[-1]
    more = ingest(Source("grid", GRID, [grid_recording(0, take) for take in range(6)]), tmp_path / "six", workers=1)
    opened = open_data(make_config({"data": str(more.path), **FEW, "use_labels": False}))
    assert "alone" not in opened.choices[-1]


def test_a_holdout_keeps_every_class(small_store: FrameStore, drives: FrameStore) -> None:
    # Of two recordings a class one is left for training, and it cannot be divided again.
    assert settled(small_store, holdout_fraction=0.25)["holdout_split"] == "paper"
    assert settled(drives, holdout_fraction=0.25)["holdout_split"] == "by-time"
    assert settled(drives)["holdout_split"] is None


def test_labels_of_another_store_have_a_split_of_their_own(drives: FrameStore, tmp_path: Path) -> None:
    for parts, kind in ((True, "given"), (False, "paper")):
        tree = write_scenes(tmp_path / f"tree-{parts}", classes=4, train=6, test=3, parts=parts)
        scenes = ingest(open_source("scenes", tree), tmp_path / f"scenes-{parts}", size=(16, 16), workers=1)
        found = settled(drives, labels=str(scenes.path), holdout_fraction=0.25)
        assert (found["split"], found["label_split"], found["holdout_split"]) == ("by-recording", kind, "paper")


def test_a_search_decides_once(small_store: FrameStore, tmp_path: Path) -> None:
    notes: list[str] = []
    search = GreedySearch(
        base={"data": str(small_store.path), **FEW},
        out=tmp_path,
        learning_rates=(0.01,),
        weights=(1.0,),
        rate_seeds=range(1),
        seeds=range(1),
        engine=LocalEngine(1),
        on_note=notes.append,
    )
    search.run(["drlim"])
    assert [note.split(":")[0] for note in notes] == ["encoder norb", "split by-recording", "warning"]
    configs = [json.loads(path.read_text()) for path in tmp_path.glob("*/config.json")]
    assert {(c["encoder"], c["split"], c["holdout_split"]) for c in configs} == {("norb", "by-recording", "paper")}


def test_memory_by_hand(small_store: FrameStore, drives: FrameStore) -> None:
    config = make_config({"data": str(small_store.path), "method": "equiv", "encoder": "norb", "batch_size": 10})
    weights = 144 * 20 + 20 + 20 * 100 + 100
    assert network_bytes(config, (12, 12, 1)) == 4 * 4 * 2 * weights
    # A labelled image and a pair: 3 images a row, of 144 pixels, with 20 + 100 values and once more the encoder's own.
    assert batch_bytes(config, (12, 12, 1)) == 10 * 3 * (144 * 9 + 8 * (20 + 100 + 100))
    assert pair_bytes(config, small_store) == 0
    short = make_config({"data": str(drives.path), "method": "drlim", "neighbour_gap_s": 0.11})
    steps = len(drives) - len(drives.recording_names)
    assert pair_bytes(short, drives) == 48 * steps


def test_a_run_that_needs_too_much_is_refused_before_it_begins(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ConfigError, match=r"needs about [\d,.]+ TB of memory and .* lower batch_size \(now 999999999\)"
    ):
        train(small_store.path, tmp_path / "run", **{**FEW, "batch_size": 999_999_999})
    monkeypatch.setattr(memory_module, "free_memory", lambda: 1_000_000)
    configs = [make_config({"data": str(small_store.path), **FEW, "seed": seed}) for seed in range(9)]
    with pytest.raises(ConfigError, match=r"1.0 MB are available: choose a smaller encoder"):
        run_many([Job(config, tmp_path / str(config.seed)) for config in configs], engine=LocalEngine(1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "setting", ["batch_size", "iterations", "neighbour_pairs", "motion_pairs", "threads", "clusters"]
)
def test_giant_numbers_are_one_line(small_store: FrameStore, setting: str) -> None:
    for value in (10**30, "9" * 5_000):
        with pytest.raises(ConfigError, match=setting) as caught:
            make_config({"data": str(small_store.path), setting: value})
        assert "\n" not in str(caught.value)


def test_a_run_is_opened_once(small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(small_store.path, tmp_path / "run", **FEW)
    opened: list[str] = []
    real = FrameStore.open
    monkeypatch.setattr(FrameStore, "open", lambda path: opened.append(str(path)) or real(path))
    run = open_run(tmp_path / "run")
    assert run.config.split == run.split.kind == "by-recording"
    assert opened == [str(small_store.path)]
    assert run.recognition is not None
    assert run.recognition.split is run.split
    assert run.patterns is not None
    assert {"up", "up+right"} <= set(run.patterns.names)
    assert run.net is run.net
    assert len(run.store) == 144
    assert opened == [str(small_store.path)]


def test_a_run_on_another_store(small_store: FrameStore, drives: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "run", **FEW)
    single = ingest(Source("grid", GRID, [grid_recording(0, 0)]), tmp_path / "single", workers=1)
    other = open_run(tmp_path / "run", store=single.path)
    assert (len(other.store), other.recognition, other.split.kind) == (24, None, "paper")
    both = np.concatenate([other.split.train, other.split.validation])
    assert sorted(both.tolist()) == list(range(24))
    train(drives.path, tmp_path / "drive-run", **FEW)
    with pytest.raises(ConfigError, match="another motion space"):
        _ = open_run(tmp_path / "drive-run", store=single.path).patterns


def test_recordings_that_a_run_learned_from_are_known_again_in_another_store(
    small_store: FrameStore, tmp_path: Path
) -> None:
    train(small_store.path, tmp_path / "run", **{**FEW, "split": "by-recording"})
    own = open_run(tmp_path / "run")
    assert own.learned_before == ()
    learned = {own.store.recording_names[k] for k in own.store.recording[own.split.train]}
    source = grid_source()
    part = replace(source, recordings=[one for one in source.recordings if one.name in learned])
    other = open_run(tmp_path / "run", store=ingest(part, tmp_path / "part", workers=1).path)
    measured = {other.store.recording_names[k] for k in other.store.recording[other.split.validation]}
    assert set(other.learned_before) == measured
    assert measured
    reseeded = ingest(replace(part, settings={"seed": 1}), tmp_path / "reseeded", workers=1)
    assert open_run(tmp_path / "run", store=reseeded.path).learned_before == ()


@pytest.mark.parametrize("method", ["equiv", "drlim"])
def test_too_few_validation_pairs_are_told_before_training(
    small_store: FrameStore, tmp_path: Path, method: str
) -> None:
    def notes(name: str, **changes: Any) -> list[str]:
        said: list[str] = []
        settings = {"data": str(small_store.path), **FEW, "method": method, "encoder": "norb", **changes}
        run_training(make_config(settings), tmp_path / name, on_note=said.append)
        return [line for line in said if line.startswith("warning: rho")]

    # Three validation recordings of 3 x 8 poses have 48 pairs of one step up and 72 of one to the right.
    (line,) = notes("few")
    assert "\n" not in line
    assert "at most 72 of 'right', and it takes 84: ingest more" in line  # 4 x (20 + 1)
    assert "lower train_fraction (now 0.67), or choose another split by --set split=KIND (now by-recording)" in line
    assert notes("narrow", encoder_settings={"hidden_units": 16}) == []  # 4 x (16 + 1) = 68


def test_rho_is_undefined_where_it_was_told(small_store: FrameStore, tmp_path: Path) -> None:
    from egoequiv.experiments import measure_run

    for units, is_defined in ((20, False), (16, True)):
        settings = {**FEW, "encoder": "norb", "encoder_settings": {"hidden_units": units}}
        run = train(small_store.path, tmp_path / f"{units}", **{**settings, "method": "random"})
        (found,) = measure_run(run.path, ["equivariance"])
        rho = found.value("rho_right")
        assert rho is not None
        assert np.isfinite(rho.value) == is_defined


def test_a_store_of_a_log_is_learned_from_as_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "MANY_FRAMES", 50)
    poses = np.tile(np.eye(4), (120, 1, 1))  # of a hand-held camera
    poses[:, :3, :3] = Rotation.random(120, 0).as_matrix()
    poses[:, :3, 3] = np.random.default_rng(0).normal(size=(120, 3))
    tum.write(tmp_path / "desk", poses)
    store = ingest(open_source("tum", tmp_path / "desk"), tmp_path / "store", size=(16, 16), workers=1)
    as_log = settings_for({"data": str(store.path)}, is_log=True)
    assert settings_for({"data": str(store.path)}) == as_log
    assert {name: as_log[name][0] for name in ("clusters", "keep", "keep_from")} == {
        "clusters": 12,
        "keep": 8,
        "keep_from": "both",
    }
    named = settings_for({"data": str(store.path), "method": "recording+motion"})
    assert {name: named[name][0] for name in ("clusters", "keep", "keep_from", "iterations")} == {
        name: as_log[name][0] for name in ("clusters", "keep", "keep_from", "iterations")
    }
    assert settings_for({"data": str(store.path), "method": "equiv"}) == {}


def test_the_labels_of_a_log_are_learned_from_only_if_that_is_said(drives: FrameStore, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(drives.path, tmp_path / "store"))
    meta = json.loads((copy / "store.json").read_text())
    assert "use_labels" not in settings_for({"data": str(copy)})
    (copy / "store.json").write_text(json.dumps({**meta, "source": "table"}))
    for is_log in (False, True):
        value, why = settings_for({"data": str(copy)}, is_log)["use_labels"]
        assert value is False
        assert "--set use_labels=true takes those of the log" in why


def test_classes_decide_the_split_only_where_they_are_learned(tmp_path: Path) -> None:
    drive = make_drive(0)
    few = ["stop"] * 2 + ["go"] * (len(drive) - 2)  # a class of two frames, which are in one block of time
    source = Source("drive", PlanarSpace(), [replace(drive, labels=few)], pose_names=DRIVING_POSES)
    store = ingest(source, tmp_path / "store", workers=1)
    assert settled(store)["split"] == "paper"
    for more in ({"use_labels": False}, {"method": "recording+motion", "use_labels": False}):
        assert settled(store, **more, holdout_fraction=0.25)["split"] == "by-time"
        assert settled(store, **more, holdout_fraction=0.25)["holdout_split"] == "by-time"
