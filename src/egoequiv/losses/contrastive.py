"""The contrastive loss of Eq. 6."""

from __future__ import annotations

from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Norm = Literal[1, 2]


def contrastive(difference: Tensor, is_positive: Tensor, margin: float, norm: Norm = 2) -> Tensor:
    """Pull positives together, push negatives apart up to the margin; (..., D), (...) -> (...).

    The distance, the norm of the difference, enters as it is, not squared, as in the paper.
    """
    return cast(Tensor, _Contrastive.apply(difference, is_positive, margin, norm))  # type: ignore[no-untyped-call]


class _Contrastive(torch.autograd.Function):
    """Norm, hinge and choice as one step: as separate steps their bookkeeping costs more than the numbers do."""

    @staticmethod
    def forward(ctx: Any, difference: Tensor, is_positive: Tensor, margin: float, norm: Norm) -> Tensor:
        distance = torch.linalg.vector_norm(difference, ord=norm, dim=-1)
        gap = (margin - distance).clamp_min_(0)
        slope = torch.where(is_positive, 1.0, -(gap > 0).to(distance.dtype))
        if norm == 2:  # the gradient of the length is the direction; of a difference of zero, zero
            slope = torch.where(distance == 0, 0.0, slope / distance)
        ctx.norm = norm
        ctx.save_for_backward(difference, slope)
        return torch.where(is_positive, distance, gap)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        difference, slope = ctx.saved_tensors
        direction = difference if ctx.norm == 2 else difference.sign()
        return direction * (gradient * slope).unsqueeze(-1), None, None, None
