"""What toys are assembled from: painted parts, with some chance in their proportions and paint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egoequiv.worlds.toys.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a toy in one paint, whose albedo lies between 0 (black) and 1 (white)."""

    mesh: Mesh
    albedo: float


@dataclass(frozen=True)
class Paint:
    """The few albedos a toy is painted in."""

    base: float
    light: float
    dark: float
    black: float


def mixed(rng: np.random.Generator) -> Paint:
    """A middle gray for the toy, and a lighter and a darker one for its details."""
    base = float(rng.uniform(0.28, 0.55))
    return Paint(base, min(0.85, base * 1.5), base * 0.55, 0.09)


def vary(rng: np.random.Generator, value: float, share: float = 0.12) -> float:
    """A length with a random error of up to a share of it."""
    return value * float(rng.uniform(1.0 - share, 1.0 + share))


def pair(mesh: Mesh, albedo: float) -> list[Part]:
    """A part and its mirror image on the other side."""
    return [Part(mesh, albedo), Part(mesh.mirrored(), albedo)]
