"""Losses on the maps of any motion: what they have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads

PREDICTION = "prediction"  # what the terms of a batch share: the maps take as long as all of a loss beside them


@dataclass(frozen=True)
class Prediction:
    """What maps predict of a batch of pairs: the features of the first image, from those of the second."""

    predicted_i: Tensor  # (B, D): M z(x_j)
    z_i: Tensor  # (B, D)
    z_j: Tensor  # (B, D)
    size: Tensor  # (B,): how long the motions are, 1 for usual ones


@dataclass(frozen=True)
class MotionTerm(Term):
    """A loss on predictions by the network's maps of any motion.

    It looks at the features that the maps act on: the equivariant part, or all of them where there are no parts.
    """

    stream: ClassVar[StreamName] = "clip"
    needs_motion: ClassVar[bool] = True
    maps_motion: ClassVar[bool] = True

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.motion_maps is None or batch.motion is None:
            raise ConfigError(f"loss {self.name!r} needs a network with maps of motions, and pairs with motions")
        if PREDICTION not in batch.shared:
            own = net.part(net.mapped_part)
            z_i, z_j = batch.z_i[:, own], batch.z_j[:, own]
            size = torch.linalg.vector_norm(batch.motion / net.motion_maps.scale, dim=-1)
            batch.shared[PREDICTION] = Prediction(net.motion_maps.back(z_j, batch.motion), z_i, z_j, size)
        return self.of(batch.shared[PREDICTION])

    @abstractmethod
    def of(self, made: Prediction) -> Tensor:
        """The unweighted loss of predictions, averaged over the batch; a scalar."""
