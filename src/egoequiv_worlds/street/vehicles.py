"""Cars, vans and lorries, in local metres: x forward, y to the left, z up, standing on z = 0."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.face_solids import FRONT, LEFT, REAR, RIGHT, Rgb, block, frustum_corners, inset
from egoequiv_worlds.render.faces import GLASS, GLOW, PAINT, PLAIN, SHADE, Faces, faces, joined

PAINTS: tuple[Rgb, ...] = (
    (0.62, 0.63, 0.65),
    (0.40, 0.41, 0.43),
    (0.05, 0.05, 0.06),
    (0.75, 0.75, 0.73),
    (0.42, 0.06, 0.05),
    (0.07, 0.12, 0.30),
    (0.12, 0.20, 0.14),
    (0.45, 0.40, 0.28),
)
TYRE: Rgb = (0.025, 0.025, 0.028)
RIM: Rgb = (0.35, 0.35, 0.36)
PANE: Rgb = (0.035, 0.045, 0.05)
TRIM: Rgb = (0.06, 0.06, 0.065)
PLATE: Rgb = (0.75, 0.75, 0.72)
HEADLAMP: Rgb = (0.85, 0.85, 0.80)
TAILLAMP: Rgb = (0.55, 0.04, 0.03)

KINDS = ("hatchback", "saloon", "estate", "van", "lorry")
# length, half width, height; then bonnet and cabin as shares of the length from the rear: where the cabin's foot
# begins and ends, where its roof does
SHAPES = {
    "hatchback": (3.95, 0.86, 1.47, 0.02, 0.72, 0.10, 0.50),
    "saloon": (4.60, 0.90, 1.43, 0.16, 0.73, 0.30, 0.55),
    "estate": (4.65, 0.90, 1.50, 0.01, 0.73, 0.07, 0.55),
    "van": (4.90, 0.97, 1.98, 0.005, 0.86, 0.03, 0.70),
}


@lru_cache(maxsize=64)
def vehicle(kind: str, paint: int) -> Faces:
    """A vehicle of a kind in one of the paints, with the soft shadow beneath it."""
    colour = PAINTS[paint % len(PAINTS)]
    return _lorry(colour) if kind == "lorry" else _car(kind, colour)


def some_kind(rng: np.random.Generator, lorries: float) -> str:
    """A kind at random; `lorries` is the share of lorries."""
    if rng.random() < lorries:
        return "lorry"
    return str(rng.choice(KINDS[:4], p=[0.36, 0.26, 0.22, 0.16]))


def length_m(kind: str) -> float:
    """How long a vehicle is."""
    return 8.6 if kind == "lorry" else SHAPES[kind][0]


def _car(kind: str, colour: Rgb) -> Faces:
    length, half, height, foot_rear, foot_front, roof_rear, roof_front = SHAPES[kind]
    rear, belt = -length / 2, 0.60 * height
    nose = 0.46 * height
    lower = frustum_corners((rear, -rear, -half, half), 0.2, (rear, -rear, -half, half), nose)
    upper = frustum_corners(
        (rear, -rear, -half, half), nose, (rear + 0.04, rear + 0.96 * length, -0.95 * half, 0.95 * half), belt
    )
    cabin = frustum_corners(
        (rear + foot_rear * length + 0.03, rear + foot_front * length, -0.95 * half, 0.95 * half),
        belt,
        (rear + roof_rear * length + 0.03, rear + roof_front * length, -0.72 * half, 0.72 * half),
        height,
    )
    panes = [inset(cabin[side], 0.06, 0.94, 0.08, 0.9) for side in (RIGHT, FRONT, LEFT, REAR)]
    posts = [inset(cabin[side], 0.50, 0.54, 0.08, 0.9, 0.02) for side in (RIGHT, LEFT)]
    return joined(
        [
            faces([*lower[:4], *upper, *cabin, *posts], colour, PAINT),
            faces(panes, PANE, GLASS),
            _ends(lower, upper),
            wheels((rear + 0.19 * length, rear + 0.81 * length), half, 0.31),
            shadow_beneath(length, half),
        ]
    )


def _ends(lower: Array, upper: Array) -> Faces:
    """Lamps, number plates and bumpers."""
    tails = [inset(upper[REAR], *span, 0.05, 0.75) for span in ((0.03, 0.2), (0.8, 0.97))]
    heads = [inset(upper[FRONT], *span, 0.05, 0.6) for span in ((0.04, 0.24), (0.76, 0.96))]
    plates = [inset(lower[side], 0.37, 0.63, 0.55, 0.85, 0.03) for side in (FRONT, REAR)]
    bumpers = [inset(lower[side], 0.0, 1.0, 0.0, 0.4) for side in (RIGHT, FRONT, LEFT, REAR)]
    grille = [inset(lower[FRONT], 0.25, 0.75, 0.5, 1.0)]
    return joined(
        [
            faces(tails, TAILLAMP, GLOW),
            faces(heads, HEADLAMP, GLOW),
            faces(plates, PLATE, PLAIN),
            faces([*bumpers, *grille], TRIM, PLAIN),
        ]
    )


def wheels(axles_m: tuple[float, ...], half_m: float, radius_m: float) -> Faces:
    """Wheels seen from both sides: dark rounds with brighter rims."""
    rounds, rims = [], []
    for x in axles_m:
        for side in (1.0, -1.0):
            rounds += _round(x, side * (half_m + 0.015), radius_m, radius_m, side)
            rims += _round(x, side * (half_m + 0.03), radius_m, 0.6 * radius_m, side)
    return joined([faces(rounds, TYRE), faces(rims, RIM)])


def _round(x: float, y: float, z: float, radius: float, side: float) -> list[list[tuple[float, float, float]]]:
    """An upright octagon as three four-sided faces, looking to the left for side 1 and to the right for side -1."""
    angles = np.radians(22.5 + 45.0 * np.arange(8))
    rim = [(x - side * radius * np.cos(a), y, z + radius * np.sin(a)) for a in angles]
    return [[rim[k] for k in four] for four in ((0, 1, 2, 3), (0, 3, 4, 7), (7, 4, 5, 6))]


def shadow_beneath(length: float, half: float) -> Faces:
    """The soft shadow under a vehicle."""
    x, y = length / 2 + 0.15, half + 0.2
    corners = [(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)]
    return faces([corners], (0.0, 0.0, 0.0), SHADE, (2 * x, 2 * y, 0.8, 0.35, 0.0, 0.0))


def _lorry(colour: Rgb) -> Faces:
    rear, half = -length_m("lorry") / 2, 1.22
    cab = frustum_corners((2.3, 4.3, -half, half), 0.5, (2.3, 4.15, -half, half), 2.9)
    box = (rear, 2.15, -half, half)
    cargo: Rgb = (0.62, 0.62, 0.60) if sum(colour) < 1.2 else (0.30, 0.34, 0.42)
    tails = [
        [(rear - 0.02, b, 0.75), (rear - 0.02, a, 0.75), (rear - 0.02, a, 0.95), (rear - 0.02, b, 0.95)]
        for a, b in ((-1.1, -0.8), (0.8, 1.1))
    ]
    return joined(
        [
            block(box, 1.05, 3.5, cargo),
            block((rear, 4.2, -0.5, 0.5), 0.55, 1.06, TRIM),
            block((rear, rear + 0.2, -half, half), 0.55, 0.7, TRIM),
            faces(cab[:5], colour, PAINT),
            faces([inset(cab[FRONT], 0.06, 0.94, 0.52, 0.92)], PANE, GLASS),
            faces([inset(cab[side], 0.3, 0.9, 0.52, 0.9) for side in (RIGHT, LEFT)], PANE, GLASS),
            faces([inset(cab[FRONT], a, b, 0.08, 0.18) for a, b in ((0.05, 0.2), (0.8, 0.95))], HEADLAMP, GLOW),
            faces(tails, TAILLAMP, GLOW),
            wheels((rear + 1.3, rear + 2.3, 3.2), half, 0.48),
            shadow_beneath(8.6, half),
        ]
    )
