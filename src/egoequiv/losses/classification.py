"""The softmax classification loss L_c of Eq. 8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """The softmax loss, averaged over the batch; (..., B, C), (..., B) or (B,) -> (...)."""
    target = target.expand(scores.shape[:-1])
    losses = functional.cross_entropy(scores.flatten(0, -2), target.flatten(), reduction="none")
    return losses.view(target.shape).mean(-1)


@dataclass(frozen=True)
class Classification(Term):
    """Cross-entropy of the classifier head on labelled images."""

    name: ClassVar[str] = "classification"
    stream: ClassVar[StreamName] = "labelled"
    stacks: ClassVar[bool] = True

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.head is None:
            raise ConfigError("the classification loss needs a network with a classifier head")
        return cross_entropy(net.head(batch.z_i), batch.target)
