"""Parts of the features: every task sees the part it is asked for, and learned maps act where they belong."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed, measure_equivariance
from egoequiv.evaluation.equivariance import apply_map
from egoequiv.evaluation.equivariance_task import equivariance
from egoequiv.evaluation.forward_maps import learned_forward_maps
from egoequiv.evaluation.next_view import NextViewSelector
from egoequiv.evaluation.recognition import recognition
from egoequiv.evaluation.task import TaskData, TaskOptions, silent
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pairs import Split, declare_patterns
from egoequiv.store import FrameStore
from egoequiv.training.data import Recognition
from helpers import GRID

PARTS = {"invariant": 60, "equivariant": 40}


def parted(store: FrameStore, seed: int = 0) -> EgoNet:
    net = EgoNet(NetSpec("norb", store.image_shape, ("up", "right"), ("a", "b"), parts=PARTS))
    initialise(net, torch.Generator().manual_seed(seed), "xavier")
    return net.requires_grad_(False)


@pytest.fixture
def data(small_store: FrameStore) -> TaskData:
    rows = np.arange(len(small_store))
    patterns = declare_patterns(small_store.space, ["up", "right"])
    return TaskData(
        parted(small_store), small_store, Split(rows, rows, "all"), patterns, untrained=parted(small_store, 1)
    )


def test_features_of_a_part_are_columns_of_all(data: TaskData) -> None:
    part = data.of_part("equivariant")
    np.testing.assert_array_equal(part.features, embed(data.net, data.store)[:, 60:])
    assert data.untrained is not None
    assert part.untrained_features is not None
    np.testing.assert_array_equal(part.untrained_features, embed(data.untrained, data.store)[:, 60:])
    np.testing.assert_array_equal(part.validation.z, part.features)
    assert part.features.base is data.features  # computed once
    assert part.of_part("all") is data
    assert part.of_part("invariant").features.shape == (len(data.store), 60)
    assert data.of_part("all") is data


def test_features_may_begin_with_a_part(data: TaskData) -> None:
    alone = TaskData(data.net, data.store, data.split, None, part="equivariant")
    np.testing.assert_array_equal(alone.features, embed(data.net, data.store, part="equivariant"))
    assert alone.of_part("invariant").features.shape == (len(data.store), 60)


def test_an_unknown_part_is_refused(data: TaskData) -> None:
    with pytest.raises(ConfigError, match="no part 'motion': its parts are all, invariant, equivariant"):
        data.of_part("motion")
    with pytest.raises(ConfigError, match="no part 'motion'"):
        embed(data.net, data.store, part="motion")


def test_rho_of_a_part_is_that_of_its_features(data: TaskData) -> None:
    found = {value.name: value.value for value in equivariance(data.of_part("invariant"), TaskOptions(), silent).values}
    frames = data.split.validation
    (by_hand, _) = measure_equivariance(data.net, data.store, frames, ["up", "right"], part="invariant")
    assert found["rho_up"] == by_hand.rho
    (of_all, _) = measure_equivariance(data.net, data.store, frames, ["up", "right"])
    assert of_all.rho != by_hand.rho


def test_the_classifier_takes_all_features(data: TaskData, small_store: FrameStore) -> None:
    task = Recognition(small_store, small_store.labels, ("a", "b"), data.split)
    with pytest.raises(DataError, match="takes all features, not the part invariant"):
        recognition(
            TaskData(data.net, small_store, data.split, None, None, task, part="invariant"), TaskOptions(), silent
        )


def test_learned_maps_of_a_network_with_parts(small_store: FrameStore) -> None:
    net = parted(small_store)
    assert net.maps is not None
    z = np.random.default_rng(0).normal(size=(3, 100))
    own = learned_forward_maps(net, GRID, ["up", "down", "up+right"], "equivariant")
    whole = learned_forward_maps(net, GRID, ["up", "down", "up+right"])
    assert learned_forward_maps(net, GRID, ["up"], "invariant") == {}
    assert list(own) == list(whole) == ["up", "down", "up+right"]
    back = net.maps(torch.from_numpy(z[:, 60:]).float())[:, 0].numpy()
    np.testing.assert_allclose(apply_map(own["down"], z[:, 60:]), back, atol=1e-5)
    for name in own:
        moved = apply_map(whole[name], z)
        np.testing.assert_allclose(moved[:, 60:], apply_map(own[name], z[:, 60:]), atol=1e-6)
        np.testing.assert_allclose(moved[:, :60], z[:, :60], atol=1e-9)


def test_a_selector_of_views_looks_at_its_part(small_store: FrameStore) -> None:
    net, frames = parted(small_store), np.arange(len(small_store))
    selector = NextViewSelector.fit(net, small_store, frames, ["up", "down"], k=3, part="equivariant")
    assert selector.features.shape == (len(small_store), 40)
    image = np.asarray(small_store.images[7])
    by_hand = selector.look(embed(net, small_store, np.array([7]), part="equivariant")[None], ())
    assert by_hand is not None
    assert selector.classify(image).guess == selector.class_names[by_hand.guess[0]]
