"""The toys of the turntable: which categories there are, and how one toy is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.toys import toy_aeroplane, toy_animal, toy_car, toy_figure, toy_truck

Design = Callable[[np.random.Generator], list[Part]]

CATEGORIES: Mapping[str, tuple[Design, ...]] = {
    "animal": toy_animal.DESIGNS,
    "figure": toy_figure.DESIGNS,
    "aeroplane": toy_aeroplane.DESIGNS,
    "truck": toy_truck.DESIGNS,
    "car": toy_car.DESIGNS,
}


@dataclass(frozen=True)
class Toy:
    """Which toy it is; enough to build it again anywhere."""

    category: str
    instance: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.category}-{self.instance}"

    def generator(self, *purpose: int) -> np.random.Generator:
        """Random numbers that depend on the toy and on what they are for, and on nothing else."""
        return np.random.default_rng([self.seed, list(CATEGORIES).index(self.category), self.instance, *purpose])


def parts(toy: Toy) -> list[Part]:
    """The parts of a toy; instances past the last design repeat the designs in other proportions."""
    designs = CATEGORIES[toy.category]
    return designs[toy.instance % len(designs)](toy.generator(0))
