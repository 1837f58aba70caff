"""The task `probe`: classes and numbers from few labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.few_labels import NumberTarget, class_answers
from egoequiv.evaluation.probe_task import probe
from egoequiv.evaluation.task import Finding, TaskData, TaskOptions, silent
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pairs import Split, make_split
from egoequiv.store import FrameStore
from egoequiv.training.data import Recognition
from evaluation.task_worlds import FRAMES, MadeData, turning_world

RECORDINGS, DIM = 20, 100
FEW = TaskOptions(per_class=(4, 8), draws=3, labelled_frames=30)


def world(seed: int = 0) -> MadeData:
    """Two classes of recordings. Features say the class in the first half of them and the elevation in the second."""
    store, z = turning_world(RECORDINGS)
    store = replace(store, pose_columns={"elevation_deg": store.poses[:, 0]})
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(len(store), DIM))
    features[:, :20] += 8 * store.labels[:, None]
    features[:, 60:80] += 8 * z[:, 2:3]
    held = np.arange(RECORDINGS // 2 * FRAMES, len(store))
    train = np.setdiff1d(np.arange(len(store)), held)
    net = EgoNet(NetSpec("norb", (1, 1, 1), parts={"invariant": 50, "equivariant": 50}))
    data = MadeData(net, store, Split(train, held, "by-recording"), None, made=features.astype(np.float32))
    data.__dict__["untrained_features"] = rng.normal(size=(len(store), DIM)).astype(np.float32)
    return data


def numbers(found: Finding) -> dict[str, float]:
    return {value.name: value.value for value in found.values}


def test_answers_against_an_independent_computation() -> None:
    rng = np.random.default_rng(0)
    labelled, asked = rng.normal(size=(30, 6)), rng.normal(size=(50, 6))
    classes = np.arange(30) % 3
    found = class_answers(labelled, classes, asked, 3)
    assert list(found) == ["linear", "5-NN", "1-NN"]
    linear = LogisticRegression(C=1.0, max_iter=9_999).fit(labelled, classes)
    np.testing.assert_array_equal(found["linear"], linear.predict(asked))
    nearest = KNeighborsClassifier(1, metric="cosine").fit(labelled, classes)
    np.testing.assert_array_equal(found["1-NN"], nearest.predict(asked))
    by_cosine = np.argsort(-(labelled @ asked.T) / np.linalg.norm(labelled, axis=1)[:, None], axis=0)[:5].T
    counts = np.stack([(classes[by_cosine] == k).sum(axis=1) for k in range(3)], axis=1)
    clear = np.sort(counts, axis=1)[:, -1] > np.sort(counts, axis=1)[:, -2]
    assert clear.sum() > 20
    np.testing.assert_array_equal(found["5-NN"][clear], counts.argmax(axis=1)[clear])
    assert list(class_answers(labelled[:3], classes[:3], asked, 3)) == ["linear", "1-NN"]


def test_nearest_by_the_angle_by_hand() -> None:
    labelled, asked = np.array([[1.0, 0.1], [0.0, 9.0]]), np.array([[50.0, 40.0], [1.0, 8.0], [0.0, 0.0]])
    assert class_answers(labelled, np.array([0, 1]), asked, 2)["1-NN"].tolist()[:2] == [0, 1]


def test_classes_are_found_in_the_part_that_says_them() -> None:
    data = world()
    finding = probe(data, FEW, silent)
    found = numbers(finding)
    assert found["probe_8"] > 90
    assert found["probe_8 (invariant)"] > 95
    assert 30 < found["probe_8 (equivariant)"] < 70
    assert found["knn5_4 (invariant)"] > 90 > found["knn5_4 (equivariant)"]
    value = finding.values[0]
    assert (value.name, value.baselines["chance"]) == ("probe_4", 50.0)
    assert 30 < value.baselines["untrained"] < 70
    assert value.interval[0] <= value.value <= value.interval[1]
    assert value.baselines["pixels"] == 50.0  # they are all black


def test_one_part_is_measured_if_it_is_asked_for() -> None:
    data = world()
    part = TaskData(data.net, data.store, data.split, None, part="invariant")
    part.__dict__["features"] = data.features[:, :50]
    part.__dict__["untrained_features"] = None
    found = probe(part, FEW, silent)
    assert numbers(found)["probe_8"] == numbers(probe(data, FEW, silent))["probe_8 (invariant)"]
    assert {row["part"] for row in found.details["rows"]} == {"invariant"}


def test_the_same_labels_are_drawn_again_and_others_by_another_seed() -> None:
    few = replace(FEW, label_column="elevation_deg")  # whose figure no two draws have in common
    first, again, other = (numbers(probe(world(), replace(few, seed=seed), silent)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_the_mean_is_over_draws() -> None:
    found = probe(world(), FEW, silent)
    for row in found.details["rows"]:
        assert len(row["draws"]) == 3
        assert numbers(found)[row["metric"]] == pytest.approx(np.mean(row["draws"]))


def test_more_labels_than_a_class_has_are_left_out_and_it_is_said() -> None:
    found = probe(world(), replace(FEW, per_class=(8, 500)), silent)
    assert "probe_500" not in numbers(found)
    assert any("500 labels a class: class" in note for note in found.tables[0].notes)
    with pytest.raises(DataError, match=r"has 120 training frames, fewer than the labels of each class \(500\)"):
        probe(world(), replace(FEW, per_class=(500,)), silent)


def test_a_number_is_found_in_the_part_that_says_it() -> None:
    data = world()
    found = probe(data, replace(FEW, label_column="elevation_deg"), silent)
    named = numbers(found)
    assert list(named) == [f"R2 of elevation_deg, 30 labels{part}" for part in ("", " (invariant)", " (equivariant)")]
    whole, without, with_it = named.values()
    assert with_it > 0.8
    assert whole > 0.5 > 0.2 > without
    assert found.values[0].baselines["untrained"] < 0.2
    assert found.values[0].metric.baselines == {"mean": 0.0}


def test_numbers_by_hand() -> None:
    store, _ = turning_world(6)
    asked, truth = np.arange(100), np.arange(len(store), dtype=float)
    target = NumberTarget(store, asked, "speed", truth, (np.arange(100, 140),), 0)
    rng = np.random.default_rng(0)
    guesses = truth[asked] + rng.normal(size=(2, 100))
    scores = (guesses - truth[asked]) ** 2
    by_hand = np.mean([r2_score(truth[asked], guess) for guess in guesses])
    assert target.figure(scores) == pytest.approx(by_hand)
    exact = target.read(lambda rows: np.stack([truth[rows], -truth[rows]], axis=1))
    (scores,) = exact.values()
    assert target.figure(scores) > 0.99


def test_labels_of_another_store_are_probed_there(small_store: FrameStore) -> None:
    net = EgoNet(NetSpec("norb", small_store.image_shape, (), ("a",)))
    initialise(net, torch.Generator().manual_seed(0))
    split = make_split(small_store, "by-recording")
    task = Recognition(small_store, *small_store.classes(), split)
    moving, _ = turning_world(2)
    data = TaskData(net, moving, Split(np.arange(24), np.arange(24, 48), "made"), None, recognition=task)
    found = probe(data, replace(FEW, per_class=(2,)), silent)
    assert found.measured_on is task
    assert "pixels" in found.values[0].baselines
    assert found.tables[0].columns[-1] == "pixels"
    truth = np.arange(len(moving), dtype=float)
    own = replace(data, store=replace(moving, numbers={"speed": truth}, label_notes=("labels.csv",)))
    own.__dict__["features"] = np.stack([truth, truth], axis=1).astype(np.float32)
    told = probe(own, replace(FEW, labelled_frames=20), silent)  # a table that is given comes first
    assert [value.name for value in told.values] == ["R2 of speed, 20 labels"]
    assert told.measured_on is None


def refused(data: TaskData, words: str, kind: type[Exception] = DataError, **options: object) -> None:
    with pytest.raises(kind, match=words):
        probe(data, replace(FEW, **options), silent)  # type: ignore[arg-type]


def test_what_cannot_be_probed_is_one_line() -> None:
    data = world()
    refused(data, "has no such column; choose from label, elevation_deg", ConfigError, label_column="colour")
    everything = replace(data, split=Split(np.arange(9), np.arange(9), "all"))
    refused(everything, "measure on a split store")
    few = replace(data, split=Split(np.arange(240), np.arange(240, 245), "made"))
    refused(few, "240 training and 5 validation frames have a value", label_column="elevation_deg")
    one = replace(data, store=replace(data.store, labels=np.zeros(len(data.store), np.int64)))
    refused(one, "240 validation frames of 1 classes cannot be probed")
    for wrong in ({"draws": 0}, {"per_class": ()}, {"per_class": (0,)}, {"labelled_frames": 0}):
        with pytest.raises(ConfigError, match="must be 1 or more"):
            TaskOptions(**wrong)  # type: ignore[arg-type]


def test_features_that_are_not_finite_are_refused() -> None:
    data = world()
    broken: NDArray[np.float32] = data.features.copy()
    broken[7, 3] = np.nan
    refused(replace(data, made=broken), "the network has diverged")
