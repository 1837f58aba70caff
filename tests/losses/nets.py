"""A small network whose head and maps are set by hand."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from egoequiv.losses import Term
from egoequiv.models import EgoNet, EquivarianceMaps, NetSpec, initialise


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


def parted_net(invariant: int = 2, equivariant: int = 3, **settings: object) -> EgoNet:
    """A network whose features have two parts; further settings are those of its spec."""
    parts = {"invariant": invariant, "equivariant": equivariant}
    size = {"feature_dim": invariant + equivariant}
    spec = NetSpec("norb", (2, 2, 1), encoder_settings=size, parts=parts, **settings)  # type: ignore[arg-type]
    return EgoNet(spec).requires_grad_(False)


def turning_net(dim: int = 2) -> EgoNet:
    """A network whose maps turn the first two features by the one component of a motion, in radians."""
    spec = NetSpec("norb", (2, 2, 1), encoder_settings={"feature_dim": dim}, motion_maps="generators", motion_dim=1)
    net = EgoNet(spec).requires_grad_(False)
    assert net.motion_maps is not None
    net.motion_maps.weight[0, 1, 0] = 1.0  # type: ignore[index, operator]
    return net


def layered_net(term: Term, features: int, motion: int = 2, **settings: object) -> EgoNet:
    """A network of so many features with the layers that a loss asks for, all weights drawn."""
    spec = NetSpec("norb", (2, 2, 1), encoder_settings={"feature_dim": features}, **settings)  # type: ignore[arg-type]
    net = EgoNet(replace(spec, layers={term.name: term.layers(features, motion)}))
    initialise(net, torch.Generator().manual_seed(0))
    return net.requires_grad_(False)
