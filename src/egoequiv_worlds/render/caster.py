"""Which solid each pixel sees, from the camera or from the sun: a ray cast inside each solid's outline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array, Numbers
from egoequiv_worlds.render.solids import (
    BALL,
    BOX,
    CASTS,
    COS,
    HALF_X,
    HALF_Y,
    HALF_Z,
    KIND,
    LEAVES,
    ROUND,
    SIN,
    TOP_X,
    TOP_Z,
    X,
    Y,
    Z,
)

NEAR_M = 0.05
FARTHEST = 1e9  # the depth of a pixel that sees no solid
SKY = -1
# A code is the solid's row times 8 plus the face; faces 0 to 5 are -x, +x, -y, +y, -z, +z.
FACES, BALL_FACE, ROUND_FACE = 8, 6, 7


@compiled
def cast(solids: Array, view: Array, leaves: NDArray[np.float32], depth: Array, code: Numbers, shadows: bool) -> None:
    """Draw all solids into `depth` and `code` (H, W); with `shadows` only those that cast one.

    The rows of `view` are a ray's origin and its change per column and row, its direction and its change per column
    and row, the inverse of the three that span the view, and a flag for perspective.
    """
    height, width = depth.shape
    ray = np.empty((6, 3))
    bounds = np.empty((len(solids), 4), np.int64)
    nearest = np.empty(len(solids))
    for k in range(len(solids)):
        left, right, top, bottom, nearest[k] = outline(solids[k], view, width, height)
        bounds[k, 0], bounds[k, 1], bounds[k, 2], bounds[k, 3] = left, right, top, bottom
    for k in np.argsort(nearest):  # from near to far, so that most of what is hidden costs no ray
        solid = solids[k]
        left, right, top, bottom = bounds[k]
        if left > right or top > bottom or solid[KIND] > ROUND or (shadows and solid[CASTS] == 0.0):
            continue
        into_local(solid, view, ray)
        plain_box = solid[KIND] == BOX and solid[TOP_X] == 1.0 and solid[TOP_Z] == 1.0
        hx, hy, hz = solid[HALF_X], solid[HALF_Y], solid[HALF_Z]
        for row in range(top, bottom + 1):
            v = row + 0.5
            for column in range(left, right + 1):
                if depth[row, column] <= nearest[k]:
                    continue
                u = column + 0.5
                ox = ray[0, 0] + u * ray[1, 0] + v * ray[2, 0]
                oy = ray[0, 1] + u * ray[1, 1] + v * ray[2, 1]
                oz = ray[0, 2] + u * ray[1, 2] + v * ray[2, 2]
                dx = ray[3, 0] + u * ray[4, 0] + v * ray[5, 0]
                dy = ray[3, 1] + u * ray[4, 1] + v * ray[5, 1]
                dz = ray[3, 2] + u * ray[4, 2] + v * ray[5, 2]
                if plain_box:
                    near, face = meet_box(ox, oy, oz, dx, dy, dz, hx, hy, hz)
                    far = near
                elif solid[KIND] == BOX:
                    near, face = meet_roof(ox, oy, oz, dx, dy, dz, hx, hy, hz, solid[TOP_X], solid[TOP_Z])
                    far = near
                elif solid[KIND] == BALL:
                    near, far = meet_ball(ox, oy, oz, dx, dy, dz)
                    face = BALL_FACE
                else:
                    near, far, face = meet_round(ox, oy, oz, dx, dy, dz, solid[TOP_X])
                if near >= depth[row, column]:
                    continue
                if solid[LEAVES] > 0.0 and is_gap(ox, oy, oz, dx, dy, dz, near, solid, leaves):
                    near = far  # no leaf in front, but perhaps one on the far side of the crown
                    if near >= depth[row, column]:
                        continue
                    if is_gap(ox, oy, oz, dx, dy, dz, near, solid, leaves):
                        continue
                depth[row, column] = near
                code[row, column] = k * FACES + face


@compiled
def into_local(solid: Array, view: Array, ray: Array) -> None:
    """Rewrite the rays of a view in the coordinates of a solid; those for round ones are in shares of its halves."""
    c, s = solid[COS], solid[SIN]
    boxy = solid[KIND] == BOX
    wide, tall, deep = (1.0, 1.0, 1.0) if boxy else (1.0 / solid[HALF_X], 1.0 / solid[HALF_Y], 1.0 / solid[HALF_Z])
    for k in range(6):
        x, y, z = view[k, 0], view[k, 1], view[k, 2]
        if k == 0:
            x, y, z = x - solid[X], y - solid[Y], z - solid[Z]
        ray[k, 0], ray[k, 1], ray[k, 2] = wide * (c * x - s * z), tall * y, deep * (s * x + c * z)


@compiled
def outline(solid: Array, view: Array, width: int, height: int) -> tuple[int, int, int, int, float]:
    """The columns and rows that a solid's bounding box may cover, and the depth at which it begins."""
    seen = np.empty((8, 3))
    c, s = solid[COS], solid[SIN]
    for k in range(8):
        lx = solid[HALF_X] * (1.0 if k & 1 else -1.0)
        ly = solid[HALF_Y] * (1.0 if k & 2 else -1.0)
        lz = solid[HALF_Z] * (1.0 if k & 4 else -1.0)
        x, y, z = solid[X] + c * lx + s * lz - view[0, 0], solid[Y] + ly - view[0, 1], solid[Z] - s * lx + c * lz
        z -= view[0, 2]
        for axis in range(3):
            seen[k, axis] = view[6 + axis, 0] * x + view[6 + axis, 1] * y + view[6 + axis, 2] * z
    left, right, top, bottom, nearest = 1e9, -1e9, 1e9, -1e9, seen[0, 2]
    perspective = view[9, 0] > 0.0
    for k in range(8):
        nearest = min(nearest, seen[k, 2])
        for bit in (0, 1, 2, 4):  # the corner itself, then its three edges, cut where they pass behind the camera
            a, b = seen[k], seen[k ^ bit]
            u, v, w = a[0], a[1], a[2]
            if perspective:
                if bit == 0 and w < NEAR_M:
                    continue
                if bit > 0:
                    if (w < NEAR_M) == (b[2] < NEAR_M):
                        continue
                    share = (NEAR_M - w) / (b[2] - w)
                    u, v, w = u + share * (b[0] - u), v + share * (b[1] - v), NEAR_M
                u, v = u / w, v / w
            left, right, top, bottom = min(left, u), max(right, u), min(top, v), max(bottom, v)
    left, right = min(max(left, 0.0), width), min(max(right, -1.0), width - 1.0)
    top, bottom = min(max(top, 0.0), height), min(max(bottom, -1.0), height - 1.0)
    return int(left), int(right), int(top), int(bottom), nearest


