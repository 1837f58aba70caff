"""The slowness ("temporal coherence") loss of Eq. 7, with the l1 or the l2 distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from egoequiv.losses.contrastive import Norm, contrastive
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def slowness_loss(z_i: Tensor, z_j: Tensor, is_neighbour: Tensor, margin: float, norm: Norm) -> Tensor:
    """Eq. 7: neighbours are pulled together, others pushed apart; (..., B, D), (..., B, D), (B,) -> (...)."""
    return contrastive(z_j - z_i, is_neighbour, margin, norm).mean(-1)


@dataclass(frozen=True)
class Slowness(Term):
    """The contrastive loss over neighbour pairs."""

    name: ClassVar[str] = "slowness"
    stream: ClassVar[StreamName] = "neighbour"
    stacks: ClassVar[bool] = True
    margin: float = 1.0
    norm: Norm = 2

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        return slowness_loss(batch.z_i, batch.z_j, batch.target.bool(), self.margin, self.norm)
