"""Runs of the methods that learn from clips and views: what they read, save, refuse, and share with other runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.method_names import get_method
from egoequiv.methods import METHODS, MODERN
from egoequiv.pose import NoMotion, PlanarSpace, SE3Space
from egoequiv.sources import Recording, Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, train
from egoequiv.training.defaults import settings_for
from egoequiv.training.light import light_at
from egoequiv.training.network import build_net, motion_scale
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.search import GreedySearch
from egoequiv.training.stacked_runs import stack_key
from egoequiv.training.streams import Stream, prepare_data
from egoequiv.training.validation import CHUNK, validation_rows
from helpers import GridRecording, bare_store, grid_recording
from training.test_photographs import Photographs, ring

FILES = ("last.safetensors", "best.safetensors", "metrics.jsonl", "model.json", "result.json")
TINY: dict[str, Any] = {"iterations": 6, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "threads": 1}
TINY |= {"per_class": 3, "batch_size": 8, "split": "by-recording", "encoder": "norb"}
WITH_TIMES = ("place+motion+coming",)  # learns what comes next; these frames have no times
OBJECTIVES = [name for name, method in METHODS.items() if method.defaults and name not in WITH_TIMES]


def config_of(store: FrameStore, **settings: Any) -> Any:
    return make_config({"data": str(store.path), **TINY, **settings})


def interrupt(metrics: dict[str, float]) -> None:
    if metrics["iteration"] == 4:
        raise KeyboardInterrupt


@pytest.mark.parametrize(("method", "encoder"), [(m, "norb") for m in OBJECTIVES] + [("recording+motion", "residual")])
def test_an_interrupted_run_resumes_to_the_same_bytes(
    small_store: FrameStore, tmp_path: Path, method: str, encoder: str
) -> None:
    moves = "shift+mirror" if encoder == "residual" else "none"
    settings = {**TINY, "method": method, "encoder": encoder, "augment_labelled": moves}
    whole = train(small_store.path, tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt):
        train(small_store.path, tmp_path / "cut", on_metrics=interrupt, **settings)
    assert RunFolder(tmp_path / "cut").result is None
    resumed = train(small_store.path, tmp_path / "cut", resume=True, **settings)
    for name in FILES:
        assert (whole.path / name).read_bytes() == (resumed.path / name).read_bytes(), name
    before = build_net(config_of(small_store, method=method, encoder=encoder), prepare_data(whole.config))
    after = dict(whole.model().named_parameters())
    for name, parameter in before.named_parameters():
        assert not torch.equal(parameter, after[name]), f"{name} has learned nothing"


def test_halves_with_stages_of_their_own_are_the_parts(small_store: FrameStore, tmp_path: Path) -> None:
    own = {**TINY, "encoder": "residual", "iterations": 2, "method": "recording+motion"}
    own["encoder_settings"] = {"own_stages": 2, "width": 8, "feature_dim": 16}
    run = train(small_store.path, tmp_path / "run", **own)
    assert run.model().spec.parts == {"invariant": 8, "equivariant": 8}
    with pytest.raises(
        ConfigError,
        match=r"^encoder residual makes parts of 8 and 8 .* equivariant_share=0.25 asks for 12 and 4",
    ):
        train(small_store.path, tmp_path / "uneven", equivariant_share=0.25, **own)
    assert not (tmp_path / "uneven").exists()


def test_another_seed_gives_other_changes_of_light(small_store: FrameStore) -> None:
    images = torch.zeros(2, 4, 4, 1)

    def changed(iteration: int, rank: int = 0, **settings: Any) -> torch.Tensor:
        change = light_at(config_of(small_store, method="recording", **settings), iteration, rank)
        assert change is not None
        return change(images)

    assert torch.equal(changed(3), changed(3))
    others = [changed(4), changed(3, rank=1), changed(3, seed=1), changed(3, pair_seed=1)]
    assert not any(torch.equal(changed(3), other) for other in others)
    assert light_at(config_of(small_store, method="recording", augment="none"), 3) is None


def test_methods_have_their_settings_and_those_that_are_given(small_store: FrameStore) -> None:
    config = make_config({"data": str(small_store.path), "method": "recording+motion", "learning_rate": 0.5})
    assert config.learning_rate == 0.5
    for name in set(MODERN) - {"learning_rate"}:
        assert getattr(config, name) == MODERN[name]
    assert make_config({"data": "x", "method": "equiv"}).encoder == "auto"
    # A sum has the settings of its parts.
    assert get_method("clsnet+recording").defaults == MODERN
    assert not get_method("equiv+drlim").defaults
    assert not get_method("drlim+equivariance").defaults


def test_rows_of_validation_clips_are_spread_over_all_clips() -> None:
    store = bare_store(np.zeros((1, 2)), [0])
    clip = np.repeat(3 * np.arange(30), 40)
    stream = Stream(store, np.arange(1200), np.arange(1200), clip)
    rows = validation_rows({"clip": stream, "view": stream})
    assert sorted(rows["clip"]) == list(range(1200)) == rows["view"].tolist()
    for start in range(0, 1200, CHUNK):
        counts = np.unique(clip[rows["clip"][start : start + CHUNK]], return_counts=True)[1]
        assert len(counts) >= 25  # the last chunk is smaller
        assert counts.max() <= 2 * 8


def test_the_scale_of_motions_by_hand() -> None:
    motion = np.array([[3.0, 0.0], [-4.0, 0.0]], np.float32)
    assert motion_scale(PlanarSpace(), motion) == pytest.approx([np.sqrt(12.5), inf])
    space = SE3Space()
    parts = [list(own) if not isinstance(own, slice) else list(range(6))[own] for own in space.scales]
    assert sorted(index for own in parts for index in own) == list(range(6))
    sizes = motion_scale(space, np.array([[1.0, 2.0, 2.0, 0.0, 0.0, 0.0]], np.float32))
    assert sizes[:3] == pytest.approx([np.sqrt(3)] * 3)
    assert sizes[3:] == [inf] * 3


def test_maps_know_the_size_of_motions_and_keep_it(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="motion", **{**TINY, "iterations": 2})
    data = prepare_data(run.config)
    motion = data.train["clip"].motion
    assert motion is not None
    maps = run.model().motion_maps
    assert maps is not None
    assert maps.scale.tolist() == pytest.approx(motion_scale(small_store.space, motion))
    # Steps of 10 and of 60 degrees, about as many along each axis.
    assert maps.scale.tolist() == pytest.approx([10 * np.sqrt(1 / 2), 60 * np.sqrt(1 / 2)], rel=0.25)


PAPER = ("clsnet", "temporal", "drlim", "equiv", "equiv+drlim")


@pytest.mark.parametrize("method", PAPER)
def test_the_methods_of_the_paper_train_with_the_newer_network(
    small_store: FrameStore, tmp_path: Path, method: str
) -> None:
    settings = {**MODERN, **TINY, "encoder": "residual", "iterations": 2}
    run = train(small_store.path, tmp_path / "run", method=method, **settings)
    assert run.config.augment == "light"
    (line,) = RunFolder(run.path).metrics()
    assert all(np.isfinite(value) for value in line.values())


def test_the_ceiling_learns_from_all_labels(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="supervised", **{**TINY, "iterations": 2})
    assert run.result["training_rows"] == {"labelled": run.result["train_frames"]}
    few = train(small_store.path, tmp_path / "few", method="supervised", all_labels=False, **{**TINY, "iterations": 2})
    assert few.result["training_rows"] == {"labelled": 9}


# --- stacks and searches


@pytest.mark.parametrize("method", OBJECTIVES)
def test_runs_that_a_stack_cannot_hold_are_trained_one_by_one(small_store: FrameStore, method: str) -> None:
    assert stack_key(config_of(small_store, method=method)) is None
    if method != "supervised":  # clips, views and layers are in no stack
        sgd = {"optimizer": "sgd", "augment": "none" if "view" not in METHODS[method].streams else "light"}
        assert stack_key(config_of(small_store, method=method, **sgd)) is None
    assert stack_key(config_of(small_store, method="equiv", normalise="image")) is not None
    assert stack_key(config_of(small_store, method="equiv", augment="light")) is None
    assert stack_key(config_of(small_store, method="equiv", augment_labelled="shift+mirror")) is None


def test_a_search_trains_a_method_with_its_own_settings(small_store: FrameStore, tmp_path: Path) -> None:
    base = {"data": str(small_store.path), **TINY, "iterations": 2, "split": "auto"}
    del base["encoder"]
    search = GreedySearch(base, tmp_path, (0.01, 0.1), (0.5, 2.0), range(1), range(1), LocalEngine(1))
    selection = search.run(["recording", "drlim"])
    runs = {path.name: RunFolder(path).config() for path in tmp_path.iterdir() if path.is_dir()}
    own = [config for name, config in runs.items() if name.startswith("recording,")]
    assert len(own) == 2
    for config in own:
        assert (config.encoder, config.optimizer, config.learning_rate) == ("residual", "adamw", 2e-3)
        assert config.split != "auto"
    assert {c.encoder for name, c in runs.items() if name.startswith(("clsnet", "drlim"))} == {"norb"}
    assert selection.settings("recording")["learning_rate"] == 2e-3
    assert selection.settings("drlim")["learning_rate"] == selection.learning_rate


# --- stores that lack something


@dataclass(frozen=True, eq=False)
class Bare(Recording):
    """The pictures of another recording, without its poses."""

    of: GridRecording
    times_s: NDArray[np.float64] | None = None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.of.name

    @property
    def poses(self) -> NDArray[np.float64]:  # type: ignore[override]
        return np.empty((len(self.of.poses), 0))

    def image(self, frame: int) -> NDArray[np.uint8]:
        return self.of.image(frame)


def bare(path: Path, recordings: int = 6, rate_hz: float | None = None) -> FrameStore:
    """Pictures as a folder gives them, or frames of a video: no poses and no grid."""
    every = [grid_recording(k % 3, k // 3) for k in range(recordings)]
    times = None if rate_hz is None else np.arange(len(every[0].poses)) / rate_hz
    labels = [recording.labels for recording in every]
    source = [Bare(r, times, own) for r, own in zip(every, labels, strict=True)]
    return ingest(Source("pictures", NoMotion(), source), path, workers=1)


@pytest.mark.parametrize("rate_hz", [None, 5.0])
def test_without_poses_clips_can_be_told_apart_but_no_motion_learned(tmp_path: Path, rate_hz: float | None) -> None:
    store = bare(tmp_path / "store", rate_hz=rate_hz)
    run = train(store.path, tmp_path / "run", method="recording", **TINY)
    assert np.isfinite(RunFolder(run.path).metrics()[-1]["validation_recording"])
    for method in ("motion", "recording+motion"):
        with pytest.raises(DataError) as caught:
            train(store.path, tmp_path / "other", method=method, **TINY)
        message = str(caught.value)
        assert "\n" not in message
        assert f"has no poses, and method {method!r} learns how the camera moved" in message
        assert "clsnet" in message
        assert "recording" in message.partition("needs none:")[2]
        assert "motion" not in message.partition("needs none:")[2]
    assert not (tmp_path / "other").exists()


def test_one_clip_alone_is_refused_where_clips_are_told_apart(tmp_path: Path) -> None:
    store = bare(tmp_path / "store", recordings=1)
    settings = {**TINY, "split": "paper", "use_labels": False}
    with pytest.raises(DataError, match="'recording' tells clips apart, and all training pairs are of one clip"):
        train(store.path, tmp_path / "run", method="recording", **settings)
    video = bare(tmp_path / "video", recordings=1, rate_hz=5.0)  # 4.8 s
    with pytest.raises(DataError, match=r"lower clip_s \(now 3\)"):
        train(video.path, tmp_path / "run", method="recording", clip_s=3.0, **settings)
    train(video.path, tmp_path / "run", method="recording", clip_s=1.0, **settings)


def test_views_without_changes_are_refused(small_store: FrameStore) -> None:
    for name, method in METHODS.items():
        if "view" in method.streams:
            with pytest.raises(ConfigError, match="set augment=light"):
                config_of(small_store, method=name, augment="none")


def test_photographs_round_a_thing_without_times_and_grid(tmp_path: Path) -> None:
    """Poses in space; pairs are those near in order."""
    things = [Photographs(f"thing-{k}", ring(24)) for k in range(4)]
    store = ingest(Source("photographs", SE3Space(), things), tmp_path / "store", workers=1)
    run = train(store.path, tmp_path / "run", method="recording+motion", **TINY, use_labels=False)
    data = prepare_data(run.config)
    clips = data.train["clip"]
    assert clips.motion is not None
    assert clips.motion.shape == (len(clips), 6)
    assert len(set(clips.target)) == len(set(store.recording[data.split.train]))
    assert np.isfinite(RunFolder(run.path).metrics()[-1]["validation_motion"])


# --- sums with parts, and what is chosen by the data


def test_the_longest_known_name_of_a_sum_is_one_method() -> None:
    terms = {term.name: term for term in get_method("recording+motion+gaussian").terms}
    assert [terms[name].part for name in ("recording", "motion", "gaussian")] == ["invariant", "all", "all"]
    assert {"recording", "motion", "slowness"} <= {term.name for term in get_method("drlim+recording+motion").terms}


@pytest.mark.parametrize("method", ["sie+motion", "recording+motion+prediction", "recording+motion+null"])
def test_losses_on_maps_look_at_the_part_that_is_mapped(small_store: FrameStore, tmp_path: Path, method: str) -> None:
    run = train(small_store.path, tmp_path / "run", **{**TINY, "method": method, "use_labels": False})
    net = run.model()
    assert net.mapped_part == "equivariant"
    assert net.motion_maps is not None
    assert net.motion_maps.feature_dim == net.spec.parts["equivariant"]


@pytest.mark.parametrize("method", ["sie+equiv", "recording+motion+equiv+views"])
def test_maps_of_patterns_beside_parts_are_refused(small_store: FrameStore, tmp_path: Path, method: str) -> None:
    with pytest.raises(ConfigError, match="maps all features, and another loss divides them into parts"):
        train(small_store.path, tmp_path / "run", **{**TINY, "method": method})
    assert not (tmp_path / "run").exists()


def test_one_feature_has_no_two_parts(small_store: FrameStore, tmp_path: Path) -> None:
    settings = {**TINY, "method": "recording+motion", "encoder_settings": {"feature_dim": 1}}
    with pytest.raises(ConfigError, match=r"encoder.feature_dim=1 gives one: choose 2 or more"):
        train(small_store.path, tmp_path / "run", **settings)


def chosen_for(store: FrameStore, **given: Any) -> dict[str, Any]:
    return {name: value for name, (value, _) in settings_for({"data": str(store.path), **given}).items()}


def test_the_method_follows_the_frames(small_store: FrameStore, tmp_path: Path) -> None:
    assert chosen_for(small_store)["method"] == "recording+motion"
    assert "use_labels" not in chosen_for(small_store)
    assert chosen_for(small_store, method="equiv") == {}
    one = Source("one", small_store.space, [grid_recording(0, 0)])
    alone = ingest(one, tmp_path / "one", workers=1)
    assert chosen_for(alone)["method"] == "motion"
    assert chosen_for(alone)["use_labels"] is False


def test_a_method_that_is_named_is_trained_as_if_it_were_chosen(small_store: FrameStore) -> None:
    named = chosen_for(small_store, method="recording+motion")
    assert named == {key: value for key, value in chosen_for(small_store).items() if key != "method"}
    assert named["iterations"] == 300


def test_labels_are_left_out_where_a_class_has_too_few(small_store: FrameStore) -> None:
    assert chosen_for(small_store, per_class=10_000)["use_labels"] is False


def test_recordings_that_share_a_map_are_one_clip_of_a_grid(small_store: FrameStore, tmp_path: Path) -> None:
    settings = {"method": "recording+motion", "use_labels": False, "split": "paper", "pairs_across": "shape"}
    clip = prepare_data(config_of(small_store, **settings)).train["clip"]
    assert clip.j is not None
    shape, recording = small_store.attributes["shape"], small_store.recording
    assert (shape[clip.i] == shape[clip.j]).all()
    assert 0.3 < (recording[clip.i] != recording[clip.j]).mean() < 0.7  # two recordings of each shape
    photographs = Source("photographs", SE3Space(), [Photographs("thing", ring(24))])
    store = ingest(photographs, tmp_path / "store", workers=1)
    with pytest.raises(ConfigError, match="is for grids of poses"):
        prepare_data(config_of(store, **settings))
