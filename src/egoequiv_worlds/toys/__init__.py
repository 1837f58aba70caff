"""The toys of the turntable, and what they are assembled from.

A category is a file `toy_NAME.py` in this folder, and is found by itself. Its CATEGORY has the next free number, from
which its random numbers come, and its designs: functions that put the parts of a `Model` together, in any unit, x ahead
and z up. The lowest point stands on the table, and the toy is scaled to the picture. Tests want closed meshes, 1,000 to
4,000 triangles, and a share of 0.05 to 0.4 of the picture.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from egoequiv_worlds.render.mesh import Mesh, Part, box, cylinder, ellipsoid, lathe

if TYPE_CHECKING:
    from egoequiv_worlds.render.studio import Surface

Brush = Callable[..., None]  # paints meshes in one gray, which makes them parts of a toy


class Model:
    """A toy while it is put together: its parts so far, and brushes in the few grays that it is painted in."""

    def __init__(self, rng: Generator) -> None:
        base = float(rng.uniform(0.28, 0.55))
        grays = (base, min(0.85, base * 1.5), base * 0.55, 0.09)
        self.rng, self.parts = rng, list[Part]()
        self.base, self.light, self.dark, self.black = (partial(self.paint, albedo) for albedo in grays)

    def paint(self, albedo: float, *meshes: Mesh) -> None:
        """Add parts in any gray; `base`, `light`, `dark` and `black` are the toy's own."""
        self.parts += [Part(mesh, albedo) for mesh in meshes]

    def between(self, low: float, high: float) -> float:
        """A number, all equally likely."""
        return float(self.rng.uniform(low, high))

    def vary(self, value: float, share: float = 0.12) -> float:
        """A length with a random error of up to a share of it."""
        return value * self.between(1.0 - share, 1.0 + share)

    def axles(self, xs: Sequence[float], track: float, radius: float, width: float) -> None:
        """Pairs of wheels that stand on z = 0, their outer sides at y = +-track, with bright hubs."""
        half, r = width / 2, radius
        tyre = [(-half, r * 0.8), (-width * 0.35, r), (width * 0.35, r), (half, r * 0.85), (half, r * 0.6)]
        for x in xs:
            self.black(*pair(lathe((x, track - half, r), "y", [*tyre, (width * 0.38, r * 0.55)], 16)))
            self.light(*pair(cylinder((x, track - width * 0.12, r), "y", width * 0.1, r * 0.52, 10)))

    def headlamps(self, x: float, track: float, z: float) -> None:
        """A lamp on each side."""
        self.paint(0.85, *pair(ellipsoid((x, track * 0.68, z), (0.035, 0.065, 0.055), 10)))

    def ends(self, front: float, rear: float, track: float, z: float, bumpers: bool = True) -> None:
        """Headlamps, tail lamps and a bumper at each end."""
        self.headlamps(front, track, z)
        self.dark(*pair(box((rear, track * 0.72, z), (0.04, 0.12, 0.08), 0.015)))
        for x in (front + 0.01, rear - 0.01) if bumpers else ():
            self.light(box((x, 0, z - 0.13), (0.09, track * 1.85, 0.08), 0.025))


class Category(NamedTuple):
    """One kind of toys."""

    number: int
    designs: tuple[Callable[[Model], None], ...]


def pair(*meshes: Mesh) -> list[Mesh]:
    """Meshes, each followed by its mirror image on the other side."""
    return [each for mesh in meshes for each in (mesh, mesh.mirrored())]


class Toy(NamedTuple):
    """Which toy it is; enough to build it again anywhere."""

    category: str
    instance: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.category}-{self.instance}"

    def generator(self, *purpose: int) -> Generator:
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
    from egoequiv_worlds.render.studio import surface  # here, because it imports numba, which takes a second

    return surface(parts(toy))


def _found() -> Mapping[str, Category]:
    """The categories of all files of this folder, by their numbers."""
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("toy_")]
    found = {name.removeprefix("toy_"): import_module(f"{__name__}.{name}").CATEGORY for name in files}
    if len({category.number for category in found.values()}) < len(found):
        raise ValueError(
            f"two categories of toys have one number: { ({name: one.number for name, one in found.items()}) }"
        )
    return dict(sorted(found.items(), key=lambda item: item[1].number))


CATEGORIES = _found()  # at the end, because these files use what is above
