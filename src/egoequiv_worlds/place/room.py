"""An empty room: walls, floor, ceiling, light, and the camera in it."""

from math import atan2, pi
from typing import NamedTuple

from egoequiv_worlds.place import furniture
from egoequiv_worlds.render import vector
from egoequiv_worlds.render.scene import Camera, Lamp, Light, Scene, Sky, towards
from egoequiv_worlds.render.solids import Paint, Size, Spot, grid, mottled, plain, scaled, stripes
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.nature import finish

BACK, LEFT, RIGHT = "back", "left", "right"
Range = tuple[float, float]
BEHIND_M = 8.0  # how far the room goes on behind the camera


class Room(NamedTuple):
    """An empty room, as wide as x goes from -width / 2 to width / 2, as deep as y goes from 0."""

    scene: Scene
    width_m: float
    height_m: float
    depth_m: float

    def wall(self, name: str, along_m: float = 0.0) -> Spot:
        """A spot at the foot of a wall that looks into the room, `along_m` to the side of the wall's middle."""
        if name == BACK:
            return self.scene.spot(-along_m, self.depth_m, -pi)
        side = -1.0 if name == LEFT else 1.0
        return self.scene.spot(side * self.width_m / 2, self.depth_m / 2 + side * along_m, side * pi / 2)

    def somewhere(self, dice: Dice, name: str, spread: float) -> Spot:
        """A spot at the foot of a wall, at most a share of the wall's length from its middle."""
        return self.wall(name, dice.between(-spread, spread) * self.span_m(name))

    def look_at(self, spot: Spot, dice: Dice) -> None:
        """Turn the camera to about where a spot is."""
        camera = self.scene.camera
        yaw_rad = atan2(camera.x - spot.x, spot.y - camera.y) + dice.between(-0.25, 0.25)
        self.scene.camera = camera._replace(yaw_rad=yaw_rad)

    def span_m(self, name: str) -> float:
        """The length of a wall."""
        return self.width_m if name == BACK else self.depth_m


def make_room(dice: Dice, size: Size, horizon: Range, mean: Range, ceiling: Paint | None = None) -> Room:
    """A room with walls, a camera in its front part that keeps the horizon between two shares, and light."""
    (width_m, height_m, depth_m), floor = size, _some_floor(dice)
    x, z, y = dice.between(-0.38, 0.38) * width_m, dice.between(1.2, 1.9), dice.between(0.02, 0.12) * depth_m
    line, tilt, width = dice.between(*horizon), dice.between(-0.02, 0.02), dice.between(0.5, 0.72)
    camera = Camera(x, y, z, 1.2 * x / depth_m + dice.between(-0.22, 0.22), 0.0, line, tilt, width)
    bright, warm = dice.between(0.25, 0.7), dice.between(0.75, 1.0)
    above, direct = (bright, bright * (0.5 + 0.5 * warm), bright * warm), dice.between(0.15, 0.9)
    lamps: tuple[Lamp, ...] = ()
    if dice.chance(0.6):
        place = (dice.between(-0.3, 0.3) * width_m, dice.between(0.3, 0.8) * depth_m, height_m - 0.4)
        lamps = (Lamp(*place, (0.9, 0.8 * warm, 0.75 * warm), dice.between(0.5, 1.4)),)
    sun, softness = vector(towards(dice.between(0.0, 360.0), dice.between(43.0, 80.0))), dice.between(1.5, 3.5)
    sunlight, reach_m = (direct, direct * (0.5 + 0.5 * warm), direct * warm), max(width_m, depth_m) * 0.75
    low, high = (-width_m / 2, -100.0, 0.0), (width_m / 2, depth_m, height_m)
    light = Light(
        sun, sunlight, scaled(above, 0.8), above, softness=softness, shadow_m=reach_m, low=low, high=high, corners=0.35
    )
    scene = Scene(camera, Sky((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)), light, finish(dice, *mean), lamps=lamps)
    room, middle, color = Room(scene, *size), scene.spot(0, depth_m / 2), dice.gray(0.4, 0.8, 0.3)
    wall = plain(color, 0.06)
    if dice.chance(0.15):
        wall = stripes(color, dice.near(color, 0.3), dice.between(0.1, 0.5), 0.5)
    slab = (width_m + 2, depth_m + 2 * BEHIND_M, 0.2)
    middle.box(0, 0, -0.2, slab, floor, casts=False)
    middle.box(0, 0, height_m, slab, ceiling or plain(dice.gray(0.75, 0.9), 0.05), casts=False)
    room.wall(BACK).box(0, -0.1, 0, (width_m + 0.3, 0.2, height_m), wall, casts=False)
    for side in (-0.5, 0.5):
        middle.box(side * (width_m + 0.2), -BEHIND_M / 2, 0, (0.2, depth_m + BEHIND_M, height_m), wall, casts=False)
    board = plain(dice.gray(0.4, 0.8), 0.05)
    for name in (BACK, LEFT, RIGHT):
        room.wall(name).box(0, 0.0, 0, (room.span_m(name), 0.04, 0.09), board, casts=False)
    return room


def _some_floor(dice: Dice) -> Paint:
    """Parquet, tiles, carpet or lino."""
    kind = dice.count(0, 3)
    if kind == 0:
        base = furniture.wood(dice).color
        return grid(base, scaled(base, 0.5), 0.14, 1.2, 0.05, 0.25)
    if kind == 1:
        colors = (dice.gray(0.2, 0.8, 0.3), dice.gray(0.2, 0.6))
        return grid(*colors, dice.between(0.25, 0.5), dice.between(0.25, 0.5), 0.05)
    color = dice.vivid(0.1, 0.6)
    return mottled(color, scaled(color, 0.8), dice.between(0.1, 0.5), 1.0)


def rug(room: Room, dice: Dice) -> None:
    """A carpet on the floor."""
    size = (dice.between(1.5, 3.2), dice.between(1.2, 2.4), 0.012)
    x, y = dice.between(-0.2, 0.2) * room.width_m, dice.between(0.4, 0.7) * room.depth_m
    room.scene.spot(x, y, dice.between(-0.2, 0.2)).box(0, 0, 0, size, furniture.cloth(dice), casts=False)


def pictures(room: Room, dice: Dice, count: int) -> None:
    """Pictures on the walls."""
    for _ in range(count):
        spot = room.somewhere(dice, dice.one_of((BACK, LEFT, RIGHT)), 0.38)
        furniture.picture(spot, dice, dice.between(1.3, 1.6))


def ceiling_lights(room: Room, dice: Dice) -> None:
    glow = plain((0.95, 0.96, 1.0), 0.0).glowing(dice.between(1.0, 4.0))
    size = (0.3, 1.3, 0.03) if dice.chance(0.5) else (0.6, 0.6, 0.03)
    for x in (-0.25, 0.25):
        for k in range(int(room.depth_m / 2.0)):
            room.scene.spot(x * room.width_m, 1.2 + 2.0 * k).box(0, 0, room.height_m - 0.02, size, glow, casts=False)
