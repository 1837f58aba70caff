"""A few labels, read from features."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, r2_score

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.evaluation.label_probe import label_findings
from egoequiv.evaluation.statistics import group_r2, group_rms
from egoequiv.evaluation.task import TaskData
from egoequiv.pairs import Split
from egoequiv.store import FrameStore, ingest
from logs.table import write_csv, write_pictures

RECORDINGS, FRAMES = 8, 20


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    folder = tmp_path_factory.mktemp("labels")
    files = [f"r{r}/{r}_{k}.png" for r in range(RECORDINGS) for k in range(FRAMES)]
    write_pictures(folder / "log", files, (8, 8))
    write_csv(folder / "log" / "log.csv", {"file": files, "steering": range(len(files))})
    return ingest(open_source("table", folder / "log"), folder / "store", progress=False)


def task_data(store: FrameStore, features: Any, untrained: Any = None) -> TaskData:
    rows = np.arange(len(store))
    trained = store.recording < RECORDINGS // 2 - 1
    data = TaskData(net=None, store=store, split=Split(rows[trained], rows[~trained], "by-recording"), patterns=None)  # type: ignore[arg-type]
    data.__dict__["features"] = np.asarray(features, np.float32)
    data.__dict__["untrained_features"] = None if untrained is None else np.asarray(untrained, np.float32)
    return data


def test_figures_by_hand_and_against_an_independent_computation() -> None:
    groups = np.array([0, 1])
    assert group_r2(np.array([0.0, 2.0]), np.array([1.0, 1.0]), groups).value == pytest.approx(0.0)
    assert group_rms(np.array([1.0, 1.0]), groups).value == pytest.approx(1.0)
    random = np.random.default_rng(0)
    true, guess, groups = 1e6 + random.normal(size=60), 1e6 + random.normal(size=60), np.repeat(np.arange(6), 10)
    found = group_r2(true, (true - guess) ** 2, groups)
    r2, interval = found.value, found.interval()
    assert r2 == pytest.approx(r2_score(true, guess))
    assert interval[0] < r2 < interval[1]
    assert group_rms((true - guess) ** 2, groups).value == pytest.approx(mean_squared_error(true, guess) ** 0.5)


def test_numbers_are_read_where_features_hold_them(store: FrameStore) -> None:
    random = np.random.default_rng(0)
    numbers = random.normal(size=len(store))
    numbers[::7] = np.nan
    view = replace(store, numbers={"distance": numbers}, label_notes=("labels.csv: 1 row",))
    features = random.normal(size=(len(store), 5))
    untrained = features.copy()
    features[:, 2] = 3 - 2 * np.nan_to_num(numbers)
    found = label_findings(task_data(view, features, untrained), 0)
    assert found is not None
    r2, error = found.values
    assert (r2.metric.name, error.metric.name) == ("R2 of distance", "rms error of distance")
    assert r2.value > 0.99
    assert error.value < 0.1
    assert error.metric.better == "lower"
    assert r2.interval[0] <= r2.value <= r2.interval[1]
    assert set(r2.baselines) == {"pixels", "untrained", "mean"}
    assert r2.baselines["untrained"] < 0.2
    assert r2.baselines["mean"] == pytest.approx(0.0, abs=0.1)
    assert error.baselines["mean"] == pytest.approx(float(np.nanstd(numbers)), rel=0.2)
    assert "labels.csv: 1 row" in found.notes
    assert any("over 5 recordings" in note for note in found.notes)


def test_labels_of_validation_frames_do_not_reach_the_probe(store: FrameStore) -> None:
    """Numbers that features hold in validation frames alone cannot be read."""
    random = np.random.default_rng(1)
    numbers = random.normal(size=len(store))
    features = random.normal(size=(len(store), 5))
    held = store.recording >= RECORDINGS // 2 - 1
    features[held, 0] = numbers[held]
    view = replace(store, numbers={"distance": numbers}, label_notes=("-",))
    found = label_findings(task_data(view, features), 0)
    assert found is not None
    assert found.values[0].value < 0.3


def test_classes_of_a_table_are_read_too(store: FrameStore) -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, len(store))
    view = replace(store, labels=labels, class_names=("a", "b", "c"), label_notes=("-",))
    found = label_findings(task_data(view, np.eye(3)[labels] + 0.1 * random.normal(size=(len(store), 3))), 0)
    assert found is not None
    (accuracy,) = found.values
    assert accuracy.value > 95
    assert accuracy.baselines["most frequent class"] < 50


def test_without_a_table_nothing_is_read_and_too_few_labels_are_refused(store: FrameStore) -> None:
    assert label_findings(task_data(store, np.zeros((len(store), 2))), 0) is None
    numbers = np.full(len(store), np.nan)
    numbers[:5] = 1.0
    view = replace(store, numbers={"distance": numbers}, label_notes=("-",))
    with pytest.raises(DataError, match="5 of 60 training frames have a label, at least 10 are needed"):
        label_findings(task_data(view, np.zeros((len(store), 2))), 0)
