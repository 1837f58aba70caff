"""What is kept of each picture of a recording: a small gray copy and a few numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.sources.recording import Image

Array = NDArray[np.float64]

THUMBNAIL_PX = 32  # of the longer side
DARK, BRIGHT = 8, 247  # gray levels below and above which a pixel is clipped


@dataclass(frozen=True)
class Glance:
    """One picture, looked at once."""

    thumbnail: Image  # (h, w) gray
    digest: int  # of all decoded pixels: equal for equal pictures
    brightness: float  # the mean gray level, 0 to 255
    dark: float  # the share of pixels that are almost black
    bright: float  # the share of pixels that are almost white
    sharpness: float  # the variance of the Laplacian, in gray levels squared


@dataclass(frozen=True, eq=False)
class Glances:
    """All pictures of a recording, looked at once; arrays over its N frames. Numbers of broken frames are NaN."""

    thumbnails: Image  # (N, h, w)
    digests: NDArray[np.uint64]  # (N,)
    brightness: Array  # (N,)
    dark: Array  # (N,)
    bright: Array  # (N,)
    sharpness: Array  # (N,)
    broken: NDArray[np.bool_]  # (N,)

    def __len__(self) -> int:
        return len(self.broken)

    @property
    def flat(self) -> Image:
        """The thumbnails as rows of pixels (N, h w)."""
        return self.thumbnails.reshape(len(self), self.thumbnails.shape[1] * self.thumbnails.shape[2])

    @classmethod
    def of(cls, glances: Sequence[Glance | None]) -> Glances:
        """The glances of N frames; None stands for a broken one."""
        shape = next((one.thumbnail.shape for one in glances if one is not None), (1, 1))
        thumbnails = np.zeros((len(glances), *shape), np.uint8)
        numbers = np.full((len(glances), 4), np.nan)
        digests = np.zeros(len(glances), np.uint64)
        for k, one in enumerate(glances):
            if one is not None:
                thumbnails[k] = _fitted(one.thumbnail, shape)
                numbers[k] = one.brightness, one.dark, one.bright, one.sharpness
                digests[k] = one.digest
        broken = np.array([one is None for one in glances], bool)
        brightness, dark, bright, sharpness = numbers.T
        return cls(thumbnails, digests, brightness, dark, bright, sharpness, broken)


def glance(image: Image | PillowImage.Image) -> Glance:
    """Look at one decoded picture.

    Args:
        image: (H, W) gray or (H, W, 3) colour, uint8, or a Pillow image.

    Returns:
        Its thumbnail and numbers. The digest is that of the picture as it was decoded.

    """
    picture = image if isinstance(image, PillowImage.Image) else PillowImage.fromarray(image)
    digest = hashlib.blake2b(f"{picture.mode} {picture.size}".encode() + picture.tobytes(), digest_size=8).digest()
    gray = picture if picture.mode == "L" else picture.convert("L")
    pixels = np.asarray(gray)
    levels = np.bincount(pixels.ravel(), minlength=256) / max(pixels.size, 1)
    return Glance(
        thumbnail=np.asarray(gray.resize(_thumbnail_size(*gray.size), PillowImage.Resampling.BOX)),
        digest=int.from_bytes(digest, "little"),
        brightness=float(levels @ np.arange(256)),
        dark=float(levels[:DARK].sum()),
        bright=float(levels[BRIGHT + 1 :].sum()),
        sharpness=_sharpness(pixels),
    )


def _thumbnail_size(width: int, height: int) -> tuple[int, int]:
    """(w, h) with the longer side `THUMBNAIL_PX`; small pictures stay as they are."""
    scale = min(THUMBNAIL_PX / max(width, height), 1.0)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def _fitted(thumbnail: Image, shape: tuple[int, ...]) -> Image:
    if thumbnail.shape == shape:
        return thumbnail
    return np.asarray(PillowImage.fromarray(thumbnail).resize((shape[1], shape[0]), PillowImage.Resampling.BOX))


def _sharpness(pixels: Image) -> float:
    """The variance of the Laplacian inside the picture; 0 for one without an inside."""
    if min(pixels.shape) < 3:
        return 0.0
    p = pixels.astype(np.int16)
    laplacian = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * p[1:-1, 1:-1]
    return float(laplacian.var())
