"""What stands and drives in streets: lamps, lights, signs, fences, rails, benches and people; cars, vans and lorries.

The y axis leads away from the road, and what has a face looks along x: on either side of a road that is towards the
traffic there. Vehicles point along +x.
"""

from functools import lru_cache

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.solids import Rgb, Solids, Spot, gloss, grid, panes, plain, scaled, stripes
from egoequiv_worlds.things import Dice

STEEL, DARK, HEAD = plain((0.34, 0.35, 0.36)), plain((0.08, 0.09, 0.09)), plain((0.55, 0.55, 0.53))
WHITE, RED, BLUE, YELLOW = (0.8, 0.8, 0.78), (0.55, 0.05, 0.05), (0.05, 0.14, 0.42), (0.75, 0.58, 0.06)
PAINTS: tuple[Rgb, ...] = (
    (0.62, 0.63, 0.65), (0.40, 0.41, 0.43), (0.05, 0.05, 0.06), (0.75, 0.75, 0.73),
    (0.42, 0.06, 0.05), (0.07, 0.12, 0.30), (0.12, 0.20, 0.14), (0.45, 0.40, 0.28),
)  # fmt: skip
CAR_GLASS: Rgb = (0.035, 0.045, 0.05)
TYRE, RIM, TRIM = plain((0.025, 0.025, 0.028)), plain((0.35, 0.35, 0.36)), plain((0.06, 0.06, 0.065))
PLATE, BENEATH = plain((0.75, 0.75, 0.72)), plain((0.02, 0.02, 0.02))
FRONT_LAMP, TAIL_LAMP = (0.85, 0.85, 0.8), (0.55, 0.04, 0.03)

# length, width and height; then, in shares of the length from the rear, where the cabin's foot and its roof are
SHAPES = {
    "hatchback": (3.95, 1.72, 1.47, 0.02, 0.72, 0.10, 0.50),
    "saloon": (4.60, 1.80, 1.43, 0.16, 0.73, 0.30, 0.55),
    "estate": (4.65, 1.80, 1.50, 0.01, 0.73, 0.07, 0.55),
    "van": (4.90, 1.94, 1.98, 0.005, 0.86, 0.03, 0.70),
    "lorry": (8.60, 2.44, 3.50, 0.0, 0.0, 0.0, 0.0),
}


def lamp_post(spot: Spot, height_m: float, reach_m: float, glow: float = 0.0) -> None:
    """A street lamp whose arm reaches over the road, towards -y."""
    spot.round(0, 0, 0, (0.16, 0.16, height_m), STEEL, top=0.7)
    spot.box(0, -reach_m / 2, height_m - 0.1, (0.09, reach_m, 0.09), STEEL)
    head = plain((1.0, 0.9, 0.7), 0.0).glowing(glow) if glow > 0.0 else HEAD
    spot.box(0, -reach_m, height_m - 0.1, (0.3, 0.7, 0.15), head, casts=False)


def traffic_light(spot: Spot, green: bool) -> None:
    """A post with three lights, and a second set above the road."""
    lamps = ((0.75, 0.06, 0.04), (0.75, 0.5, 0.1), (0.05, 0.7, 0.3))
    spot.round(0, 0, 0, (0.14, 0.14, 5.6), STEEL)
    spot.box(0, -2.1, 5.5, (0.1, 4.2, 0.1), STEEL)
    for y, z in ((0.0, 2.4), (-4.0, 4.9)):
        spot.box(0.0, y, z, (0.3, 0.34, 1.05), DARK)
        for k, color in enumerate(lamps):
            on = k == (2 if green else 0)
            lens = plain(color, 0.0).glowing(1.5) if on else plain(scaled(color, 0.15), 0.0)
            spot.box(0.16, y, z + 0.7 - 0.3 * k, (0.04, 0.22, 0.22), lens, casts=False)


