"""Encoders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import correlate
from torch import Tensor, nn

from egoequiv.errors import ConfigError
from egoequiv.models import ENCODERS, Encoder, build_encoder
from egoequiv.models.encoders import ConvEncoder, MlpEncoder, encoder_settings
from egoequiv.models.pretrained import PACKAGES


def test_two_full_layers_by_hand() -> None:
    encoder = MlpEncoder((1, 2, 1), hidden_units=2, feature_dim=1)
    with torch.no_grad():
        encoder.hidden.weight.copy_(torch.tensor([[1.0, -1.0], [-1.0, 1.0]]))
        encoder.hidden.bias.copy_(torch.tensor([0.0, 0.5]))
        encoder.features.weight.copy_(torch.tensor([[2.0, 10.0]]))
        encoder.features.bias.fill_(1.0)
    images = torch.tensor([[[[3.0, 1.0]]], [[[1.0, 3.0]]]])
    # Hidden (2, -1.5) and (-2, 2.5); what is below zero is cut off.
    assert encoder(images).tolist() == [[5.0], [26.0]]


def test_two_full_layers_against_numpy() -> None:
    torch.manual_seed(0)
    encoder = MlpEncoder((3, 4, 2), hidden_units=5, feature_dim=7)
    images = torch.randn(6, 2, 3, 4)
    weights = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    expected = []
    for image in images.double().numpy():
        hidden = np.maximum(weights["hidden.weight"] @ image.ravel() + weights["hidden.bias"], 0)
        expected.append(weights["features.weight"] @ hidden + weights["features.bias"])
    np.testing.assert_allclose(encoder(images).detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_network_of_the_paper_for_norb() -> None:
    encoder = ENCODERS["norb"]((96, 96, 1))
    shapes = {name: tuple(value.shape) for name, value in encoder.named_parameters()}
    assert shapes == {
        "hidden.weight": (20, 9216),
        "hidden.bias": (20,),
        "features.weight": (100, 20),
        "features.bias": (100,),
    }


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("shape", [(32, 32, 1), (24, 40, 3)])
def test_every_encoder_gives_the_features_it_promises(name: str, shape: tuple[int, int, int]) -> None:
    if name == "efficientnet-lite0":
        pytest.importorskip(PACKAGES[1], reason="the extra `imagenet` is not installed")
    encoder = ENCODERS[name](shape)
    assert isinstance(encoder, Encoder)
    height, width, channels = shape
    assert encoder(torch.zeros(2, channels, height, width)).shape == (2, encoder.feature_dim)


def test_the_network_of_the_paper_for_kitti() -> None:
    encoder = ENCODERS["kitti"]((32, 32, 1))
    shapes = {name: tuple(value.shape) for name, value in encoder.named_parameters()}
    assert shapes == {
        "conv1.weight": (32, 1, 5, 5),
        "conv1.bias": (32,),
        "conv2.weight": (32, 32, 5, 5),
        "conv2.bias": (32,),
        "conv3.weight": (64, 32, 5, 5),
        "conv3.bias": (64,),
        "features.weight": (64, 64 * 4 * 4),
        "features.bias": (64,),
    }
    assert encoder.feature_dim == 64


@settings(max_examples=30)
@given(st.integers(12, 70), st.integers(12, 70), st.sampled_from([1, 3]))
def test_images_of_any_size_fit(height: int, width: int, channels: int) -> None:
    encoder = ConvEncoder((height, width, channels), feature_dim=5)
    maps = torch.zeros(1, 1, height, width)
    for pool in (encoder.max_pool, encoder.mean_pool, encoder.mean_pool):
        maps = pool(maps)  # the convolutions keep the size
    assert encoder.features.in_features == 64 * maps.shape[2] * maps.shape[3]
    assert encoder(torch.zeros(2, channels, height, width)).shape == (2, 5)


def test_every_small_side_either_fits_or_is_refused_in_one_line() -> None:
    for side in range(1, 12):
        for shape in ((side, 40, 1), (40, side, 1)):
            with pytest.raises(ConfigError, match=r"^the kitti encoder .* needs images of 12 pixels a side or more$"):
                ConvEncoder(shape)
    assert ConvEncoder((12, 12, 1))(torch.zeros(1, 1, 12, 12)).shape == (1, 64)


def slow_pool(maps: np.ndarray, largest: bool) -> np.ndarray:
    """Windows of 3 x 3 with stride 2; the last one may hang over the edge, but must begin inside."""
    rows = [slice(top, top + 3) for top in range(0, maps.shape[1], 2) if top == 0 or top + 2 <= maps.shape[1]]
    columns = [slice(left, left + 3) for left in range(0, maps.shape[2], 2) if left == 0 or left + 2 <= maps.shape[2]]
    reduce = np.max if largest else np.mean
    return np.array([[[reduce(one[r, c]) for c in columns] for r in rows] for one in maps])


def slow_conv(maps: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    padded = np.pad(maps, ((0, 0), (2, 2), (2, 2)))
    return np.array(
        [
            sum(correlate(p, k, mode="valid") for p, k in zip(padded, kernels, strict=True)) + b
            for kernels, b in zip(weight, bias, strict=True)
        ]
    )


@pytest.mark.parametrize("shape", [(12, 17, 1), (16, 13, 3)])
def test_convolutions_against_numpy(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    encoder = ConvEncoder(shape, feature_dim=7)
    images = torch.randn(2, shape[2], *shape[:2])
    w = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    expected = []
    for image in images.double().numpy():
        maps = np.maximum(slow_pool(slow_conv(image, w["conv1.weight"], w["conv1.bias"]), True), 0)
        for layer in ("conv2", "conv3"):
            maps = slow_pool(np.maximum(slow_conv(maps, w[f"{layer}.weight"], w[f"{layer}.bias"]), 0), False)
        expected.append(w["features.weight"] @ maps.ravel() + w["features.bias"])
    np.testing.assert_allclose(encoder(images).detach().numpy(), expected, rtol=1e-3, atol=1e-5)


def test_only_full_layers_want_images_of_length_one() -> None:
    assert ENCODERS["norb"]((32, 32, 1)).unit_length
    assert not ENCODERS["kitti"]((32, 32, 1)).unit_length


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("norb", {"hidden_units": "64", "feature_dim": 128}, {"hidden_units": 64, "feature_dim": 128}),
        ("kitti", {"feature_dim": "7"}, {"feature_dim": 7}),
        ("residual", {"width": "16", "blocks": "2"}, {"width": 16, "blocks": 2}),
        ("vit", {"patch_px": "4", "heads": 2}, {"patch_px": 4, "heads": 2}),
        ("efficientnet-lite0", {"frozen": "false"}, {"frozen": False}),
        ("models.test_encoders:Plain", {"scale": "2", "name": "5"}, {"scale": 2.0, "name": "5"}),
        ("models.test_encoders:anything", {"a": "3", "b": "0.5", "c": "true"}, {"a": 3, "b": 0.5, "c": True}),
        ("models.test_encoders:anything", {"a": "x", "b": [1]}, {"a": "x", "b": [1]}),
    ],
)
def test_settings_have_the_types_that_are_declared(
    name: str, given: dict[str, object], expected: dict[str, object]
) -> None:
    assert encoder_settings(name, given) == expected
    assert encoder_settings(name, expected) == expected


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "norb",
            {"hiden_units": "64"},
            "'norb' has no setting 'hiden_units'; it has hidden_units, feature_dim",
        ),
        ("norb", {"image_shape": "64"}, "has no setting 'image_shape'"),
        ("norb", {"hidden_units": "many"}, "setting encoder.hidden_units='many': Input should be a valid integer"),
        ("norb", {"hidden_units": 2.5}, "encoder.hidden_units=2.5"),
        ("kitti", {"feature_dim": "0"}, "encoder.feature_dim='0': Input should be greater than or equal to 1"),
        ("models.test_encoders:Needy", {}, "needs the setting 'size': give it as encoder.size=VALUE"),
        ("norb", {"feature_dim": 10**15}, "feature_dim=1000000000000000: "),
    ],
)
def test_a_wrong_setting_is_one_line(name: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build_encoder(name, (12, 12, 1), given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_shape_the_encoder() -> None:
    encoder = build_encoder("norb", (4, 5, 2), {"hidden_units": 3, "feature_dim": 6})
    assert encoder(torch.zeros(2, 2, 4, 5)).shape == (2, 6)
    assert encoder.hidden.weight.shape == (3, 40)  # type: ignore[union-attr]


class Plain(nn.Module):
    """A module that says nothing of its features."""

    def __init__(self, image_shape: tuple[int, int, int], scale: float = 1.0, name: str = "") -> None:
        super().__init__()
        self.scale = scale

    def forward(self, images: Tensor) -> Tensor:
        return self.scale * images.flatten(1)


class Needy(Plain):
    """A module that must be given a size."""

    def __init__(self, image_shape: tuple[int, int, int], size: int) -> None:
        super().__init__(image_shape)


class Lying(Plain):
    """A module that gives more features than it says."""

    feature_dim = 7


class Maps(Plain):
    """A module without features."""

    def forward(self, images: Tensor) -> Tensor:
        return images


class Pair(Plain):
    """A module that gives two tensors."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1), images  # type: ignore[return-value]


