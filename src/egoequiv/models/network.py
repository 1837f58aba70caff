"""The whole network: normalisation, encoder, equivariance maps and classifier head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from egoequiv.errors import DataError
from egoequiv.models.encoder import ImageShape, draw_layer, draw_uniform
from egoequiv.models.encoders import build_encoder, features_of
from egoequiv.models.images import wrong_images
from egoequiv.models.maps import EquivarianceMaps
from egoequiv.user_code import is_built_in

MapInit = Literal["identity", "xavier"]
Precision = Literal["float32", "bfloat16"]
LARGEST_SIDE = 65_536  # pixels of an image


@dataclass(frozen=True)
class NetSpec:
    """All that is needed to build a network before its weights are known."""

    encoder: str
    image_shape: ImageShape  # height, width, channels
    patterns: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    encoder_settings: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """A JSON object from which `from_description` builds an equal spec."""
        return asdict(self)

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> NetSpec:
        try:
            height, width, channels = (int(side) for side in description["image_shape"])
            if not all(0 < side <= LARGEST_SIDE for side in (height, width, channels)):
                raise ValueError(f"image_shape {height} x {width} x {channels}")
            return cls(
                encoder=str(description["encoder"]),
                image_shape=(height, width, channels),
                patterns=tuple(description["patterns"]),
                class_names=tuple(description["class_names"]),
                encoder_settings={str(key): value for key, value in description.get("encoder_settings", {}).items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise DataError(f"the description of a network is damaged: {problem!r}") from problem


class Heads(Protocol):
    """What a loss may ask of a network, or of many at once: the maps and the classifier on top of the features."""

    @property
    def maps(self) -> Callable[[Tensor], Tensor] | None:
        """All maps on features: (..., B, D) -> (..., B, G, D)."""

    @property
    def head(self) -> Callable[[Tensor], Tensor] | None:
        """Class scores of features: (..., B, D) -> (..., B, C)."""


class EgoNet(nn.Module):
    """An encoder with the maps and the head that are trained on top of it."""

    input_mean: Tensor
    input_std: Tensor
    precision: Precision = "float32"  # in which the encoder computes; features are float32 all the same

    def __init__(self, spec: NetSpec) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = build_encoder(spec.encoder, spec.image_shape, spec.encoder_settings)
        dim = self.encoder.feature_dim
        self.maps = EquivarianceMaps(len(spec.patterns), dim) if spec.patterns else None
        self.head = nn.Linear(dim, len(spec.class_names)) if spec.class_names else None
        self.register_buffer("input_mean", torch.zeros(spec.image_shape[2]))
        self.register_buffer("input_std", torch.ones(spec.image_shape[2]))

    def forward(self, images: Tensor) -> Tensor:
        """Features (B, D) of uint8 images (B, H, W, C), as `egoequiv.models.images` has the convention."""
        if images.dtype != torch.uint8 or images.shape[1:] != self.spec.image_shape:
            raise wrong_images(images.dtype, images.shape, self.spec.image_shape)
        pixels = self.normalised(images).permute(0, 3, 1, 2)
        is_own = is_built_in(self.encoder)
        if not is_own:
            # Colour by colour in memory, because with channels last the gradient of a 1 x 1 convolution with a stride
            # and few channels, as ResNets have them, is wrong or ends the process (oneDNN issue 6035).
            pixels = pixels.clone(memory_format=torch.contiguous_format)
        with torch.autocast(pixels.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            features: Tensor = self.encoder(pixels) if is_own else self._features_of_user(pixels)
        return features.float()

    def _features_of_user(self, pixels: Tensor) -> Tensor:
        """Features of normalised images by an encoder of a user, which may fail on some batches alone."""
        mode = "in training" if self.encoder.training else "in evaluation"
        what = f"encoder {self.spec.encoder}, {mode}, on {len(pixels)} images"
        return features_of(what, self.encoder, pixels, self.encoder.feature_dim)

    def normalised(self, images: Tensor) -> Tensor:
        """Centred and scaled pixels of uint8 images, (B, H, W, C)."""
        scale = self.input_std.reciprocal()
        shift = -self.input_mean * scale
        rows = images.float()
        if len(scale) > 1:  # whole rows at a time: three numbers at a time are no work for a vector unit
            width = images.shape[2]
            rows = rows.flatten(2)
            scale, shift = scale.repeat(width), shift.repeat(width)
        return rows.mul_(scale).add_(shift).view(images.shape)  # in place: no gradient flows to pixels

    def set_normalisation(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Set the mean and standard deviation of each channel, in units of pixel values 0 to 255."""
        self.input_mean.copy_(torch.tensor(mean))
        self.input_std.copy_(torch.tensor(std))


def initialise(net: EgoNet, generator: torch.Generator, maps: MapInit = "identity") -> None:
    """Draw all weights as the encoder says, and those of the head uniformly with variance 1/fan_in; biases are zero.

    An encoder of a user is built again instead, with random numbers that the generator decides: it may begin as it
    likes, also with weights that were trained elsewhere.

    Maps may begin as the identity instead: a random map pulls all features to one point before it has learned
    anything, and the contrastive loss alone does not bring them apart again.
    """
    if is_built_in(net.encoder):
        net.encoder.draw_weights(generator)
    else:
        seed = int(torch.randint(2**62, (), generator=generator))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net.encoder = build_encoder(net.spec.encoder, net.spec.image_shape, net.spec.encoder_settings)
    for module in (net.maps, net.head):
        if isinstance(module, nn.Linear):
            draw_layer(module, generator)
        elif isinstance(module, EquivarianceMaps):
            if maps == "identity":
                with torch.no_grad():
                    module.weight.copy_(torch.eye(module.weight.shape[-1]))
            else:
                draw_uniform(module.weight, module.weight.shape[-1], generator)
            nn.init.zeros_(module.bias)
