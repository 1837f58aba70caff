"""View contrast: two views of one image are found among the views of all images (SimCLR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def view_contrast(p_i: Tensor, p_j: Tensor, temperature: float) -> Tensor:
    """NT-Xent of Chen et al., 2020: -log p of the other view of each image, among all other views; (B, P) each -> ().

    The probability is a softmax over cosines divided by the temperature. The mean is over all 2 B views.
    """
    p = functional.normalize(torch.cat([p_i, p_j]), dim=-1)
    own = torch.eye(len(p), dtype=torch.bool, device=p.device)
    scores = (p @ p.T / temperature).masked_fill(own, -torch.inf)
    return functional.cross_entropy(scores, torch.arange(len(p), device=p.device).roll(len(p_i)))


@dataclass(frozen=True)
class ViewContrast(Term):
    """View contrast on a projection of the features by full layers; the features themselves stay richer than it."""

    name: ClassVar[str] = "view"
    stream: ClassVar[StreamName] = "view"
    temperature: float = 0.2
    hidden: int = 256
    projected: int = 64

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        return (features, self.hidden, self.projected)

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        project = net.layers[self.name]
        return view_contrast(project(batch.z_i), project(batch.z_j), self.temperature)
