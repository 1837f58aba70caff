"""Motion patterns: the few named motions that pairs of frames are sorted into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose import MotionSpace


class MotionPatterns(ABC):
    """G named motions of one motion space, and which motions count as each of them."""

    names: tuple[str, ...]
    space: MotionSpace
    # Whether motions of no pattern are used too, as negative examples of every pattern.
    others_are_negatives: bool

    def __len__(self) -> int:
        return len(self.names)

    @abstractmethod
    def assign(self, motion: NDArray[np.float64]) -> NDArray[np.int64]:
        """The pattern of each motion, -1 for none; (..., M) -> (...)."""


@dataclass(frozen=True)
class DeclaredPatterns(MotionPatterns):
    """Declared patterns; a motion belongs to the pattern that is within `tolerance` of it."""

    names: tuple[str, ...]
    motions: NDArray[np.float64]  # (G, M)
    tolerance: NDArray[np.float64]  # (M,)
    space: MotionSpace
    others_are_negatives: bool = False

    def assign(self, motion: NDArray[np.float64]) -> NDArray[np.int64]:
        pattern = np.full(motion.shape[:-1], -1, np.int64)
        for number, centre in enumerate(self.motions):
            # The difference is taken in the motion space, so that half a turn left and right count as near.
            off = np.abs(self.space.compose(motion, self.space.invert(centre)))
            pattern[(off <= self.tolerance).all(axis=-1) & (pattern < 0)] = number
        return pattern


def declare_patterns(space: MotionSpace, names: Sequence[str]) -> DeclaredPatterns:
    """Patterns from names: elementary motions of the space ("up"), or sums of them ("up+right").

    Args:
        space: a space whose motions have names, such as a grid.
        names: one name for each pattern.

    Returns:
        One pattern for each name, in the given order.

    Example:
        >>> declare_patterns(store.space, ["up", "right", "up+right"]).names
        ('up', 'right', 'up+right')
    """
    if not names:
        raise ConfigError("no motions were named; give at least one, such as motions=up,right")
    if len(set(names)) != len(names):
        raise ConfigError(f"a motion is named twice in {', '.join(names)}")
    known = space.named_motions()
    if not known:
        raise ConfigError(
            f"motions={','.join(names)}: poses of this space have no steps to name; leave out motions, and patterns "
            "are mined, or give those that `egoequiv patterns` found with patterns=FILE"
        )
    motions: list[NDArray[np.float64]] = []
    for name in names:
        motion = np.zeros_like(space.tolerance())
        for part in name.split("+"):
            if part not in known:
                raise ConfigError(f"motion {name!r}: {part!r} is not known here; choose from {', '.join(known)}")
            motion = space.compose(motion, known[part])
        if any(np.allclose(motion, other) for other in motions):
            raise ConfigError(f"motion {name!r} is the same as one named before it in {', '.join(names)}")
        motions.append(motion)
    return DeclaredPatterns(tuple(names), np.stack(motions), space.tolerance(), space)


def name_in_steps(space: MotionSpace, motion: NDArray[np.float64]) -> str | None:
    """What a motion is called in a space with named steps, such as "up+up"; None if no whole steps make it."""
    if len(motion) != len(space.axes):
        return None
    parts: list[str] = []
    for name, step in space.named_motions().items():
        axis = int(np.abs(step).argmax())
        count = motion[axis] / step[axis]
        if count > 0:
            parts += [name] * round(float(count))
    known = not parts or np.allclose(declare_patterns(space, ["+".join(parts)]).motions[0], motion)
    return "+".join(parts) if parts and known else None


def atomic_names(space: MotionSpace) -> tuple[str, ...]:
    """One step along each axis of the space, in its positive direction: the motions that training uses by default."""
    return tuple(space.named_motions())[::2]


def composite_names(space: MotionSpace) -> tuple[str, ...]:
    """The diagonal motions of the paper for two axes a and b: +a+b, +a-b, -a+b (their inverses add nothing)."""
    directions = tuple(space.named_motions())
    composites = []
    for a in range(0, len(directions), 2):
        for b in range(a + 2, len(directions), 2):
            plus_a, minus_a, plus_b, minus_b = directions[a], directions[a + 1], directions[b], directions[b + 1]
            composites += [f"{plus_a}+{plus_b}", f"{plus_a}+{minus_b}", f"{minus_a}+{plus_b}"]
    return tuple(composites)
