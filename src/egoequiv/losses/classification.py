"""The softmax classification loss L_c of Eq. 8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import EgoNet


@dataclass(frozen=True)
class Classification(Term):
    """Cross-entropy of the classifier head on labelled images."""

    name: ClassVar[str] = "classification"
    stream: ClassVar[StreamName] = "labelled"

    def loss(self, net: EgoNet, batch: StreamBatch) -> Tensor:
        if net.head is None:
            raise ConfigError("the classification loss needs a network with a classifier head")
        return functional.cross_entropy(net.head(batch.z_i), batch.target)
