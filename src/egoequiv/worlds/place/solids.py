"""The solids a place is built of, as rows of one array: where each is, which shape it has and how it is painted."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.place.paints import Paint

Array = NDArray[np.float64]

# The columns of a row; those from MATERIAL on say how the solid is painted. Compiled functions hold these numbers:
# after a change delete the `__pycache__` beside this file.
KIND, X, Y, Z, HALF_X, HALF_Y, HALF_Z, COS, SIN, TOP_X, TOP_Z, LEAVES, CASTS = range(13)
MATERIAL, RED, GREEN, BLUE, RED_B, GREEN_B, BLUE_B, SCALE_U, SCALE_V, SHARE_U, SHARE_V, GLOW, SEED = range(13, 26)
COLUMNS = 26

BOX, BALL, ROUND, LAND = 0, 1, 2, 3  # kinds; land has its own shape, and only its paint stands in the row

Size = tuple[float, float, float]


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
