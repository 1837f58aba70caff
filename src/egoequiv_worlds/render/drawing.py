"""Solids and land into the z-buffer: boxes and prisms as polygons, balls exactly, leaves with ragged rims."""

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render import Array, Numbers, Singles, Vector
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.fragments import turned
from egoequiv_worlds.render.noise import Texture
from egoequiv_worlds.render.patterns import difference, dot, plus, sample, triple
from egoequiv_worlds.render.raster import NEAR_M, fill_polygon, seen_from
from egoequiv_worlds.render.scene import View

SIDES, THIN_SIDES, THIN_M = 14, 7, 0.5  # of the prism that stands for a cylinder or a cone, and for a thin one
NEAREST_BALL_M = 0.3  # a ball whose middle is nearer than this is outside the picture
SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))  # the foot of a box
SQUARE_FACES = (2, 1, 3, 0)  # the faces along its sides


@compiled
def draw(view: View, rows: Array, order: NDArray[np.int64], fine: Texture, nearness: Singles, codes: Numbers) -> None:
    """Write solids into the z-buffer in an order: from near to far, so that most of what is hidden costs little."""
    corners, seen, pixels = np.empty((SIDES, 3)), np.empty((2 * SIDES, 3)), np.empty((SIDES + 2, 3))
    for k in order:
        if rows[k, s.KIND] == s.BALL:
            draw_ball(view, rows, k, fine, nearness, codes)
        elif rows[k, s.KIND] != s.LAND:
            draw_prism(view, rows, k, nearness, codes, corners, seen, pixels)


@inlined
def facing(view: View, corners: Array) -> bool:
    """Whether a polygon, counter-clockwise seen from outside, is seen from outside."""
    ax, ay, az = corners[0, 0], corners[0, 1], corners[0, 2]
    bx, by, bz = corners[1, 0] - ax, corners[1, 1] - ay, corners[1, 2] - az
    cx, cy, cz = corners[2, 0] - ax, corners[2, 1] - ay, corners[2, 2] - az
    z = bx * cy - by * cx
    if view.parallel:
        return bool(z > 0.0)
    # right, up and ahead are left-handed
    return bool((by * cz - bz * cy) * ax + (bz * cx - bx * cz) * ay + z * az > 0.0)


@inlined
def placed_point(rows: Array, k: int, x: float, y: float, z: float) -> Vector:
    """From the coordinates of a solid to those of the world."""
    c, n = rows[k, s.COS], rows[k, s.SIN]
    return rows[k, s.X] + c * x - n * y, rows[k, s.Y] + n * x + c * y, rows[k, s.Z] + z


@compiled
def draw_prism(
    view: View, rows: Array, k: int, nearness: Singles, codes: Numbers, corners: Array, seen: Array, pixels: Array
) -> None:
    """Write the faces of a box, or of a prism for a cylinder or a cone, whose light is that of a round one."""
    is_box = rows[k, s.KIND] == s.BOX
    sides = 4 if is_box else (THIN_SIDES if rows[k, s.HALF_X] < THIN_M else SIDES)
    for side in range(sides):
        turn = 2.0 * np.pi * side / sides
        way = SQUARE[side] if is_box else (np.cos(turn), np.sin(turn))
        x, y, z = rows[k, s.HALF_X] * way[0], rows[k, s.HALF_Y] * way[1], rows[k, s.HALF_Z]
        low, high_x = placed_point(rows, k, x, y, -z), x * rows[k, s.TOP_X] + rows[k, s.LEAN]
        high = placed_point(rows, k, high_x, y * rows[k, s.TOP_Y], z)
        seen[side, 0], seen[side, 1], seen[side, 2] = seen_from(view, low)
        seen[side + sides, 0], seen[side + sides, 1], seen[side + sides, 2] = seen_from(view, high)
    for side in range(sides + 2):
        count = 4 if side < sides else sides
        for corner in range(count):
            source = corner + sides if side == sides + 1 else sides - 1 - corner  # the two ends
            if side < sides:
                source = (side + (1 if corner in (1, 2) else 0)) % sides + (sides if corner >= 2 else 0)
            for axis in range(3):
                corners[corner, axis] = seen[source, axis]
        face = s.BOTTOM if side == sides else s.TOP
        if side < sides:
            face = SQUARE_FACES[side] if is_box else s.ROUND_FACE
        if facing(view, corners):
            fill_polygon(view, corners, count, k * s.FACES + face, nearness, codes, pixels)


@inlined
def span(view: View, at: float, reach: float, deep: float, half: float, middle: float, last: int) -> tuple[int, int]:
    """The first and the last column, or row, of what reaches so far to either side of a place between two depths."""
    low, high = at - reach, at + reach
    if not view.parallel:
        if deep - half < 0.2:
            return 0, last
        low /= deep - half if low < 0.0 else deep + half
        high /= deep + half if high < 0.0 else deep - half
    low, high = middle + view.focal_px * low, middle + view.focal_px * high
    return int(min(max(low, 0.0), 1e6)), int(max(min(high, last), -1.0))


@inlined
def extent(rows: Array, k: int, way: Vector) -> float:
    """How far an ellipsoid reaches from its middle along a direction of the world."""
    x, y, z = turned(rows, k, way)
    x, y, z = x * rows[k, s.HALF_X], y * rows[k, s.HALF_Y], z * rows[k, s.HALF_Z]
    return float(np.sqrt(x * x + y * y + z * z))


@inlined
def in_shares(rows: Array, k: int, way: Vector) -> Vector:
    """A vector of the world along the axes of a ball, in shares of its halves."""
    x, y, z = turned(rows, k, way)
    return x / rows[k, s.HALF_X], y / rows[k, s.HALF_Y], z / rows[k, s.HALF_Z]


