"""The solids a scene is built of, as rows of one array: where each is, which shape it has, and which paint it wears."""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render import Array

Rgb = tuple[float, float, float]  # linear reflectance, 0 to 1
Size = tuple[float, float, float]  # along x, y and z

PLAIN, MOTTLED, STRIPES, GRID, FACADE, GOODS, BLOTCHES, WATER, ROAD, OUTSIDE, HILLSIDE, GLOSS, PANES, ROOF = range(14)
# The columns of a row; those from MATERIAL on say how the solid is painted, and a colour takes three.
KIND, X, Y, Z, HALF_X, HALF_Y, HALF_Z, COS, SIN, TOP_X, TOP_Y, RAGGED, CASTS, MATERIAL, RED = range(15)
RED_B, SCALE_U, SCALE_V, SHARE_U, SHARE_V, GLOW, BASE, SEED, LEAN, COLUMNS = 17, *range(20, 29)
BOX, BALL, ROUND, LAND = 0, 1, 2, 3  # kinds; land has its own shape, and only its paint stands in the row
FACES = 8  # a code is the row's number times FACES plus the face; faces 0 to 5 are -x, +x, -y, +y, -z, +z
BOTTOM, TOP, BALL_FACE, ROUND_FACE = 4, 5, 6, 7


class Paint(NamedTuple):
    """A pattern in two colours; what the sizes and shares mean depends on the material."""

    material: int
    color: Rgb
    other: Rgb
    scale_u_m: float = 1.0
    scale_v_m: float = 1.0
    share_u: float = 0.5
    share_v: float = 0.5
    glow: float = 0.0  # light it sends out itself
    base: float = 0.0

    def values(self) -> tuple[float, ...]:
        """The columns of a solid's row from MATERIAL up to BASE."""
        return (self.material, *self.color, *self.other, *self[3:])

    def glowing(self, glow: float) -> Paint:
        """The same paint, sending out light."""
        return self._replace(glow=glow)


class Solids(list[tuple[float, ...]]):
    """A growing list of solids."""

    def array(self) -> Array:
        """All rows, (N, COLUMNS)."""
        return np.array(self, np.float64).reshape(-1, COLUMNS)


class Spot(NamedTuple):
    """A place with a direction, in whose own coordinates things are put together; yaw turns x towards y."""

    solids: Solids
    x: float
    y: float
    yaw_rad: float = 0.0
    z: float = 0.0

    def at(self, x: float, y: float, yaw_rad: float = 0.0, z: float = 0.0) -> Spot:
        """Another spot, given in the coordinates of this one."""
        c, s = cos(self.yaw_rad), sin(self.yaw_rad)
        return Spot(self.solids, self.x + c * x - s * y, self.y + s * x + c * y, self.yaw_rad + yaw_rad, self.z + z)

    def add(
        self, kind: int, at: Size, size: Size, paint: Paint, top: tuple[float, float] = (1.0, 1.0), ragged: float = 0.0,
        casts: bool = True, lean_m: float = 0.0,
    ) -> None:  # fmt: skip
        """Add a solid that stands on `at`; its top may be smaller, in shares of its foot, and shifted along x."""
        (x, y, z), (wide, deep, tall), c, s = at, size, cos(self.yaw_rad), sin(self.yaw_rad)
        middle = (self.x + c * x - s * y, self.y + s * x + c * y, self.z + z + tall / 2)
        seed = 37.0 * len(self.solids)  # so that no two solids show the same piece of a noise texture
        shape = (wide / 2, deep / 2, tall / 2, c, s, *top, ragged, float(casts))
        self.solids.append((kind, *middle, *shape, *paint.values(), seed, lean_m))

    def box(
        self, x: float, y: float, z: float, size: Size, paint: Paint, *, top: tuple[float, float] = (1.0, 1.0),
        casts: bool = True, lean_m: float = 0.0,
    ) -> None:  # fmt: skip
        """A box, or with a smaller top a roof, a pyramid or the cabin of a car."""
        self.add(BOX, (x, y, z), size, paint, top, 0.0, casts, lean_m)

    def ball(self, x: float, y: float, z: float, size: Size, paint: Paint, *, ragged: float = 0.0) -> None:
        """An ellipsoid, or with ragged edges, from 0 to 1, a ball of leaves."""
        self.add(BALL, (x, y, z), size, paint, ragged=ragged)

    def round(self, x: float, y: float, z: float, size: Size, paint: Paint, *, top: float = 1.0) -> None:
        """A cylinder that stands upright, or with a smaller top a cone."""
        self.add(ROUND, (x, y, z), size, paint, (top, top))

    def put(self, rows: Array) -> None:
        """Add solids that were built around the origin."""
        moved = placed(rows, self.x, self.y, self.yaw_rad)
        moved[:, Z] += self.z
        moved[:, SEED] += 37.0 * len(self.solids)
        self.solids.extend(map(tuple, moved.tolist()))


