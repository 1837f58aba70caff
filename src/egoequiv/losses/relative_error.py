"""The relative error: how far a map ends from the true features, beside how far the motion moves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads


def relative_error(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, floor: float) -> Tensor:
    """The mean of |M z(x_j) - z(x_i)| / (|z(x_j) - z(x_i)| + floor); (..., B, D) each -> (...).

    This is rho of Eq. 9 for the maps of a network, as a loss. The floor keeps pairs that hardly move from deciding it.
    """
    error = torch.linalg.vector_norm(predicted_i - z_i, dim=-1)
    moved = torch.linalg.vector_norm(z_j - z_i, dim=-1)
    loss: Tensor = (error / (moved + floor)).mean(-1)
    return loss


@dataclass(frozen=True)
class RelativeError(Term):
    """The relative error over the pairs of a batch, of features of length 1, by the network's maps of any motion.

    Alone it has a trivial minimum, so it needs a contrast beside it that keeps features of other images apart.
    """

    name: ClassVar[str] = "relative"
    stream: ClassVar[StreamName] = "clip"
    needs_motion: ClassVar[bool] = True
    maps_motion: ClassVar[bool] = True
    floor: float = 0.02
    part: Part = "all"

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.motion_maps is None or batch.motion is None:
            raise ConfigError("the relative error needs a network with maps of motions, and pairs with motions")
        own = net.part(self.part)
        z_i, z_j = (functional.normalize(z[:, own], dim=-1) for z in (batch.z_i, batch.z_j))
        return relative_error(net.motion_maps.back(z_j, batch.motion), z_i, z_j, self.floor)
