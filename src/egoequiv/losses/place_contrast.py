"""Place contrast: frames of one place have similar features, whenever they were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads
from egoequiv.models.network import EQUIVARIANT, INVARIANT


def place_contrast(z: Tensor, place: Tensor, temperature: float) -> Tensor:
    """The mean of -log p over all positives: frames of the same place, among all other frames; (N, D), (N, P) -> ().

    The probability is a softmax over cosines divided by the temperature. Places are in sizes of a place: frames less
    than 1 apart are positives; those between 1 and 2 are neither positives nor negatives.
    """
    z = functional.normalize(z, dim=-1)
    apart = torch.cdist(place, place, compute_mode="donot_use_mm_for_euclid_dist")
    own = torch.eye(len(z), dtype=torch.bool, device=z.device)
    is_positive = (apart < 1) & ~own
    scores = (z @ z.T / temperature).masked_fill(own | ((apart < 2) & ~is_positive), -torch.inf)
    log_p = torch.log_softmax(scores, dim=1).masked_fill(~is_positive, 0.0)
    count = is_positive.sum(1)
    return -(log_p.sum(1) / count.clamp_min(1)).sum() / (count > 0).sum().clamp_min(1)


@dataclass(frozen=True)
class PlaceContrast(Term):
    """Place contrast over the pairs of a batch: on one part of the features, or the mean over both."""

    name: ClassVar[str] = "place"
    stream: ClassVar[StreamName] = "place"
    temperature: float = 0.1
    part: Part | Literal["each"] = "each"

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if batch.place is None:
            raise ConfigError("place contrast needs pairs of one place")
        names = (INVARIANT, EQUIVARIANT) if self.part == "each" else (self.part,)
        z = torch.cat([batch.z_i, batch.z_j])
        losses = [place_contrast(z[:, net.part(name)], batch.place, self.temperature) for name in names]
        return torch.stack(losses).mean()
