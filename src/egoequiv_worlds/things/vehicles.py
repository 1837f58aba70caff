"""Cars, vans and lorries, which point along +x."""

from __future__ import annotations

from functools import lru_cache

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.solids import Rgb, Solids, Spot, gloss, grid, panes, plain
from egoequiv_worlds.things.dice import Dice

PAINTS: tuple[Rgb, ...] = (
    (0.62, 0.63, 0.65), (0.40, 0.41, 0.43), (0.05, 0.05, 0.06), (0.75, 0.75, 0.73),
    (0.42, 0.06, 0.05), (0.07, 0.12, 0.30), (0.12, 0.20, 0.14), (0.45, 0.40, 0.28),
)  # fmt: skip
GLASS: Rgb = (0.035, 0.045, 0.05)
TYRE, RIM, TRIM = plain((0.025, 0.025, 0.028)), plain((0.35, 0.35, 0.36)), plain((0.06, 0.06, 0.065))
PLATE, BENEATH = plain((0.75, 0.75, 0.72)), plain((0.02, 0.02, 0.02))
HEAD, TAIL = (0.85, 0.85, 0.8), (0.55, 0.04, 0.03)

# length, width and height; then, in shares of the length from the rear, where the cabin's foot and its roof are
SHAPES = {
    "hatchback": (3.95, 1.72, 1.47, 0.02, 0.72, 0.10, 0.50),
    "saloon": (4.60, 1.80, 1.43, 0.16, 0.73, 0.30, 0.55),
    "estate": (4.65, 1.80, 1.50, 0.01, 0.73, 0.07, 0.55),
    "van": (4.90, 1.94, 1.98, 0.005, 0.86, 0.03, 0.70),
    "lorry": (8.60, 2.44, 3.50, 0.0, 0.0, 0.0, 0.0),
}


def some_kind(dice: Dice, lorries: float = 0.0) -> str:
    """A kind at random; `lorries` is the share of lorries."""
    if dice.chance(lorries):
        return "lorry"
    return dice.one_of(("hatchback", "hatchback", "hatchback", "saloon", "saloon", "estate", "estate", "van"))


def length_m(kind: str) -> float:
    """How long a vehicle is."""
    return SHAPES[kind][0]


def car(spot: Spot, dice: Dice, lorries: float = 0.2, lights: float = 0.0) -> None:
    """A vehicle of any kind and paint."""
    spot.put(vehicle(some_kind(dice, lorries), dice.count(0, len(PAINTS) - 1), lights))


@lru_cache(maxsize=128)
def vehicle(kind: str, paint: int, lights: float = 0.0) -> Array:
    """The solids of a vehicle of a kind in one of the paints, around the origin; `lights` is how its lamps glow."""
    spot = Spot(Solids(), 0.0, 0.0)
    long, wide, _, *_ = SHAPES[kind]
    spot.box(0, 0, 0, (long + 0.1, wide + 0.25, 0.02), BENEATH, casts=False)
    (_lorry if kind == "lorry" else _car)(spot, kind, PAINTS[paint], lights)
    rows = spot.solids.array()
    rows.flags.writeable = False
    return rows


def _ends(spot: Spot, rear: float, front: float, half: float, low: float, lights: float) -> None:
    """Lamps and number plates."""
    for side in (-0.75, 0.75):
        head, tail = plain(HEAD, 0.0).glowing(0.6 + lights), plain(TAIL, 0.0).glowing(0.6 + lights)
        spot.box(front, side * half, low, (0.05, 0.36 * half, 0.13), head, casts=False)
        spot.box(rear, side * half, low, (0.05, 0.34 * half, 0.17), tail, casts=False)
    for x in (rear, front):
        spot.box(x, 0, low - 0.28, (0.06, 0.5, 0.12), PLATE, casts=False)


def _wheels(spot: Spot, axles_m: tuple[float, ...], half: float, radius: float) -> None:
    for x in axles_m:
        for side in (-1.0, 1.0):
            spot.ball(x, side * (half - 0.1), 0.0, (2 * radius, 0.3, 2 * radius), TYRE)
            spot.ball(x, side * (half - 0.04), 0.42 * radius, (1.16 * radius, 0.22, 1.16 * radius), RIM)


def _car(spot: Spot, kind: str, colour: Rgb, lights: float) -> None:
    long, wide, tall, foot_rear, foot_front, roof_rear, roof_front = SHAPES[kind]
    rear, belt, nose = -long / 2, 0.60 * tall, 0.46 * tall
    body = gloss(colour)
    spot.box(0, 0, 0.2, (long - 0.02, wide - 0.02, 0.13), TRIM)
    spot.box(0, 0, 0.32, (long, wide, nose - 0.32), body)
    spot.box(0, 0, nose, (long, wide, belt - nose), body, top=(0.97, 0.95))
    spot.box(-rear + 0.01, 0, 0.4, (0.04, 0.5 * wide, 0.2), TRIM, casts=False)
    _ends(spot, rear, -rear, wide / 2, nose + 0.02, lights)
    low, high = (foot_front - foot_rear) * long, (roof_front - roof_rear) * long
    foot, roof = rear + (foot_front + foot_rear) * long / 2, rear + (roof_front + roof_rear) * long / 2
    cabin = (low, 0.95 * wide, tall - belt)
    spot.box(foot, 0, belt, cabin, panes(colour, GLASS), top=(high / low, 0.76), lean_m=roof - foot)
    _wheels(spot, (rear + 0.19 * long, rear + 0.81 * long), wide / 2, 0.31)


def _lorry(spot: Spot, kind: str, colour: Rgb, lights: float) -> None:
    long, wide, tall, *_ = SHAPES[kind]
    rear = -long / 2
    cargo: Rgb = (0.62, 0.62, 0.60) if sum(colour) < 1.2 else (0.30, 0.34, 0.42)
    sheet = grid(cargo, (0.3, 0.3, 0.3), 1.6, 2.5, 0.03, 0.06)
    spot.box(rear + 3.2, 0, 1.05, (6.4, wide, tall - 1.05), sheet)
    spot.box(-0.1, 0, 0.55, (long - 0.2, 1.0, 0.5), TRIM)
    spot.box(3.3, 0, 0.5, (2.0, wide, 1.2), gloss(colour))
    spot.box(3.3, 0, 1.7, (2.0, wide, 1.2), panes(colour, GLASS), top=(0.92, 1.0))
    _ends(spot, rear, 4.3, wide / 2, 0.8, lights)
    _wheels(spot, (rear + 1.3, rear + 2.3, 3.2), wide / 2, 0.48)
