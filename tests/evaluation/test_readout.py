"""What probes read from features."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from egoequiv.evaluation import readout
from egoequiv.evaluation.probes import LinearProbe
from egoequiv.evaluation.read_targets import Targets
from egoequiv.evaluation.readout import ReadOut, ReadOutResult, read_features, read_out
from egoequiv.evaluation.statistics import group_r2
from egoequiv.pose import NoMotion
from egoequiv.store import FrameStore
from evaluation.grid_features import features_of, grid_store
from helpers import bare_store, data_error


def by_name(rows: tuple[ReadOut, ...], probe: str = "linear", read_from: str = "z") -> dict[str, ReadOut]:
    return {row.quantity: row for row in rows if row.probe == probe and row.read_from == read_from}


def r2_by_group(true: np.ndarray, guess: np.ndarray, groups: np.ndarray) -> tuple[float, tuple[float, float]]:
    found = group_r2(true, (true - guess) ** 2, groups)
    return found.value, found.interval()


def test_r2_by_hand() -> None:
    true, guess = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 5.0])
    r2, interval = r2_by_group(true, guess, np.array([0, 0, 1, 1]))
    assert r2 == pytest.approx(1 - 2 / 14)  # the mean is 3: 4 + 1 + 0 + 9
    assert all(np.isnan(interval))  # of two groups


def test_the_interval_of_r2_covers_what_it_promises() -> None:
    rng = np.random.default_rng(0)
    for count in (5, 20):
        held = 0
        for _ in range(1_000):
            group = np.repeat(np.arange(count), np.ceil(np.exp(rng.normal(3, 0.8, count))).astype(int))
            true = rng.normal(size=count)[group] + rng.normal(size=len(group))
            error = (0.5 * rng.normal(size=count)[group] + rng.normal(size=len(group))) * 0.3
            low, high = r2_by_group(true, true + error, group)[1]
            held += low <= 1 - 0.3**2 * 1.25 / 2 <= high  # the variances that were put in
        assert held >= 930


@given(st.integers(0, 2**32 - 1), st.floats(-1e6, 1e6))
def test_r2_is_that_of_scikit_learn_wherever_the_values_lie(seed: int, offset: float) -> None:
    true, noise = np.random.default_rng(seed).normal(size=(2, 40))
    r2, (low, high) = r2_by_group(true + offset, true + offset + noise, np.arange(40) % 7)
    assert r2 == pytest.approx(r2_score(true, true + noise), abs=1e-6)
    assert low <= high


def test_a_quantity_that_never_changes_has_no_r2() -> None:
    r2, interval = r2_by_group(np.full(6, 3.0), np.full(6, 3.1), np.arange(6))
    assert np.isnan(r2)
    assert all(np.isnan(interval))
    assert all(np.isnan(r2_by_group(np.arange(6.0), np.arange(6.0), np.zeros(6, np.int64))[1]))  # one group


def test_poses_are_read_from_features_that_hold_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readout, "PROBES", {"linear": LinearProbe})
    store = grid_store(8)
    rows = by_name(read_features(features_of(store)).rows)
    assert tuple(rows) == ("elevation_deg", "sin azimuth_deg", "cos azimuth_deg")
    for row in rows.values():
        assert row.r2 > 0.99
        assert row.interval[0] > 0.98
    assert rows["elevation_deg"].rmse < 1
    assert rows["elevation_deg"].spread == pytest.approx(np.std([30, 40, 50, 60]))


def test_motions_are_read_from_the_features_of_both_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readout, "PROBES", {"linear": LinearProbe})
    store = grid_store(8)
    rng = np.random.default_rng(0)
    i = rng.integers(0, len(store), 400)
    j = np.where(i % 24 < 18, i + 6, i)  # a step up, or none from the topmost
    rows = by_name(read_features(features_of(store), pairs=(i, j)).rows, read_from="z_i, z_j")
    assert tuple(rows) == ("elevation_deg", "azimuth_deg")
    assert rows["elevation_deg"].r2 > 0.99
    assert rows["elevation_deg"].read_from == "z_i, z_j"
    assert np.isnan(rows["azimuth_deg"].r2)  # no pair turns
    swapped = by_name(read_features(features_of(store), pairs=(j, i)).rows, read_from="z_i, z_j")
    assert swapped["elevation_deg"].r2 > 0.99


def test_a_small_network_reads_what_a_line_cannot() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (1_000, 2))
    rows = read_out("z", z, Targets(("product",), (z[:, :1] * z[:, 1:])), np.arange(1_000) % 3)
    linear, network = by_name(rows)["product"], by_name(rows, "small MLP")["product"]
    assert linear.r2 < 0.05
    assert network.r2 > 0.8


def test_a_small_network_is_compared_with_baselines_by_a_small_network() -> None:
    """The baseline has the same features: by a line it reads nothing, and both read the same by a network."""
    z = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    rows = read_out("z", z, Targets(("product",), (z[:, :1] * z[:, 1:])), np.arange(600) % 3)
    result = ReadOutResult(rows, "recording", 3, 3, 600, 0, units=3)
    for row, value in zip(rows, result.finding({"pixels": result.scores()}).values, strict=True):
        assert value.baselines == {"pixels": row.r2}
        assert value.is_marked


def test_nothing_is_read_from_noise() -> None:
    rng = np.random.default_rng(1)
    rows = read_out("z", rng.normal(size=(300, 5)), Targets(("y",), rng.normal(size=(300, 1))), np.arange(300) % 10)
    assert all(row.r2 < 0.1 for row in rows)


def test_no_probe_reads_a_group_it_was_fitted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[set[int], set[int]]] = []

    class Watched:
        def fit(self, z: np.ndarray, values: np.ndarray) -> None:
            self.fitted = set(z[:, 0].astype(int).tolist())

        def predict(self, z: np.ndarray) -> np.ndarray:
            seen.append((self.fitted, set(z[:, 0].astype(int).tolist())))
            return np.zeros(len(z))

    def make(part: Any) -> Watched:
        return Watched()

    monkeypatch.setattr(readout, "PROBES", {"watched": make})
    groups = np.random.default_rng(0).integers(0, 7, 200)
    read_out("z", groups[:, None].astype(float), Targets(("y",), np.ones((200, 1))), groups)
    assert len(seen) == 5
    assert all(not fitted & read for fitted, read in seen)
    assert set.union(*(read for _, read in seen)) == set(range(7))


def test_the_whole_read_out(small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readout, "PROBES", {"linear": LinearProbe})
    result = read_features(features_of(small_store), seed=1)
    assert (result.groups, result.folds, result.frames) == (6, 5, 144)
    motion = [row for row in result.rows if row.read_from == "z_i, z_j" and row.probe == "linear"]
    assert [row.quantity for row in motion] == ["elevation_deg", "azimuth_deg"]
    assert motion[0].r2 > 0.99
    # Pairs of a grid are turned round at random, so that the motion is not always up.
    assert motion[0].spread == pytest.approx(8.2, abs=1)
    finding = result.finding({"pixels": dict.fromkeys(result.scores(), 0.9995)})
    json.dumps(finding.details, allow_nan=False)
    (table,) = finding.tables
    assert len(table.rows) == len(result.rows) == 5
    assert [value.name for value in finding.values[:2]] == [
        "R2 of elevation_deg from z_i, z_j, linear",
        "R2 of azimuth_deg from z_i, z_j, linear",
    ]
    assert finding.values[0].all_baselines() == {"mean": 0.0, "pixels": 0.9995}
    assert finding.values[0].is_marked == (motion[0].r2 <= 0.9995)
    assert read_features(features_of(small_store), seed=1) == result
    assert read_features(features_of(small_store), hold_out="shape").groups == 3


def test_what_cannot_be_read_is_said_in_one_line() -> None:
    store = grid_store(2)
    with data_error("bare-store", "2 values of recording", "three or more"):
        read_features(features_of(store))
    pictures = bare_store(np.empty((90, 0)), [0, 1, 2] * 30, space=NoMotion())
    with data_error("bare-store", "no poses"):
        read_features(features_of(pictures, np.ones((90, 2))))
    with data_error("20 examples are too few", "60"):
        read_out("z", np.ones((20, 2)), Targets(("y",), np.ones((20, 1))), np.arange(20) % 4)
