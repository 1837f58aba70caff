"""Variance, invariance and covariance: features that agree, vary and tell different things, without negatives (VICReg).

The same three in the form of SIE, on pairs of frames: one part of the features agrees, the other follows the motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from egoequiv.losses.motion_term import MotionTerm, Prediction
from egoequiv.losses.term import Part, StreamBatch, StreamName, Term
from egoequiv.models import Heads

SMALLEST = 1e-4  # added to a variance, so that its root has a gradient at zero


def variance_loss(z: Tensor) -> Tensor:
    """How far the standard deviation of each feature is below 1, averaged over features; (B, D) -> ()."""
    return (1 - (z.var(0, correction=min(1, len(z) - 1)) + SMALLEST).sqrt()).clamp_min(0).mean()


def covariance_loss(z: Tensor) -> Tensor:
    """The sum of the squared covariances of different features, divided by their number; (B, D) -> ()."""
    z = z - z.mean(0)
    covariance = z.T @ z / max(len(z) - 1, 1)
    return (covariance.square().sum() - covariance.diagonal().square().sum()) / z.shape[1]


def vicreg(p_i: Tensor, p_j: Tensor, invariance: float, variance: float, covariance: float) -> Tensor:
    """The loss of Bardes et al., 2022, on two embeddings of the same things; (B, P) each -> ().

    The mean squared difference, the mean of the variance losses of both, as in their code, and the sum of their
    covariance losses.
    """
    return (
        invariance * functional.mse_loss(p_i, p_j)
        + variance * (variance_loss(p_i) + variance_loss(p_j)) / 2
        + covariance * (covariance_loss(p_i) + covariance_loss(p_j))
    )


@dataclass(frozen=True)
class VarianceViews(Term):
    """VICReg on two views of each image, through full layers that expand the features."""

    name: ClassVar[str] = "variance"
    stream: ClassVar[StreamName] = "view"
    weight: float = 0.1  # the published weights below give losses of 10 to 50, beside a classification loss of 1 to 4
    invariance: float = 25.0
    variance: float = 25.0
    covariance: float = 1.0
    expanded: int = 256

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        return (features, self.expanded, self.expanded)

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        expand = net.layers[self.name]
        return vicreg(expand(batch.z_i), expand(batch.z_j), self.invariance, self.variance, self.covariance)


@dataclass(frozen=True)
class InvariantVariance(Term):
    """The invariant part of SIE: VICReg on the two frames of a pair, through full layers that expand the part."""

    name: ClassVar[str] = "invariance"
    stream: ClassVar[StreamName] = "clip"
    weight: float = 0.1
    invariance: float = 10.0
    variance: float = 10.0
    covariance: float = 1.0
    expanded: int = 128
    part: Part = "invariant"

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        return (features, self.expanded, self.expanded)

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        own, expand = net.part(self.part), net.layers[self.name]
        p_i, p_j = expand(batch.z_i[:, own]), expand(batch.z_j[:, own])
        return vicreg(p_i, p_j, self.invariance, self.variance, self.covariance)


@dataclass(frozen=True)
class MotionVariance(MotionTerm):
    """The equivariant part of SIE: a map of the motion predicts one frame of a pair from the other.

    The squared error of the prediction; the variance and covariance losses of both frames, as in VICReg; and the
    variance loss of the prediction, so that the map does not become zero (Garrido et al., 2023). Features of length 1
    are multiplied by the root of their number, so that they can have a standard deviation of 1. There are no layers on
    top: the maps act on the features that are measured later.
    """

    name: ClassVar[str] = "motion-variance"
    weight: float = 0.1
    equivariance: float = 4.5
    variance: float = 10.0
    covariance: float = 1.0

    def of(self, made: Prediction) -> Tensor:
        scale = made.z_i.shape[1] ** 0.5
        predicted_i, z_i, z_j = scale * made.predicted_i, scale * made.z_i, scale * made.z_j
        spread = vicreg(z_i, z_j, 0.0, self.variance, self.covariance) + self.variance * variance_loss(predicted_i)
        return self.equivariance * functional.mse_loss(predicted_i, z_i) + spread
