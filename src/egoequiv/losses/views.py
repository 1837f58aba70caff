"""Classification of imagined views: the labelled images as the equivariance maps say they look from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses.classification import cross_entropy
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


def imagined_views(maps: Callable[[Tensor], Tensor], features: Tensor, steps: int) -> Tensor:
    """The features of all views up to `steps` motions away, as the maps predict them; (..., B, D) -> (..., V, B, D).

    With G maps these are G views for the first step, G^2 for the second, and so on; the view itself is not among them.
    """
    views, frontier = [], features.unsqueeze(-3)  # (..., 1, B, D)
    for _ in range(steps):
        mapped = maps(frontier.flatten(-3, -2))  # (..., count B, G, D)
        mapped = mapped.view(*frontier.shape[:-1], *mapped.shape[-2:])  # (..., count, B, G, D)
        frontier = mapped.transpose(-3, -2).flatten(-4, -3)  # (..., count G, B, D)
        views.append(frontier)
    return torch.cat(views, dim=-3)


@dataclass(frozen=True)
class ImaginedViews(Term):
    """Cross-entropy of the classifier head on imagined views of labelled images.

    The paper supposes that equivariance lets a recogniser hallucinate new views; this term makes it do so.
    """

    name: ClassVar[str] = "views"
    stream: ClassVar[StreamName] = "labelled"
    stacks: ClassVar[bool] = True
    steps: int = 2

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if net.head is None or net.maps is None:
            raise ConfigError("imagined views need a network with a classifier head and equivariance maps")
        views = imagined_views(net.maps, batch.z_i, self.steps)
        count, labelled = views.shape[-3], batch.target.shape
        target = batch.target.unsqueeze(-2).expand(*labelled[:-1], count, labelled[-1]).flatten(-2)
        return cross_entropy(net.head(views.flatten(-3, -2)), target)
