"""Recording contrast: frames of one clip have similar features, frames of other clips have others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads


def clip_contrast(z: Tensor, clip: Tensor, temperature: float) -> Tensor:
    """The mean of -log p over all positives: frames of the same clip, among all other frames; (N, D), (N,) -> ().

    The probability is a softmax over cosines divided by the temperature (the supervised form of InfoNCE, with the clip
    as the class). Frames of neighbouring clips, whose numbers differ by one, are neither positives nor negatives: they
    may show the same things.
    """
    z = functional.normalize(z, dim=-1)
    apart = (clip.unsqueeze(1) - clip).abs()
    own = torch.eye(len(z), dtype=torch.bool, device=z.device)
    scores = (z @ z.T / temperature).masked_fill(own | (apart == 1), -torch.inf)
    is_positive = (apart == 0) & ~own
    log_p = torch.log_softmax(scores, dim=1).masked_fill(~is_positive, 0.0)
    return -(log_p.sum(1) / is_positive.sum(1)).mean()


@dataclass(frozen=True)
class RecordingContrast(Term):
    """Clip contrast over both images of the pairs of a batch, on one part of the features."""

    name: ClassVar[str] = "recording"
    stream: ClassVar[StreamName] = "clip"
    needs_clips: ClassVar[bool] = True
    temperature: float = 0.1
    part: Part = "all"

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        own = net.part(self.part)
        z = torch.cat([batch.z_i[:, own], batch.z_j[:, own]])
        return clip_contrast(z, batch.target.repeat(2), self.temperature)
