"""The solids a scene is built of, as rows of one array: where each is, which shape it has and how it is painted."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.paints import Paint

# The columns of a row; those from MATERIAL on say how the solid is painted.
KIND, X, Y, Z, HALF_X, HALF_Y, HALF_Z, COS, SIN, TOP_X, TOP_Y, RAGGED, CASTS = range(13)
MATERIAL, RED, RED_B, SCALE_U, SCALE_V, SHARE_U, SHARE_V, GLOW, BASE, SEED, LEAN = (
    13,
    14,
    17,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
)
COLUMNS = 28
BOX, BALL, ROUND, LAND = 0, 1, 2, 3  # kinds; land has its own shape, and only its paint stands in the row
FACES = 8  # a code is the row's number times FACES plus the face; faces 0 to 5 are -x, +x, -y, +y, -z, +z
BOTTOM, TOP, BALL_FACE, ROUND_FACE = 4, 5, 6, 7
Size = tuple[float, float, float]  # along x, y and z


@dataclass
class Solids:
    """A growing list of solids."""

    rows: list[tuple[float, ...]] = field(default_factory=list)

    def array(self) -> Array:
        """All rows, (N, COLUMNS)."""
        return np.array(self.rows, np.float64).reshape(-1, COLUMNS)


@dataclass(frozen=True)
class Spot:
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
        seed = 37.0 * len(self.solids.rows)  # so that no two solids show the same piece of a noise texture
        shape = (wide / 2, deep / 2, tall / 2, c, s, *top, ragged, float(casts))
        self.solids.rows.append((kind, *middle, *shape, *paint.values(), seed, lean_m))

    def box(
        self, x: float, y: float, z: float, size: Size, paint: Paint, *, yaw_rad: float = 0.0,
        top: tuple[float, float] = (1.0, 1.0), casts: bool = True, lean_m: float = 0.0,
    ) -> None:  # fmt: skip
        """A box, or with a smaller top a roof, a pyramid or the cabin of a car."""
        turned = self.at(x, y, yaw_rad, z) if yaw_rad else self
        turned.add(BOX, (0.0, 0.0, 0.0) if yaw_rad else (x, y, z), size, paint, top, 0.0, casts, lean_m)

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
        moved[:, SEED] += 37.0 * len(self.solids.rows)
        self.solids.rows.extend(map(tuple, moved.tolist()))


def placed(rows: Array, x: float, y: float, yaw_rad: float) -> Array:
    """Rows turned about the vertical and moved to a place in the plane."""
    c, s, moved = cos(yaw_rad), sin(yaw_rad), rows.copy()
    moved[:, X], moved[:, Y] = x + c * rows[:, X] - s * rows[:, Y], y + s * rows[:, X] + c * rows[:, Y]
    moved[:, COS], moved[:, SIN] = c * rows[:, COS] - s * rows[:, SIN], s * rows[:, COS] + c * rows[:, SIN]
    return moved