def placed(rows: Array, x: float, y: float, yaw_rad: float) -> Array:
    """Rows turned about the vertical and moved to a place in the plane."""
    c, s, moved = cos(yaw_rad), sin(yaw_rad), rows.copy()
    moved[:, X], moved[:, Y] = x + c * rows[:, X] - s * rows[:, Y], y + s * rows[:, X] + c * rows[:, Y]
    moved[:, COS], moved[:, SIN] = c * rows[:, COS] - s * rows[:, SIN], s * rows[:, COS] + c * rows[:, SIN]
    return moved


def scaled(color: Rgb, by: float) -> Rgb:
    """A colour made brighter or darker."""
    return (color[0] * by, color[1] * by, color[2] * by)


def plain(color: Rgb, grain: float = 0.1) -> Paint:
    """One colour with a little grain."""
    return Paint(PLAIN, color, color, share_u=grain)


def gloss(color: Rgb, mirror: float = 1.0) -> Paint:
    """Smooth paint or glass that mirrors the horizon, more so at a low angle."""
    return Paint(GLOSS, color, color, share_u=mirror)


def panes(body: Rgb, glass: Rgb, rim: float = 0.08) -> Paint:
    """The cabin of a car: on each side glass within a rim of body paint, with a post where the side is long."""
    return Paint(PANES, body, glass, share_u=rim)


def mottled(color: Rgb, other: Rgb, size_m: float, contrast: float = 1.0) -> Paint:
    """Two colours mixed by noise: grass, soil, rock, leaves."""
    return Paint(MOTTLED, color, other, size_m, size_m, contrast)


def stripes(color: Rgb, other: Rgb, period_m: float, share: float = 0.5, lying: bool = False) -> Paint:
    """Upright or lying stripes: curtains, siding, planks, corrugated iron."""
    return Paint(STRIPES, color, other, period_m, period_m, share, 1.0 if lying else 0.0)


def roof(tiles: Rgb, wall: Rgb) -> Paint:
    """Rows of tiles on slopes, and a wall on upright gables."""
    return Paint(ROOF, tiles, wall, 0.4, 0.4)


def grid(color: Rgb, lines: Rgb, width_m: float, height_m: float, line: float = 0.08, vary: float = 0.15) -> Paint:
    """Cells between lines that take a share of a cell: tiles, cabinet doors, panels."""
    return Paint(GRID, color, lines, width_m, height_m, line, vary)


def facade(
    wall: Rgb, glass: Rgb, bay_m: float, floor_m: float, window: tuple[float, float], lit: float = 0.0, base: float = 0
) -> Paint:
    """A wall with windows that take shares of bays and floors, some of them lit, over a base: shops if it is high."""
    return Paint(FACADE, wall, glass, bay_m, floor_m, *window, lit, base)


def goods(color: Rgb, back: Rgb, item_m: float, shelf_m: float, fullness: float = 0.8, colorful: float = 0.8) -> Paint:
    """Shelves with items of many colours: books or a store's goods."""
    return Paint(GOODS, color, back, item_m, shelf_m, fullness, colorful)


def blotches(color: Rgb, other: Rgb, size_m: float, edge: float = 0.08) -> Paint:
    """Patches with clear edges: paintings, flowered cloth, foam."""
    return Paint(BLOTCHES, color, other, size_m, size_m, edge)


def water(deep: Rgb, foam: Rgb, wave_m: float, roughness: float) -> Paint:
    """Water that mirrors the sky, the less the rougher it is."""
    return Paint(WATER, deep, foam, wave_m, wave_m * 3, roughness)


def road(
    asphalt: Rgb, lines: Rgb, lane_m: float, dash_m: float, middle: float = 1.0, start_m: float = 0.0, edge: float = 0.9
) -> Paint:
    """A road along y with lines at its edges and dashes between its lanes; `middle` below 0 leaves it bare."""
    return Paint(ROAD, asphalt, lines, lane_m, dash_m, edge, middle, 0.0, start_m)


def outside(sky: Rgb, below: Rgb, pane_m: float, glow: float, skyline: float = 0.4) -> Paint:
    """What is seen through a window: sky above something darker, behind bars."""
    return Paint(OUTSIDE, sky, below, pane_m, pane_m, skyline, 0.05, glow)


def hillside(low: Rgb, high: Rgb, size_m: float, line_m: float, blend_m: float) -> Paint:
    """Land that changes colour above a height and on gentle slopes: rock and snow, grass and rock."""
    return Paint(HILLSIDE, low, high, size_m, line_m, blend_m)
