"""The solids a place is built of, as rows of one array: where each is, which shape it has and how it is painted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import cos, sin

import numpy as np

from egoequiv_worlds.render.arrays import Array

Rgb = tuple[float, float, float]  # linear reflectance, 0 to 1

PLAIN, MOTTLED, STRIPES, GRID, FACADE, GOODS, BLOTCHES, WATER, ROAD, OUTSIDE, HILLSIDE = range(11)

# The columns of a row; those from MATERIAL on say how the solid is painted.
KIND, X, Y, Z, HALF_X, HALF_Y, HALF_Z, COS, SIN, TOP_X, TOP_Z, LEAVES, CASTS = range(13)
MATERIAL, RED, GREEN, BLUE, RED_B, GREEN_B, BLUE_B, SCALE_U, SCALE_V, SHARE_U, SHARE_V, GLOW, SEED = range(13, 26)
COLUMNS = 26
BOX, BALL, ROUND, LAND = 0, 1, 2, 3  # kinds; land has its own shape, and only its paint stands in the row
Size = tuple[float, float, float]


@dataclass(frozen=True)
class Paint:
    """A pattern in two colours; what the sizes and shares mean depends on the material."""

    material: int
    color: Rgb
    other: Rgb
    scale_u_m: float = 1.0
    scale_v_m: float = 1.0
    share_u: float = 0.5
    share_v: float = 0.5
    glow: float = 0.0  # light it sends out itself

    def values(self) -> tuple[float, ...]:
        """The columns of a solid's row from MATERIAL up to GLOW."""
        scales = (self.scale_u_m, self.scale_v_m, self.share_u, self.share_v)
        return (self.material, *self.color, *self.other, *scales, self.glow)

    def glowing(self, glow: float) -> Paint:
        """The same paint, sending out light."""
        return replace(self, glow=glow)


def scaled(color: Rgb, by: float) -> Rgb:
    """A colour made brighter or darker."""
    return (color[0] * by, color[1] * by, color[2] * by)


def plain(color: Rgb, grain: float = 0.1) -> Paint:
    """One colour with a little grain."""
    return Paint(PLAIN, color, color, share_u=grain)


def mottled(color: Rgb, other: Rgb, size_m: float, contrast: float = 1.0) -> Paint:
    """Two colours mixed by noise: grass, soil, rock, leaves."""
    return Paint(MOTTLED, color, other, size_m, size_m, contrast)


def stripes(color: Rgb, other: Rgb, period_m: float, share: float = 0.5, lying: bool = False) -> Paint:
    """Upright or lying stripes: curtains, siding, planks, corrugated iron."""
    return Paint(STRIPES, color, other, period_m, period_m, share, 1.0 if lying else 0.0)


def grid(color: Rgb, lines: Rgb, width_m: float, height_m: float, line: float = 0.08, vary: float = 0.15) -> Paint:
    """Cells between lines that take a share of a cell: tiles, cabinet doors, panels."""
    return Paint(GRID, color, lines, width_m, height_m, line, vary)


def facade(
    wall: Rgb, glass: Rgb, bay_m: float, floor_m: float, share_u: float, share_v: float, lit: float = 0.0
) -> Paint:
    """A wall with windows, some of which are lit."""
    return Paint(FACADE, wall, glass, bay_m, floor_m, share_u, share_v, lit)


def goods(color: Rgb, back: Rgb, item_m: float, shelf_m: float, fullness: float = 0.8, colorful: float = 0.8) -> Paint:
    """Shelves with items of many colours: books or a store's goods."""
    return Paint(GOODS, color, back, item_m, shelf_m, fullness, colorful)


def blotches(color: Rgb, other: Rgb, size_m: float, edge: float = 0.08) -> Paint:
    """Patches with clear edges: paintings, flowered cloth, foam."""
    return Paint(BLOTCHES, color, other, size_m, size_m, edge)


def water(deep: Rgb, foam: Rgb, wave_m: float, roughness: float) -> Paint:
    """Water that mirrors the sky, the less the rougher it is."""
    return Paint(WATER, deep, foam, wave_m, wave_m * 3, roughness)


