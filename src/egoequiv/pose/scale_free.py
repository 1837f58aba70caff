"""Rigid motions of unknown length: the direction of travel, and the turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from egoequiv.pose.rigid import PAN, ROLL, TILT, SE3Space
from egoequiv.pose.space import Array, MotionAxis, MotionSpace

STILL = 0.05  # of the usual step of a recording, which has length 1: what is shorter has no direction
_NAMED = 0.3  # from this component of a direction on it is said that a motion goes there
_RIGID = SE3Space()


@dataclass(frozen=True)
class DirectionAxis(MotionAxis):
    """A component of a direction, which is named without a number; a small one is not named."""

    def in_words(self, amount: float) -> str:
        if abs(amount) < _NAMED:
            return ""
        return self.plus if amount >= 0 else self.minus


@dataclass(frozen=True)
class ScaleFreeSpace(MotionSpace):
    """Motion of a camera whose positions have no known unit, as pictures alone show it.

    Positions are in usual steps of the recording. A motion is the direction from the first frame to the second, in the
    axes of the first, and the turn as a rotation vector. Frames at one place have no direction (0 0 0).
    """

    @property
    def pose_names(self) -> tuple[str, ...]:
        return _RIGID.pose_names

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return (
            DirectionAxis("forward", "", plus="forward", minus="backward"),
            DirectionAxis("left", "", plus="shift left", minus="shift right"),
            DirectionAxis("up", "", plus="rise", minus="sink"),
            ROLL,
            TILT,
            PAN,
        )

    @property
    def scales(self) -> tuple[slice, ...]:
        return (slice(0, 3), slice(3, 6))

    @property
    def length_unit(self) -> str:
        return "usual steps"

    @property
    def least_spread(self) -> Array:
        """Directions of a car differ by noise alone; beside the length of a direction, 1, that is little."""
        return np.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        return _directed(_RIGID.difference(pose_i, pose_j), STILL)

    def compose(self, first: Array, second: Array) -> Array:
        """Both steps are taken to be equally long, because nothing says otherwise."""
        return _directed(_RIGID.compose(first, second), 1e-9)

    def invert(self, motion: Array) -> Array:
        return _RIGID.invert(motion)

    def describe(self) -> dict[str, Any]:
        return {"kind": "scale-free"}


def _directed(motion: Array, still: float) -> Array:
    """A motion (..., 6) whose translation has length 1, or 0 if it is not longer than `still`."""
    length = np.linalg.norm(motion[..., :3], axis=-1, keepdims=True)
    direction = np.where(length > still, motion[..., :3] / np.maximum(length, 1e-12), 0.0)
    return np.concatenate([direction, motion[..., 3:]], axis=-1)
