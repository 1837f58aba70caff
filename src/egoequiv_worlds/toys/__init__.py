"""The toys of the turntable.

A category is a file `toy_NAME.py` in this folder, and is found by itself. Its CATEGORY has a number that no other one
has, from which its random numbers come, and its designs: functions that put the parts of a `Model` together.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.toys.parts import Category, Model

if TYPE_CHECKING:
    from egoequiv_worlds.render.surface import Surface


def _found() -> Mapping[str, Category]:
    """The categories of all files of this folder, by their numbers."""
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("toy_")]
    found = {name.removeprefix("toy_"): import_module(f"{__name__}.{name}").CATEGORY for name in files}
    return dict(sorted(found.items(), key=lambda item: item[1].number))


CATEGORIES = _found()


@dataclass(frozen=True)
class Toy:
    """Which toy it is; enough to build it again anywhere."""

    category: str
    instance: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.category}-{self.instance}"

    @property
    def attributes(self) -> dict[str, str]:
        return {"category": self.category, "instance": str(self.instance), "toy": self.name}

    def generator(self, *purpose: int) -> np.random.Generator:
        """Random numbers that depend on the toy and on what they are for, and on nothing else."""
        return np.random.default_rng([self.seed, CATEGORIES[self.category].number, self.instance, *purpose])


def parts(toy: Toy) -> list[Part]:
    """The parts of a toy; instances past the last design repeat the designs in other proportions."""
    designs, model = CATEGORIES[toy.category].designs, Model(toy.generator(0))
    designs[toy.instance % len(designs)](model)
    return model.parts


@lru_cache(maxsize=64)
def built(toy: Toy) -> Surface:
    """The surface of a toy, built once in each process."""
    from egoequiv_worlds.render.surface import surface  # here, because it imports numba, which takes a second

    return surface(parts(toy))