@compiled
def meet_box(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, hx: float, hy: float, hz: float
) -> tuple[float, int]:
    """Where a ray enters a box around the origin, and through which face."""
    near, far, face = -1e9, FARTHEST, 0
    for axis in range(3):
        o, d, h = (ox, dx, hx) if axis == 0 else ((oy, dy, hy) if axis == 1 else (oz, dz, hz))
        if d == 0.0:
            if abs(o) > h:
                return FARTHEST, 0
            continue
        enter = (-h - o) / d if d > 0.0 else (h - o) / d
        leave = (h - o) / d if d > 0.0 else (-h - o) / d
        if enter > near:
            near, face = enter, 2 * axis + (0 if d > 0.0 else 1)
        far = min(far, leave)
        if near > far:
            return FARTHEST, 0
    return (near, face) if near > NEAR_M else (FARTHEST, 0)


@compiled
def meet_roof(
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    hx: float,
    hy: float,
    hz: float,
    top_x: float,
    top_z: float,
) -> tuple[float, int]:
    """Where a ray enters a box whose upper face is smaller than its lower one."""
    near, far, face = -1e9, FARTHEST, 0
    lean_x, lean_z = hx * (1.0 - top_x) / (2.0 * hy), hz * (1.0 - top_z) / (2.0 * hy)
    for k in range(6):
        sign = 1.0 if k % 2 else -1.0
        if k < 2:
            distance, along = hx - lean_x * (hy + oy) - sign * ox, sign * dx + lean_x * dy
        elif k < 4:
            distance, along = hy - sign * oy, sign * dy
        else:
            distance, along = hz - lean_z * (hy + oy) - sign * oz, sign * dz + lean_z * dy
        if along < 0.0:
            if distance / along > near:
                near, face = distance / along, k
        elif along > 0.0:
            far = min(far, distance / along)
        elif distance < 0.0:
            return FARTHEST, 0
    return (near, face) if far > near > NEAR_M else (FARTHEST, 0)


