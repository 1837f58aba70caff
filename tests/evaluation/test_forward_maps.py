"""Forward maps, fitted and learned."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import TooFewPairsError
from egoequiv.evaluation import forward_maps
from egoequiv.evaluation.equivariance import apply_map
from egoequiv.evaluation.forward_maps import fit_forward_maps, learned_forward_maps, one_half
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.models import EgoNet, NetSpec
from egoequiv.pairs import MotionPairs
from egoequiv.store import FrameStore
from evaluation.grid_features import MOTIONS, features_of, grid_store, pairs_of
from helpers import GRID


def test_linear_motions_are_found() -> None:
    features, pairs = features_of(grid_store()), pairs_of(grid_store())
    fitted = fit_forward_maps(features, pairs)
    assert tuple(fitted.maps) == MOTIONS
    assert fitted.left_out == ()
    for name, affine in fitted.maps.items():
        own = pairs.of(name)
        np.testing.assert_allclose(apply_map(affine, features.of(own.i)), features.of(own.j), atol=1e-9)


def test_half_of_the_recordings_is_held_back_with_all_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    store = grid_store()
    features, pairs = features_of(store), pairs_of(store)
    fitted_on: list[np.ndarray] = []
    monkeypatch.setattr(forward_maps, "fit_map", lambda z_from, z_to: fitted_on.append(z_from) or np.zeros((6, 5)))
    held = fit_forward_maps(features, pairs, seed=4).held
    kept = set(store.recording[held.i].tolist())
    assert len(kept) == 3
    for name, z_from in zip(MOTIONS, fitted_on, strict=True):
        own = pairs.of(name)
        held_too = np.isin(store.recording[own.i], list(kept))
        assert held.of(name).i.tolist() == own.i[held_too].tolist()
        np.testing.assert_array_equal(z_from, features.of(own.i[~held_too]))
    other = fit_forward_maps(features, pairs, seed=1).held
    assert held.i.tolist() != other.i.tolist()


def test_halves_may_be_of_an_attribute(small_store: FrameStore) -> None:
    features, pairs = features_of(small_store), pairs_of(small_store)
    held = fit_forward_maps(features, pairs, "shape").held
    shape = groups_of(small_store, "shape")
    assert 1 <= len(np.unique(shape[held.i])) < len(np.unique(shape))
    assert len(held) < len(pairs)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=12), st.integers(0, 99))
def test_a_half_is_about_half_and_neither_none_nor_all(counts: list[int], seed: int) -> None:
    groups = np.repeat(np.arange(len(counts)), counts)
    half = one_half(groups, seed)
    assert 0 < len(half) < len(counts)
    assert abs(int(np.isin(groups, half).sum()) - len(groups) / 2) <= max(counts)


def test_motions_with_too_few_pairs_are_left_out_and_none_at_all_is_an_error() -> None:
    store = grid_store()
    pairs = pairs_of(store)
    few = np.flatnonzero((pairs.pattern != 1) | (np.cumsum(pairs.pattern == 1) <= 8))  # all of one recording
    thinned = MotionPairs(pairs.i[few], pairs.j[few], pairs.pattern[few], pairs.names)
    fitted = fit_forward_maps(features_of(store), thinned)
    assert fitted.left_out == ("right",)
    assert set(fitted.held.pattern.tolist()) == {0, 2}
    wide = features_of(store, np.random.default_rng(0).normal(size=(len(store), 100)))
    with pytest.raises(TooFewPairsError, match=r"no motion has enough pairs .* 100 features .*up 108, right 144"):
        fit_forward_maps(wide, pairs)


def net_with_maps(patterns: tuple[str, ...], weight: list[np.ndarray], bias: list[np.ndarray]) -> EgoNet:
    net = EgoNet(NetSpec("norb", (4, 4, 1), patterns))
    assert net.maps is not None
    with torch.no_grad():
        net.maps.weight.zero_()
        net.maps.bias.zero_()
        for k in range(len(patterns)):
            net.maps.weight[k] = torch.eye(net.maps.weight.shape[-1])
            size = len(weight[k])
            net.maps.weight[k, :size, :size] = torch.from_numpy(weight[k])
            net.maps.bias[k, :size] = torch.from_numpy(bias[k])
    return net


def test_learned_maps_lead_forward_and_go_one_after_the_other() -> None:
    rng = np.random.default_rng(1)
    weight = [np.eye(3) + 0.2 * rng.normal(size=(3, 3)) for _ in range(2)]
    bias = [rng.normal(size=3) for _ in range(2)]
    net = net_with_maps(("up", "right"), weight, bias)
    maps = learned_forward_maps(net, GRID, ("up", "left", "up+left", "down+right", "sideways", "up+sideways"))
    assert set(maps) == {"up", "left", "up+left", "down+right"}
    z = np.zeros((5, 100))
    z[:, :3] = rng.normal(size=(5, 3))

    def back(number: int, features: np.ndarray) -> np.ndarray:
        return features[:, :3] @ weight[number].T + bias[number]

    np.testing.assert_allclose(back(0, apply_map(maps["up"], z)), z[:, :3], atol=1e-6)  # M_up undoes it
    np.testing.assert_allclose(apply_map(maps["left"], z)[:, :3], back(1, z), atol=1e-6)  # M_right goes left
    np.testing.assert_allclose(
        apply_map(maps["up+left"], z), apply_map(maps["left"], apply_map(maps["up"], z)), atol=1e-6
    )
    np.testing.assert_allclose(back(1, apply_map(maps["down+right"], z)), back(0, z), atol=1e-6)


def test_a_network_without_maps_has_learned_none() -> None:
    assert learned_forward_maps(EgoNet(NetSpec("norb", (4, 4, 1))), GRID, MOTIONS) == {}
