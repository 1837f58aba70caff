"""The whole network: normalisation, encoder, equivariance maps and classifier head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import prod, sqrt
from typing import Annotated, Any, Literal, Protocol

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.encoder import Encoder, draw_layer, draw_uniform
from egoequiv.models.encoders import build_encoder, code_of, features_of
from egoequiv.models.head import BackboneHead
from egoequiv.models.images import wrong_images
from egoequiv.models.maps import EquivarianceMaps
from egoequiv.models.motion_maps import MOTION_MAPS, MotionMaps
from egoequiv.models.motion_model import unknown_part
from egoequiv.plurals import plural
from egoequiv.signatures import of_type
from egoequiv.user_code import is_built_in

MapInit = Literal["identity", "xavier"]
Normalisation = Literal["dataset", "image"]
Change = Callable[[Tensor], Tensor]  # of normalised pixels, (B, H, W, C)
Precision = Literal["float32", "bfloat16"]
LARGEST_SIDE = 65_536  # pixels of an image
Side = Annotated[int, Field(ge=1, le=LARGEST_SIDE)]
LARGEST_LAYER = 16_384  # inputs or outputs of a layer of a loss: two such take 1 GiB
FLATTEST = 2.0  # gray levels: an image with a smaller standard deviation is not scaled up further
ALL = "all"  # every feature, where a part of them may be named
EQUIVARIANT = "equivariant"  # the part that the maps act on
INVARIANT = "invariant"  # the part that motion does not change


@dataclass(frozen=True)
class NetSpec:
    """All that is needed to build a network before its weights are known."""

    encoder: str
    image_shape: tuple[Side, Side, Side]  # height, width, channels
    patterns: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    encoder_settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)  # of the features, in order: name -> how many; empty: one
    normalisation: Normalisation = "dataset"
    motion_maps: str = ""  # the kind of maps of any motion; none where it is empty
    motion_dim: Annotated[int, Field(ge=0, le=LARGEST_SIDE)] = 0  # components of a motion
    layers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # of losses: name -> sizes of full layers

    def __post_init__(self) -> None:
        for name, size in self.parts.items():
            if name == ALL or not name or not isinstance(size, int) or size < 1:
                raise ConfigError(
                    f"a part of the features needs a name other than {ALL!r} and a size: {name!r}, {size!r}"
                )
        for name, sizes in self.layers.items():
            if not name or "." in name or hasattr(nn.ModuleDict, name):
                raise ConfigError(f"a loss with layers cannot have the name {name!r}: choose another, without dots")
            if any(not 1 <= size <= LARGEST_LAYER for size in sizes):
                raise ConfigError(f"layers of the loss {name} need sizes from 1 to {LARGEST_LAYER:,}: {sizes}")
        if self.motion_maps and self.motion_maps not in MOTION_MAPS:
            raise ConfigError(f"motion maps {self.motion_maps!r} are not known; choose from {', '.join(MOTION_MAPS)}")

    @property
    def code(self) -> list[str]:
        """What it may name that is code: its encoder, and the backbone of that."""
        return code_of(self.encoder, self.encoder_settings)

    def describe(self) -> dict[str, Any]:
        """A JSON object from which `from_description` builds an equal spec; parts as a list, which keeps its order."""
        return asdict(self) | {"parts": [list(part) for part in self.parts.items()]}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> NetSpec:
        """Read what `describe` wrote."""
        try:
            missing = [name for name in ("patterns", "class_names") if name not in description]  # () is written too
            if missing:
                raise DataError(f"{' and '.join(missing)} missing")
            parts = of_type(list[tuple[str, int]], description.get("parts", []))
            return of_type(cls, {**description, "parts": dict(parts)})
        except (ConfigError, DataError) as problem:
            raise DataError(f"the description of a network is damaged: {problem}") from problem


class Heads(Protocol):
    """What a loss may ask of a network, or of many at once: the maps and the classifier on top of the features."""

    @property
    def motion_maps(self) -> MotionMaps | None:
        """Maps of any motion, on the features or on their equivariant part."""

    @property
    def layers(self) -> nn.ModuleDict:
        """The layers that losses have asked for, by the names of the losses."""

    @property
    def motion_scale(self) -> Tensor | None:
        """The size of each component of a motion, (M,), infinity if it never varies; None where no motion is read."""

    @property
    def read_scale(self) -> Tensor | None:
        """The same for losses that read motion: the largest size of each unit."""

    @property
    def mapped_part(self) -> str:
        """The part of the features that the maps act on."""

    def part(self, name: str) -> slice:
        """Where a part of the features is among all of them."""

    @property
    def maps(self) -> Callable[[Tensor], Tensor] | None:
        """All maps on features, or on their equivariant part where there is one: (..., B, D) -> (..., B, G, D)."""

    @property
    def head(self) -> Callable[[Tensor], Tensor] | None:
        """Class scores of features: (..., B, D) -> (..., B, C)."""


class EgoNet(nn.Module):
    """An encoder with the maps and the head that are trained on top of it."""

    input_mean: Tensor
    input_std: Tensor
    read_scale: Tensor | None  # of motions, where losses read them
    precision: Precision = "float32"  # in which the encoder computes; features are float32 all the same

    def __init__(self, spec: NetSpec, encoder: Encoder | None = None) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = encoder or build_encoder(spec.encoder, spec.image_shape, spec.encoder_settings)
        dim = self.encoder.feature_dim
        if spec.parts and sum(spec.parts.values()) != dim:
            sizes = " + ".join(f"{name} {size}" for name, size in spec.parts.items())
            raise ConfigError(f"encoder {spec.encoder} gives {dim} features, but their parts are {sizes}: change one")
        mapped = spec.parts.get(EQUIVARIANT, dim)
        self.maps = EquivarianceMaps(len(spec.patterns), mapped) if spec.patterns else None
        self.head = nn.Linear(dim, len(spec.class_names)) if spec.class_names else None
        self.motion_maps = MOTION_MAPS[spec.motion_maps](spec.motion_dim, mapped) if spec.motion_maps else None
        self.layers = nn.ModuleDict({name: _full_layers(sizes) for name, sizes in spec.layers.items()})
        self.register_buffer("read_scale", torch.ones(spec.motion_dim) if spec.motion_dim else None)
        self.register_buffer("input_mean", torch.zeros(spec.image_shape[2]))
        self.register_buffer("input_std", torch.ones(spec.image_shape[2]))

    def forward(self, images: Tensor, change: Change | None = None) -> Tensor:
        """Features (B, D) of uint8 images (B, H, W, C), as `egoequiv.models.images` has the convention.

        `change`, if given, changes the normalised pixels, of variance about 1. Where the encoder is a head on a
        backbone, float16 cells of images (B, C), or their float32 components, are taken too (`models/stored.py`).
        """
        if images.dim() == 2 and isinstance(self.encoder, BackboneHead):
            read = images if images.dtype == torch.float32 else self.encoder.whitened(images)
            return self.in_parts(self.encoder.from_components(read))
        if images.dtype != torch.uint8 or images.shape[1:] != self.spec.image_shape:
            raise wrong_images(images.dtype, images.shape, self.spec.image_shape)
        pixels = self.normalised(images)
        pixels = pixels if change is None else self._changed(pixels, change)
        return self.encode(pixels.permute(0, 3, 1, 2))

    def encode(self, pixels: Tensor) -> Tensor:
        """Features (B, D) of normalised images (B, C, H, W).

        Where features have parts, each part has length 1, so that none outweighs the others.
        """
        is_own = is_built_in(self.encoder)
        if not is_own:
            # Colour by colour in memory, because with channels last the gradient of a 1 x 1 convolution with a stride
            # and few channels, as ResNets have them, is wrong or ends the process (oneDNN issue 6035).
            pixels = pixels.clone(memory_format=torch.contiguous_format)
        with torch.autocast(pixels.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            features: Tensor = self.encoder(pixels) if is_own else self._features_of_user(pixels)
        return self.in_parts(features.float())

    def in_parts(self, features: Tensor) -> Tensor:
        """What an encoder gives, (B, D), with each part brought to length 1 where there are parts."""
        sizes = list(self.spec.parts.values())
        if not sizes:
            return features
        return torch.cat([functional.normalize(part, dim=-1) for part in torch.split(features, sizes, dim=-1)], dim=-1)

    @property
    def motion_scale(self) -> Tensor | None:
        """The size of each component of a motion, (M,), infinity if it never varies; None where no motion is read."""
        return self.read_scale if self.motion_maps is None else self.motion_maps.scale

    def set_motion_scale(self, scale: Sequence[float], read_scale: Sequence[float] | None = None) -> None:
        """Set the size of each component of a motion, for maps and, perhaps another one, for losses that read."""
        if self.motion_maps is not None:
            self.motion_maps.scale.copy_(torch.tensor(scale))
        if self.read_scale is not None:
            self.read_scale.copy_(torch.tensor(read_scale or scale))

    def _changed(self, pixels: Tensor, change: Change) -> Tensor:
        """Changed pixels; the change sees them with variance about 1, also where images have length 1."""
        return change(pixels * self._length).div_(self._length) if self.encoder.unit_length else change(pixels)

    @property
    def _length(self) -> float:
        """By what pixels of variance 1 are divided for an image of length 1."""
        return sqrt(prod(self.spec.image_shape))

    @property
    def mapped_part(self) -> str:
        """The part of the features that the maps act on: the equivariant one, or all where there is none."""
        return EQUIVARIANT if EQUIVARIANT in self.spec.parts else ALL

    def part(self, name: str) -> slice:
        """Where a part of the features is among all of them: `z[..., net.part("equivariant")]`.

        Args:
            name: of a part of the network; `all` is every feature.

        Returns:
            A slice of the last axis of features, (..., D).
        """
        if name == ALL:
            return slice(0, self.encoder.feature_dim)
        if name not in self.spec.parts:
            raise unknown_part(name, (ALL, *self.spec.parts))
        names = list(self.spec.parts)
        start = sum(self.spec.parts[before] for before in names[: names.index(name)])
        return slice(start, start + self.spec.parts[name])

    def _features_of_user(self, pixels: Tensor) -> Tensor:
        """Features of normalised images by an encoder of a user, which may fail on some batches alone."""
        mode = "in training" if self.encoder.training else "in evaluation"
        what = f"encoder {self.spec.encoder}, {mode}, on {plural(len(pixels), 'image')}"
        return features_of(what, self.encoder, pixels, self.encoder.feature_dim)

    def normalised(self, images: Tensor) -> Tensor:
        """Centred and scaled pixels of uint8 images, (B, H, W, C): by the data set's statistics, or by each image's."""
        if getattr(self.encoder, "own_preprocessing", False):  # perhaps the module of a user
            return images.float() / 255
        if self.spec.normalisation == "image":
            pixels = images.to(torch.float32, copy=True)
            pixels.sub_(pixels.mean((1, 2, 3), keepdim=True))
            std = pixels.square().mean((1, 2, 3), keepdim=True).sqrt()  # torch.std takes ten times as long
            length = self._length if self.encoder.unit_length else 1.0
            return pixels.div_(std.clamp_min_(FLATTEST).mul_(length))
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
    for module in [net.maps, net.head, *net.layers.modules()]:
        if isinstance(module, nn.Linear):
            draw_layer(module, generator)
        elif isinstance(module, EquivarianceMaps):
            if maps == "identity":
                with torch.no_grad():
                    module.weight.copy_(torch.eye(module.weight.shape[-1]))
            else:
                draw_uniform(module.weight, module.weight.shape[-1], generator)
            nn.init.zeros_(module.bias)
    if net.motion_maps is not None:
        net.motion_maps.reset(generator)


def _full_layers(sizes: Sequence[int]) -> nn.Sequential:
    """Full layers of these sizes, with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.ReLU()] * bool(layers) + [nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)
