"""The optimiser of a run, and its state as named tensors."""

from __future__ import annotations

from math import cos, pi

import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.models import EgoNet
from egoequiv.training.config import TrainConfig

PREFIX = "optimizer."
WARM_UP = 0.3  # of the iterations of one cycle, while the rate rises
FIRST_RATE = 1 / 25  # of the highest rate, at the first iteration of one cycle


def make_optimizer(net: EgoNet, config: TrainConfig) -> torch.optim.Optimizer:
    """Nesterov SGD as in the paper, Adam, or AdamW, whose weight decay is independent of the gradient."""
    if not any(True for _ in net.parameters()):
        if not config.objective().terms:  # nothing is to be learned either, as of pixels
            return torch.optim.SGD([torch.zeros(0)], lr=config.learning_rate)
        raise ConfigError(
            f"encoder {config.encoder} has no parameters, and the method adds none: nothing can be learned"
        )
    if config.optimizer == "sgd":
        return torch.optim.SGD(
            net.parameters(),
            lr=config.learning_rate,
            momentum=config.momentum,
            nesterov=config.momentum > 0,
            weight_decay=config.weight_decay,
            fused=True,
        )
    build = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return build(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)


def learning_rate(config: TrainConfig, iteration: int) -> float:
    """The rate of one iteration; it depends on nothing but the config and the iteration."""
    if config.decay == "cosine":
        return config.learning_rate * _half_wave(iteration, config.iterations)
    if config.decay == "one-cycle":
        warm_up = WARM_UP * config.iterations
        if iteration < warm_up:
            return config.learning_rate * (1 - (1 - FIRST_RATE) * _half_wave(iteration, warm_up))
        return config.learning_rate * _half_wave(iteration - warm_up, config.iterations - warm_up)
    return config.learning_rate


def _half_wave(done: float, whole: float) -> float:
    """From 1 where nothing is done to 0 at the end, as a cosine falls."""
    return (1 + cos(pi * done / whole)) / 2


def set_learning_rate(optimizer: torch.optim.Optimizer, config: TrainConfig, iteration: int) -> None:
    """Set the rate of one iteration."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(config, iteration)


def optimizer_tensors(net: EgoNet, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state, each tensor named after its parameter."""
    tensors = {}
    for name, parameter in net.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            if value is not None:
                tensors[f"{PREFIX}{key}:{name}"] = value
    return tensors


def restore_optimizer(net: EgoNet, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` took."""
    parameters = dict(net.named_parameters())
    for full_name, value in tensors.items():
        if full_name.startswith(PREFIX):
            key, name = full_name.removeprefix(PREFIX).split(":", 1)
            optimizer.state[parameters[name]][key] = value.to(parameters[name].device)
