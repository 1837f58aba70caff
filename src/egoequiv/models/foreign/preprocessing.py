"""From the images of a store to what a model takes: size, channels, mean and standard deviation, type and layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

from egoequiv.errors import ConfigError

DType = Literal["float32", "uint8"]
Layout = Literal["nchw", "nhwc"]
LARGEST = 4_096  # pixels a side
LUMINANCE = (0.299, 0.587, 0.114)  # of red, green and blue, as Rec. 601 has it


@dataclass(frozen=True)
class Preprocessing:
    """What is done to uint8 images before a model sees them; by default values of 0 to 1 and nothing else.

    Images are squeezed to `size`, their aspect is not kept and nothing is cut off; one channel is repeated to as many
    as are declared, and red, green and blue become their luminance where one is declared.

    A model gets float32 tensors (N, C, H, W). One that does its own scaling, such as an exported network, may take
    uint8 values of 0 to 255 (`dtype="uint8"`), and one may take channels last (`layout="nhwc"`).

    Example:
        >>> Preprocessing(size=(224, 224), channels=3, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)).channels
        3
    """

    size: tuple[int, int] | None = None  # height and width; None: as in the store
    channels: int | None = None  # None: as in the store
    mean: tuple[float, ...] = (0.0,)  # of pixels of 0 to 1: one for all channels, or one each
    std: tuple[float, ...] = (1.0,)
    dtype: DType = "float32"
    layout: Layout = "nchw"
    unit_length: bool = False  # also divided by the root of how many values an image has: its length is then about 1

    def __post_init__(self) -> None:
        if self.size is not None and not all(1 <= side <= LARGEST for side in self.size):
            raise ConfigError(f"size must be 1 to {LARGEST} pixels a side, found {self.size[0]} x {self.size[1]}")
        if self.channels is not None and self.channels < 1:
            raise ConfigError(f"channels must be 1 or more, found {self.channels}")
        if not all(map(isfinite, self.mean)) or not all(isfinite(one) and one > 0 for one in self.std):
            raise ConfigError(f"mean and std must be numbers, std above 0; found mean {self.mean}, std {self.std}")
        counts = {count for count in (len(self.mean), len(self.std)) if count != 1}
        if not self.mean or not self.std or len(counts | ({self.channels} if self.channels and counts else set())) > 1:
            raise ConfigError(
                f"mean and std need one value, or one for each of {self.channels or 'the'} channels; "
                f"found {len(self.mean)} and {len(self.std)}"
            )

        for what, value, known in (("dtype", self.dtype, DType), ("layout", self.layout, Layout)):
            if value not in get_args(known):
                raise ConfigError(f"{what} must be {' or '.join(get_args(known))}, found {value!r}")
        if self.dtype == "uint8" and ({*self.mean} != {0.0} or {*self.std} != {1.0} or self.unit_length):
            raise ConfigError("a model that takes uint8 images scales them itself: declare no mean and std for it")

    def shape(self, image_shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Height, width and channels that the model sees of images of this shape."""
        height, width, channels = image_shape
        wanted = self.channels or max(len(self.mean), len(self.std), channels)
        if wanted != channels and channels != 1 and (channels, wanted) != (3, 1):
            raise ConfigError(f"images of {channels} channels cannot be shown to a model that takes {wanted}")
        if not {len(self.mean), len(self.std)} <= {1, wanted}:
            raise ConfigError(f"mean {self.mean} and std {self.std} do not fit images of {wanted} channels")
        return *(self.size or (height, width)), wanted

    def __call__(self, images: NDArray[np.uint8]) -> Tensor:
        """uint8 images (N, H, W, C) as a model takes them, by default float32 (N, C, H, W)."""
        return self.prepare(torch.from_numpy(np.array(images)).permute(0, 3, 1, 2).float() / 255)

    def prepare(self, pixels: Tensor) -> Tensor:
        """The same of values of 0 to 1, (N, C, H, W)."""
        height, width, channels = self.shape((pixels.shape[2], pixels.shape[3], pixels.shape[1]))
        if channels < pixels.shape[1]:
            pixels = (pixels * pixels.new_tensor(LUMINANCE).view(1, 3, 1, 1)).sum(dim=1, keepdim=True)
        if (height, width) != tuple(pixels.shape[2:]):
            pixels = interpolate(pixels, (height, width), mode="bilinear", antialias=True)
        pixels = pixels.expand(-1, channels, -1, -1)
        mean, std = (pixels.new_tensor(values).view(1, -1, 1, 1) for values in (self.mean, self.std))
        scale = std * sqrt(height * width * channels) if self.unit_length else std
        pixels = (pixels * 255).round().byte() if self.dtype == "uint8" else (pixels - mean) / scale
        return (pixels.permute(0, 2, 3, 1) if self.layout == "nhwc" else pixels).contiguous()

    def resized(self, size: tuple[int, int], channels: int) -> Preprocessing:
        """The same for pictures of another size."""
        return replace(self, size=size, channels=channels)

    def in_words(self, image_shape: tuple[int, int, int]) -> str:
        """Such as "224 x 224 x 3, mean 0.5, std 0.5"."""
        seen = " x ".join(map(str, self.shape(image_shape)))
        if self.dtype == "uint8":
            return f"{seen}, uint8 (N, {', '.join('HWC' if self.layout == 'nhwc' else 'CHW')})"
        mean, std = (" ".join(f"{value:.4g}" for value in values) for values in (self.mean, self.std))
        return f"{seen}, mean {mean}, std {std}{', images scaled to length about 1' if self.unit_length else ''}"
