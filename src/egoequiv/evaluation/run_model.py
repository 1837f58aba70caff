"""A run as a model of motions: its encoder, and its own maps, of any motion or of patterns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.equivariance import apply_map
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.forward_maps import Affine, learned_forward_maps
from egoequiv.models import EgoNet, load_model
from egoequiv.models.checkpoint import Which
from egoequiv.models.motion_maps import MotionMaps
from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.models.network import ALL
from egoequiv.pairs import MinedPatterns, MotionPatterns
from egoequiv.pose import MotionSpace
from egoequiv.training import open_run
from egoequiv.training.run_folder import DATA, RunFolder

CHUNK = 4_096  # features mapped at a time


class RunModel(MotionModel):
    """The network of a run, with motions that have names in the motion space of its store."""

    def __init__(self, net: EgoNet, space: MotionSpace | None, motions: Mapping[str, Motion]) -> None:
        self.net = net
        self._affine: dict[str, Affine] = {}
        if net.motion_maps is None:
            self._affine = {} if space is None else learned_forward_maps(net, space, tuple(motions), net.mapped_part)
            motions = {name: motion for name, motion in motions.items() if name in self._affine}
        super().__init__(
            image_shape=net.spec.image_shape,
            parts={name: net.part(name) for name in (ALL, *net.spec.parts)},
            mapped=net.part(net.mapped_part),
            space=space,
            motions=motions,
            takes_any=net.motion_maps is not None,
        )

    def embed(self, images: NDArray[np.uint8]) -> Features:
        return embed(self.net, images)

    def _after_named(self, features: Features, name: str) -> Features:
        if self.takes_any:
            return super()._after_named(features, name)
        return apply_map(self._affine[name], features).astype(np.float32)

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        assert self.net.motion_maps is not None
        return map_features(self.net.motion_maps, features, motions)


def open_run_model(run: str | Path, which: Which = "last", device: str = "cpu") -> RunModel:
    """The model of a run folder; the motions with names are those of its store.

    Args:
        run: The folder of a run. It needs no store, unless it was begun by an early version.
        which: The checkpoint.
        device: Where the network computes.
    """
    net, folder = load_model(run, which, device), RunFolder(Path(run))
    has_maps = net.motion_maps is not None or net.maps is not None
    space = folder.space()
    patterns: MotionPatterns | None = folder.patterns()
    if space is None:
        opened = open_run(Path(run), which=which)
        space, patterns = opened.store.space, opened.patterns if has_maps else None
    elif net.motion_maps is not None and len(space.axes) != net.spec.motion_dim:
        raise DataError(
            f"{folder.path}: its maps take motions of {net.spec.motion_dim} numbers, and its motion space has "
            f"{len(space.axes)}: {DATA} is damaged"
        )
    if not space.axes:
        return RunModel(net, None, {})
    return RunModel(net, space, _named(space, patterns) if has_maps else {})


def _named(space: MotionSpace, patterns: MotionPatterns | None) -> dict[str, Motion]:
    """The motions of a grid, both directions of each axis; in video, the middle of each mined pattern."""
    if isinstance(patterns, MinedPatterns):
        return dict(zip(patterns.names, patterns.centres, strict=False))
    return space.named_motions()


@torch.no_grad()
def map_features(maps: MotionMaps, features: Features, motions: Motion) -> Features:
    """The features after motions, from those before them; (N, E), (N, M) -> (N, E)."""
    device = maps.scale.device
    found = [np.empty((0, features.shape[1]), np.float32)]
    for start in range(0, len(features), CHUNK):
        own = torch.tensor(features[start : start + CHUNK], device=device)
        moved = torch.tensor(motions[start : start + CHUNK], dtype=own.dtype, device=device)
        found.append(maps(own, moved).float().cpu().numpy())
    return np.concatenate(found)
