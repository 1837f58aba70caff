"""A z-buffer for streets: which face or blob each pixel sees, with faces cut where they pass beside the camera."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render.arrays import Array, Numbers, Singles
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.faces import Blobs, Faces
from egoequiv_worlds.render.noise import Noise
from egoequiv_worlds.render.patterns import noise_at
from egoequiv_worlds.render.vectors import dot

NEAR_M = 0.12
NEAREST_BLOB_M = 0.5  # a blob whose middle is nearer than this is outside the picture
NOTHING = -1


@inlined
def clip_and_project(view: View, corners: Array, f: int, work: Array, outline: Array) -> int:
    """The outline in pixels of the part of face f that lies before the camera; how many corners it has."""
    eye = view.eye
    for k in range(4):
        to = (corners[f, k, 0] - eye[0], corners[f, k, 1] - eye[1], corners[f, k, 2] - eye[2])
        work[k, 0], work[k, 1], work[k, 2] = dot(view.right, to), dot(view.up, to), dot(view.forward, to)
    count = 0
    for k in range(4):
        n = (k + 1) % 4
        here, there = work[k, 2], work[n, 2]
        if here >= NEAR_M:
            outline[count, 0] = view.middle[0] + view.focal_px * work[k, 0] / here
            outline[count, 1] = view.middle[1] - view.focal_px * work[k, 1] / here
            count += 1
        if (here >= NEAR_M) != (there >= NEAR_M):
            share = (NEAR_M - here) / (there - here)
            x, y = work[k, 0] + share * (work[n, 0] - work[k, 0]), work[k, 1] + share * (work[n, 1] - work[k, 1])
            outline[count, 0] = view.middle[0] + view.focal_px * x / NEAR_M
            outline[count, 1] = view.middle[1] - view.focal_px * y / NEAR_M
            count += 1
    return count


@inlined
def span(outline: Array, count: int, y: float) -> tuple[float, float]:
    """Where a horizontal line enters and leaves a convex outline."""
    left, right = 1e18, -1e18
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        ya, yb = outline[k, 1], outline[n, 1]
        if (ya <= y) != (yb <= y):
            x = outline[k, 0] + (y - ya) / (yb - ya) * (outline[n, 0] - outline[k, 0])
            left, right = min(left, x), max(right, x)
    return left, right


@compiled
def draw_faces(view: View, faces: Faces, nearness: Singles, seen: Numbers) -> None:
    """Write the faces into the z-buffer; nearness is the inverse depth, which is linear across the picture."""
    work, outline = np.empty((4, 3)), np.empty((8, 2))
    eye, focal, corners, frames = view.eye, view.focal_px, faces.corners, faces.frames
    for f in range(len(corners)):
        normal = (frames[f, 0, 0], frames[f, 0, 1], frames[f, 0, 2])
        off = dot(normal, (corners[f, 0, 0] - eye[0], corners[f, 0, 1] - eye[1], corners[f, 0, 2] - eye[2]))
        if off >= -1e-9:  # seen from behind
            continue
        count = clip_and_project(view, corners, f, work, outline)
        if count < 3:
            continue
        right, down = dot(normal, view.right) / (focal * off), -dot(normal, view.up) / (focal * off)
        ahead = dot(normal, view.forward) / off
        top, bottom = outline[0, 1], outline[0, 1]
        for k in range(1, count):
            top, bottom = min(top, outline[k, 1]), max(bottom, outline[k, 1])
        first = int(np.ceil(min(max(top, 0.0), 1e6) - 0.5))
        last = int(np.floor(max(min(bottom, float(view.height)), -1.0) - 0.5))
        for row in range(max(first, 0), min(last, view.height - 1) + 1):
            enter, leave = span(outline, count, row + 0.5)
            start = int(np.ceil(min(max(enter, 0.0), 1e6) - 0.5001))
            stop = int(np.floor(max(min(leave, float(view.width)), -1.0) - 0.4999))
            base = ahead + down * (row + 0.5 - view.middle[1]) + right * (0.5 - view.middle[0])
            for column in range(max(start, 0), min(stop, view.width - 1) + 1):
                near = np.float32(base + right * column)
                if near > nearness[row, column]:
                    nearness[row, column] = near
                    seen[row, column] = f


@inlined
def blob_window(view: View, x: float, y: float, z: float, radius: float) -> tuple[int, int, int, int]:
    """The columns and rows a ball may touch, from the place of its middle as the camera sees it."""
    if z - radius < 0.3:
        return 0, view.width - 1, 0, view.height - 1
    reach = view.focal_px * radius / (z - radius)
    column, row = view.middle[0] + view.focal_px * x / z, view.middle[1] - view.focal_px * y / z
    return (
        int(max(0.0, min(1e6, column - reach))),
        int(min(view.width - 1.0, max(-1.0, column + reach))),
        int(max(0.0, min(1e6, row - reach))),
        int(min(view.height - 1.0, max(-1.0, row + reach))),
    )


@compiled
def draw_blobs(view: View, blobs: Blobs, noise: Noise, first: int, nearness: Singles, seen: Numbers) -> None:
    """Write the blobs into the z-buffer, numbered from `first`; their rims are frayed by noise."""
    ahead, across, up, focal = view.forward, view.right, view.up, view.focal_px
    for b in range(len(blobs.ragged)):
        level, upright = blobs.radii[b, 0], blobs.radii[b, 1]
        to = (blobs.centres[b, 0] - view.eye[0], blobs.centres[b, 1] - view.eye[1], blobs.centres[b, 2] - view.eye[2])
        x, y, z = dot(across, to), dot(up, to), dot(ahead, to)
        scaled = (to[0] / level, to[1] / level, to[2] / upright)
        outside = dot(scaled, scaled) - 1.0
        if z < NEAREST_BLOB_M or outside <= 0.0:
            continue
        rim, fine, seed = 0.8 * blobs.ragged[b], z / focal, blobs.centres[b, 0] + blobs.centres[b, 1]
        left, right, top, bottom = blob_window(view, x, y, z, max(level, upright))
        step = (across[0] / level, across[1] / level, across[2] / upright)
        a2, half1 = dot(step, step), dot(scaled, step)
        for row in range(top, bottom + 1):
            rise = (view.middle[1] - row - 0.5) / focal
            ray = (
                (ahead[0] + rise * up[0]) / level,
                (ahead[1] + rise * up[1]) / level,
                (ahead[2] + rise * up[2]) / upright,
            )
            a0, a1, half0 = dot(ray, ray), 2.0 * dot(ray, step), dot(scaled, ray)
            for column in range(left, right + 1):
                side = (column + 0.5 - view.middle[0]) / focal
                a, half = a0 + side * (a1 + side * a2), half0 + side * half1
                inside = half * half - a * outside
                if inside <= 0.0:
                    continue
                t = (half - np.sqrt(inside)) / a
                if t * nearness[row, column] >= 1.0:
                    continue
                depth = inside / a  # 1 in the middle of the blob, 0 at its rim
                if depth < rim and depth < rim * frayed(noise, side * z - x, rise * z - y, fine, seed):
                    continue
                nearness[row, column] = np.float32(1.0 / t)
                seen[row, column] = first + b


@inlined
def frayed(noise: Noise, u: float, v: float, fine: float, seed: float) -> float:
    """How much of the rim of a blob is missing, from 0 to 1, at a position in metres from its middle as seen."""
    u, v = u + 7.3 * seed, v + 5.7 * seed
    leaves = noise_at(noise, 2.6 * u, 2.6 * v, 2.6 * fine) + 0.9 * noise_at(noise, 8.0 * u, 8.0 * v, 8.0 * fine)
    return min(1.0, max(0.0, 0.42 + 0.6 * leaves))


@compiled
def visible(view: View, centres: Array, radii: Array, far_m: float) -> NDArray[np.int64]:
    """The numbers of the balls that the camera may see: ahead, within its angle, neither too far nor too small."""
    found = np.empty(len(centres), np.int64)
    count = 0
    slope_x, slope_y = view.width / (2.0 * view.focal_px), view.height / (2.0 * view.focal_px)
    long_x, long_y = np.sqrt(1.0 + slope_x * slope_x), np.sqrt(1.0 + slope_y * slope_y)
    eye, right, up, forward = view.eye, view.right, view.up, view.forward
    for k in range(len(centres)):
        dx, dy, dz = centres[k, 0] - eye[0], centres[k, 1] - eye[1], centres[k, 2] - eye[2]
        x = abs(right[0] * dx + right[1] * dy + right[2] * dz)
        y = abs(up[0] * dx + up[1] * dy + up[2] * dz)
        z = forward[0] * dx + forward[1] * dy + forward[2] * dz
        radius = radii[k]
        if z < -radius or z > far_m + radius or view.focal_px * radius < 0.4 * z:
            continue
        if x - slope_x * z > radius * long_x or y - slope_y * z > radius * long_y:
            continue
        found[count] = k
        count += 1
    return found[:count].copy()
