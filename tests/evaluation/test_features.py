"""Features of many frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.evaluation import class_scores, embed, features
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.store import FrameStore
from helpers import data_error


@pytest.fixture
def net(small_store: FrameStore) -> EgoNet:
    made = EgoNet(NetSpec("norb", small_store.image_shape, (), small_store.class_names))
    initialise(made, torch.Generator().manual_seed(1))
    made.set_normalisation([90.0], [40.0])
    return made


def by_numpy(net: EgoNet, images: np.ndarray) -> np.ndarray:
    """Features of images (N, H, W, 1), one image at a time."""
    state = {name: value.double().numpy() for name, value in net.state_dict().items()}
    rows = []
    for image in images:
        pixels = (image[:, :, 0].astype(float).ravel() - 90.0) / 40.0
        hidden = np.maximum(state["encoder.hidden.weight"] @ pixels + state["encoder.hidden.bias"], 0)
        rows.append(state["encoder.features.weight"] @ hidden + state["encoder.features.bias"])
    return np.array(rows)


def test_features_against_numpy(net: EgoNet, small_store: FrameStore) -> None:
    found = embed(net, small_store)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_numpy(net, np.asarray(small_store.images)), rtol=1e-4, atol=1e-4)


def test_batches_do_not_show(net: EgoNet, small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embed(net, small_store)
    monkeypatch.setattr(features, "BATCH", 7)
    np.testing.assert_allclose(embed(net, small_store), whole, rtol=1e-4, atol=1e-5)


def test_frames_come_in_the_order_asked_for(net: EgoNet, small_store: FrameStore) -> None:
    frames = np.array([100, 3, 3, 77])
    np.testing.assert_allclose(embed(net, small_store, frames), embed(net, small_store)[frames], rtol=1e-4, atol=1e-5)
    assert embed(net, small_store, frames[:0]).shape == (0, 100)


def test_store_path_and_array_give_the_same(net: EgoNet, small_store: FrameStore, tmp_path: Path) -> None:
    save_spec(tmp_path, net.spec)
    state = {f"model.{name}": value for name, value in net.state_dict().items()}
    save_tensors(tmp_path / "last.safetensors", state, {})
    expected = embed(net, small_store)
    assert np.array_equal(embed(tmp_path, str(small_store.path)), expected)
    assert np.array_equal(embed(str(tmp_path), np.array(small_store.images)), expected)


@pytest.mark.parametrize("shape", [(2, 12, 12, 3), (2, 12, 13, 1), (2, 12, 12), (12, 12, 1)])
def test_images_of_another_size_are_refused(net: EgoNet, shape: tuple[int, ...]) -> None:
    found = " x ".join(map(str, shape[1:]))
    with data_error("12 x 12 x 1", found, "--size"):
        embed(net, np.zeros(shape, np.uint8))


def test_scores_against_numpy(net: EgoNet, small_store: FrameStore) -> None:
    assert net.head is not None
    z = embed(net, small_store)
    expected = z @ net.head.weight.detach().numpy().T + net.head.bias.detach().numpy()
    scores = class_scores(net, z)
    assert scores.shape == (144, 3)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_a_network_without_a_head_has_no_scores(small_store: FrameStore) -> None:
    bare = EgoNet(NetSpec("norb", small_store.image_shape))
    with data_error("without labels"):
        class_scores(bare, np.zeros((1, 100), np.float32))