def sign(spot: Spot, kind: int) -> None:
    """A road sign on a post: warning, order, direction or priority."""
    shapes = ((0.75, 0.75, RED), (0.62, 0.62, BLUE), (1.3, 0.42, YELLOW), (0.6, 0.6, WHITE))
    wide, tall, color = shapes[kind % len(shapes)]
    spot.round(0, 0, 0, (0.07, 0.07, 2.7), STEEL)
    spot.box(0.05, 0, 2.45 - tall / 2, (0.03, wide, tall), plain(color))
    size, inner = (0.03, 0.66 * wide, 0.62 * tall), plain(YELLOW if color == WHITE else WHITE)
    spot.box(0.06, 0, 2.45 - 0.31 * tall, size, inner, casts=False)


def sign_board(spot: Spot, wide: float, tall: float, color: Rgb = BLUE) -> None:
    """A board with lines of writing, its foot at the spot."""
    spot.box(0, 0, 0, (0.1, wide, tall), plain(color))
    spot.box(0.03, 0, 0.08 * tall, (0.1, 0.9 * wide, 0.84 * tall), grid(color, WHITE, 1.1, 0.6, 0.25, 0.0), casts=False)


def gantry(spot: Spot, reach_m: float) -> None:
    """A bridge over a wide road that carries direction signs; y = 0 is the road's outer edge."""
    spot.box(0, 0.5, 0, (0.5, 0.5, 6.9), STEEL)
    spot.box(0, 0.4 - reach_m / 2, 6.3, (0.4, reach_m + 0.8, 0.6), STEEL)
    for share in (0.3, 0.72):
        sign_board(spot.at(0.3, -share * reach_m, z=5.5), 3.4, 2.2)


def delineator(spot: Spot) -> None:
    """A white post with a black band beside a country road."""
    spot.box(0, 0, 0, (0.12, 0.12, 1.0), plain(WHITE))
    spot.box(0, 0, 0.68, (0.13, 0.13, 0.2), DARK)


def guard_rail(spot: Spot, length_m: float) -> None:
    """A steel rail along x, on posts."""
    spot.box(0, 0, 0.45, (length_m, 0.05, 0.33), grid((0.42, 0.43, 0.45), (0.2, 0.2, 0.21), 50.0, 0.14, 0.0015, 0.0))
    for k in range(int(length_m / 4.0 + 0.5)):
        spot.box(4.0 * k + 2.0 - length_m / 2, 0.07, 0, (0.12, 0.1, 0.7), DARK)


def fence(spot: Spot, dice: Dice, length_m: float) -> None:
    """A fence of slats or of rails between posts, or a low wall, along x."""
    color, tall, style = dice.near((0.6, 0.58, 0.52), 0.5), dice.between(0.75, 1.3), dice.count(0, 2)
    if style < 2:
        slats = stripes(color, scaled(color, 0.3 if style else 0.75), 0.16 if style else 0.4, 0.35)
        spot.box(0, 0, 0.05, (length_m, 0.06 if style else 0.2, tall), slats)
        return
    for k in range(int(length_m / 2.5) + 1):
        spot.box(k * 2.5 - length_m / 2, 0, 0, (0.12, 0.12, tall), plain(color, 0.3))
    for z in (0.45, 0.85):
        spot.box(0, 0, z * tall, (length_m, 0.05, 0.1), plain(color, 0.3))


def bench(spot: Spot) -> None:
    """A bench that looks towards -y."""
    wood = stripes((0.30, 0.18, 0.09), (0.15, 0.09, 0.05), 0.15, 0.15, lying=True)
    spot.box(0, 0, 0.3, (1.6, 0.45, 0.15), wood)
    spot.box(0, 0.23, 0.45, (1.6, 0.06, 0.45), wood)


def person(spot: Spot, dice: Dice) -> None:
    """Somebody who stands or walks."""
    tall = dice.between(1.55, 1.9)
    coat, legs = plain(dice.vivid(0.03, 0.6), 0.2), plain(dice.gray(0.03, 0.3), 0.2)
    spot.box(0, 0.1, 0, (0.16, 0.18, 0.48 * tall), legs)
    spot.box(0.2, -0.1, 0, (0.16, 0.18, 0.48 * tall), legs)
    spot.box(0.1, 0, 0.46 * tall, (0.46, 0.26, 0.38 * tall), coat, top=(0.85, 0.9))
    spot.ball(0.1, 0, 0.85 * tall, (0.2, 0.22, 0.15 * tall), plain(dice.near((0.45, 0.32, 0.25), 0.4), 0.1))


