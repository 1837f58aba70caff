"""Prediction without negatives: maps predict features, and features are kept Gaussian (LeJEPA, LeWorldModel)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses.motion_term import MotionTerm, Prediction
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads

LARGEST_T, KNOTS = 3.0, 17  # of the integral: its weight is e^-4.5 at the end
SEED = 0  # of the directions


def epps_pulley(values: Tensor) -> Tensor:
    """How far values are from a standard normal distribution; (B, K) -> (K,).

    N times the integral over t of |c(t) - exp(-t^2 / 2)|^2 exp(-t^2 / 2), from -3 to 3, where c(t) is the mean of
    exp(i t value) over the N values: the empirical characteristic function (Epps and Pulley, 1983).
    """
    t = torch.linspace(0, LARGEST_T, KNOTS, device=values.device, dtype=values.dtype)
    normal = (-t.square() / 2).exp()
    angle = values.unsqueeze(-1) * t  # (B, K, T)
    gap = (angle.cos().mean(0) - normal).square() + angle.sin().mean(0).square()  # (K, T)
    # The integrand is even, so the integral is twice that from 0.
    return 2 * len(values) * torch.trapezoid(gap * normal, t)


def gaussian_loss(z: Tensor, directions: Tensor) -> Tensor:
    """SIGReg of LeJEPA: the statistic of Epps and Pulley, averaged over directions; (B, D), (K, D) -> ().

    A distribution is a standard normal one exactly if all its projections are (Cramér and Wold).
    """
    return epps_pulley(z @ functional.normalize(directions, dim=-1).T).mean()


@dataclass(frozen=True)
class MotionPrediction(MotionTerm):
    """The squared error of features that the maps of motions predict; alone, all features would become one point."""

    name: ClassVar[str] = "prediction"

    def of(self, made: Prediction) -> Tensor:
        return functional.mse_loss(made.predicted_i, made.z_i)


@dataclass(frozen=True)
class Gaussian(Term):
    """SIGReg on both frames of the pairs of a batch, in directions drawn for each batch.

    They are drawn with the random numbers of torch, whose state is saved with a run. In a validation, where nothing
    learns, they are the same at every call.
    """

    name: ClassVar[str] = "gaussian"
    stream: ClassVar[StreamName] = "clip"
    draws: ClassVar[bool] = True
    weight: float = 0.1
    directions: int = 256

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        z = torch.cat([batch.z_i, batch.z_j])
        fixed = None if torch.is_grad_enabled() else torch.Generator().manual_seed(SEED)
        directions = torch.randn(self.directions, z.shape[1], generator=fixed)
        return gaussian_loss(z, directions.to(z))
