"""The same objective with the contrastive loss of pytorch-metric-learning, in an ordinary loop over data loaders."""

from __future__ import annotations

import torch
from pytorch_metric_learning.distances import LpDistance  # type: ignore[import-untyped]
from pytorch_metric_learning.losses import ContrastiveLoss  # type: ignore[import-untyped]
from pytorch_metric_learning.reducers import SumReducer  # type: ignore[import-untyped]
from torch import Tensor

from benchmarks.plain_loop import PlainLoop
from egoequiv.models import EgoNet
from egoequiv.training import RunData, TrainConfig


class MetricLearningLoop(PlainLoop):
    """The plain loop, with the library's loss between the mapped features and those they should meet."""

    def __init__(self, config: TrainConfig, data: RunData, net: EgoNet) -> None:
        super().__init__(config, data, net)
        # By default the library normalises features and averages over the pairs that are not yet apart.
        self.contrastive = ContrastiveLoss(
            pos_margin=0, neg_margin=1, distance=LpDistance(normalize_embeddings=False), reducer=SumReducer()
        )

    def motion_loss(self, z_i: Tensor, z_j: Tensor, pattern: Tensor) -> Tensor:
        loss = torch.zeros(())
        for number, one_map in enumerate(self.maps):
            own, others = torch.where(pattern == number)[0], torch.where(pattern != number)[0]
            pairs = (own, own, others, others)  # anchors and positives, anchors and negatives
            loss = loss + self.contrastive(one_map(z_j), indices_tuple=pairs, ref_emb=z_i) / len(pattern)
        return loss
