"""A margin against no motion: a prediction by a map is nearer to the truth than no prediction is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.motion_term import MotionTerm, Prediction


def null_motion_loss(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, margin: Tensor) -> Tensor:
    """The mean of max(0, d(M z_j, z_i) - d(z_j, z_i) + margin), d the distance of directions; (B, D) each, (B,) -> ().

    `predicted_i` is M z_j. A map that changes nothing has the loss `margin`.
    """
    predicted_i, z_i, z_j = (functional.normalize(z, dim=-1) for z in (predicted_i, z_i, z_j))
    error: Tensor = torch.linalg.vector_norm(predicted_i - z_i, dim=-1)
    moved: Tensor = torch.linalg.vector_norm(z_j - z_i, dim=-1)
    return (error - moved + margin).clamp_min(0).mean()


@dataclass(frozen=True)
class NullMotion(MotionTerm):
    """The margin against no motion over the pairs of a batch.

    Motions that are shorter than usual have a margin that is smaller by as much: still frames need no prediction.
    """

    name: ClassVar[str] = "null"
    margin: float = 0.2

    def of(self, made: Prediction) -> Tensor:
        return null_motion_loss(made.predicted_i, made.z_i, made.z_j, self.margin * made.size.clamp_max(1))
