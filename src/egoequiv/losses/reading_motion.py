"""Motion as a pretext task: the motion between two frames is read from their features ("learning to see by moving")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def motion_error(read: Tensor, motion: Tensor, scale: Tensor) -> Tensor:
    """The squared error of motions in units of their size, averaged over components that vary; (B, M), (B, M), (M,).

    A reader that always says zero has an error of about 1. A component that never varies has the scale infinity.
    """
    varies = scale.isfinite()
    return (read - motion / scale)[:, varies].square().mean()


def to_read(z: Tensor) -> Tensor:
    """Features (B, D) with numbers of the size 1: a layer that reads features of length 1 would learn too slowly."""
    scaled: Tensor = z * z.detach().square().mean().clamp_min(1e-12).rsqrt()
    return scaled


@dataclass(frozen=True)
class MotionReading(Term):
    """The squared error of the motion that full layers read from the features of both frames of a pair.

    Agrawal et al., 2015, classify motions in bins; here they are read as numbers, which needs no bins. Without hidden
    units, one full layer reads them.
    """

    name: ClassVar[str] = "reading"
    stream: ClassVar[StreamName] = "clip"
    needs_motion: ClassVar[bool] = True
    hidden: int = 256

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        return (2 * features, self.hidden, motion) if self.hidden else (2 * features, motion)

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if batch.motion is None or net.read_scale is None:
            raise ConfigError("reading motions needs pairs with motions, and their scale")
        read = net.layers[self.name](to_read(torch.cat([batch.z_i, batch.z_j], dim=1)))
        return motion_error(read, batch.motion, net.read_scale)
