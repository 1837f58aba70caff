"""What more than one world has: buildings, plants, weather, what is in streets, and the dice that vary all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from egoequiv_worlds.render.solids import Rgb

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Dice:
    """The source of everything that differs between two pictures of one class."""

    generator: np.random.Generator

    def between(self, low: float, high: float) -> float:
        """A number, all equally likely."""
        return low + (high - low) * self.generator.random()

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return bool(self.generator.random() < probability)

    def count(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(low + (high + 1 - low) * self.generator.random())

    def one_of(self, things: Sequence[Thing]) -> Thing:
        """One of some things."""
        return things[int(len(things) * self.generator.random())]

    def side(self) -> float:
        """Either -1 or 1."""
        return 1.0 if self.generator.random() < 0.5 else -1.0

    def gray(self, low: float, high: float, tint: float = 0.12) -> Rgb:
        """A colour of some brightness that is nearly gray."""
        return self.near((self.between(low, high),) * 3, tint)

    def near(self, color: Rgb, spread: float = 0.15) -> Rgb:
        """A colour that is like another one."""
        bright = 1.0 + spread * (2.0 * self.generator.random() - 1.0)
        red, green, blue = (value * bright * (1.0 + spread * (self.generator.random() - 0.5)) for value in color)
        return (red, green, blue)

    def vivid(self, low: float = 0.08, high: float = 0.8) -> Rgb:
        """Any colour, strong or pale."""
        bright = self.between(low, high)
        red, green, blue = (bright * (0.35 + 0.65 * self.generator.random()) for _ in range(3))
        return (red, green, blue)
