"""Hand-made models whose features and maps are known exactly: a torus of poses, and a plane with turns."""

import numpy as np
from numpy.typing import NDArray

from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.pose import Axis, GridSpace
from egoequiv.pose.rigid import SE2Space

HEIGHTS, TURNS = 5, 12


def ring_space(turns: int = TURNS) -> GridSpace:
    height = Axis("height", "deg", 10.0, plus="up", minus="down")
    turn = Axis("turn", "deg", 360.0 / turns, plus="right", minus="left", period=360.0)
    return GridSpace((height, turn))


class RingModel(MotionModel):
    """Features (cos h, sin h, cos a, sin a, thing): the maps are rotations, so every prediction is exact.

    An image is one row of bytes: height, turn, and which thing it shows.
    """

    def __init__(self, takes_any: bool = True, turns: int = TURNS, noise: float = 0.0) -> None:
        space = ring_space(turns)
        super().__init__((1, 3, 1), {"all": slice(0, 5)}, slice(0, 5), space, space.named_motions(), takes_any)
        self.turns, self.noise = turns, noise

    def embed(self, images: NDArray[np.uint8]) -> Features:
        height, turn, thing = images[:, 0, :, 0].astype(np.float64).T
        angles = np.deg2rad(np.stack([10.0 * height, turn * 360.0 / self.turns], axis=1))
        columns = [f(angles[:, k]) for k in range(2) for f in (np.cos, np.sin)]
        return np.stack([*columns, 3.0 * thing], axis=1).astype(np.float32)

    def _after_named(self, features: Features, name: str) -> Features:
        return self._after_vectors(features, np.tile(self.motions[name], (len(features), 1)))

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        after = np.array(features, np.float64)
        for k in range(2):
            angle = np.deg2rad(motions[:, k])
            cos, sin = features[:, 2 * k], features[:, 2 * k + 1]
            after[:, 2 * k] = np.cos(angle) * cos - np.sin(angle) * sin
            after[:, 2 * k + 1] = np.sin(angle) * cos + np.cos(angle) * sin
        return after.astype(np.float32)


def picture(height: int, turn: int, thing: int = 0) -> NDArray[np.uint8]:
    return np.array([[[height], [turn], [thing]]], np.uint8)


class RingWorld:
    """A camera on the ring: a move above or below it is not possible."""

    def __init__(self, height: int, turn: int, turns: int = TURNS) -> None:
        self.height, self.turn, self.turns = height, turn, turns

    def view(self) -> NDArray[np.uint8]:
        return picture(self.height, self.turn)

    def move(self, motion: str) -> NDArray[np.uint8] | None:
        up, right = {"up": (1, 0), "down": (-1, 0), "right": (0, 1), "left": (0, -1)}[motion]
        if not 0 <= self.height + up < HEIGHTS:
            return None
        self.height, self.turn = self.height + up, (self.turn + right) % self.turns
        return self.view()


class CarModel(MotionModel):
    """Features are a pose in the plane, (x, y, cos, sin); driving and turning do not commute."""

    def __init__(self) -> None:
        motions = {
            "forward": np.array([1.0, 0.0, 0.0]),
            "left turn": np.array([0.0, 0.0, 90.0]),
            "right turn": np.array([0.0, 0.0, -90.0]),
        }
        super().__init__((1, 1, 1), {"all": slice(0, 4)}, slice(0, 4), SE2Space(), motions, takes_any=False)

    def embed(self, images: NDArray[np.uint8]) -> Features:
        raise NotImplementedError

    def _after_named(self, features: Features, name: str) -> Features:
        ahead, _, turn = self.motions[name]
        x, y, cos, sin = np.asarray(features, np.float64).T
        angle = np.arctan2(sin, cos) + np.deg2rad(turn)
        return np.stack([x + ahead * cos, y + ahead * sin, np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
