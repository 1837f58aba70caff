"""The equivariance loss L_e of Eq. 5, and the term that keeps the two images of a pair apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses.contrastive import contrastive
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def equivariance_loss(z_i: Tensor, mapped_j: Tensor, pattern: Tensor, margin: float) -> Tensor:
    """Eq. 5: each pair is a positive for its own pattern and a negative for every other.

    z_i (..., B, D), mapped_j = M_g z(x_j) for every g (..., B, G, D), pattern (B,) with -1 for none; (...), summed
    over the patterns and averaged over the pairs.
    """
    is_own = pattern.unsqueeze(-1) == torch.arange(mapped_j.shape[-2], device=pattern.device)  # (B, G)
    return contrastive(mapped_j - z_i.unsqueeze(-2), is_own, margin).sum(-1).mean(-1)


def separation_loss(z_i: Tensor, z_j: Tensor, margin: float) -> Tensor:
    """Ask that the two images of a motion pair be at least `margin` apart; (..., B, D) each, (...)."""
    return contrastive(z_j - z_i, torch.zeros(z_i.shape[-2], dtype=torch.bool, device=z_i.device), margin).mean(-1)


@dataclass(frozen=True)
class Equivariance(Term):
    """The contrastive equivariance loss over motion pairs."""

    name: ClassVar[str] = "equivariance"
    stream: ClassVar[StreamName] = "motion"
    stacks: ClassVar[bool] = True
    margin: float = 1.0

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.maps is None:
            raise ConfigError("the equivariance loss needs a network with equivariance maps")
        return equivariance_loss(batch.z_i, net.maps(batch.z_j), batch.target, self.margin)


@dataclass(frozen=True)
class Separation(Term):
    """A hinge on the distance of the two images of a motion pair.

    Eq. 5 is content with M_g = identity for a motion that hardly changes the features; this term forbids it.
    """

    name: ClassVar[str] = "separation"
    stream: ClassVar[StreamName] = "motion"
    stacks: ClassVar[bool] = True
    margin: float = 1.0

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        return separation_loss(batch.z_i, batch.z_j, self.margin)
