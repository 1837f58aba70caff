"""Whether rho can be measured later: the pairs of validation frames, beside how many it takes to fit a map."""

from __future__ import annotations

import numpy as np

from egoequiv.models import EgoNet
from egoequiv.models.maps import FEWEST_SCORED, fewest_pairs
from egoequiv.pairs import MotionPatterns, find_motion_pairs
from egoequiv.pairs.splits import GIVEN
from egoequiv.training.collapse import features_of_rows
from egoequiv.training.data import motions_of
from egoequiv.training.streams import RunData
from egoequiv.training.validation import evaluating

FRAMES = 512  # looked at, to see how many dimensions features have


def pairs_warning(data: RunData, net: EgoNet) -> str | None:
    """One line, before training, where no motion has validation pairs enough for its rho; None where one has.

    Args:
        data: What the run reads.
        net: Its network with initial weights, whose features have as many dimensions as trained ones, or nearly.

    """
    patterns = _patterns(data)
    frames = data.split.validation
    if patterns is None or not len(frames):
        return None
    counts = find_motion_pairs(data.store, frames, patterns, data.config.max_gap_s).counts()
    rows = np.sort(frames)[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), FRAMES)).astype(int))]
    with evaluating(net):
        features = features_of_rows(net, data.store, rows).numpy()[:, net.part(net.mapped_part)]
    if not np.isfinite(features).all():
        return None  # training says so
    # On a grid, half of the validation pairs fit the map; in video, pairs of training frames do.
    needed = fewest_pairs(features) if data.store.space.named_motions() else FEWEST_SCORED
    most = max(counts, key=lambda name: counts[name])
    if counts[most] >= needed:
        return None
    config = data.config
    fraction = [] if config.split == GIVEN else [f"lower train_fraction (now {config.train_fraction:g})"]
    changes = ["ingest more recordings", *fraction, f"choose another split by --set split=KIND (now {config.split})"]
    return (
        f"warning: rho will not be defined, because the validation part has too few pairs of every motion: at most "
        f"{counts[most]:,} of {most!r}, and it takes {needed:,}: {', or '.join(changes)}"
    )


def _patterns(data: RunData) -> MotionPatterns | None:
    """The motions that rho is measured for; None where they are not known without mining them."""
    if data.store.space.named_motions():
        return motions_of(data.store, data.split, data.config)
    return data.patterns
