"""Trees, bushes and hedges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from egoequiv.worlds.street.shapes import LEAVES, Blobs, Faces, blobs, no_faces
from egoequiv.worlds.street.solids import Rgb, block, frustum

Random = np.random.Generator
Place = tuple[float, float]

BARK: Rgb = (0.16, 0.12, 0.09)
GREENS: tuple[Rgb, ...] = ((0.14, 0.22, 0.06), (0.18, 0.25, 0.07), (0.10, 0.19, 0.07), (0.22, 0.25, 0.08))


class Plant(NamedTuple):
    """A plant: its wood or cut faces, and its leaves."""

    faces: Faces
    blobs: Blobs


def green(rng: Random, season: float) -> Rgb:
    """A colour of leaves; towards autumn (season 1) more of them turn."""
    colour = np.array(GREENS[rng.integers(len(GREENS))]) * rng.uniform(0.85, 1.2)
    if rng.random() < season:
        colour = 0.5 * colour + 0.5 * np.array((0.38, 0.22, 0.05))
    return float(colour[0]), float(colour[1]), float(colour[2])


def broadleaf(rng: Random, place: Place, height_m: float, season: float) -> Plant:
    """A tree with a round crown of several balls."""
    x, y = place
    crown = height_m * rng.uniform(0.24, 0.32)
    foot = height_m * rng.uniform(0.25, 0.36)
    middle = foot + 0.8 * (height_m - foot) / 2
    trunk = 0.018 * height_m + 0.05
    wood = frustum(
        (x - trunk, x + trunk, y - trunk, y + trunk), 0.0,
        (x - trunk / 2, x + trunk / 2, y - trunk / 2, y + trunk / 2), middle, BARK,
    )  # fmt: skip
    colour = green(rng, season)
    rows = [((x, y, middle), crown, (height_m - foot) * 0.42, colour)]
    start = rng.uniform(0, 2 * np.pi)
    for k in range(6):
        turn = start + k * 2.4
        out, z = crown * rng.uniform(0.55, 0.8), middle + (height_m - foot) * rng.uniform(-0.22, 0.3)
        size = crown * rng.uniform(0.45, 0.65)
        tint = tuple(value * rng.uniform(0.85, 1.15) for value in colour)
        rows.append(
            ((x + out * np.cos(turn), y + out * np.sin(turn), z), size, size * 0.9, (tint[0], tint[1], tint[2]))
        )
    return Plant(wood, blobs(rows, 0.9))


def conifer(rng: Random, place: Place, height_m: float) -> Plant:
    """A dark tree of flat layers that narrow towards the top."""
    x, y = place
    colour = tuple(value * rng.uniform(0.8, 1.1) for value in (0.07, 0.13, 0.06))
    wide = height_m * rng.uniform(0.17, 0.22)
    rows = []
    for share in (0.2, 0.36, 0.52, 0.68, 0.84):
        size = wide * (1.12 - share)
        rows.append(((x, y, height_m * share), size, height_m * 0.14, (colour[0], colour[1], colour[2])))
    return Plant(block((x - 0.12, x + 0.12, y - 0.12, y + 0.12), 0.0, height_m * 0.3, BARK), blobs(rows, 0.8))


def bush(rng: Random, place: Place, size_m: float, season: float) -> Plant:
    """A few low balls of leaves."""
    colour = green(rng, season)
    rows = []
    for _ in range(3):
        x, y = (value + rng.uniform(-0.5, 0.5) * size_m for value in place)
        size = size_m * rng.uniform(0.45, 0.7)
        rows.append(((x, y, size * 0.6), size, size * 0.8, colour))
    return Plant(no_faces(), blobs(rows, 0.8))


def hedge(length_m: float, height_m: float, colour: Rgb) -> Faces:
    """A cut hedge along x, half a metre thick."""
    return block((-length_m / 2, length_m / 2, -0.3, 0.3), 0.0, height_m, colour, LEAVES)