@compiled
def meet_ball(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> tuple[float, float]:
    """Where a ray enters and leaves the unit ball."""
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    inside = b * b - a * (ox * ox + oy * oy + oz * oz - 1.0)
    if inside <= 0.0:
        return FARTHEST, FARTHEST
    near, far = (-b - np.sqrt(inside)) / a, (-b + np.sqrt(inside)) / a
    return (near, far) if near > NEAR_M else (FARTHEST, FARTHEST)


@compiled
def meet_round(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, top: float
) -> tuple[float, float, int]:
    """Where a ray enters and leaves an upright cylinder or cone from -1 to 1, of radius 1 at its lower end."""
    shrink = 0.5 * (1.0 - top)
    radius, change = 1.0 - shrink * (oy + 1.0), -shrink * dy
    a = dx * dx + dz * dz - change * change
    b = ox * dx + oz * dz - radius * change
    root = b * b - a * (ox * ox + oz * oz - radius * radius)
    near, far, face = FARTHEST, -1e9, ROUND_FACE
    if root > 0.0 and a != 0.0:
        for sign in (-1.0, 1.0):
            t = (-b + sign * np.sqrt(root)) / a
            if abs(oy + t * dy) <= 1.0 and radius + t * change >= 0.0:
                near, far = min(near, t), max(far, t)
    if dy != 0.0:
        for sign in (-1.0, 1.0):
            t = (sign - oy) / dy
            end = 1.0 if sign < 0.0 else top
            if (ox + t * dx) ** 2 + (oz + t * dz) ** 2 <= end * end:
                far = max(far, t)
                if t < near:
                    near, face = t, 2 if sign < 0.0 else 3
    return (near, far, face) if near > NEAR_M else (FARTHEST, FARTHEST, 0)


@compiled
def is_gap(
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    t: float,
    solid: Array,
    leaves: NDArray[np.float32],
) -> bool:
    """Whether there is no leaf where a ray meets a crown; there are fewer of them towards its rim."""
    x, y, z = ox + t * dx, oy + t * dy, oz + t * dz
    hx, hy, hz = solid[HALF_X], solid[HALF_Y], solid[HALF_Z]
    rim, u, v = 0.0, hx * x + hz * z, hy * y
    if solid[KIND] == BALL:
        if abs(y) > max(abs(x), abs(z)):
            u, v = hx * x, hz * z
        else:
            u = hx * x if abs(z) > abs(x) else hz * z
        facing = abs(x * dx + y * dy + z * dz) / np.sqrt(dx * dx + dy * dy + dz * dz)
        rim = (1.0 - facing) * np.sqrt(max(0.0, 1.0 - facing))
    mask = len(leaves) - 1
    texels = 30.0 / np.sqrt(hx * hy)
    row, column = int(texels * v) & mask, int(texels * u + 7.0 * solid[X]) & mask
    return bool(leaves[row, column] < 1.0 - solid[LEAVES] * (1.0 - 0.9 * rim))
