"""The equivariance error rho of Eq. 9."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import DataError
from egoequiv.evaluation import embed, equivariance, equivariance_error, errors_of_pairs, measure_equivariance
from egoequiv.evaluation.equivariance import apply_map, fit_map
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pairs import MotionPairs, declare_patterns, find_motion_pairs
from egoequiv.store import FrameStore
from helpers import bare_store

seeds = st.integers(0, 999)


def some_pairs(seed: int, count: int = 80, dim: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Features of pairs that an affine map explains in part."""
    rng = np.random.default_rng(seed)
    z_j = rng.normal(size=(count, dim))
    z_i = z_j @ rng.normal(size=(dim, dim)) + rng.normal(size=dim) + 0.3 * rng.normal(size=(count, dim))
    return z_i, z_j


def normal_equations(z_from: np.ndarray, z_to: np.ndarray) -> np.ndarray:
    """The least-squares affine map, one column at a time, with sums in plain loops."""
    rows = [[*row, 1.0] for row in z_from.tolist()]
    size = len(rows[0])
    gram = [[sum(row[a] * row[b] for row in rows) for b in range(size)] for a in range(size)]
    columns = []
    for target in z_to.T.tolist():
        right = [sum(row[a] * value for row, value in zip(rows, target, strict=True)) for a in range(size)]
        columns.append(scipy.linalg.solve(gram, right, assume_a="pos"))
    return np.array(columns).T


def test_a_map_by_hand() -> None:
    # The line through (0, 1), (1, 3), (2, 8) with least squares has slope 3.5 and meets 0 at 0.5.
    affine = fit_map(np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [8.0]]))
    np.testing.assert_allclose(affine, [[3.5], [0.5]])
    np.testing.assert_allclose(apply_map(affine, np.array([[2.0], [-1.0]])), [[7.5], [-3.0]])


@given(seeds)
def test_a_map_against_normal_equations_and_scipy(seed: int) -> None:
    z_to, z_from = some_pairs(seed, count=30)
    affine = fit_map(z_from, z_to)
    np.testing.assert_allclose(affine, normal_equations(z_from, z_to), atol=1e-9)
    by_scipy = scipy.linalg.lstsq(np.column_stack([z_from, np.ones(30)]), z_to)[0]
    np.testing.assert_allclose(affine, by_scipy, atol=1e-9)


@given(seeds)
def test_no_other_map_has_a_smaller_squared_error(seed: int) -> None:
    z_to, z_from = some_pairs(seed, count=30)
    affine = fit_map(z_from, z_to)
    other = affine + 0.01 * np.random.default_rng(seed).normal(size=affine.shape)
    best, worse = (np.square(z_to - apply_map(chosen, z_from)).sum() for chosen in (affine, other))
    assert best <= worse


def test_dependent_features_get_the_map_of_least_norm() -> None:
    z = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    affine = fit_map(z, z[:, :1] * 2)
    np.testing.assert_allclose(affine, [[1.0], [1.0], [0.0]], atol=1e-12)


def test_rho_by_hand() -> None:
    # Every z(gx) is 3, so M' can only give the mean m of z(x) over the fitted half; z(x) is 1 or -1, four times each.
    # With k ones among the four fitted pairs, m = (k - 2) / 2, and over the four others the mean of
    # |z(x) - m| / |z(x) - 3| is ((4 - k) (1 - m) / 2 + k (1 + m) / 4) / 4, the ratio of means the sums' ratio.
    rho_of = {0: 1.0, 1: 0.59375, 2: 0.375, 3: 0.34375, 4: 0.5}
    ratio_of = {0: 8 / 8, 1: (3 * 1.5 + 0.5) / 10, 2: 4 / 12, 3: (0.5 + 3 * 1.5) / 14, 4: 8 / 16}
    z_i = np.array([[1.0], [-1.0]] * 4)
    z_j = np.full((8, 1), 3.0)
    seen = set()
    for seed in range(20):
        error = equivariance_error(z_i, z_j, np.arange(8), seed=seed)
        (k,) = (k for k, rho in rho_of.items() if math.isclose(error.rho, rho, rel_tol=1e-9))
        assert error.ratio_of_means == pytest.approx(ratio_of[k])
        assert error.constant == pytest.approx(error.rho)  # no map of a constant can do more than the mean
        assert (error.pairs_fitted, error.pairs_scored, error.pairs_excluded) == (4, 4, 0)
        seen.add(k)
    assert {1, 2, 3} <= seen


