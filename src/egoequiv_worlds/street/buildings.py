"""Buildings, in local metres: x along the street, y away from it, the front wall at y = 0."""

from __future__ import annotations

import numpy as np

from egoequiv_worlds.render.face_solids import Rgb, block, frustum_corners, inset
from egoequiv_worlds.render.faces import FACADE, ROOF, Faces, faces, joined

Random = np.random.Generator

PLASTERS: tuple[Rgb, ...] = (
    (0.68, 0.64, 0.55),
    (0.72, 0.70, 0.66),
    (0.60, 0.52, 0.40),
    (0.55, 0.46, 0.42),
    (0.64, 0.60, 0.62),
    (0.50, 0.53, 0.52),
    (0.70, 0.61, 0.46),
)
BRICKS: tuple[Rgb, ...] = ((0.40, 0.20, 0.15), (0.46, 0.29, 0.21), (0.36, 0.25, 0.21), (0.50, 0.40, 0.30))
CONCRETES: tuple[Rgb, ...] = ((0.55, 0.55, 0.53), (0.62, 0.60, 0.56), (0.46, 0.47, 0.48), (0.66, 0.66, 0.67))
TILES: tuple[Rgb, ...] = ((0.34, 0.15, 0.10), (0.26, 0.17, 0.14), (0.17, 0.17, 0.18), (0.40, 0.22, 0.14))
FLAT: Rgb = (0.28, 0.28, 0.28)
DOOR: Rgb = (0.18, 0.11, 0.07)


def varied(rng: Random, colours: tuple[Rgb, ...], by: float = 0.08) -> Rgb:
    """One of some colours, a little brighter or darker."""
    colour = colours[rng.integers(len(colours))]
    share = 1.0 + rng.uniform(-by, by)
    return (colour[0] * share, colour[1] * share, colour[2] * share)


def walls(
    width: float, depth: float, height: float, colour: Rgb, floor_m: float, bay_m: float, window: tuple[float, float],
    base_m: float, seed: float,
) -> Faces:  # fmt: skip
    """Four walls with windows whose bays and floors fill them exactly."""
    corners = frustum_corners((-width / 2, width / 2, 0, depth), 0.0, (-width / 2, width / 2, 0, depth), height)[:4]
    floors = max(1, round((height - base_m) / floor_m))
    params = []
    for k, length in enumerate((width, depth, width, depth)):
        bays = max(1, round(length / bay_m))
        params.append(((height - base_m) / floors, length / bays, *window, base_m, seed + k))
    return faces(corners, colour, FACADE, params)


def town_house(rng: Random, width: float) -> Faces:
    """A tall house of a city street, shops below, with a flat or a steep roof."""
    floors, depth = int(rng.integers(3, 7)), 13.0
    floor_m, base_m = rng.uniform(3.0, 3.5), rng.choice([0.8, 4.0, 4.0])
    height = base_m + floors * floor_m
    colour = varied(rng, PLASTERS if rng.random() < 0.7 else BRICKS)
    window = (rng.uniform(0.36, 0.6), rng.uniform(0.48, 0.66))
    body = walls(width, depth, height, colour, floor_m, rng.uniform(2.3, 3.4), window, base_m, rng.uniform(0, 99))
    if rng.random() < 0.5:
        ledge = block((-width / 2, width / 2, -0.35, depth), height, height + 0.5, (0.6, 0.58, 0.55))
        return joined([body, ledge])
    slope = frustum_corners(
        (-width / 2, width / 2, -0.3, depth), height, (-width / 2, width / 2, 3.2, depth - 3), height + 4
    )
    dormers = [
        block((x - 0.7, x + 0.7, 0.9, 3.5), height + 0.6, height + 2.4, (0.5, 0.5, 0.5))
        for x in np.arange(-width / 2 + 2.2, width / 2 - 1.0, 3.4)
    ]
    return joined([body, faces(slope, varied(rng, TILES), ROOF), *dormers])


def tower(rng: Random, width: float) -> Faces:
    """An office block of glass and concrete."""
    floors = int(rng.integers(6, 11))
    height = 4.5 + floors * 3.4
    colour = varied(rng, CONCRETES)
    window = (rng.uniform(0.8, 0.94), rng.uniform(0.5, 0.62))
    body = walls(width, 16.0, height, colour, 3.4, rng.uniform(1.6, 4.0), window, 4.5, rng.uniform(0, 99))
    top = block((-width / 4, width / 4, 5, 10), height, height + 2.5, FLAT)
    return joined([body, top, block((-width / 2, width / 2, 0, 16), height, height + 0.4, colour)])


