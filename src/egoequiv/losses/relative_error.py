"""The relative error: how far a map ends from the true features, beside how far the motion moves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.motion_term import MotionTerm, Prediction

LEAST_MOVED = 1e-3  # of features of length 1: what moves less is noise
SHORTEST = 1e-12  # features that are shorter are not scaled up further


def relative_error(predicted_i: Tensor, z_i: Tensor, z_j: Tensor, floor: float) -> Tensor:
    """The mean of |M z(x_j) - z(x_i)| / (|z(x_j) - z(x_i)| + floor); (..., B, D) each -> (...).

    This is rho of Eq. 9 for the maps of a network, as a loss. The floor keeps pairs that hardly move from deciding it.
    """
    error = torch.linalg.vector_norm(predicted_i - z_i, dim=-1)
    moved = torch.linalg.vector_norm(z_j - z_i, dim=-1)
    loss: Tensor = (error / (moved + floor)).mean(-1)
    return loss


def ratio_of_means(predicted_i: Tensor, z_i: Tensor, z_j: Tensor) -> Tensor:
    """The mean of |M z(x_j) - z(x_i)| over the mean of |z(x_j) - z(x_i)|; (..., B, D) each -> (...).

    The ratio of means of Eq. 9 as a loss. It is the same for features of any scale, so that nothing is won by features
    that become one point.
    """
    error = torch.linalg.vector_norm(predicted_i - z_i, dim=-1).mean(-1)
    moved = torch.linalg.vector_norm(z_j - z_i, dim=-1).mean(-1)
    loss: Tensor = error / moved.clamp_min(LEAST_MOVED)
    return loss


@dataclass(frozen=True)
class RelativeError(MotionTerm):
    """The relative error over the pairs of a batch, of features of length 1.

    Alone it has a trivial minimum, so it needs a contrast beside it that keeps features of other images apart. With a
    large weight, that contrast must come first: the weight rises over a share of the run.
    """

    name: ClassVar[str] = "relative"
    floor: float = 0.02
    rise: float = 0.0

    def of(self, made: Prediction) -> Tensor:
        length = torch.linalg.vector_norm(made.z_j, dim=-1, keepdim=True).clamp_min(SHORTEST)
        z_i = functional.normalize(made.z_i, dim=-1)
        return relative_error(made.predicted_i / length, z_i, made.z_j / length, self.floor)  # maps are linear


@dataclass(frozen=True)
class RatioOfMeans(MotionTerm):
    """The ratio of means over the pairs of a batch, of features of length 1; its weight may rise in training."""

    name: ClassVar[str] = "ratio"
    rise: float = 0.0

    def of(self, made: Prediction) -> Tensor:
        length = torch.linalg.vector_norm(made.z_j, dim=-1, keepdim=True).clamp_min(SHORTEST)
        return ratio_of_means(made.predicted_i / length, functional.normalize(made.z_i, dim=-1), made.z_j / length)
