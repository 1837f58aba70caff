"""The one z-buffer: which triangle or solid each pixel sees, from a camera or from a light."""

import numpy as np

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render import Array, Numbers, Singles, Vector
from egoequiv_worlds.render.mesh import Triangles
from egoequiv_worlds.render.patterns import difference, dot, triple
from egoequiv_worlds.render.scene import View

NOTHING = -1e9  # the nearness of a pixel that sees nothing
UNSEEN = -1  # its code
NEAR_M = 0.06
WIDE_PX = 12  # in wider triangles, rows are cut to where the triangle is before their pixels are looked at


@inlined
def seen_from(view: View, point: Vector) -> Vector:
    """A point in the coordinates of a view: right, up and ahead."""
    to = difference(point, view.eye)
    return dot(view.right, to), dot(view.up, to), dot(view.forward, to)


@inlined
def pixel_of(view: View, point: Vector) -> Vector:
    """Column, row and nearness of a point in the coordinates of a view; nearness is linear across the picture."""
    if view.parallel:
        return view.middle[0] + view.focal_px * point[0], view.middle[1] - view.focal_px * point[1], -point[2]
    near = 1.0 / point[2]
    along = view.focal_px * near
    return view.middle[0] + along * point[0], view.middle[1] - along * point[1], near


@compiled
def project(vertices: Array, view: View) -> Array:
    """Columns, rows and nearness of vertices (V, 3), all of them before the camera."""
    seen = np.empty_like(vertices)
    for k in range(len(vertices)):
        seen[k, 0], seen[k, 1], seen[k, 2] = pixel_of(view, seen_from(view, triple(vertices, k)))
    return seen


@inlined
def cut(at: float, rise: float, low: int, high: int) -> tuple[int, int]:
    """The columns of a row on the inner side of an edge that crosses it at a column, with one to spare."""
    if rise == 0.0:
        return low, high
    column = int(min(max(at, -1.0), 1e6))
    return (max(low, column - 1), high) if rise > 0.0 else (low, min(high, column + 1))


@inlined
def fill(a: Vector, b: Vector, c: Vector, code: int, nearness: Singles, codes: Numbers) -> None:
    """Write a triangle of corners (column, row, nearness), unless it faces away, where nothing is nearer."""
    height, width = nearness.shape
    ax, ay, bx, by, cx, cy = a[0], a[1], b[0], b[1], c[0], c[1]
    area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)  # positive in front, because the rows of an image run down
    if area <= 1e-12 or max(ax, bx, cx) < 0.0 or max(ay, by, cy) < 0.0:
        return
    if min(ax, bx, cx) > width or min(ay, by, cy) > height:
        return
    left, right = int(np.ceil(max(min(ax, bx, cx), 0.0) - 0.5)), int(np.floor(min(max(ax, bx, cx), width) - 0.5))
    top, bottom = int(np.ceil(max(min(ay, by, cy), 0.0) - 0.5)), int(np.floor(min(max(ay, by, cy), height) - 0.5))
    za, zb, zc = a[2] / area, b[2] / area, c[2] / area
    wide = right - left > WIDE_PX
    slope_a, slope_b, slope_c, more, spare = 0.0, 0.0, 0.0, 0.0, 0.0
    if wide:
        slope_a, slope_b, slope_c = (cx - bx) / (cy - by), (ax - cx) / (ay - cy), (bx - ax) / (by - ay)
        more = za * (cy - by) + zb * (ay - cy) + zc * (by - ay)  # nearness from column to column
        spare = 1e-6 * max(abs(a[2]), abs(b[2]), abs(c[2]))  # more than rounding can make of it
    for row in range(top, bottom + 1):
        y = row + 0.5
        low, high = left, right
        if wide:
            low, high = cut(bx + (y - by) * slope_a, cy - by, low, high)
            low, high = cut(cx + (y - cy) * slope_b, ay - cy, low, high)
            low, high = cut(ax + (y - ay) * slope_c, by - ay, low, high)
        x = low + 0.5
        wa, wb = (x - bx) * (cy - by) - (cx - bx) * (y - by), (x - cx) * (ay - cy) - (ax - cx) * (y - cy)
        start = wa * za + wb * zb + (area - wa - wb) * zc + spare
        for column in range(low, high + 1):
            if wide and start + (column - low) * more <= nearness[row, column]:
                continue  # hidden, most likely, which costs less to find out than where the triangle ends
            x = column + 0.5
            wa, wb = (x - bx) * (cy - by) - (cx - bx) * (y - by), (x - cx) * (ay - cy) - (ax - cx) * (y - cy)
            wc = area - wa - wb
            if wa >= 0.0 and wb >= 0.0 and wc >= 0.0:
                near = np.float32(wa * za + wb * zb + wc * zc)
                if near > nearness[row, column]:
                    nearness[row, column] = near
                    codes[row, column] = code


@compiled
def rasterise(seen: Array, triangles: Triangles, size: int) -> tuple[Singles, Numbers]:
    """The nearness and the triangle seen by each pixel centre of a square image; -1 where there is none.

    Nearness (the third column of `seen`) must be linear across the image and larger for what is in front.
    Triangles that face away are left out.
    """
    nearness, faces = np.full((size, size), NOTHING, np.float32), np.full((size, size), UNSEEN, np.int32)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        fill(triple(seen, a), triple(seen, b), triple(seen, c), t, nearness, faces)
    return nearness, faces


@compiled
def fill_polygon(
    view: View, corners: Array, count: int, code: int, nearness: Singles, codes: Numbers, pixels: Array
) -> None:
    """Write a convex polygon (count, 3) in the coordinates of a view, cut where it passes beside the camera.

    `pixels` is room for two corners more.
    """
    found = 0
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        here, there = corners[k, 2], corners[n, 2]
        before = view.parallel or here >= NEAR_M
        if before:
            point = (corners[k, 0], corners[k, 1], here)
            pixels[found, 0], pixels[found, 1], pixels[found, 2] = pixel_of(view, point)
            found += 1
        if before != (view.parallel or there >= NEAR_M):
            share = (NEAR_M - here) / (there - here)
            x, y = corners[k, 0] + share * (corners[n, 0] - corners[k, 0]), corners[k, 1]
            point = (x, y + share * (corners[n, 1] - y), NEAR_M)
            pixels[found, 0], pixels[found, 1], pixels[found, 2] = pixel_of(view, point)
            found += 1
    for k in range(1, found - 1):
        fill(triple(pixels, 0), triple(pixels, k), triple(pixels, k + 1), code, nearness, codes)
