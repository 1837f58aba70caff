"""Encoders: from normalised images to feature vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from torch import Tensor, nn

ImageShape = tuple[int, int, int]  # height, width, channels


class Encoder(nn.Module):
    """A network from normalised images (B, C, H, W) to features (B, D)."""

    feature_dim: int

    @abstractmethod
    def forward(self, images: Tensor) -> Tensor:
        """Features (B, D) of images (B, C, H, W)."""


class MlpEncoder(Encoder):
    """Two full layers: the paper's network for NORB, 20 hidden units with ReLU and 100 features."""

    def __init__(self, image_shape: ImageShape, hidden_units: int = 20, feature_dim: int = 100) -> None:
        super().__init__()
        height, width, channels = image_shape
        self.feature_dim = feature_dim
        self.hidden = nn.Linear(height * width * channels, hidden_units)
        self.features = nn.Linear(hidden_units, feature_dim)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.features(self.hidden(images.flatten(1)).relu())
        return features


ENCODERS: dict[str, Callable[[ImageShape], Encoder]] = {
    "norb": MlpEncoder,
}
