"""The residual encoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import correlate

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import draw_uniform
from egoequiv.models.residual import Block, ResidualEncoder

Array = NDArray[np.float64]


def weights_of(encoder: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in encoder.parameters())


def test_the_shape_for_images_of_32_pixels() -> None:
    encoder = ResidualEncoder((32, 32, 1))
    shapes = {name: tuple(value.shape) for name, value in encoder.named_parameters() if value.dim() > 1}
    assert shapes == {
        "stem.0.conv.weight": (32, 1, 3, 3),
        "stages.0.conv1.weight": (32, 32, 3, 3),
        "stages.0.conv2.weight": (32, 32, 3, 3),
        "stages.1.conv1.weight": (64, 32, 3, 3),
        "stages.1.conv2.weight": (64, 64, 3, 3),
        "stages.1.shortcut.1.weight": (64, 32, 1, 1),
        "stages.2.conv1.weight": (128, 64, 3, 3),
        "stages.2.conv2.weight": (128, 128, 3, 3),
        "stages.2.shortcut.1.weight": (128, 64, 1, 1),
        "features.weight": (128, 128 * 4 * 4),
    }
    assert weights_of(encoder) == 568_672


@pytest.mark.parametrize(
    ("shape", "cells"),
    [
        ((12, 12, 1), (2, 2)),
        ((32, 32, 3), (4, 4)),
        ((48, 48, 1), (4, 4)),
        ((96, 96, 1), (4, 4)),
        ((32, 104, 1), (4, 6)),
        ((94, 310, 1), (4, 6)),
        ((310, 94, 3), (6, 4)),
        ((120, 160, 3), (4, 5)),
        ((12, 2000, 1), (2, 6)),
        ((256, 256, 3), (4, 4)),
    ],
)
def test_the_full_layer_stays_small_for_images_of_every_size(
    shape: tuple[int, int, int], cells: tuple[int, int]
) -> None:
    encoder = ResidualEncoder(shape)
    assert encoder.features.in_features == 128 * cells[0] * cells[1]
    assert weights_of(encoder) <= 1_000_000


@pytest.mark.parametrize(("own_stages", "weights"), [(1, 798_560), (2, 856_160), (3, 874_720)])
def test_stages_of_their_own_stay_below_a_million_weights(own_stages: int, weights: int) -> None:
    encoder = ResidualEncoder((32, 32, 1), own_stages=own_stages)
    assert weights_of(encoder) == weights
    assert len(encoder.stages) == 3 - own_stages


@pytest.mark.parametrize("own_stages", [1, 2, 3])
def test_each_half_is_a_residual_network_on_the_shared_stages(own_stages: int) -> None:
    torch.manual_seed(0)
    encoder = ResidualEncoder((50, 50, 3), width=4, blocks=2, feature_dim=10, own_stages=own_stages)
    images = torch.randn(3, 3, 50, 50)
    expected = []
    for half in encoder.halves:
        plain = ResidualEncoder((50, 50, 3), width=4, blocks=2, feature_dim=5)
        plain.stem, plain.stages = encoder.stem, encoder.stages + half[0]  # type: ignore[index]
        plain.features = half[-1]  # type: ignore[index]
        expected.append(plain(images))
    assert torch.equal(encoder(images), torch.cat(expected, dim=1))


def test_what_one_half_learns_changes_the_shared_stages_and_not_the_other_half() -> None:
    encoder = ResidualEncoder((12, 12, 1), width=4, feature_dim=6, own_stages=2)
    encoder(torch.randn(4, 1, 12, 12))[:, 3:].square().sum().backward()
    moved = {name: value.grad is not None and bool(value.grad.any()) for name, value in encoder.named_parameters()}
    assert {name for name, has in moved.items() if not has} == {n for n in moved if n.startswith("halves.0.")}
    assert any(name.startswith("stages.0.") for name in moved)


def test_an_odd_number_of_features_has_no_halves() -> None:
    with pytest.raises(
        ConfigError, match=r"^encoder.own_stages=1 .* encoder.feature_dim=7 has no half: .*even number$"
    ):
        ResidualEncoder((12, 12, 1), feature_dim=7, own_stages=1)


@settings(max_examples=25, deadline=None)
@given(st.integers(12, 140), st.integers(12, 140), st.sampled_from([1, 3]), st.integers(1, 2), st.integers(1, 12))
def test_images_of_any_size_fit(height: int, width: int, channels: int, blocks: int, first: int) -> None:
    encoder = ResidualEncoder((height, width, channels), width=first, blocks=blocks, feature_dim=5)
    assert encoder(torch.zeros(2, channels, height, width)).shape == (2, 5)
    assert len(encoder.stages) == 3 * blocks


def test_images_that_are_too_small_are_refused_in_one_line() -> None:
    for shape in ((11, 40, 1), (40, 11, 3)):
        expected = (
            rf"^the residual encoder needs images of 12 pixels a side or more, found {shape[0]} x {shape[1]}: .*$"
        )
        with pytest.raises(ConfigError, match=expected):
            ResidualEncoder(shape)


def conv(maps: Array, weight: Array, stride: int) -> Array:
    """A convolution with as much padding as keeps the size, of which every `stride`-th place is kept."""
    pad = weight.shape[-1] // 2
    padded = np.pad(maps, ((0, 0), (pad, pad), (pad, pad)))
    whole = [sum(correlate(p, k, mode="valid") for p, k in zip(padded, kernels, strict=True)) for kernels in weight]
    return np.array(whole)[:, ::stride, ::stride]


def norm(maps: Array, groups: int) -> Array:
    parts = np.split(maps, groups)
    return np.concatenate([(part - part.mean()) / np.sqrt(part.var() + 1e-5) for part in parts])


def halved(maps: Array) -> Array:
    rows, columns = (range(0, side, 2) for side in maps.shape[1:])
    return np.array([[[one[r : r + 2, c : c + 2].mean() for c in columns] for r in rows] for one in maps])


@pytest.mark.parametrize("shape", [(12, 17, 1), (15, 13, 3)])
def test_against_numpy(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    encoder = ResidualEncoder(shape, width=4, feature_dim=7)
    images = torch.randn(2, shape[2], *shape[:2])
    w = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    expected = []
    for image in images.double().numpy():
        maps = np.maximum(norm(conv(image, w["stem.0.conv.weight"], 2), 4), 0)
        for stage, stride in enumerate((1, 2, 2)):
            name = f"stages.{stage}"
            groups = (4, 8, 8)[stage]
            inner = np.maximum(norm(conv(maps, w[f"{name}.conv1.weight"], stride), groups), 0)
            inner = norm(conv(inner, w[f"{name}.conv2.weight"], 1), groups)
            skipped = maps if stride == 1 else conv(halved(maps), w[f"{name}.shortcut.1.weight"], 1)
            maps = np.maximum(inner + skipped, 0)
        expected.append(w["features.weight"] @ maps.ravel() + w["features.bias"])
    np.testing.assert_allclose(encoder(images).detach().numpy(), expected, rtol=1e-3, atol=1e-4)


def test_a_block_without_weights_passes_positive_maps_on() -> None:
    block = Block(8, 8, halve=False)
    torch.nn.init.zeros_(block.norm2.weight)
    maps = torch.rand(2, 8, 5, 5)
    assert torch.equal(block(maps), maps)


def test_the_variance_of_drawn_weights() -> None:
    weight = torch.empty(200, 50)
    draw_uniform(weight, 50, torch.Generator().manual_seed(0))
    assert float(weight.var()) == pytest.approx(1 / 50, rel=0.05)