def hall(rng: Random, width: float, depth: float) -> Faces:
    """A low wide building of a campus: bands of windows, a flat roof with a rim, an entrance of glass."""
    floors = int(rng.integers(1, 4))
    floor_m = rng.uniform(3.5, 4.2)
    height = 0.5 + floors * floor_m
    colour = varied(rng, CONCRETES if rng.random() < 0.6 else BRICKS)
    window = (rng.uniform(0.86, 0.97), rng.uniform(0.36, 0.5))
    body = walls(width, depth, height, colour, floor_m, rng.uniform(2.5, 5.0), window, 0.5, rng.uniform(0, 99))
    rim = block((-width / 2 - 0.5, width / 2 + 0.5, -0.5, depth + 0.5), height, height + 0.6, varied(rng, CONCRETES))
    x = rng.uniform(-0.3, 0.3) * width
    porch = block((x - 3, x + 3, -2.5, 0), 3.0, 3.3, (0.5, 0.5, 0.5))
    posts = [block((x + s - 0.12, x + s + 0.12, -2.4, -2.15), 0, 3.0, (0.45, 0.45, 0.45)) for s in (-2.7, 2.7)]
    glass = walls(5.0, 1.0, 3.0, (0.3, 0.3, 0.3), 3.0, 1.2, (0.9, 0.92), 0.1, rng.uniform(0, 99))
    glass.corners[:, :, 0] += x
    glass.corners[:, :, 1] -= 0.3
    return joined([body, rim, porch, *posts, glass])


def house(rng: Random, width: float, depth: float) -> Faces:
    """A detached house with a gable roof, its ridge along or across the street."""
    eaves = rng.choice([2.9, 5.4, 5.4])
    rise = rng.uniform(2.4, 3.6)
    colour = varied(rng, BRICKS if rng.random() < 0.3 else PLASTERS, 0.12)
    window = (rng.uniform(0.32, 0.45), rng.uniform(0.42, 0.52))
    body = walls(width, depth, eaves, colour, 2.7, rng.uniform(2.4, 3.2), window, 0.3, rng.uniform(0, 99))
    roof = gable(
        width, depth, eaves, rise, colour, varied(rng, TILES), along=bool(rng.random() < 0.5), seed=rng.uniform(0, 99)
    )
    x = width * rng.uniform(-0.25, 0.25)
    chimney = block((x - 0.35, x + 0.35, depth * 0.6, depth * 0.6 + 0.6), eaves, eaves + rise + 0.7, BRICKS[0])
    front = body.corners[0]
    share = rng.uniform(0.35, 0.6)
    door = inset(front, share, share + 1.1 / width, 0.0, 2.1 / eaves, 0.03)
    return joined([body, roof, chimney, faces([door], DOOR)])


def gable(
    width: float, depth: float, eaves: float, rise: float, wall: Rgb, tiles: Rgb, along: bool, seed: float
) -> Faces:
    """A roof of two slopes with the walls beneath its gables; its ridge runs along x or across."""
    over = 0.45
    x, low, top = width / 2, eaves - over * rise / (depth / 2 if along else width / 2), eaves + rise
    if along:
        end, far, ridge = x + over, depth + over, depth / 2
        slopes = [
            [(-end, -over, low), (end, -over, low), (end, ridge, top), (-end, ridge, top)],
            [(end, far, low), (-end, far, low), (-end, ridge, top), (end, ridge, top)],
        ]
        ends = [
            [(x, 0, eaves), (x, depth, eaves), (x, depth / 2, top), (x, depth / 2, top)],
            [(-x, depth, eaves), (-x, 0, eaves), (-x, depth / 2, top), (-x, depth / 2, top)],
        ]
    else:
        slopes = [
            [(x + over, -over, low), (x + over, depth + over, low), (0, depth + over, top), (0, -over, top)],
            [(-x - over, depth + over, low), (-x - over, -over, low), (0, -over, top), (0, depth + over, top)],
        ]
        ends = [
            [(-x, 0, eaves), (x, 0, eaves), (0, 0, top), (0, 0, top)],
            [(x, depth, eaves), (-x, depth, eaves), (0, depth, top), (0, depth, top)],
        ]
    span = depth if along else width
    params = (rise, span, 1.0 / span, 1.1 / rise, 0.0, seed)
    undersides = [slope[::-1] for slope in slopes]
    return joined([faces(slopes, tiles, ROOF), faces(undersides, (0.12, 0.1, 0.09)), faces(ends, wall, FACADE, params)])


def garage(rng: Random) -> Faces:
    """A low garage with a wide door."""
    colour = varied(rng, PLASTERS)
    body = block((-1.7, 1.7, 0, 6), 0, 2.5, colour)
    door = inset(body.corners[0], 0.12, 0.88, 0.0, 0.86, 0.02)
    return joined([body, faces([door], (0.42, 0.42, 0.42))])
