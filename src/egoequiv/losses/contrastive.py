"""The contrastive loss of Eq. 6."""

from __future__ import annotations

import torch
from torch import Tensor


def contrastive(distance: Tensor, is_positive: Tensor, margin: float) -> Tensor:
    """Pull positives together, push negatives apart up to the margin; elementwise, any shape.

    The distance enters as it is, not squared, as in the paper.
    """
    return torch.where(is_positive, distance, (margin - distance).clamp_min(0))
