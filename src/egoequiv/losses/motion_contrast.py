"""Motion contrast: equivariance as a choice among the images of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads


def motion_contrast(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, temperature: float) -> Tensor:
    """-log p of the true image x_i of each pair, among all images of the batch; (B, D) each -> ().

    `predicted_i` is M z(x_j). Among the other images are frames of the same recording, and x_j itself: a map that
    changes nothing chooses x_j, so this is also a margin against no motion.
    """
    candidates = functional.normalize(torch.cat([z_i, z_j]), dim=-1)
    scores = functional.normalize(predicted_i, dim=-1) @ candidates.T / temperature
    return functional.cross_entropy(scores, torch.arange(len(z_i), device=z_i.device))


@dataclass(frozen=True)
class MotionContrast(Term):
    """Motion contrast over the pairs of a batch, by the network's maps of any motion."""

    name: ClassVar[str] = "motion"
    stream: ClassVar[StreamName] = "clip"
    needs_motion: ClassVar[bool] = True
    maps_motion: ClassVar[bool] = True
    temperature: float = 0.1
    part: Part = "all"

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.motion_maps is None or batch.motion is None:
            raise ConfigError("motion contrast needs a network with maps of motions, and pairs with motions")
        own = net.part(self.part)
        z_i, z_j = batch.z_i[:, own], batch.z_j[:, own]
        return motion_contrast(net.motion_maps.back(z_j, batch.motion), z_i, z_j, self.temperature)
