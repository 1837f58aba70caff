"""Lamps, lights, signs, fences and rails; trees, bushes and hedges; in local metres.

The y axis leads away from the road, and what has a face looks along x: on either side of a road that is towards the
traffic there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.face_solids import Rgb, block, frustum, plate, pole
from egoequiv_worlds.render.faces import GLOW, LEAVES, SLATS, Blobs, Faces, blobs, faces, joined, no_faces

STEEL: Rgb = (0.34, 0.35, 0.36)
DARK: Rgb = (0.08, 0.09, 0.09)
WHITE: Rgb = (0.8, 0.8, 0.78)
RED: Rgb = (0.55, 0.05, 0.05)
BLUE: Rgb = (0.05, 0.14, 0.42)
YELLOW: Rgb = (0.75, 0.58, 0.06)

Random = np.random.Generator
Place = tuple[float, float]
BARK: Rgb = (0.16, 0.12, 0.09)
GREENS: tuple[Rgb, ...] = ((0.14, 0.22, 0.06), (0.18, 0.25, 0.07), (0.10, 0.19, 0.07), (0.22, 0.25, 0.08))


def lamp(height_m: float, reach_m: float) -> Faces:
    """A street lamp whose arm reaches over the road, towards -y."""
    arm = block((-0.05, 0.05, -reach_m, 0.05), height_m - 0.12, height_m, STEEL)
    head = block((-0.16, 0.16, -reach_m - 0.35, -reach_m + 0.35), height_m - 0.08, height_m + 0.08, (0.55, 0.55, 0.53))
    return joined([pole(0, 0, height_m, 0.07, STEEL), arm, head])


def traffic_light(green: bool) -> Faces:
    """A post with three lights, and a second set above the road."""
    lamps = [
        (0.75, 0.06, 0.04) if not green else (0.1, 0.02, 0.02),
        (0.12, 0.09, 0.02),
        (0.05, 0.7, 0.3) if green else (0.02, 0.1, 0.05),
    ]
    parts = [pole(0, 0, 5.6, 0.07, STEEL), block((-0.05, 0.05, -4.2, 0.0), 5.5, 5.6, STEEL)]
    for y, z in ((0.0, 2.5), (-4.0, 5.0)):
        parts.append(block((-0.14, 0.16, y - 0.17, y + 0.17), z - 0.1, z + 0.95, DARK))
        for k, colour in enumerate(lamps):
            low = z + 0.62 - 0.3 * k
            parts.append(
                plate(0.17, y, low + 0.11, 0.22, 0.22, colour, DARK)._replace(materials=np.full(2, GLOW, np.int32))
            )
    return joined(parts)


def sign(kind: int) -> Faces:
    """A road sign on a post: warning, order, direction or priority."""
    post = pole(0, 0, 2.6, 0.035, STEEL)
    shapes = (((0.75, 0.75), RED), ((0.62, 0.62), BLUE), ((1.3, 0.42), YELLOW), ((0.6, 0.6), WHITE))
    (width, height), colour = shapes[kind % len(shapes)]
    inner = plate(0.075, 0, 2.45, width * 0.66, height * 0.62, WHITE if colour != WHITE else YELLOW, STEEL)
    return joined([post, plate(0.06, 0, 2.45, width, height, colour, STEEL), inner])


def gantry(half_width_m: float) -> Faces:
    """A bridge over half of a wide road that carries direction signs; y = 0 is the road's outer edge."""
    beam = block((-0.2, 0.2, -half_width_m, 0.8), 6.3, 6.9, STEEL)
    boards = []
    for y in (-0.3 * half_width_m, -0.72 * half_width_m):
        boards += [plate(0.3, y, 6.6, 3.4, 2.2, BLUE, STEEL), plate(0.32, y, 6.9, 2.6, 0.3, WHITE, STEEL)]
        boards += [plate(0.32, y, 6.2, 1.8, 0.25, WHITE, STEEL)]
    return joined([block((-0.25, 0.25, 0.3, 0.8), 0, 6.9, STEEL), beam, *boards])


def delineator() -> Faces:
    """A white post with a black band beside a country road."""
    body = block((-0.06, 0.06, -0.06, 0.06), 0.0, 1.0, WHITE)
    return joined([body, block((-0.065, 0.065, -0.065, 0.065), 0.68, 0.88, DARK)])


def ribbon(points: Array, low_z: float, high_z: float, colour: Rgb, material: int, params: tuple[float, ...]) -> Faces:
    """An upright band (P, 2) seen from both sides, such as a rail or a fence."""
    a, b = points[:-1], points[1:]

    def corner(at: Array, z: float) -> Array:
        return np.concatenate([at, np.full((len(at), 1), z)], axis=1)

    left = np.stack([corner(b, low_z), corner(a, low_z), corner(a, high_z), corner(b, high_z)], axis=1)
    right = np.stack([corner(a, low_z), corner(b, low_z), corner(b, high_z), corner(a, high_z)], axis=1)
    return faces(np.concatenate([left, right]), colour, material, params)


def guard_rail(points: Array) -> Faces:
    """A steel rail along points (P, 2) some metres apart, on posts."""
    posts = [block((x - 0.06, x + 0.06, y - 0.06, y + 0.06), 0.0, 0.7, (0.25, 0.25, 0.26)) for x, y in points]
    rail = ribbon(points, 0.45, 0.78, (0.42, 0.43, 0.45), 0, (0.0,) * 6)
    groove = ribbon(points, 0.58, 0.64, (0.2, 0.2, 0.21), 0, (0.0,) * 6)
    groove.corners[:, :, :2] += 0.02 * groove.frames[:, None, 0, :2]
    return joined([rail, groove, *posts])


def fence(points: Array, height_m: float, colour: Rgb) -> Faces:
    """A fence of slats."""
    return ribbon(points, 0.08, height_m, colour, SLATS, (0.16, 0.35, 0.0, 0.0, 0.0, 0.0))


def bench() -> Faces:
    """A bench that looks towards -y."""
    wood = (0.30, 0.18, 0.09)
    seat, back = block((-0.8, 0.8, -0.25, 0.2), 0.3, 0.45, wood), block((-0.8, 0.8, 0.2, 0.26), 0.45, 0.9, wood)
    return joined([seat, back])


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