@compiled
def draw_ball(view: View, rows: Array, k: int, fine: Texture, nearness: Singles, codes: Numbers) -> None:
    """Write an ellipsoid; the rim of leaves is frayed by noise."""
    at, offset = seen_from(view, triple(rows, k, s.X)), difference(triple(rows, k, s.X), view.eye)
    to, ahead = in_shares(rows, k, offset), in_shares(rows, k, view.forward)
    across, up = in_shares(rows, k, view.right), in_shares(rows, k, view.up)
    size = max(rows[k, s.HALF_X], rows[k, s.HALF_Y], rows[k, s.HALF_Z])
    if not view.parallel and (at[2] < NEAREST_BALL_M or dot(to, to) <= 1.0):
        return
    deep, middle = extent(rows, k, view.forward), view.middle
    left, right = span(view, at[0], extent(rows, k, view.right), at[2], deep, middle[0], view.width - 1)
    top, bottom = span(view, -at[1], extent(rows, k, view.up), at[2], deep, middle[1], view.height - 1)
    closest = np.float32(deep - at[2] if view.parallel else 1.0 / max(at[2] - deep, NEAR_M))
    rim, far = 0.8 * rows[k, s.RAGGED], 1.0 if view.parallel else at[2]
    texels = 2.5 + 6.0 / size  # to a metre: leaves of bushes are smaller
    blur, seed = texels * far / view.focal_px, 97.0 * rows[k, s.X] + 57.0 * rows[k, s.Y]
    pixel = 1.0 / view.focal_px
    for row in range(top, bottom + 1):
        rise = (view.middle[1] - row - 0.5) * pixel
        # where the ray of a pixel meets the ball, t solves a t^2 - 2 h t + c = 0; all three follow the column
        if view.parallel:
            base = plus(to, up, -rise)
            a0, a1, a2, h0, h1 = dot(ahead, ahead), 0.0, 0.0, dot(ahead, base), -dot(ahead, across)
            c0, c1, c2 = dot(base, base) - 1.0, -2.0 * dot(base, across), dot(across, across)
        else:
            ray = plus(ahead, up, rise)
            a0, a1, a2 = dot(ray, ray), 2.0 * dot(ray, across), dot(across, across)
            h0, h1 = dot(ray, to), dot(across, to)
            c0, c1, c2 = dot(to, to) - 1.0, 0.0, 0.0
        for column in range(left, right + 1):
            if nearness[row, column] >= closest:
                continue
            side = (column + 0.5 - view.middle[0]) * pixel
            a, h = a0 + side * (a1 + side * a2), h0 + side * h1
            inside = h * h - a * (c0 + side * (c1 + side * c2))
            if inside <= 0.0:
                continue
            ahead_m = h - np.sqrt(inside)  # t times a
            near = np.float32(-ahead_m / a if view.parallel else a / ahead_m)
            if near <= nearness[row, column] or (ahead_m < NEAR_M * a and not view.parallel):
                continue
            if inside < rim * a:  # inside / a is 1 in the middle of the ball, 0 at its rim
                u, v = texels * (side * far - at[0]) + seed, texels * (rise * far - at[1]) + 0.7 * seed
                leaf = sample(fine, u, v, blur)
                if inside < a * rim * min(1.0, 1.55 * leaf + 0.29):  # what the finer noise may still take away
                    leaf += 0.8 * sample(fine, 3.1 * u, 3.1 * v, 3.1 * blur)
                    if inside < a * rim * min(1.0, 1.55 * leaf - 0.95):
                        continue
            nearness[row, column] = near
            codes[row, column] = k * s.FACES + s.BALL_FACE


@compiled
def draw_land(view: View, points: Array, code: int, nearness: Singles, codes: Numbers) -> None:
    """Write the land: a net (R, C, 3) of points on it."""
    corners, pixels = np.empty((4, 3)), np.empty((6, 3))
    for i in range(points.shape[0] - 1):
        for j in range(points.shape[1] - 1):
            for corner in range(4):
                row, column = i + (1 if corner in (2, 3) else 0), j + (1 if corner in (1, 2) else 0)
                point = triple(points[row], column)
                corners[corner, 0], corners[corner, 1], corners[corner, 2] = seen_from(view, point)
            fill_polygon(view, corners, 4, code, nearness, codes, pixels)


def near_to_far(view: View, rows: Array) -> NDArray[np.int64]:
    """An order for solids."""
    middles, halves = rows[:, s.X : s.Z + 1], rows[:, s.HALF_X : s.HALF_Z + 1]
    depths = (middles - np.array(view.eye)) @ np.array(view.forward) - np.sqrt((halves * halves).sum(axis=1))
    return np.argsort(depths, kind="stable")


@compiled
def visible(view: View, rows: Array, far_m: float) -> NDArray[np.int64]:
    """The numbers of the solids that a camera may see: ahead, within its angle, neither too far nor too small."""
    found, count = np.empty(len(rows), np.int64), 0
    slope_x, slope_y = view.width / (2.0 * view.focal_px), view.height / (2.0 * view.focal_px)
    long_x, long_y = np.sqrt(1.0 + slope_x * slope_x), np.sqrt(1.0 + slope_y * slope_y)
    for k in range(len(rows)):
        x, y, z = seen_from(view, triple(rows, k, s.X))
        reach = np.sqrt(rows[k, s.HALF_X] ** 2 + rows[k, s.HALF_Y] ** 2 + rows[k, s.HALF_Z] ** 2)
        if z < -reach or z > far_m + reach or view.focal_px * reach < 0.9 * z:
            continue
        if abs(x) - slope_x * z > reach * long_x or abs(y) - slope_y * z > reach * long_y:
            continue
        found[count] = k
        count += 1
    return found[:count].copy()
