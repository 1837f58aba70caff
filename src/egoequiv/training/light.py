"""Which changes of light and place the images of an iteration get: a function of seed and iteration alone."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from egoequiv.losses.light import LightJitter
from egoequiv.losses.shift import ShiftJitter
from egoequiv.models.network import Change
from egoequiv.training.config import TrainConfig

VALIDATION = 2**62  # in place of an iteration: validations look at the same changes every time


def light_at(config: TrainConfig, iteration: int, rank: int = 0) -> Change | None:
    """The changes of one iteration, in one process of a team; None for a run that sees images as they are.

    A resumed run needs no saved state for them.
    """
    if config.augment == "none":
        return None
    state = np.random.SeedSequence([config.seed, config.pair_seed, iteration, rank]).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))
    light = partial(LightJitter(), generator=generator)
    if config.augment == "light":
        return light
    shift = partial(ShiftJitter(), generator=generator)
    return lambda pixels: light(shift(pixels))
