"""A margin against no motion: a prediction by a map is nearer to the truth than no prediction is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads


def null_motion_loss(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, margin: Tensor) -> Tensor:
    """The mean of max(0, d(M z_j, z_i) - d(z_j, z_i) + margin), d the distance of directions; (B, D) each, (B,) -> ().

    `predicted_i` is M z_j. A map that changes nothing has the loss `margin`.
    """
    predicted_i, z_i, z_j = (functional.normalize(z, dim=-1) for z in (predicted_i, z_i, z_j))
    error = torch.linalg.vector_norm(predicted_i - z_i, dim=-1)
    return (error - torch.linalg.vector_norm(z_j - z_i, dim=-1) + margin).clamp_min(0).mean()


@dataclass(frozen=True)
class NullMotion(Term):
    """The margin against no motion over the pairs of a batch, by the network's maps of any motion.

    Motions that are shorter than usual have a margin that is smaller by as much: still frames need no prediction.
    """

    name: ClassVar[str] = "null"
    stream: ClassVar[StreamName] = "clip"
    needs_motion: ClassVar[bool] = True
    maps_motion: ClassVar[bool] = True
    margin: float = 0.2
    part: Part = "all"

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.motion_maps is None or batch.motion is None or net.motion_scale is None:
            raise ConfigError("the margin against no motion needs maps of motions, and pairs with motions")
        size = torch.linalg.vector_norm(batch.motion / net.motion_scale, dim=-1).clamp_max(1)
        own = net.part(self.part)
        z_i, z_j = batch.z_i[:, own], batch.z_j[:, own]
        return null_motion_loss(net.motion_maps.back(z_j, batch.motion), z_i, z_j, self.margin * size)
