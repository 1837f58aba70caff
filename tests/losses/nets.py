"""A small network whose head and maps are set by hand."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from egoequiv.models import EgoNet, EquivarianceMaps, NetSpec


def net_with(head: Tensor | None = None, maps: Tensor | None = None) -> EgoNet:
    """A network with the given head (C, D) and maps (G, D, D), both without bias."""
    net = EgoNet(NetSpec("norb", (2, 2, 1)))
    if head is not None:
        net.head = nn.Linear(head.shape[1], head.shape[0])
        net.head.weight = nn.Parameter(head)
        net.head.bias = nn.Parameter(torch.zeros(head.shape[0], dtype=head.dtype))
    if maps is not None:
        net.maps = EquivarianceMaps(maps.shape[0], maps.shape[1])
        net.maps.weight = nn.Parameter(maps)
        net.maps.bias = nn.Parameter(torch.zeros(maps.shape[:2], dtype=maps.dtype))
    return net.requires_grad_(False)
