"""The slowness ("temporal coherence") loss of Eq. 7, with the l1 or the l2 distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from egoequiv.losses.contrastive import contrastive
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import EgoNet


def slowness_loss(z_i: Tensor, z_j: Tensor, is_neighbour: Tensor, margin: float, norm: Literal[1, 2]) -> Tensor:
    """Eq. 7: neighbours are pulled together, others pushed apart; (B, D), (B, D), (B,) -> a scalar."""
    distance = torch.linalg.vector_norm(z_j - z_i, ord=norm, dim=-1)
    return contrastive(distance, is_neighbour, margin).mean()


@dataclass(frozen=True)
class Slowness(Term):
    """The contrastive loss over neighbour pairs."""

    name: ClassVar[str] = "slowness"
    stream: ClassVar[StreamName] = "neighbour"
    margin: float = 1.0
    norm: Literal[1, 2] = 2

    def loss(self, net: EgoNet, batch: StreamBatch) -> Tensor:
        return slowness_loss(batch.z_i, batch.z_j, batch.target.bool(), self.margin, self.norm)