def test_features_of_noise_are_below_copying_and_not_below_a_constant() -> None:
    z_i, z_j = np.random.default_rng(0).normal(size=(2, 2_000, 40))
    error = equivariance_error(z_i, z_j, np.arange(2_000))
    assert error.constant == pytest.approx(0.5**0.5, abs=0.01)
    assert error.constant <= error.rho < 1
    moved = equivariance_error(z_j @ np.diag(np.linspace(0.5, 1, 40)), z_j, np.arange(2_000))
    assert moved.rho < 1e-9 < moved.constant


def test_rho_against_plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    z_i, z_j = some_pairs(1, count=61)
    heard: dict[str, Any] = {}

    def listen(values: np.ndarray, groups: np.ndarray, within: tuple[float, float]) -> tuple[float, float]:
        if not heard:  # later of the constant map
            heard.update(values=values, held=groups)
        return 0.0, 0.0

    monkeypatch.setattr(equivariance, "group_interval", listen)
    error = equivariance_error(z_i, z_j, np.arange(61), motion="up", seed=4)
    held = heard["held"].tolist()  # the group of a pair is its number, so these are the pairs that were scored
    fitted = sorted(set(range(61)) - set(held))
    assert (error.pairs_fitted, error.pairs_scored) == (len(fitted), len(held)) == (30, 31)
    affine = normal_equations(z_j[fitted], z_i[fitted])
    ratios, errors, gaps = [], [], []
    for k in held:
        mapped = [sum(z_j[k, d] * affine[d, e] for d in range(3)) + affine[3, e] for e in range(3)]
        errors.append(math.dist(z_i[k], mapped))
        gaps.append(math.dist(z_i[k], z_j[k]))
        ratios.append(errors[-1] / gaps[-1])
    assert error.rho == pytest.approx(sum(ratios) / len(ratios))
    assert error.ratio_of_means == pytest.approx(sum(errors) / sum(gaps))
    np.testing.assert_allclose(heard["values"], ratios)
    assert error.motion == "up"


@given(seeds)
def test_rho_is_zero_where_an_affine_map_explains_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z_j = rng.normal(size=(60, 4))
    error = equivariance_error(z_j @ rng.normal(size=(4, 4)) + 1, z_j, np.arange(60) % 5, seed=seed)
    assert error.rho < 1e-9
    assert error.ratio_of_means < 1e-9


@given(seeds, st.floats(0.01, 100), st.floats(-10, 10))
def test_rho_does_not_depend_on_scale_shift_or_rotation_of_the_features(seed: int, scale: float, shift: float) -> None:
    z_i, z_j = some_pairs(seed)
    groups = np.arange(80) % 7
    turn, _ = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(3, 3)))
    plain = equivariance_error(z_i, z_j, groups)
    moved = equivariance_error(scale * z_i @ turn + shift, scale * z_j @ turn + shift, groups)
    assert moved.rho == pytest.approx(plain.rho, rel=1e-6)
    assert moved.ratio_of_means == pytest.approx(plain.ratio_of_means, rel=1e-6)
    assert moved.interval == pytest.approx(plain.interval, rel=1e-6)


def test_features_that_say_nothing_of_each_other_have_no_small_rho() -> None:
    z_i, z_j = np.random.default_rng(0).normal(size=(2, 4_000, 2))
    # Then M' gives the mean: E|z_i| against E|z_i - z_j|, a factor of sqrt(2).
    assert equivariance_error(z_i, z_j, np.arange(4_000)).ratio_of_means == pytest.approx(math.sqrt(0.5), rel=0.03)


def test_pairs_with_the_same_features_are_left_out_and_counted() -> None:
    z_i, z_j = some_pairs(2, count=100)
    same = np.arange(100) % 4 == 0
    z_i[same] = z_j[same]
    error = equivariance_error(z_i, z_j, np.arange(100))
    assert error.pairs_scored == 50
    assert 5 <= error.pairs_excluded <= 20
    assert math.isfinite(error.rho)
    assert math.isfinite(error.ratio_of_means)
    nearly = z_i.copy()
    nearly[same] += 1e-9  # the same but for rounding
    assert equivariance_error(nearly, z_j, np.arange(100)).pairs_excluded == error.pairs_excluded


def test_features_that_never_change_have_no_rho() -> None:
    z = np.ones((20, 3))
    error = equivariance_error(z, z, np.arange(20))
    assert math.isnan(error.rho)
    assert math.isnan(error.ratio_of_means)
    assert all(math.isnan(end) for end in error.interval)
    assert error.pairs_excluded == error.pairs_scored == 10