class Whole(Plain):
    """A module that gives whole numbers."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1).long()


class Broken(Plain):
    """A module that does not fit the images."""

    def forward(self, images: Tensor) -> Tensor:
        return images @ torch.zeros(99, 1)


class Unbuilt(Plain):
    """A module that cannot be built."""

    def __init__(self, image_shape: tuple[int, int, int]) -> None:
        raise ValueError("too\nsmall")


class Parted(Plain):
    """A module whose parts are not those of its features."""

    part_sizes = 4


def anything(image_shape: tuple[int, int, int], **settings: object) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(4), nn.BatchNorm1d(4), nn.Dropout())


def nothing(image_shape: tuple[int, int, int]) -> None:
    """Build nothing."""


NUMBER = 3


def test_any_module_is_an_encoder() -> None:
    plain = build_encoder("models.test_encoders:Plain", (2, 3, 1), {"scale": "2"})
    assert (plain.feature_dim, plain.unit_length, plain.scale) == (6, False, 2.0)
    assert plain.training
    built = build_encoder("models.test_encoders:anything", (2, 3, 1), {})
    assert built.feature_dim == 4
    assert built[1].weight.shape == (4, 6)  # type: ignore[index]
    assert int(built[2].num_batches_tracked) == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Parted", "its part_sizes must be numbers that add up to 6 features, found 4"),
        ("Lying", "its feature_dim is 7, but it gives 6 features"),
        ("Maps", "expected float features (B, D) of images (B, C, H, W); of 2 images it returns float32 (2, 1, 2, 3)"),
        ("Pair", "expected a tensor of features (B, D), it returns a tuple"),
        ("Whole", "it returns int64 (2, 6)"),
        ("Broken", "RuntimeError: "),
        ("Unbuilt", "ValueError: too small"),
        ("nothing", "expected an nn.Module, found a NoneType"),
        ("NUMBER", "expected a function or class that returns an nn.Module, found a int"),
        ("missing", "models.test_encoders has no 'missing'"),
    ],
)
def test_what_is_no_encoder_is_one_line(name: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build_encoder(f"models.test_encoders:{name}", (2, 3, 1), {})
    assert str(caught.value).startswith(f"encoder models.test_encoders:{name}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
