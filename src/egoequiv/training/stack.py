"""Many networks that learn as one batched computation.

Each has its own weights, labelled images, learning rate and loss weights; the pairs, and with them the gathered images,
are shared. A network comes to the weights it would come to alone, but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor, nn

from egoequiv.losses import StreamName
from egoequiv.methods import Method
from egoequiv.models import EgoNet, StackedNet
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import Rows, Targets, gather, gather_batch, risen, split_features, term_losses
from egoequiv.training.optimizer import learning_rate
from egoequiv.training.streams import Stream

MOMENTUM = "momentum_buffer"


@dataclass(frozen=True)
class _Slice:
    """Neighbouring members with one learning rate: their parameters are optimised as one."""

    config: TrainConfig
    first: int
    end: int


class Stack:
    """S networks, their optimiser and their losses; the configs are in order of their learning rates."""

    def __init__(
        self,
        nets: Sequence[EgoNet],
        configs: Sequence[TrainConfig],
        pairs: dict[StreamName, Stream],
        labelled: Sequence[Stream],  # one a network, or none at all
    ) -> None:
        self.net = StackedNet(nets)
        self.method: Method = configs[0].objective()
        self._pairs = pairs
        self._labelled = labelled
        self._slices = list(_slices(configs))
        self._views = [
            {name: nn.Parameter(whole.detach()[s.first : s.end]) for name, whole in self.net.named_parameters()}
            for s in self._slices
        ]
        weights = [[term.weight for term in config.objective().terms] for config in configs]
        self._weights = torch.tensor(weights, device=self.net.input_mean.device)  # (S, T)
        rises = [[float(term.rise) for term in config.objective().terms] for config in configs]
        self._rises, self._iterations = torch.tensor(rises).to(self._weights), configs[0].iterations
        first = configs[0]
        self._optimizer = torch.optim.SGD(
            [{"params": list(views.values())} for views in self._views],
            lr=first.learning_rate,
            momentum=first.momentum,
            nesterov=first.momentum > 0,
            weight_decay=first.weight_decay,
            fused=True,
        )

    def step(self, iteration: int, rows: dict[StreamName, Rows]) -> Tensor:
        """Learn from one batch; the losses before it, (S, T)."""
        own, shared, targets = self._gather(rows)
        features = split_features(self.net.encode(own, shared), targets)
        losses = term_losses(self.net, self.method, features)
        torch.autograd.backward(losses, risen(self._weights, self._rises, iteration / self._iterations))
        parameters = dict(self.net.named_parameters())
        for s, views, group in zip(self._slices, self._views, self._optimizer.param_groups, strict=True):
            group["lr"] = learning_rate(s.config, iteration)
            for name, view in views.items():
                gradient = parameters[name].grad
                view.grad = None if gradient is None else gradient[s.first : s.end]
        self._optimizer.step()
        self.net.zero_grad()
        return torch.stack(losses, dim=1).detach()

    def freeze(self, member: int) -> None:
        """Take a network out: with weights and momentum of zero and no loss it stays where it is, and finite."""
        self._weights[member] = 0
        with torch.no_grad():
            for tensor in self.tensors().values():
                tensor[member] = 0
        for s, views in zip(self._slices, self._views, strict=True):
            if s.first <= member < s.end:
                for view in views.values():
                    for state in self._optimizer.state.get(view, {}).values():
                        if isinstance(state, Tensor):
                            state[member - s.first] = 0

    def tensors(self) -> dict[str, Tensor]:
        """The parameters of all networks, (S, ...) each."""
        return {name: parameter.detach() for name, parameter in self.net.named_parameters()}

    def momentum(self) -> dict[str, Tensor]:
        """The momentum of all parameters, (S, ...) each; empty before the first step."""
        found: dict[str, Tensor] = {}
        for name in self.tensors():
            pieces = [self._optimizer.state.get(views[name], {}).get(MOMENTUM) for views in self._views]
            if all(piece is not None for piece in pieces):
                found[name] = torch.cat([piece for piece in pieces if piece is not None])
        return found

    def restore(self, tensors: dict[str, Tensor], momentum: dict[str, Tensor]) -> None:
        """Put back what `tensors` and `momentum` gave."""
        for name, whole in self.tensors().items():
            whole.copy_(tensors[name])
        for s, views in zip(self._slices, self._views, strict=True):
            for name, view in views.items():
                if name in momentum:
                    self._optimizer.state[view][MOMENTUM] = momentum[name][s.first : s.end].to(view.device).clone()

    def _gather(self, rows: dict[StreamName, Rows]) -> tuple[Tensor | None, Tensor | None, Targets]:
        """The labelled images of each network, those of the shared pairs, and what is known of both."""
        device = self.net.input_mean.device
        own, shared = None, None
        targets: Targets = {}
        if self._labelled:
            chosen = rows["labelled"]
            frames = np.concatenate([stream.i[chosen] for stream in self._labelled])
            own = gather(self.net, self._labelled[0].store, frames, device).view(
                len(self._labelled), len(chosen), *self._labelled[0].store.image_shape
            )
            target = np.stack([stream.target[chosen] for stream in self._labelled])
            targets["labelled"] = torch.from_numpy(target).to(device)
        if self._pairs:
            batch = gather_batch(self._pairs, rows, self.net, device)
            shared = batch.images
            targets |= batch.targets
        return own, shared, targets


def _slices(configs: Sequence[TrainConfig]) -> Iterator[_Slice]:
    first = 0
    for _, group in groupby(configs, key=lambda config: config.learning_rate):
        members = list(group)
        yield _Slice(members[0], first, first + len(members))
        first += len(members)
