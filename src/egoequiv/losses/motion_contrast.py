"""Motion contrast: equivariance as a choice among the images of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.motion_term import MotionTerm, Prediction


def motion_contrast(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, temperature: float) -> Tensor:
    """-log p of the true image x_i of each pair, among all images of the batch; (B, D) each -> ().

    `predicted_i` is M z(x_j). Among the other images are frames of the same recording, and x_j itself: a map that
    changes nothing chooses x_j, so this is also a margin against no motion.
    """
    candidates = functional.normalize(torch.cat([z_i, z_j]), dim=-1)
    scores = functional.normalize(predicted_i, dim=-1) @ candidates.T / temperature
    return functional.cross_entropy(scores, torch.arange(len(z_i), device=z_i.device))


@dataclass(frozen=True)
class MotionContrast(MotionTerm):
    """Motion contrast over the pairs of a batch."""

    name: ClassVar[str] = "motion"
    temperature: float = 0.1

    def of(self, made: Prediction) -> Tensor:
        return motion_contrast(made.predicted_i, made.z_i, made.z_j, self.temperature)
