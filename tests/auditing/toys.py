"""What the tests of the audit share: a store whose pictures hold their pose, and models that read it, or go wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from egoequiv.pose import PlanarSpace
from egoequiv.store import FrameStore
from helpers import AZIMUTHS, ELEVATIONS, bare_store, grid_poses

SIDE = 12
RECORDINGS = 8


def posed_store(recordings: int = RECORDINGS) -> FrameStore:
    """Recordings on a grid of 4 x 6 poses; three pixels hold elevation, azimuth and recording, the others are noise."""
    views = ELEVATIONS * AZIMUTHS
    recording = np.repeat(np.arange(recordings), views)
    store = bare_store(np.tile(grid_poses(), (recordings, 1)), recording.tolist())
    images = np.random.default_rng(0).integers(0, 256, (len(store), SIDE, SIDE, 1)).astype(np.uint8)
    view = np.tile(np.arange(views), recordings)
    images[:, 0, :3, 0] = np.stack([view // AZIMUTHS, view % AZIMUTHS, 1 + recording], axis=1)
    return replace(store, images=images)


def driving_store() -> FrameStore:
    """Six short drives on a circle or straight on, 10 frames a second."""
    poses, times = [], np.arange(40) / 10
    for drive in range(6):
        turn = (0.3, -0.3, 0.0)[drive % 3]
        poses.append(np.column_stack([times * (8 + drive), turn * times]))
    store = bare_store(
        np.concatenate(poses), np.repeat(np.arange(6), 40).tolist(), np.tile(times, 6).tolist(), PlanarSpace()
    )
    images = np.random.default_rng(0).integers(0, 256, (len(store), 6, 6, 1)).astype(np.uint8)
    return replace(store, images=images)


def equivariant(images: Tensor) -> Tensor:
    """A size for each recording, turned by the azimuth and shifted by the elevation: linear in all motions."""
    elevation, azimuth, size = (images[:, 0, 0, :3] * 255).round().T
    angle = azimuth * (2 * torch.pi / AZIMUTHS)
    return torch.stack([size * angle.cos(), size * angle.sin(), elevation + size, size], dim=1)


class TinyNet(nn.Module):
    """One convolution and one full layer."""

    def __init__(self, channels: int = 1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.body = nn.Sequential(nn.Conv2d(channels, 4, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(4, 5)
        self.unused = nn.Linear(2, 2)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.head(self.body(images).mean(dim=(2, 3)))
        return features


def tiny() -> nn.Module:
    """A factory, to be named by its import path."""
    return TinyNet()


def tiny_of_colour() -> nn.Module:
    return TinyNet(channels=3)


def not_a_model() -> int:
    return 7


def failing_factory() -> nn.Module:
    raise OSError("no such dial")


def ending_factory() -> nn.Module:
    raise SystemExit("usage: train.py\n  --data FOLDER")


def _raising(images: Tensor) -> Tensor:
    raise ValueError("I do not like these images\nat all")


def _ending(images: Tensor) -> Tensor:
    raise SystemExit(3)


# What a function may do wrong, and the words that must tell of it.
WRONG: dict[str, tuple[Callable[[Tensor], Any], tuple[str, ...]]] = {
    "raises": (_raising, ("raised ValueError", "I do not like these images", "12 x 12 x 1")),
    "ends the program": (_ending, ("called sys.exit(3)", "12 x 12 x 1")),
    "gives a list": (lambda images: [images.flatten(1)], ("returned a list", "one tensor")),
    "gives nothing": (lambda images: None, ("returned a NoneType",)),
    "gives objects": (lambda images: np.array([None] * len(images)), ("array of object",)),
    "gives too few rows": (lambda images: images.flatten(1)[1:], ("3 rows for 4 images",)),
    "gives one number": (lambda images: images.mean(), ("a single number for 4 images",)),
    "gives no features": (lambda images: images.flatten(1)[:, :0], ("no features",)),
    "gives too many": (lambda images: torch.zeros(len(images), 10_001), ("10,001 features", "10,000")),
    "gives complex numbers": (lambda images: images.flatten(1) * 1j, ("a tensor of complex64", "real numbers")),
    "gives sparse numbers": (lambda images: images.flatten(1).to_sparse(), ("a tensor laid out as sparse_coo",)),
    "gives no values": (lambda images: images.flatten(1).to("meta"), ("a tensor without values",)),
    "gives NaN": (lambda images: images.flatten(1) / 0, ("not finite",)),
}


class Changing:
    """Gives four features for the images of the first calls and one for those of later ones."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def __call__(self, images: Tensor) -> Tensor:
        self.calls -= 1
        return images.flatten(1)[:, : 4 if self.calls >= 0 else 1]


def talking() -> Callable[[Tensor], Tensor]:
    """A factory that prints, of a function that prints."""
    print("built")

    def features(images: Tensor) -> Tensor:
        print("called")
        return images.flatten(1)[:, :5]

    return features


def ending_model() -> Callable[[Tensor], Tensor]:
    return _ending
