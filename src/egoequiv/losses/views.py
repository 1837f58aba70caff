"""Classification of imagined views: the labelled images as the equivariance maps say they look from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import EgoNet, EquivarianceMaps


def imagined_views(maps: EquivarianceMaps, features: Tensor, steps: int) -> Tensor:
    """The features of all views up to `steps` motions away, as the maps predict them; (B, D) -> (V, B, D).

    With G maps these are G views for the first step, G^2 for the second, and so on; the view itself is not among them.
    """
    views, frontier = [], features.unsqueeze(0)  # (1, B, D)
    for _ in range(steps):
        count, batch, dim = frontier.shape
        mapped = maps(frontier.reshape(count * batch, dim))  # (count B, G, D)
        frontier = mapped.view(count, batch, -1, dim).transpose(1, 2).reshape(-1, batch, dim)
        views.append(frontier)
    return torch.cat(views)


@dataclass(frozen=True)
class ImaginedViews(Term):
    """Cross-entropy of the classifier head on imagined views of labelled images.

    The paper supposes that equivariance lets a recogniser hallucinate new views; this term makes it do so.
    """

    name: ClassVar[str] = "views"
    stream: ClassVar[StreamName] = "labelled"
    steps: int = 2

    def loss(self, net: EgoNet, batch: StreamBatch) -> Tensor:
        if net.head is None or net.maps is None:
            raise ConfigError("imagined views need a network with a classifier head and equivariance maps")
        views = imagined_views(net.maps, batch.z_i, self.steps)
        scores = net.head(views)  # (V, B, C)
        return functional.cross_entropy(scores.flatten(0, 1), batch.target.repeat(len(views)))
