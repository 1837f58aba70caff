"""Motion spaces: how the poses of two frames become one motion vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MotionAxis:
    """One component of a motion vector, with the words for its two directions."""

    name: str
    unit: str
    plus: str
    minus: str

    def in_words(self, amount: float) -> str:
        """Such as "left turn 16°", "forward 14.4 m" or "shift left 0.12 m"."""
        word, size = self.plus if amount >= 0 else self.minus, abs(amount)
        if self.unit == "deg":
            return f"{word} {size:.{0 if size >= 0.95 else 1}f}°"
        digits = f"{size:.1f}" if size >= 0.95 else f"{round(size, 3):.2g}"
        return f"{word} {digits} {self.unit}".rstrip()


def wrap(values: Array, period: float) -> Array:
    """Values in [-period/2, period/2), such as 190 deg to -170 deg."""
    half = period / 2
    wrapped = (np.asarray(values, np.float64) + half) % period - half
    return np.where(wrapped >= half, -half, wrapped)  # a value just below -half is rounded up to half


def wrap_columns(motion: Array, periods: Sequence[float | None]) -> Array:
    """Motions (..., M) whose components with a period are brought to the shorter way round, 340 deg -> 0 deg to 20."""
    wrapped = np.array(motion, np.float64)
    for k, period in enumerate(periods):
        if period:
            wrapped[..., k] = wrap(wrapped[..., k], period)
    return wrapped


class MotionSpace(ABC):
    """Computes the motion between two poses of one recording, and says which motions are small.

    A motion is relative to the first frame: the same drive on another map is the same motion.
    """

    @property
    @abstractmethod
    def pose_names(self) -> tuple[str, ...]:
        """The names of the pose columns it reads, in order."""

    @property
    @abstractmethod
    def axes(self) -> tuple[MotionAxis, ...]:
        """The components of a motion vector, in order; M of them."""

    @property
    def scales(self) -> tuple[slice, ...]:
        """Which components are measured on one scale, as sideways and upwards are; by default each on its own."""
        return tuple(slice(k, k + 1) for k in range(len(self.axes)))

    @property
    def length_unit(self) -> str:
        """The unit of positions."""
        return "m"

    @property
    def least_spread(self) -> Array:
        """How far motions differ at least for the difference to count when they are clustered; (M,)."""
        return np.zeros(len(self.axes))

    @abstractmethod
    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        """The motion that leads from `pose_i` to `pose_j`; both (..., P), the result (..., M)."""

    @abstractmethod
    def compose(self, first: Array, second: Array) -> Array:
        """The motion `first` followed by the motion `second`; all (..., M)."""

    @abstractmethod
    def invert(self, motion: Array) -> Array:
        """The inverse of `motion`; (..., M)."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """A JSON object from which `space_from_description` builds an equal space."""

    def named_motions(self) -> dict[str, Array]:
        """The elementary motions that have a name, both directions of each axis; none if poses have no steps."""
        return {}

    def tolerance(self) -> Array:
        """How far a motion may be from a declared one and still belong to it; (M,)."""
        return np.zeros(len(self.axes))

    def within_one_step(self, motion: Array) -> NDArray[np.bool_]:
        """Whether a motion is small enough for its two frames to be neighbours; (..., M) -> (...).

        If poses have no steps, only no motion at all is small; then times decide which frames are near.
        """
        still: NDArray[np.bool_] = np.all(np.asarray(motion) == 0, axis=-1)
        return still
