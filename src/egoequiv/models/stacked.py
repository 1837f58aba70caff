"""Many networks as one: the same layers with one more dimension, the networks.

The names of the parameters are those of `EgoNet`, and row k of each is the parameter of the k-th network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.models.encoders import MlpEncoder
from egoequiv.models.maps import EquivarianceMaps, apply_maps
from egoequiv.models.network import ALL, Change, EgoNet


def can_stack(encoder: object) -> bool:
    """Whether networks with this encoder can be stacked; convolutions would gain nothing by it."""
    return encoder is MlpEncoder


class Undivided:
    """What networks that are stacked have in common: no parts of the features, and no maps of any motion."""

    motion_maps: None = None
    motion_scale: None = None
    read_scale: None = None
    mapped_part: str = ALL

    def part(self, name: str) -> slice:
        """All features."""
        return slice(None)


@dataclass(frozen=True)
class MemberHeads(Undivided):
    """What a loss may ask of one network of a stack."""

    maps: Callable[[Tensor], Tensor] | None
    head: Callable[[Tensor], Tensor] | None
    layers: nn.ModuleDict = field(default_factory=nn.ModuleDict)


class StackedLinear(nn.Module):
    """S full layers: (S, B, I) -> (S, B, O)."""

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = _stack([layer.weight for layer in layers])  # (S, O, I)
        self.bias = _stack([layer.bias for layer in layers])  # (S, O)

    def forward(self, features: Tensor) -> Tensor:
        return torch.baddbmm(self.bias.unsqueeze(1), features, self.weight.mT)

    def members(self) -> list[Callable[[Tensor], Tensor]]:
        """The layers one by one, (B, I) -> (B, O)."""
        # Unbound, not indexed: the gradients of the members are then written once, not each into zeros for all.
        pairs = zip(self.weight.unbind(), self.bias.unbind(), strict=True)
        return [partial(functional.linear, weight=weight, bias=bias) for weight, bias in pairs]


class StackedMaps(nn.Module):
    """S sets of equivariance maps: (S, B, D) -> (S, B, G, D)."""

    def __init__(self, maps: Sequence[EquivarianceMaps]) -> None:
        super().__init__()
        self.weight = _stack([one.weight for one in maps])  # (S, G, D, D)
        self.bias = _stack([one.bias for one in maps])  # (S, G, D)

    def forward(self, features: Tensor) -> Tensor:
        mapped = torch.baddbmm(self.bias.flatten(1).unsqueeze(1), features, self.weight.flatten(1, 2).mT)
        return mapped.view(*features.shape[:-1], *self.bias.shape[1:])

    def members(self) -> list[Callable[[Tensor], Tensor]]:
        """The maps of each network, (B, D) -> (B, G, D)."""
        pairs = zip(self.weight.unbind(), self.bias.unbind(), strict=True)
        return [partial(apply_maps, weight, bias) for weight, bias in pairs]


class StackedMlp(nn.Module):
    """S two-layer encoders, for images that all of them see and for images that each sees alone."""

    def __init__(self, encoders: Sequence[MlpEncoder]) -> None:
        super().__init__()
        self.hidden = StackedLinear([encoder.hidden for encoder in encoders])
        self.features = StackedLinear([encoder.features for encoder in encoders])

    def forward(self, own: Tensor | None, shared: Tensor | None) -> Tensor:
        """Features (S, B + P, D) of own images (S, B, I) and of shared ones (P, I)."""
        hidden = _FirstLayer.apply(self.hidden.weight, self.hidden.bias, own, shared)  # type: ignore[no-untyped-call]
        return cast(Tensor, self.features(hidden.mT.relu()))


class StackedNet(Undivided, nn.Module):
    """S networks of one shape and one normalisation."""

    input_mean: Tensor
    input_std: Tensor

    def __init__(self, nets: Sequence[EgoNet]) -> None:
        super().__init__()
        first = nets[0]
        encoders = [net.encoder for net in nets if isinstance(net.encoder, MlpEncoder)]
        if len(encoders) != len(nets) or any(net.spec != first.spec for net in nets):
            raise ConfigError("only networks of full layers and of one shape can be trained as a stack")
        self.encoder = StackedMlp(encoders)
        maps = [net.maps for net in nets if net.maps is not None]
        heads = [net.head for net in nets if net.head is not None]
        self.maps = StackedMaps(maps) if maps else None
        self.head = StackedLinear(heads) if heads else None
        self.register_buffer("input_mean", first.input_mean)
        self.register_buffer("input_std", first.input_std)
        self._normalised = first.normalised
        self.layers = nn.ModuleDict()
        self.compared: set[str] = set()  # losses that were seen to give the same for a stack as network by network

    def members(self) -> list[MemberHeads]:
        """The maps and the head of each network, for losses that do not take many at once."""
        count = len(self.encoder.hidden.weight)
        maps = self.maps.members() if self.maps is not None else [None] * count
        heads = self.head.members() if self.head is not None else [None] * count
        return [MemberHeads(*pair) for pair in zip(maps, heads, strict=True)]

    def forward(self, images: Tensor, change: Change | None = None) -> Tensor:
        """Features (S, B, D) of uint8 images (B, H, W, C) that all networks see, as they are."""
        return self.encode(None, images)

    def encode(self, own: Tensor | None, shared: Tensor | None) -> Tensor:
        """Features (S, B + P, D) of own images (S, B, H, W, C) and of shared ones (P, H, W, C), uint8."""
        pixels = None if own is None else self._normalised(own.flatten(0, 1)).view(*own.shape[:2], -1)
        return cast(Tensor, self.encoder(pixels, None if shared is None else self._normalised(shared).flatten(1)))


def _stack(parameters: Sequence[Tensor]) -> nn.Parameter:
    return nn.Parameter(torch.stack([parameter.detach() for parameter in parameters]))


class _FirstLayer(torch.autograd.Function):
    """A full layer of S networks on large inputs, (S, O, B + P): shared inputs take one plain matrix product for all.

    The gradient is written once, where separate products would each write one and add them: at this size the memory,
    not the arithmetic, is what takes time.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, own: Tensor | None, shared: Tensor | None) -> Tensor:
        networks, units, _ = weight.shape
        ctx.own, ctx.shared, ctx.shape = own, shared, weight.shape
        parts: list[Tensor] = []
        if own is not None:
            parts.append(torch.baddbmm(bias.unsqueeze(2), weight, own.mT))
        if shared is not None:
            parts.append(torch.addmm(bias.view(-1, 1), weight.flatten(0, 1), shared.T).view(networks, units, -1))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        own, shared, (networks, units, _) = ctx.own, ctx.shared, ctx.shape
        count = 0 if own is None else own.shape[1]
        by_own, by_shared = gradient[..., :count], gradient[..., count:]
        if shared is None:
            weight = torch.bmm(by_own, own)
        else:
            weight = torch.mm(by_shared.reshape(networks * units, -1), shared).view(ctx.shape)
            if own is not None:
                weight.baddbmm_(by_own, own)
        return weight, gradient.sum(2), None, None
