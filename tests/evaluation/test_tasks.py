"""Every task on small worlds: a grid with pictures and labels, and a track of video with mined patterns."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed, measure_equivariance, motions, nearest_pixel_accuracy
from egoequiv.evaluation import task as task_module
from egoequiv.evaluation.measurement import Measurement, Subject, read_measurement, write_measurement
from egoequiv.evaluation.task import Finding, TaskData, TaskOptions, digest, silent
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pairs import MotionPairs, Split, atomic_names, composite_names, declare_patterns, mine_patterns
from egoequiv.pose import PlanarSpace
from egoequiv.report.figures.tasks import DRAWN, draw
from egoequiv.store import FrameStore
from egoequiv.training.data import Recognition
from helpers import bare_store

OPTIONS = TaskOptions(neighbours=5)


def some_net(
    shape: tuple[int, int, int], seed: int, classes: tuple[str, ...] = (), patterns: tuple[str, ...] = ()
) -> EgoNet:
    net = EgoNet(NetSpec("norb", shape, patterns, classes, motion_maps="generators", motion_dim=2))
    initialise(net, torch.Generator().manual_seed(seed))
    net.set_normalisation([100.0], [50.0])
    return net


@pytest.fixture(scope="module")
def grid_data(small_store: FrameStore) -> TaskData:
    split = Split(np.arange(96), np.arange(144), "all are measured")
    classes, names = small_store.classes()
    learned = atomic_names(small_store.space)
    return TaskData(
        net=some_net(small_store.image_shape, 0, names, learned),
        store=small_store,
        split=split,
        patterns=declare_patterns(small_store.space, learned + composite_names(small_store.space)),
        untrained=some_net(small_store.image_shape, 1),
        recognition=Recognition(small_store, classes, names, split),
        learned=learned,
        labelled=np.arange(0, 144, 12),
    )


@pytest.fixture(scope="module")
def track_data() -> TaskData:
    rng = np.random.default_rng(0)
    recording = np.repeat(np.arange(6), 60)
    turns = np.cumsum(rng.choice([-4.0, 0.0, 4.0], 360))
    store = bare_store(
        np.stack([np.cumsum(rng.uniform(0.5, 2, 360)), turns], axis=1),
        recording.tolist(),
        times_s=(np.arange(360) / 4).tolist(),
        space=PlanarSpace(),
        labels=(recording % 2).tolist(),
    )
    images = rng.integers(0, 256, (360, 6, 6, 1), np.uint8)
    store = replace(store, images=images, frame=np.tile(np.arange(60), 6))
    mining = mine_patterns(store, np.arange(360), clusters=4, keep=3)
    split = Split(np.arange(180), np.arange(360), "all are measured")
    return TaskData(some_net((6, 6, 1), 0), store, split, mining.patterns)


@pytest.fixture(scope="module")
def found(grid_data: TaskData, track_data: TaskData) -> dict[tuple[str, str], Finding]:
    findings = {}
    for world, data in (("grid", grid_data), ("track", track_data)):
        for name, task in TASKS.items():
            if (world, name) in (
                ("track", "recognition"),
                ("track", "plan"),
                ("grid", "log"),
            ):  # without labels; not on a grid; on a grid
                continue
            measured = data
            if name == "probe":  # never on frames that it was fitted on
                every = np.arange(len(data.store))
                measured = replace(data, split=Split(every[::2], every[1::2], "halves"))
            if name == "plan":  # in other recordings than those that settings are chosen on
                first = data.store.recording % 2 == 0
                measured = replace(data, split=Split(np.flatnonzero(first), np.flatnonzero(~first), "halves"))
            options = OPTIONS
            if name == "places":  # of two recordings, which have to be named if there are more
                reference, query, *_ = data.store.recording_names
                options = replace(OPTIONS, reference=reference, query=query, tolerance="2")
            findings[world, name] = task.measure(measured, options, silent)
    return findings


@pytest.mark.parametrize("name", TASKS)
def test_a_finding_is_kept_and_read_again(name: str, found: dict[tuple[str, str], Finding], tmp_path: Path) -> None:
    for world, task in found:
        if task != name:
            continue
        finding = found[world, name]
        json.dumps(finding.details, allow_nan=False)
        names = [value.name for value in finding.values]
        assert len(set(names)) == len(names)
        assert bool(names) == (name != "motions")
        for value in finding.values:
            assert value.metric.title
            assert value.metric.better != "neither" or value.metric.is_detail
            assert isfinite(value.value) or value.note or value.metric.is_detail
        assert sum(not value.metric.is_detail for value in finding.values) <= 12
        assert all(len(row) == len(table.columns) for table in finding.tables for row in table.rows)
        subject = Subject(task=name, weights="w", data="d", frames="all", code="c")
        measurement = Measurement(
            subject=subject,
            run="run",
            store="store",
            checkpoint="last",
            split="all",
            frames=1,
            recordings=1,
            values=list(finding.values),
            tables=list(finding.tables),
            details=dict(finding.details),
            notes=list(finding.notes),
        ).with_arrays(finding.arrays)
        write_measurement(tmp_path / world, measurement)
        again = read_measurement(tmp_path / world, subject)
        assert again is not None
        assert again.model_dump_json() == measurement.model_dump_json()
        assert {key: array.tolist() for key, array in again.arrays.items()} == {
            key: np.asarray(array).tolist() for key, array in finding.arrays.items()
        } or name == "next-view"  # bits after the end of a walk are not numbers
        assert again.details == json.loads(json.dumps(finding.details))
        figures = draw(again)
        assert bool(figures) == (name in DRAWN)
        for figure in figures.values():
            figure.canvas.draw()


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_what_it_is(name: str) -> None:
    task = TASKS[name]
    assert task.name == name
    assert task.about.endswith((".", "?"))
    assert set(TaskOptions().only(task.options)) == set(task.options)
    assert get_tasks([name]) == {name: task}


def test_linear_algebra_is_on_one_core_while_a_task_measures(grid_data: TaskData) -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    heard: list[set[int]] = []
    with threadpool_limits(2, user_api="blas"):
        TASKS["slowness"].measure(grid_data, OPTIONS, lambda *_: heard.append(threads()))
        assert threads() == {2}
    assert heard
    assert all(found == {1} for found in heard)


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(ConfigError, match="task 'juggling' is not known; choose one of recognition, equivariance"):
        get_tasks(["next-view", "juggling"])


def test_rho_is_that_of_the_library_and_of_the_untrained_network(
    grid_data: TaskData, found: dict[tuple[str, str], Finding]
) -> None:
    values = {value.name: value for value in found["grid", "equivariance"].values}
    names = ("up", "right", "up+right", "up+left", "down+right")
    net, before = (
        measure_equivariance(one, grid_data.store, grid_data.split.validation, names)
        for one in (grid_data.net, grid_data.untrained)
        if one is not None
    )
    for error, untrained in zip(net, before, strict=True):
        value = values[f"rho_{error.motion}"]
        assert value.value == pytest.approx(error.rho)
        assert value.metric.motion == error.motion
        known = {name: one for name, one in value.all_baselines().items() if name != "pixels"}
        assert known == pytest.approx({"copy": 1.0, "constant": error.constant, "untrained": untrained.rho})
        assert value.baselines["pixels"] > 0
        assert values[f"ratio_{error.motion}"].value == pytest.approx(error.ratio_of_means)
    assert next(iter(values)) == "rho_atomic"
    assert values["rho_atomic"].value == pytest.approx((net[0].rho + net[1].rho) / 2)
    assert values["rho_composite"].baselines["untrained"] == pytest.approx(np.mean([e.rho for e in before[2:]]))
    assert values["excluded_pairs"].value == 0


def test_a_motion_without_a_rho_says_why_and_has_no_mean(grid_data: TaskData) -> None:
    few = replace(grid_data, split=Split(np.arange(10), np.arange(24), "few"), shared={})
    finding = TASKS["equivariance"].measure(few, TaskOptions(), silent)
    up, mean = (next(value for value in finding.values if value.name == name) for name in ("rho_up", "rho_atomic"))
    assert not isfinite(up.value)
    assert up.note.startswith("18 pairs are too few")
    assert mean.note == f"up: {up.note}"
    assert f"up: not defined, {up.note}" in finding.notes


def test_recognition_beside_chance_and_pixels(grid_data: TaskData, found: dict[tuple[str, str], Finding]) -> None:
    top1, mean = found["grid", "recognition"].values
    assert (top1.name, mean.name) == ("top1", "top1_class_mean")
    store, labelled = grid_data.store, grid_data.labelled
    assert labelled is not None
    pixels = nearest_pixel_accuracy(store, labelled, np.arange(144), store.labels)
    expected = {"chance": 100 / 3, "most frequent class": 100 / 3, "nearest pixels": 100 * pixels}
    assert top1.baselines == pytest.approx(expected)
    assert top1.interval[0] <= top1.value <= top1.interval[1]
    with pytest.raises(DataError, match="trained without labels"):
        TASKS["recognition"].measure(replace(grid_data, recognition=None), TaskOptions(), silent)


def test_video_has_a_note_on_pairs_that_are_nearly_the_same(found: dict[tuple[str, str], Finding]) -> None:
    assert any("in both halves" in note for note in found["track", "composition"].notes)
    assert any("fitted on one half of the frames" in note for note in found["track", "equivariance"].notes)
    for name in ("equivariance", "composition"):
        assert not any("half" in note or "halves" in note for note in found["grid", name].notes)


def test_motions_are_counted(track_data: TaskData, found: dict[tuple[str, str], Finding]) -> None:
    grid = found["grid", "motions"]
    assert grid.details["mined"] is None
    assert grid.details["learned"] == ["up", "right"]
    assert grid.arrays["motions"].shape == (5, 2)
    mining = mine_patterns(track_data.store, track_data.split.train, clusters=4, keep=3)
    data = replace(track_data, patterns=mining.patterns, shared={})
    track = TASKS["motions"].measure(data, TaskOptions(), silent)
    assert tuple(track.details["pairs"].values()) == mining.counts
    assert track.details["mined"] == {"motions": mining.motions, "kept": 3}
    assert track.details["axes"] == ["forward (m)", "yaw (deg)"]
    sample, cluster = track.arrays["sample"], track.arrays["sample_cluster"]
    assert len(sample) == min(motions.SHOWN, mining.motions)
    np.testing.assert_array_equal(cluster, mining.patterns.assign_cluster(sample))


def test_pairs_are_found_once_for_the_same_frames_and_motions(
    grid_data: TaskData, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    real = task_module.find_motion_pairs

    def count(store: FrameStore, frames: np.ndarray, *rest: object) -> MotionPairs:
        calls.append(len(frames))
        return real(store, frames, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(task_module, "find_motion_pairs", count)
    data = replace(grid_data, shared={})
    for name in ("equivariance", "retrieval", "prediction", "analogy"):
        TASKS[name].measure(data, TaskOptions(), silent)
    other = replace(data, net=some_net(data.store.image_shape, 5))  # another run on the same frames
    TASKS["prediction"].measure(other, TaskOptions(), silent)
    assert calls == [144]
    TASKS["equivariance"].measure(data, TaskOptions(motions=("up",)), silent)
    TASKS["motions"].measure(data, TaskOptions(), silent)  # of training frames
    assert calls == [144, 144, 96]


def test_keys_differ_where_anything_does() -> None:
    parts = [np.arange(3), np.arange(3.0), np.arange(4), np.zeros((2, 3)), np.zeros((3, 2)), "a", ("a",), 1, None]
    assert len({digest(part) for part in parts}) == len(parts)
    assert digest(np.arange(3), "a") == digest(np.arange(3), "a")


def test_what_is_read_from_pixels_is_shared_between_runs(
    grid_data: TaskData, found: dict[tuple[str, str], Finding]
) -> None:
    first = found["grid", "readout"]
    kept = {key[0] for key in grid_data.shared}
    assert {"read-out of pixels", "read pairs", "nearest pixels", "pairs by pixels", "motion pairs"} <= kept
    linear = [value for value in first.values if not value.metric.is_detail]
    assert {name for value in linear for name in value.all_baselines()} == {"mean", "pixels", "untrained"}
    assert any("16 x 16" in note for note in first.tables[0].notes)


def test_options_with_names_of_any_bytes_can_be_kept() -> None:
    options = TaskOptions(reference=os.fsdecode(b"caf\xe9"), per_class=(6, 20))
    assert options.only(["reference", "per_class"]) == {"reference": "caf\\xe9", "per_class": [6, 20]}


def test_runs_that_began_with_the_same_encoder_share_what_is_measured_of_it(
    grid_data: TaskData, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[EgoNet] = []

    def noted(net: EgoNet, store: FrameStore) -> np.ndarray:
        embedded.append(net)
        return embed(net, store)

    monkeypatch.setattr(task_module, "embed", noted)
    first = replace(grid_data, shared={})
    again = replace(first, untrained=some_net(first.store.image_shape, 1, ("another", "head")))
    other = replace(first, untrained=some_net(first.store.image_shape, 2))
    for data in (first, again, other):
        assert data.untrained is not None
        np.testing.assert_array_equal(data.untrained_features, embed(data.untrained, data.store))
    assert embedded == [first.untrained, other.untrained]
    found = [TASKS["readout"].measure(data, OPTIONS, silent).values[0].baselines for data in (first, again, other)]
    assert found[0] == found[1]
    assert found[0]["untrained"] != found[2]["untrained"]