def road(asphalt: Rgb, lines: Rgb, lane_m: float, dash_m: float, wear: float = 0.5) -> Paint:
    """A road whose lanes run along its depth."""
    return Paint(ROAD, asphalt, lines, lane_m, dash_m, wear)


def outside(sky: Rgb, below: Rgb, pane_m: float, glow: float, skyline: float = 0.4) -> Paint:
    """What is seen through a window: sky above something darker, behind bars."""
    return Paint(OUTSIDE, sky, below, pane_m, pane_m, skyline, 0.05, glow)


def hillside(low: Rgb, high: Rgb, size_m: float, line_m: float, blend_m: float) -> Paint:
    """Land that changes colour above a height and on gentle slopes: rock and snow, grass and rock."""
    return Paint(HILLSIDE, low, high, size_m, line_m, blend_m)


@dataclass
class Solids:
    """A growing list of solids."""

    rows: list[tuple[float, ...]] = field(default_factory=list)

    def add(
        self,
        kind: int,
        base: tuple[float, float, float],
        size: Size,
        paint: Paint,
        *,
        yaw_rad: float = 0.0,
        top: tuple[float, float] = (1.0, 1.0),
        leaves: float = 0.0,
        casts: bool = True,
    ) -> None:
        """Add a solid that stands on `base` (x, y, z in metres, y up) with a width, height and depth.

        `top` is the width and depth of its upper end in shares of those of its lower end; `leaves` above 0 makes it a
        crown of leaves that hides this share of what is behind it.
        """
        x, y, z = base
        width, height, depth = size
        seed = 37.0 * len(self.rows)  # so that no two solids show the same piece of a noise texture
        where = (kind, x, y + height / 2, z, width / 2, height / 2, depth / 2, cos(yaw_rad), sin(yaw_rad))
        self.rows.append((*where, *top, leaves, float(casts), *paint.values(), seed))

    def array(self) -> Array:
        """All rows, (N, COLUMNS)."""
        return np.array(self.rows, np.float64).reshape(-1, COLUMNS)


@dataclass(frozen=True)
class Spot:
    """A place with a direction, in whose own coordinates things are put together; its z axis points ahead."""

    solids: Solids
    x: float
    z: float
    yaw_rad: float = 0.0
    y: float = 0.0

    def at(self, x: float, z: float, yaw_rad: float = 0.0, y: float = 0.0) -> Spot:
        """Another spot, given in the coordinates of this one."""
        c, s = cos(self.yaw_rad), sin(self.yaw_rad)
        return Spot(self.solids, self.x + c * x + s * z, self.z - s * x + c * z, self.yaw_rad + yaw_rad, self.y + y)

    def box(
        self,
        x: float,
        y: float,
        z: float,
        size: Size,
        paint: Paint,
        *,
        yaw_rad: float = 0.0,
        top: tuple[float, float] = (1.0, 1.0),
        casts: bool = True,
    ) -> None:
        """A box, or with a smaller top a roof, a pyramid or the cabin of a car."""
        here = self.at(x, z, yaw_rad, y)
        self.solids.add(BOX, (here.x, here.y, here.z), size, paint, yaw_rad=here.yaw_rad, top=top, casts=casts)

    def ball(self, x: float, y: float, z: float, size: Size, paint: Paint, *, leaves: float = 0.0) -> None:
        """An ellipsoid, or a crown of leaves."""
        here = self.at(x, z, 0.0, y)
        self.solids.add(BALL, (here.x, here.y, here.z), size, paint, yaw_rad=here.yaw_rad, leaves=leaves)

    def round(
        self, x: float, y: float, z: float, size: Size, paint: Paint, *, top: float = 1.0, leaves: float = 0.0
    ) -> None:
        """A cylinder that stands upright, or with a smaller top a cone."""
        here = self.at(x, z, 0.0, y)
        place = (here.x, here.y, here.z)
        self.solids.add(ROUND, place, size, paint, yaw_rad=here.yaw_rad, top=(top, top), leaves=leaves)