def some_kind(dice: Dice, lorries: float = 0.0) -> str:
    """A kind at random; `lorries` is the share of lorries."""
    if dice.chance(lorries):
        return "lorry"
    return dice.one_of(("hatchback", "hatchback", "hatchback", "saloon", "saloon", "estate", "estate", "van"))


def car(spot: Spot, dice: Dice, lorries: float = 0.2, lights: float = 0.0) -> None:
    """A vehicle of any kind and paint."""
    spot.put(vehicle(some_kind(dice, lorries), dice.count(0, len(PAINTS) - 1), lights))


@lru_cache(maxsize=128)
def vehicle(kind: str, paint: int, lights: float = 0.0) -> Array:
    """The solids of a vehicle of a kind in one of the paints, around the origin; `lights` is how its lamps glow."""
    spot = Spot(Solids(), 0.0, 0.0)
    long, wide, *_ = SHAPES[kind]
    spot.box(0, 0, 0, (long + 0.1, wide + 0.25, 0.02), BENEATH, casts=False)
    (_lorry if kind == "lorry" else _car)(spot, kind, PAINTS[paint], lights)
    rows = spot.solids.array()
    rows.flags.writeable = False
    return rows


def _ends(spot: Spot, rear: float, front: float, half: float, low: float, lights: float) -> None:
    """Lamps and number plates."""
    for side in (-0.75, 0.75):
        head, tail = plain(FRONT_LAMP, 0.0).glowing(0.6 + lights), plain(TAIL_LAMP, 0.0).glowing(0.6 + lights)
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
    rear, belt, nose, body = -long / 2, 0.60 * tall, 0.46 * tall, gloss(colour)
    spot.box(0, 0, 0.2, (long - 0.02, wide - 0.02, 0.13), TRIM)
    spot.box(0, 0, 0.32, (long, wide, nose - 0.32), body)
    spot.box(0, 0, nose, (long, wide, belt - nose), body, top=(0.97, 0.95))
    spot.box(-rear + 0.01, 0, 0.4, (0.04, 0.5 * wide, 0.2), TRIM, casts=False)
    _ends(spot, rear, -rear, wide / 2, nose + 0.02, lights)
    low, high = (foot_front - foot_rear) * long, (roof_front - roof_rear) * long
    foot, roof = rear + (foot_front + foot_rear) * long / 2, rear + (roof_front + roof_rear) * long / 2
    cabin = (low, 0.95 * wide, tall - belt)
    spot.box(foot, 0, belt, cabin, panes(colour, CAR_GLASS), top=(high / low, 0.76), lean_m=roof - foot)
    _wheels(spot, (rear + 0.19 * long, rear + 0.81 * long), wide / 2, 0.31)


def _lorry(spot: Spot, kind: str, colour: Rgb, lights: float) -> None:
    long, wide, tall, *_ = SHAPES[kind]
    rear, cargo = -long / 2, (0.62, 0.62, 0.60) if sum(colour) < 1.2 else (0.30, 0.34, 0.42)
    sheet = grid(cargo, (0.3, 0.3, 0.3), 1.6, 2.5, 0.03, 0.06)
    spot.box(rear + 3.2, 0, 1.05, (6.4, wide, tall - 1.05), sheet)
    spot.box(-0.1, 0, 0.55, (long - 0.2, 1.0, 0.5), TRIM)
    spot.box(3.3, 0, 0.5, (2.0, wide, 1.2), gloss(colour))
    spot.box(3.3, 0, 1.7, (2.0, wide, 1.2), panes(colour, CAR_GLASS), top=(0.92, 1.0))
    _ends(spot, rear, 4.3, wide / 2, 0.8, lights)
    _wheels(spot, (rear + 1.3, rear + 2.3, 3.2), wide / 2, 0.48)
