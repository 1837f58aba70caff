"""Which changes of light and place the images of an iteration get: a function of seed and iteration alone."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
import torch
from torch import Tensor

from egoequiv.losses.light import STRONG, LightJitter
from egoequiv.losses.shift import ShiftJitter
from egoequiv.models.network import Change
from egoequiv.training.config import TrainConfig

VALIDATION = 2**62  # in place of an iteration: validations look at the same changes every time
# A class of scenes does not depend on where in the picture things are, and few labels need all changes there are.
LABELLED = ShiftJitter(across=0.25, down=0.25, zoom=0.35, mirror=True)


def light_at(config: TrainConfig, iteration: int, rank: int = 0, labelled: slice | None = None) -> Change | None:
    """The changes of one iteration, in one process of a team; None for a run that sees images as they are.

    A resumed run needs no saved state for them. `labelled` says where in the batch the labelled images are.
    """
    moved = None if config.augment_labelled == "none" else labelled
    if config.augment == "none" and moved is None:
        return None
    state = np.random.SeedSequence([config.seed, config.pair_seed, iteration, rank]).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))
    steps: list[Change] = []
    if moved is not None:
        steps.append(partial(_moved, rows=moved, generator=generator))
    if config.augment == "light+shift":
        steps.append(partial(ShiftJitter(), generator=generator))
    if config.augment != "none":
        jitter = STRONG if config.augment == "strong-light" else LightJitter()
        steps.append(partial(jitter, generator=generator))
    return lambda pixels: reduce(lambda changed, step: step(changed), steps, pixels)


def light_generator(config: TrainConfig, iteration: int, rank: int = 0) -> np.random.Generator:
    """What draws the light of stored frames: a function of seed and iteration."""
    return np.random.default_rng([config.seed, config.pair_seed, iteration, rank, 0x11647])


def _moved(pixels: Tensor, rows: slice, generator: torch.Generator) -> Tensor:
    """The images (B, H, W, C) with some of them shifted, resized and mirrored."""
    return torch.cat([pixels[: rows.start], LABELLED(pixels[rows], generator), pixels[rows.stop :]])
