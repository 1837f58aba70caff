"""Features of many frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.evaluation import class_scores, embed, features
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.store import FrameStore, fit_image
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


@pytest.mark.parametrize(
    ("shape", "advice"),
    [
        ((2, 12, 12, 3), "convert them to gray, 1 channel"),
        ((2, 12, 13, 1), "--size 12x12"),
        ((2, 1, 12, 12), "move the channels last: images.permute(0, 2, 3, 1)"),
        ((12, 12, 1), "images[None]"),
    ],
)
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_other_images_are_refused_with_how_to_convert_them(
    net: EgoNet, shape: tuple[int, ...], advice: str, kind: type[np.generic]
) -> None:
    images = np.zeros(shape, kind)
    words = ["(N, 12, 12, 1)", str(shape), advice, *(["float32", "255 * images"] if kind is np.float32 else [])]
    with data_error(*words):
        embed(net, images)  # type: ignore[arg-type]
    with data_error(*words):
        net(torch.from_numpy(images))


def test_gray_images_need_no_axis_for_their_channel(net: EgoNet, small_store: FrameStore) -> None:
    assert np.array_equal(embed(net, small_store.images[:5, :, :, 0]), embed(net, small_store.images[:5]))


@pytest.mark.parametrize("shape", [(24, 20, 1), (24, 20, 3), (12, 12, 3)])
def test_images_of_another_size_or_colour_are_fitted_as_ingest_fits_them(
    net: EgoNet, shape: tuple[int, int, int]
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (3, *shape)).astype(np.uint8)
    fitted = np.stack([fit_image(image if shape[2] == 3 else image[..., 0], 12, 12, 1) for image in images])
    assert np.array_equal(embed(net, images, fit=True), embed(net, fitted))
    with data_error("float32"):
        embed(net, images.astype(np.float32), fit=True)  # type: ignore[arg-type]


def test_progress_is_reported(net: EgoNet, small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "BATCH", 100)
    heard: list[tuple[str, int, int]] = []
    embed(net, small_store, on_progress=lambda *how_far: heard.append(how_far))
    assert heard == [("features", 100, 144), ("features", 144, 144)]


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
