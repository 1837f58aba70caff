"""The encoders by name: those of the paper, which are here, and newer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import Count, Encoder, ImageShape, channels_last
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.head import BackboneHead
from egoequiv.models.pixels import PixelEncoder
from egoequiv.models.pretrained import EfficientNetLite0
from egoequiv.models.residual import ResidualEncoder
from egoequiv.models.transformer import VisionTransformer
from egoequiv.names import Door, what_is
from egoequiv.signatures import checked_settings
from egoequiv.user_code import is_built_in, one_line, user_code


class MlpEncoder(Encoder):
    """Two full layers: the paper's network for NORB, 20 hidden units with ReLU and 100 features."""

    unit_length = True

    def __init__(self, image_shape: ImageShape, hidden_units: Count = 20, feature_dim: Count = 100) -> None:
        super().__init__()
        height, width, channels = image_shape
        self.feature_dim = feature_dim
        self.hidden = nn.Linear(height * width * channels, hidden_units)
        self.features = nn.Linear(hidden_units, feature_dim)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.features(self.hidden(images.flatten(1)).relu())
        return features


class ConvEncoder(Encoder):
    """Three convolutions and a full layer: the paper's network for KITTI, after the cuda-convnet one for CIFAR-10.

    32 conv 5x5, max 3x3/2, ReLU; 32 conv 5x5, ReLU, mean 3x3/2; 64 conv 5x5, ReLU, mean 3x3/2; 64 features.
    """

    def __init__(self, image_shape: ImageShape, feature_dim: Count = 64) -> None:
        super().__init__()
        height, width, channels = image_shape
        self.feature_dim = feature_dim
        self.conv1 = nn.Conv2d(channels, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 32, 5, padding=2)
        self.conv3 = nn.Conv2d(32, 64, 5, padding=2)
        self.max_pool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.mean_pool = nn.AvgPool2d(3, stride=2, ceil_mode=True)
        for _ in range(3):
            height, width = _pooled(height), _pooled(width)
        self.features = nn.Linear(64 * height * width, feature_dim)
        channels_last(self)

    def forward(self, images: Tensor) -> Tensor:
        maps = self.max_pool(self.conv1(images)).relu()
        maps = self.mean_pool(self.conv2(maps).relu())
        maps = self.mean_pool(self.conv3(maps).relu())
        features: Tensor = self.features(maps.flatten(1))
        return features


def _pooled(side: int) -> int:
    """The side of a map after pooling 3 with stride 2; the last window may hang over the edge."""
    if side < 3:
        raise ConfigError("the kitti encoder halves its maps three times and needs images of 12 pixels a side or more")
    return -(-(side - 3) // 2) + 1


ENCODERS: dict[str, Callable[..., nn.Module]] = {
    "norb": MlpEncoder,
    "kitti": ConvEncoder,
    "residual": ResidualEncoder,
    "vit": VisionTransformer,
    "efficientnet-lite0": EfficientNetLite0,
    BACKBONE: BackboneHead,
    "pixels": PixelEncoder,
}
DOOR = Door("encoder", ENCODERS, "egoequiv.encoders", "a function or class that returns an nn.Module")


def code_of(name: str, settings: Mapping[str, Any]) -> list[str]:
    """What an encoder names that may be code: itself, and the backbone that it begins with."""
    return [name, *(str(value) for key, value in settings.items() if key == "backbone")]


def get_encoder(name: str) -> Callable[..., nn.Module]:
    """What builds the encoder of this name: built in, registered, `module:name` or `file.py:name`."""
    found: Callable[..., nn.Module] = DOOR.find(name)
    return found


def encoder_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an encoder, converted to the types it declares; an unknown or wrong one is named."""
    return checked_settings(f"encoder {name!r}", get_encoder(name), settings, ("image_shape",), "encoder.")


def build_encoder(name: str, image_shape: ImageShape, settings: Mapping[str, Any]) -> Encoder:
    """Build an encoder, with the weights it has by itself.

    Args:
        name: of the encoder, as `get_encoder` takes it.
        image_shape: height, width and channels of the images.
        settings: further arguments of the encoder.

    Returns:
        A module with `feature_dim` and `unit_length`. One of a user is tried on two images, so that wrong shapes are
        found before training; where it does not say its `feature_dim`, that is what comes out.

    """
    build = get_encoder(name)
    settings = encoder_settings(name, settings)
    given = "".join(f", {key}={value!r}" for key, value in settings.items())
    what = f"encoder {name} for images of {' x '.join(map(str, image_shape))}{given}"
    if is_built_in(build):
        try:
            return build(image_shape, **settings)  # type: ignore[return-value]
        except RuntimeError as problem:  # too large for the memory
            raise ConfigError(f"{what}: {one_line(str(problem))}") from problem
    with user_code(what):
        module = build(image_shape, **settings)
    if not isinstance(module, nn.Module):
        raise ConfigError(f"{what}: expected an nn.Module, found {what_is(module)}")
    found = _feature_dim(what, module, image_shape)
    declared = getattr(module, "feature_dim", found)
    if declared != found:
        raise ConfigError(f"{what}: its feature_dim is {declared!r}, but it gives {found} features")
    encoder = cast(Encoder, module)
    encoder.feature_dim, encoder.unit_length = found, bool(getattr(module, "unit_length", False))
    encoder.part_sizes = _part_sizes(what, module, found)
    return encoder


def _part_sizes(what: str, module: nn.Module, features: int) -> tuple[int, ...]:
    """The sizes of the parts for which a module of a user says that it has layers of their own."""
    sizes = getattr(module, "part_sizes", ())
    are_sizes = isinstance(sizes, tuple | list) and all(type(size) is int and size > 0 for size in sizes)
    if not are_sizes or (sizes and sum(sizes) != features):
        raise ConfigError(f"{what}: its part_sizes must be numbers that add up to {features} features, found {sizes!r}")
    return tuple(sizes)


@torch.no_grad()
def _feature_dim(what: str, module: nn.Module, image_shape: ImageShape) -> int:
    """How many features a module gives; nothing in it is changed, but parameters that wait for an image get a shape."""
    height, width, channels = image_shape
    was_training = module.training
    try:
        return features_of(what, module.eval(), torch.zeros(2, channels, height, width)).shape[1]
    finally:
        module.train(was_training)


def features_of(what: str, module: nn.Module, images: Tensor, feature_dim: int | None = None) -> Tensor:
    """The features (B, D) that a module of a user gives for images (B, C, H, W); what goes wrong is one line.

    With `feature_dim`, they must have so many columns: a module may give others for other numbers of images.
    """
    with user_code(what):
        features = module(images)
    if not isinstance(features, Tensor):
        raise ConfigError(f"{what}: expected a tensor of features (B, D), it returns {what_is(features)}")
    is_wrong = features.dim() != 2 or len(features) != len(images) or not features.is_floating_point()
    if is_wrong or not features.shape[1] or feature_dim not in (None, features.shape[1]):
        raise ConfigError(
            f"{what}: expected float features (B, {feature_dim or 'D'}) of images (B, C, H, W); of {len(images)} "
            f"images it returns {str(features.dtype).removeprefix('torch.')} {tuple(features.shape)}"
        )
    return features