def test_the_interval_holds_rho_and_goes_over_recordings() -> None:
    z_i, z_j = some_pairs(3, count=400)
    error = equivariance_error(z_i, z_j, np.arange(400) % 20)
    assert error.interval[0] < error.rho < error.interval[1]
    for few in (1, 4):
        other = equivariance_error(z_i, z_j, np.arange(400) % few)
        assert other.rho == error.rho
        assert all(math.isnan(end) for end in other.interval)


def test_the_seed_decides_the_halves() -> None:
    z_i, z_j = some_pairs(3)
    a, b, c = (equivariance_error(z_i, z_j, np.arange(80), seed=seed) for seed in (1, 1, 2))
    assert a == b
    assert a.rho != c.rho


@pytest.mark.parametrize(("count", "dim", "needed"), [(0, 3, 4), (15, 3, 16), (7, 1, 8)])
def test_too_few_pairs_are_refused(count: int, dim: int, needed: int) -> None:
    z_i, z_j = some_pairs(0, count=count, dim=dim)
    with pytest.raises(DataError, match=rf"motion 'up': {count} pairs are too few .*at least {needed} are needed"):
        equivariance_error(z_i, z_j, np.arange(count), motion="up")
    z_i, z_j = some_pairs(0, count=needed, dim=dim)
    if count:
        assert equivariance_error(z_i, z_j, np.arange(needed)).pairs_scored == needed // 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_named(value: float) -> None:
    for side in (0, 1):
        pairs = some_pairs(0)
        pairs[side][5, 1] = value
        with pytest.raises(DataError, match=r"motion 'up': .*finite"):
            equivariance_error(*pairs, np.arange(80), motion="up")


def test_a_store_is_measured_motion_by_motion(small_store: FrameStore) -> None:
    net = EgoNet(NetSpec("norb", small_store.image_shape))
    initialise(net, torch.Generator().manual_seed(0))
    net.set_normalisation([100.0], [50.0])
    motions = ["up", "right", "up+left"]
    frames = np.random.default_rng(0).permutation(144)
    errors = measure_equivariance(net, small_store, frames, motions, seed=3)
    assert [error.motion for error in errors] == motions
    assert [error.pairs_fitted + error.pairs_scored for error in errors] == [108, 144, 108]
    features = embed(net, small_store)
    pairs = find_motion_pairs(small_store, np.arange(144), declare_patterns(small_store.space, motions))
    for error in errors:
        own = pairs.of(error.motion)
        groups = small_store.recording[own.i]
        alone = equivariance_error(features[own.i], features[own.j], groups, motion=error.motion, seed=3)
        assert error.rho == pytest.approx(alone.rho, rel=1e-4)
        assert error.interval == pytest.approx(alone.interval, rel=1e-4)


def test_features_are_looked_up_by_frame(small_store: FrameStore) -> None:
    frames = np.random.default_rng(1).permutation(144)[:130]
    pairs = find_motion_pairs(small_store, frames, declare_patterns(small_store.space, ["right"]))
    # Features that are an affine function of (cos, sin) of the azimuth, which a step to the right rotates.
    azimuth = np.deg2rad(small_store.poses[frames, 1])
    (error,) = errors_of_pairs(np.stack([np.cos(azimuth), np.sin(azimuth)], axis=1), frames, small_store, pairs)
    assert error.rho < 1e-9


def test_a_motion_with_too_few_pairs_says_how_many_it_takes(small_store: FrameStore) -> None:
    frames = np.flatnonzero(small_store.recording == 0)
    features = np.random.default_rng(0).normal(size=(len(frames), 5))
    pairs = find_motion_pairs(small_store, frames, declare_patterns(small_store.space, ["up", "right"]))
    up, right = errors_of_pairs(features, frames, small_store, pairs)
    assert (up.pairs_scored, up.pairs_fitted, up.pairs_needed) == (18, 0, 4 * (5 + 1))
    assert math.isnan(up.rho)
    assert (right.pairs_scored, right.pairs_fitted, right.pairs_needed) == (12, 12, None)
    assert math.isfinite(right.rho)


