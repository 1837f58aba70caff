"""What a planner, a service and an export share: an encoder, and what its features become after motions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.encoder import ImageShape
from egoequiv.pose import MotionSpace

Features = NDArray[np.float32]
Motion = NDArray[np.float64]


def unknown_part(name: str, known: Sequence[str]) -> ConfigError:
    """The error for a part that features do not have; `known` are those they have, every feature first."""
    what = f"its parts are {', '.join(known)}" if len(known) > 1 else f"it has no parts, only {known[0]}"
    return ConfigError(f"the features of this network have no part {name!r}: {what}")


class MotionModel(ABC):
    """An encoder with maps: features of images, and what they become when the camera moves.

    Args:
        image_shape: Height, width and channels of the images.
        parts: Where each part is among the features; `all` is every feature.
        mapped: The features that the maps act on, E of them.
        space: The units of motions; None where poses were unknown.
        motions: The motions that have a name, as vectors (M,); none where there are no maps.
        takes_any: Whether there is a map of every motion, not of the named ones alone.
    """

    def __init__(
        self,
        image_shape: ImageShape,
        parts: Mapping[str, slice],
        mapped: slice,
        space: MotionSpace | None,
        motions: Mapping[str, Motion],
        takes_any: bool,
    ) -> None:
        self.image_shape, self.parts, self.mapped = image_shape, dict(parts), mapped
        self.space, self.motions, self.takes_any = space, dict(motions), takes_any

    @property
    def feature_dim(self) -> int:
        """How many features there are."""
        return max(int(part.stop) for part in self.parts.values())

    def part(self, name: str) -> slice:
        """Where a part of the features is among all of them; an unknown one is an error that lists them."""
        if name not in self.parts:
            raise unknown_part(name, tuple(self.parts))
        return self.parts[name]

    @abstractmethod
    def embed(self, images: NDArray[np.uint8]) -> Features:
        """All features of uint8 images, (N, H, W, C) -> (N, D)."""

    def after(self, features: Features, motion: str | Motion) -> Features:
        """The mapped features after a motion, from those before it.

        Args:
            features: Mapped features, (N, E): `model.embed(images)[:, model.mapped]`.
            motion: The name of a motion; or, where `takes_any`, a motion vector (M,), or one for each row, (N, M).

        Returns:
            The predicted features, (N, E).
        """
        if isinstance(motion, str):
            if motion not in self.motions:
                known = ", ".join(self.motions) or "none, because this model has no maps"
                raise ConfigError(f"motion {motion!r} is not known here; choose from: {known}")
            return self._after_named(features, motion)
        if not self.takes_any:
            raise ConfigError(f"this model has maps of named motions alone: {', '.join(self.motions) or 'none'}")
        if self.space is None and not self.motions:
            raise ConfigError("this model does not say how its motions are measured: export its run again")
        width = len(next(iter(self.motions.values()))) if self.space is None else len(self.space.axes)
        vectors = np.asarray(motion, np.float64)
        if vectors.shape not in ((width,), (len(features), width)) or not np.isfinite(vectors).all():
            raise DataError(f"expected a motion of {width} finite numbers, found {vectors.tolist()}")
        return self._after_vectors(features, np.broadcast_to(vectors, (len(features), width)))

    def _after_named(self, features: Features, name: str) -> Features:
        return self._after_vectors(features, np.tile(self.motions[name], (len(features), 1)))

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        """The same with one vector for each row, (N, M); of models that take any motion."""
        raise NotImplementedError
