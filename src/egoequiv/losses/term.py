"""A loss term: one weighted part of a training objective, over one stream of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from torch import Tensor

from egoequiv.models import Heads

StreamName = Literal["labelled", "motion", "neighbour", "clip", "view", "place", "coming"]
Part = Literal["all", "invariant", "equivariant"]


@dataclass(frozen=True)
class StreamBatch:
    """The features of one batch of one stream, and what is known of it."""

    z_i: Tensor  # (B, D): the labelled images, or the first image of each pair
    z_j: Tensor  # (B, D): the second image of each pair; the same as z_i for labelled images
    target: Tensor  # (B,): class, motion pattern (-1: none), whether the pair are neighbours, clip, or the row itself
    motion: Tensor | None = None  # (B, M): from the first image to the second, of `clip` and `coming`
    place: Tensor | None = None  # (2 B, P): where both images were taken, in sizes of a place, of `place`
    shared: dict[str, Any] = field(default_factory=dict, compare=False)  # what a term computed of it, for the next ones


@dataclass(frozen=True)
class Term(ABC):
    """One weighted loss; its numbers (`weight`, perhaps `margin`) are settings, as `weight.NAME` and `margin.NAME`.

    Many networks may learn as one stack. A term that `stacks` takes their features at once, (S, B, D), and returns a
    loss for each, (S,); any other is computed network by network, which takes longer. A term that `draws` random
    numbers keeps its runs out of stacks, where they would not be those that the run draws alone.
    """

    name: ClassVar[str]  # its key in settings and metrics
    stream: ClassVar[StreamName]  # the data it looks at
    stacks: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    needs_motion: ClassVar[bool] = False  # whether it reads motions of pairs of the stream `clip`
    needs_clips: ClassVar[bool] = False  # whether frames of one clip are told from those of others
    maps_motion: ClassVar[bool] = False  # whether it trains maps of any motion, `net.motion_maps`
    part = "all"  # of the features, those that it looks at; a term may have a field of this name
    rise = 0.0  # over this share of a run its weight rises from 0; a term may have a field of this name
    weight: float = 1.0

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        """The sizes of full layers that the loss puts on top of the features, as `net.layers[name]`; by default none.

        Args:
            features: The number of features of the encoder.
            motion: The number of components of a motion.
        """
        return ()

    @abstractmethod
    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        """The unweighted loss, averaged over the batch; a scalar."""
