"""How much memory a run needs: said before the work, not by a crash in the middle of it."""

from __future__ import annotations

from math import prod

import numpy as np
import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError
from egoequiv.machine import free_memory, size
from egoequiv.models import build_encoder
from egoequiv.models.devices import choose_device
from egoequiv.models.encoder import ImageShape
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.names import is_code
from egoequiv.pairs.candidates import count_close_pairs, count_motion_candidates, half_a_step_s
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import pieces

PAIR_BYTES = 2 * 3 * 8  # two rows and a target, and a copy of them while they are put in order


def check_memory(config: TrainConfig, store: FrameStore, networks: int = 1) -> None:
    """Refuse a run that needs more memory than there is, in one line that says what to lower.

    Args:
        config: The settings, with the encoder decided.
        store: The frames it learns from.
        networks: How many networks are trained together.
    """
    shape = store.image_shape
    fewer = "use fewer frames" if store.times_s is None else "lower max_gap_s and neighbour_gap_s"
    parts = [(pair_bytes(config, store), fewer)]
    if choose_device(config.device).type == "cpu":
        parts.append((networks * network_bytes(config, shape), "choose a smaller encoder, or ingest smaller images"))
        parts.append((batch_bytes(config, shape), f"lower batch_size (now {config.batch_size})"))
    needed, there = sum(count for count, _ in parts), free_memory()
    if there is not None and needed > there:
        raise ConfigError(
            f"this run needs about {size(needed)} of memory and {size(there)} are available: {max(parts)[1]}"
        )


def network_bytes(config: TrainConfig, shape: ImageShape) -> int:
    """About how much one network takes: weights, gradient, optimiser state and best, and as much for maps and head."""
    if is_code(config.encoder) or config.encoder == BACKBONE:
        return 0  # an encoder of a user may not be buildable without memory; it is built before training anyway
    with torch.device("meta"):
        weights = sum(parameter.numel() for parameter in _encoder(config, shape).parameters())
    return 4 * (4 if config.optimizer == "sgd" else 5) * 2 * weights


def batch_bytes(config: TrainConfig, shape: ImageShape) -> int:
    """About how much the images of one batch and what the encoder makes of them take."""
    images = config.batch_size * sum(pieces(stream) for stream in config.objective().streams)
    return images * (prod(shape) * (1 + 2 * 4) + 2 * 4 * _activations(config, shape))


def pair_bytes(config: TrainConfig, store: FrameStore) -> int:
    """About how much the pairs take while they are found; those that are neighbours on a grid are few."""
    every, streams = np.arange(len(store)), config.objective().streams
    counts = [0]
    is_grid = store.times_s is None and store.space.named_motions()
    if "motion" in streams and store.space.axes and not is_grid:
        counts.append(count_motion_candidates(store, every, config.max_gap_s + half_a_step_s(store)))
    if "neighbour" in streams and store.times_s is not None:
        counts.append(count_close_pairs(store, every, config.neighbour_gap_s))
    return PAIR_BYTES * max(counts)


def _encoder(config: TrainConfig, shape: ImageShape) -> nn.Module:
    return build_encoder(config.encoder, shape, config.encoder_settings)


def _activations(config: TrainConfig, shape: ImageShape) -> int:
    """How many values the layers of the encoder give for one image; nothing is computed."""
    if is_code(config.encoder) or config.encoder == BACKBONE:
        return 0
    count = 0

    def add(_module: nn.Module, _inputs: object, output: object) -> None:
        nonlocal count
        count += output.numel() if isinstance(output, Tensor) else 0

    height, width, channels = shape
    with torch.device("meta"), torch.no_grad():
        encoder = _encoder(config, shape).eval()
        for module in encoder.modules():
            module.register_forward_hook(add)
        encoder(torch.empty(1, channels, height, width))
    return count
