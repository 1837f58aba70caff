"""The task `composition`: products of maps."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.evaluation import equivariance_error
from egoequiv.evaluation.composition import compose_maps, composition, product_error, return_error
from egoequiv.evaluation.equivariance import MotionFeatures
from egoequiv.evaluation.equivariance_task import equivariance
from egoequiv.evaluation.task import TaskOptions, silent
from egoequiv.pairs import MinedPatterns, declare_patterns
from egoequiv.pose import PlanarSpace
from evaluation.task_worlds import FRAMES, made_data, turning_world
from helpers import bare_store

seeds = st.integers(0, 999)
IDENTITY = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
HALVE = np.array([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
SHIFT = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
MAPS = {"stay": IDENTITY, "grow": HALVE, "shift": SHIFT}  # maps point back: growing is undone by halving


def some_pairs(seed: int = 0, count: int = 60) -> MotionFeatures:
    rng = np.random.default_rng(seed)
    z_j = rng.normal(size=(count, 2))
    z_i = z_j @ rng.normal(size=(2, 2)) + 0.2 * rng.normal(size=(count, 2))
    return MotionFeatures(z_i, z_j, np.arange(count) % 6)


def test_a_product_by_hand() -> None:
    # z(x) = (1, 0) and z(gx) = (5, 0). A shift and then growing leads back from 5 to 5 / 2 - 1 = 1.5, which is 0.5 off.
    pairs = MotionFeatures(np.tile([1.0, 0.0], (8, 1)), np.tile([5.0, 0.0], (8, 1)), np.arange(8))
    assert product_error(pairs, ("shift", "grow"), MAPS).rho == pytest.approx(0.5 / 4)
    # The other way round, back from 5 to (5 - 1) / 2 = 2: the order counts.
    assert product_error(pairs, ("grow", "shift"), MAPS).rho == pytest.approx(1.0 / 4)
    assert product_error(pairs, ("shift", "grow"), MAPS).ratio_of_means == pytest.approx(0.5 / 4)


def test_maps_that_change_nothing_give_the_copy_baseline() -> None:
    assert product_error(some_pairs(), ("stay",) * 3, MAPS).rho == pytest.approx(1.0)


@given(seeds)
def test_one_step_is_what_rho_is(seed: int) -> None:
    pairs = some_pairs(seed)
    product = product_error(pairs, ("g",), {"g": pairs.fit_back(seed)}, seed)
    single = equivariance_error(pairs.z_i, pairs.z_j, pairs.groups, motion="g", seed=seed)
    assert replace(product, constant=single.constant, ratio_constant=single.ratio_constant) == single


@given(seeds)
def test_a_product_against_a_product_of_matrices(seed: int) -> None:
    pairs, rng = some_pairs(seed), np.random.default_rng(seed)
    maps = {name: rng.normal(size=(3, 2)) for name in "abc"}
    whole = {name: np.column_stack([affine, [0, 0, 1]]) for name, affine in maps.items()}  # homogeneous, on rows
    product = (whole["c"] @ whole["b"] @ whole["a"])[:, :2]
    error = product_error(pairs, ("a", "b", "c"), maps, seed)
    assert error.rho == pytest.approx(product_error(pairs, ("p",), {"p": product}, seed).rho)


def test_exactly_equivariant_features_compose_exactly() -> None:
    store, z = turning_world(20)
    found = compose_maps(made_data(store, z, np.arange(len(store))), TaskOptions())
    assert [error.name for error in found.composites] == ["up+right", "up+left", "down+right"]
    assert list(found.chains) == ["up", "right", "up, right in turn"]
    assert [error.name for error in found.chains["up, right in turn"]][2:4] == ["up+right+up", "up+right+up+right"]
    errors = [*found.composites, *(error for chain in found.chains.values() for error in chain)]
    assert max(error.composed.rho for error in errors) < 1e-6
    assert [error.motion for error in found.returns] == ["up, then down", "right, then left"]
    assert max(error.rho for error in found.returns) < 1e-6
    assert set(found.too_few) == {"up x 4", "up x 5"}  # the grid has four elevations


def test_of_many_that_have_too_few_pairs_some_are_named() -> None:
    store, z = turning_world(20)
    found = compose_maps(made_data(store, z, np.arange(len(store))), TaskOptions(steps=20))
    finding = found.finding()
    assert len(finding.details["too_few_pairs"]) > 8
    (note,) = (note for note in finding.notes if note.startswith("too few pairs"))
    assert note in finding.tables[-1].notes
    assert note.endswith(f"up x 8 (0) and {len(found.too_few) - 5} more")
    assert "up x 4 (0), up x 5 (0), " in note


def test_errors_of_a_product_grow_with_its_length() -> None:
    store, z = turning_world(40, noise=0.3)
    found = compose_maps(made_data(store, z, np.arange(len(store))), TaskOptions(steps=5))
    steps = found.chains["right"]
    assert [len(error.motions) for error in steps] == [1, 2, 3, 4, 5]
    assert steps[4].composed.ratio_of_means > steps[4].fitted.ratio_of_means
    assert 0 < found.returns[0].rho < 1
    finding = found.finding()
    json.dumps(finding.details, allow_nan=False)
    assert [len(chain) for chain in found.chains.values()] == [3, 5, 5]
    _, chains, _ = finding.tables
    # In turn, one step is the first step of "up", which is there already.
    shown = [(row[0].text, row[1].text) for row in chains.rows]
    assert shown == [
        *(("up", str(k)) for k in (1, 2, 3)),
        *(("right", str(k)) for k in (1, 2, 3, 4, 5)),
        *(("up, right in turn", str(k)) for k in (2, 3, 4, 5)),
    ]


def test_few_values_stand_for_all() -> None:
    store, z = turning_world(40, noise=0.3)
    found = compose_maps(made_data(store, z, np.arange(len(store))), TaskOptions())
    values = found.finding().values
    assert [value.name for value in values if not value.metric.is_detail] == [
        "rho of up, right in turn, 5 steps, product",
        "rho of up, right in turn, 5 steps, own map",
        "rho of up, right in turn, 3 steps, product",
        "rho of up, right in turn, 3 steps, own map",
        "error of up, then down",
        "error of right, then left",
    ]
    named = {value.name: value for value in values}
    five = found.chains["right"][4]
    assert named["rho of right, 5 steps, product"].value == five.composed.rho
    assert named["rho of right, 5 steps, product"].interval == five.composed.interval
    assert named["rho of up+left, own map"].all_baselines() == {
        "copy": 1.0,
        "constant": found.composites[1].fitted.constant,
    }


def test_the_untrained_network_is_the_baseline_that_equivariance_has() -> None:
    store, z = turning_world(40, noise=0.3)
    before = turning_world(40, noise=0.1)[1].astype(np.float32)
    patterns = declare_patterns(store.space, ["up", "right", "up+right"])
    data = replace(made_data(store, z, np.arange(len(store)), patterns), made_before=before)
    found = {value.name: value for value in compose_maps(data, TaskOptions()).values()}
    _, chains, _ = composition(data, TaskOptions(), silent).tables
    rhos = {value.name: value for value in equivariance(data, TaskOptions(), silent).values}
    known = {name: rho for name, rho in rhos["rho_up+right"].all_baselines().items() if name != "pixels"}
    assert found["rho of up+right, own map"].all_baselines() == known
    assert rhos["rho_right"].is_marked
    assert ["right", "1", rhos["rho_right"].text()] in [[cell.text for cell in row[:3]] for row in chains.rows]
    assert found["rho of right, 5 steps, product"].baselines["untrained"] > 0


def test_a_way_there_and_back_by_hand() -> None:
    # Both maps are exact, so z(x) comes back to itself.
    z_i = np.arange(40.0)[:, None]
    pairs = MotionFeatures(z_i, 2 * z_i + 1, np.arange(40))
    assert return_error(pairs, "g").rho == pytest.approx(0, abs=1e-9)
    # What is not predicted at all comes back to the mean: |z - mean| of where it was.
    rng = np.random.default_rng(0)
    lost = MotionFeatures(rng.normal(size=(4_000, 1)), 100 + rng.normal(size=(4_000, 1)), np.arange(4_000))
    assert return_error(lost, "g").ratio_of_means == pytest.approx(np.sqrt(2 / np.pi) / 100, rel=0.05)


def test_named_motions_are_put_together() -> None:
    store, z = turning_world(20)
    found = compose_maps(made_data(store, z, np.arange(len(store))), TaskOptions(motions=("left+left",), steps=2))
    assert [error.name for error in found.composites] == ["left x 2"]
    assert list(found.chains) == ["left"]


def test_chains_on_a_track_are_made_of_pairs() -> None:
    count = 600
    forward = np.arange(count, dtype=float)
    store = bare_store(
        np.stack([forward, np.zeros(count)], axis=1),
        np.repeat(np.arange(6), count // 6).tolist(),
        times_s=forward.tolist(),
        space=PlanarSpace(),
    )
    patterns = MinedPatterns(
        ("forward 1.0 m", "left turn 16°"), np.array([[1.0, 0], [1, 16]]), np.ones(2), PlanarSpace()
    )
    z = np.stack([np.cos(forward / 9), np.sin(forward / 9)], axis=1)
    data = made_data(store, z, np.arange(count), patterns)
    found = compose_maps(data, TaskOptions(steps=3))
    assert found.composites == []
    assert max(error.composed.rho for error in found.chains["forward 1.0 m"]) < 1e-5
    assert found.chains["forward 1.0 m"][2].fitted.pairs_scored == 6 * 97 / 2
    assert found.too_few == {"left turn 16°": 0}
    finding = composition(data, TaskOptions(steps=3), silent)
    assert "left turn 16° (0)" in finding.notes[0]
    assert "nearly the same pairs are in both halves" in finding.notes[-1]


def test_too_few_pairs_are_one_error() -> None:
    store, z = turning_world(2)
    few = made_data(store, z, np.arange(5))
    with pytest.raises(TooFewPairsError, match="too few pairs of validation frames to fit and measure maps"):
        compose_maps(few, TaskOptions())
    half = made_data(store, z, np.arange(FRAMES))
    with pytest.raises(TooFewPairsError, match=r"up x 3 has 6\)"):
        compose_maps(half, TaskOptions(motions=("up+up+up",), steps=1))
    with pytest.raises(ConfigError, match="--steps must be at least 1, found 0"):
        compose_maps(few, TaskOptions(steps=0))