@pytest.mark.parametrize(
    ("rho", "fitted", "needed", "words"),
    [
        (0.5, 9, None, None),
        (math.nan, 9, None, "all pairs have the same features: the network collapsed"),
        (math.nan, 0, 1_024, "18 pairs are too few to fit and measure a map, 1,024 are needed"),
        (math.nan, 0, None, "18 pairs are too few to fit and measure a map"),
    ],
)
def test_why_a_rho_is_not_defined(rho: float, fitted: int, needed: int | None, words: str | None) -> None:
    error = equivariance.MotionError("up", rho, (math.nan, math.nan), math.nan, fitted, 18, 0, needed)
    assert error.why_undefined() == words


def test_a_map_of_the_change_by_hand() -> None:
    """Enough clean pairs: the map itself. Features that do not answer to the motion: a copy with a shift."""
    rng = np.random.default_rng(0)
    z, groups = rng.normal(size=(400, 3)), np.repeat(np.arange(8), 50)
    turned = z @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + 5.0
    found = equivariance.apply_map(equivariance.fit_change(z, turned, groups), z)
    np.testing.assert_allclose(found, turned, atol=1e-4)
    noise = z + rng.normal(size=z.shape) + 2.0
    affine = equivariance.fit_change(z, noise, groups)
    np.testing.assert_allclose(affine[:-1], np.eye(3), atol=0.1)
    np.testing.assert_allclose(affine[-1], 2.0, atol=0.15)


@pytest.mark.parametrize("penalty", [equivariance.PENALTIES[0], equivariance.PENALTIES[6]])
def test_ridges_are_those_of_scikit_learn(penalty: float) -> None:
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 4)) + 3, rng.normal(size=(60, 2))
    strength = penalty * ((x - x.mean(axis=0)) ** 2).sum()
    expected = Ridge(alpha=strength).fit(x, y)
    found = equivariance._ridges(x, y)[equivariance.PENALTIES.index(penalty)]
    np.testing.assert_allclose(found[:-1], expected.coef_.T, atol=1e-9)
    np.testing.assert_allclose(found[-1], expected.intercept_, atol=1e-9)


def test_pairs_kept_apart_are_fitted_on_one_part_and_measured_on_the_other(small_store: FrameStore) -> None:
    """The two parts answer to the motion in opposite ways: fitted apart the error is large, mixed it is smaller."""
    patterns = declare_patterns(small_store.space, ["right"])
    recording = small_store.recording
    first, second = np.flatnonzero(recording % 2 == 0), np.flatnonzero(recording % 2 == 1)
    azimuth = np.deg2rad(small_store.pose_columns["azimuth_deg"])
    sign = np.where(recording % 2 == 0, 1, -1)
    z = np.stack([np.cos(azimuth), np.sin(sign * azimuth)], axis=1)
    pairs, training = (find_motion_pairs(small_store, rows, patterns) for rows in (first, second))
    everything = np.arange(len(small_store))
    (apart,) = errors_of_pairs(z, everything, small_store, pairs, training=training)
    (same,) = errors_of_pairs(z, everything, small_store, pairs, training=pairs)
    assert (apart.pairs_fitted, apart.pairs_scored) == (len(training), len(pairs))
    assert same.rho < 0.01
    assert apart.rho > 1.5
    for count in (1, 2):  # they show fewer dimensions than the two that all features have
        few = training.take(np.arange(count))
        (lacking,) = errors_of_pairs(z, everything, small_store, pairs, training=few)
        assert lacking.why_undefined() == f"{count} training pairs are too few to fit a map, 6 are needed"
    (enough,) = errors_of_pairs(z, everything, small_store, pairs, training=training.take(np.arange(6)))
    assert enough.why_undefined() is None
    (unmeasured,) = errors_of_pairs(z, everything, small_store, pairs.take(np.arange(1)), training=training)
    assert unmeasured.why_undefined() == "1 validation pairs are too few to measure a map, 20 are needed"


@pytest.mark.parametrize("count", [1, 4, 5])
def test_pairs_of_video_have_an_interval_from_five_recordings_on(count: int) -> None:
    rows = 100
    store = bare_store(np.zeros((rows, 2)), np.repeat(np.arange(count), rows // count), np.arange(rows) / 10)
    pairs = MotionPairs(np.arange(rows - 1), np.arange(1, rows), np.zeros(rows - 1, np.int64), ("on",))
    features = np.random.default_rng(0).normal(size=(rows, 2))
    for training in (None, pairs):
        (error,) = errors_of_pairs(features, np.arange(rows), store, pairs, training=training)
        assert all(math.isnan(end) == (count < 5) for end in error.interval)
