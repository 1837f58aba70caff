"""A toy ready to be drawn, the light on it and on the table it stands on, and the shadow between them.

The compiled functions pass numbers, not small arrays: an array made for each pixel would cost more than the light.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled
from egoequiv_worlds.render import Array, Numbers, Singles, Vector, vector
from egoequiv_worlds.render.mesh import Part, Triangles, corner_normals, joined
from egoequiv_worlds.render.patterns import blend, difference, dot, plus, scaled, triple
from egoequiv_worlds.render.raster import pixel_of, project, rasterise, seen_from
from egoequiv_worlds.render.scene import View, from_light, orbit, towards
from egoequiv_worlds.render.shading import FINENESS

GROUND_ALBEDO = 0.62
GLOSS = 0.10  # how much of the key light a toy's paint mirrors
LIFT = 0.03  # how far above its surface a point looks up its shadow, against speckles from the coarse map
SOFTNESS_PX = 2  # half the width of the box that softens the shadow on the ground, in pixels of the light's map
GAMMA = 0.62  # gray levels follow light ** GAMMA
SHADOW_SIZE = 128  # of the map that the key light sees
GOLDEN_DEG = 137.508
DIRECTIONS, MAP_SIZE, GROUND_SIZE = 40, 96, 64  # of the sky, of the map from each, and of the map of the ground
GROUND_REACH = 2.0  # the ground's map covers [-reach, reach] in x and y
SKY_LIFT = 0.05  # how far above its surface a point looks up at the sky


class Surface(NamedTuple):
    """All that is drawn of a toy; a named tuple, because compiled code accepts those."""

    vertices: Array  # (V, 3), standing on z = 0, within distance 1 of the centre
    triangles: Triangles  # (T, 3)
    normals: Array  # (3 * T, 3), for each corner of each triangle
    albedo: Array  # (T,)
    openness: Array  # (T, 3), the share of the sky each corner sees
    centre: Array  # (3,)
    ground: NDArray[np.float32]  # (G, G), the share of the sky the ground sees
    ground_reach: float  # `ground` covers [-reach, reach] in x and y


def surface(parts: Sequence[Part]) -> Surface:
    """Put the parts of a toy together; they may be given in any unit, with x ahead and z up."""
    whole = joined([part.mesh for part in parts])
    low, high = whole.vertices.min(axis=0), whole.vertices.max(axis=0)
    middle = (low + high) / 2
    radius = np.linalg.norm(whole.vertices - middle, axis=1).max()
    foot = np.array([middle[0], middle[1], low[2]])
    vertices, centre = np.ascontiguousarray((whole.vertices - foot) / radius), (middle - foot) / radius
    normals = np.concatenate([corner_normals(part.mesh) for part in parts])
    albedo = np.concatenate([np.full(len(part.mesh.triangles), part.albedo) for part in parts])
    corners, ground = openness(vertices, whole.triangles, normals, centre)
    return Surface(vertices, whole.triangles, normals.reshape(-1, 3), albedo, corners, centre, ground, GROUND_REACH)


def openness(vertices: Array, triangles: Triangles, normals: Array, centre: Array) -> tuple[Array, NDArray[np.float32]]:
    """The open share of the sky at each corner, (T, 3), and on the ground, (G, G) with rows along y."""
    corners = (vertices[triangles] + SKY_LIFT * normals).reshape(-1, 3)
    step = (np.arange(GROUND_SIZE) + 0.5) / GROUND_SIZE * 2 * GROUND_REACH - GROUND_REACH
    ground = np.stack([*np.meshgrid(step, step), np.zeros((GROUND_SIZE, GROUND_SIZE))], axis=-1).reshape(-1, 3)
    places = np.concatenate([corners, ground])
    facing = np.concatenate([normals.reshape(-1, 3), np.broadcast_to((0.0, 0.0, 1.0), ground.shape)])
    seen_sky, all_sky = np.zeros(len(places)), np.zeros(len(places))
    height, around = (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS, np.arange(DIRECTIONS) * np.pi * (3.0 - np.sqrt(5.0))
    level = np.sqrt(1.0 - height**2)
    for upwards in np.stack([level * np.cos(around), level * np.sin(around), height], axis=1):  # evenly over the sky
        weight = np.maximum(0.0, np.einsum("ij,j->i", facing, upwards))
        view = from_light(upwards, centre, MAP_SIZE / 2.1, MAP_SIZE)
        nearness, _ = rasterise(project(vertices, view), triangles, MAP_SIZE)
        seen = project(places, view)
        pixels = np.floor(seen[:, :2]).astype(np.int64)
        outside = ((pixels < 0) | (pixels >= MAP_SIZE)).any(axis=1)  # of the map, where nothing hides the sky
        column, row = np.clip(pixels, 0, MAP_SIZE - 1).T
        seen_sky += weight * (outside | (nearness[row, column] <= seen[:, 2] + SKY_LIFT / 2))
        all_sky += weight
    # Faces that look down see no sky, but the pale ground, which reflects about half of its light.
    share = np.where(all_sky > 1e-6, seen_sky / np.maximum(all_sky, 1e-6), 0.5)
    corner_share, below = 0.25 + 0.75 * share[: len(corners)].reshape(-1, 3), share[len(corners) :]
    below = below.reshape(GROUND_SIZE, GROUND_SIZE)
    for axis in (0, 1, 0, 1):  # smooths the streaks that a limited number of directions leaves
        below = (np.roll(below, 1, axis) + below + np.roll(below, -1, axis)) / 3
    return corner_share, below.astype(np.float32)


class Lighting(NamedTuple):
    """One key light that casts the shadow, one fill light that casts none, and light from everywhere.

    Azimuths are relative to the camera, because the lamps do not move in the room while the table turns.
    """

    key_azimuth_deg: float
    key_elevation_deg: float
    key: float
    fill_azimuth_deg: float
    fill_elevation_deg: float
    fill: float
    ambient: float


SIX = (
    Lighting(-50.0, 52.0, 0.85, 70.0, 35.0, 0.15, 0.34),
    Lighting(55.0, 48.0, 0.70, -80.0, 40.0, 0.20, 0.26),
    Lighting(-115.0, 42.0, 0.80, 30.0, 50.0, 0.25, 0.30),
    Lighting(15.0, 68.0, 0.55, 150.0, 30.0, 0.10, 0.52),
    Lighting(125.0, 55.0, 0.60, -30.0, 45.0, 0.12, 0.22),
    Lighting(-20.0, 38.0, 0.95, 100.0, 55.0, 0.30, 0.20),
)


def lighting(number: int) -> Lighting:
    """Lighting by number: six set by hand as in small NORB, then any number of random ones."""
    if number < len(SIX):
        return SIX[number]
    spread, around = (0.618034 * number) % 1.0, (GOLDEN_DEG * number) % 360.0 - 180.0
    return Lighting(around, 40.0 + 28.0 * spread, 0.9 - 0.35 * spread, around + 130.0, 45.0, 0.15, 0.24 + 0.2 * spread)


class Lamps(NamedTuple):
    """A lighting as the toy sees it; a named tuple, because compiled code accepts those."""

    key_view: View  # what the key light sees
    fill_towards: Vector
    key: float
    fill: float
    ambient: float


def lamps_around(lighting: Lighting, camera_azimuth_deg: float, centre: Array) -> Lamps:
    """The lamps in the toy's own coordinates, in which the camera and the room turn around it."""
    key = towards(camera_azimuth_deg + lighting.key_azimuth_deg, lighting.key_elevation_deg)
    fill = towards(camera_azimuth_deg + lighting.fill_azimuth_deg, lighting.fill_elevation_deg)
    scale = SHADOW_SIZE / 2.2  # the toy has radius 1, and the soft edge of its shadow needs a margin
    view = from_light(key, centre, scale, SHADOW_SIZE)
    return Lamps(view, vector(fill), lighting.key, lighting.fill, lighting.ambient)


def draw_surface(toy: Surface, lighting: Lighting, pose_deg: Array, size: int, shift: Array, exposure: float) -> Array:
    """The gray levels (size, size), from 0 to 255, seen from an (elevation, azimuth) under a lighting."""
    elevation_deg, azimuth_deg = float(pose_deg[0]), float(pose_deg[1])
    view = orbit(toy.centre, elevation_deg, azimuth_deg, size * FINENESS, shift)
    lamps = lamps_around(lighting, azimuth_deg, toy.centre)
    shadow, _ = rasterise(project(toy.vertices, lamps.key_view), toy.triangles, SHADOW_SIZE)
    seen = project(toy.vertices, view)
    _, faces = rasterise(seen, toy.triangles, view.width)
    fine = shade_toy(view, toy, lamps, seen, shadow, faces)
    # by slices, because a mean over two short axes is slow
    parts = (fine[j::FINENESS, i::FINENESS] for j in range(FINENESS) for i in range(FINENESS))
    light = shade_ground(view, toy, lamps, soft_mask(shadow), faces) + sum(parts, np.zeros(())) / FINENESS**2
    return np.asarray(255.0 * np.clip(exposure * light, 0.0, 1.0) ** GAMMA)


@compiled
def soft_mask(nearness: Singles) -> Singles:
    """The share of the light's rays that meet the toy, around each pixel of the light's map."""
    size, reach = len(nearness), SOFTNESS_PX
    rows, mask = np.zeros((size, size), np.float32), np.zeros((size, size), np.float32)
    share = np.float32(1.0 / (2 * reach + 1))
    for y in range(size):
        for x in range(reach, size - reach):
            for k in range(-reach, reach + 1):
                if nearness[y, x + k] > -1e8:
                    rows[y, x] += share
    for y in range(reach, size - reach):
        for k in range(-reach, reach + 1):
            for x in range(size):
                mask[y, x] += share * rows[y + k, x]
    return mask


@compiled
def open_share(nearness: Singles, x: float, y: float, near: float) -> float:
    """The share of the nine pixels around a place in the light's map that leave it lit."""
    column, line = int(np.floor(x)), int(np.floor(y))
    if column < 1 or line < 1 or column > nearness.shape[1] - 2 or line > nearness.shape[0] - 2:
        return 1.0
    lit = 0
    for j in range(-1, 2):
        for i in range(-1, 2):
            lit += nearness[line + j, column + i] <= near
    return lit / 9.0


@compiled
def map_at(values: Singles, x: float, y: float, outside: float) -> float:
    """A map between its pixel centres."""
    column, line = int(np.floor(x - 0.5)), int(np.floor(y - 0.5))
    if column < 0 or line < 0 or column >= values.shape[1] - 1 or line >= values.shape[0] - 1:
        return outside
    u, v = x - 0.5 - column, y - 0.5 - line
    upper = (1.0 - u) * values[line, column] + u * values[line, column + 1]
    lower = (1.0 - u) * values[line + 1, column] + u * values[line + 1, column + 1]
    return float((1.0 - v) * upper + v * lower)


@compiled
def shade_ground(view: View, surface: Surface, lamps: Lamps, mask: Singles, faces: Numbers) -> Array:
    """The light from the ground in each pixel, (S, S), by the share of the pixel's finer ones that see it."""
    eye, ground, key = view.eye, surface.ground, -lamps.key_view.forward[2] * lamps.key
    middle, inverse = len(ground) / 2.0, FINENESS / view.focal_px
    scale, indirect = middle / surface.ground_reach, lamps.ambient + lamps.fill * lamps.fill_towards[2]
    middle_x, middle_y = view.middle[0] / FINENESS, view.middle[1] / FINENESS
    size = len(faces) // FINENESS
    picture = np.zeros((size, size))
    for line in range(size):
        for column in range(size):
            bare = 0
            for j in range(FINENESS):
                for i in range(FINENESS):
                    bare += faces[line * FINENESS + j, column * FINENESS + i] < 0
            if bare == 0:
                continue
            weights = (1.0, (column + 0.5 - middle_x) * inverse, (middle_y - line - 0.5) * inverse)
            ray = blend(weights, view.forward, view.right, view.up)
            x, y = eye[0] - eye[2] / ray[2] * ray[0], eye[1] - eye[2] / ray[2] * ray[1]
            u, v, _ = pixel_of(lamps.key_view, seen_from(lamps.key_view, (x, y, 0.0)))
            sky = map_at(ground, middle + scale * x, middle + scale * y, 1.0)
            light = GROUND_ALBEDO * (key * (1.0 - map_at(mask, u, v, 0.0)) + indirect * sky)
            picture[line, column] = light * bare / (FINENESS * FINENESS)
    return picture


@compiled
def shade_toy(view: View, surface: Surface, lamps: Lamps, seen: Array, shadow: Singles, faces: Numbers) -> Array:
    """The light from the toy in each pixel, (F, F), zero beside it; `seen` are its vertices as projected."""
    vertices, triangles, normals, openness = surface.vertices, surface.triangles, surface.normals, surface.openness
    middle, inverse, key_view = view.middle, 1.0 / view.focal_px, lamps.key_view
    map_right, map_up, key = key_view.right, key_view.up, scaled(key_view.forward, -1.0)
    picture = np.zeros(faces.shape)
    for line in range(faces.shape[0]):
        for column in range(faces.shape[1]):
            t = faces[line, column]
            if t < 0:
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            (ax, ay, az), (bx, by, bz), (cx, cy, cz) = triple(seen, a), triple(seen, b), triple(seen, c)
            x, y = column + 0.5, line + 0.5
            # what each corner contributes; the inverse depths undo the perspective
            wa = ((x - bx) * (cy - by) - (cx - bx) * (y - by)) * az
            wb = ((x - cx) * (ay - cy) - (ax - cx) * (y - cy)) * bz
            wc = ((x - ax) * (by - ay) - (bx - ax) * (y - ay)) * cz
            weights = (wa / (wa + wb + wc), wb / (wa + wb + wc), wc / (wa + wb + wc))
            bent = blend(weights, triple(normals, 3 * t), triple(normals, 3 * t + 1), triple(normals, 3 * t + 2))
            normal = scaled(bent, 1.0 / np.sqrt(dot(bent, bent)))
            sky = dot(weights, triple(openness, t))
            fill = lamps.fill * max(0.0, dot(normal, lamps.fill_towards))
            light = surface.albedo[t] * sky * (lamps.ambient * (0.7 + 0.3 * normal[2]) + fill)
            facing = dot(normal, key)
            if facing > 0.0:
                point = blend(weights, triple(vertices, a), triple(vertices, b), triple(vertices, c))
                off = plus(difference(point, key_view.eye), normal, LIFT)
                u, v, near = pixel_of(key_view, (dot(off, map_right), dot(off, map_up), -dot(off, key)))
                direct = lamps.key * open_share(shadow, u, v, near + LIFT / 2)
                along = (1.0, (column + 0.5 - middle[0]) * inverse, (middle[1] - line - 0.5) * inverse)
                ray = blend(along, view.forward, view.right, view.up)
                half = plus(key, scaled(ray, -1.0 / np.sqrt(dot(ray, ray))), 1.0)
                shine = max(0.0, dot(normal, half)) / np.sqrt(dot(half, half))
                for _ in range(4):  # mirrored into the eye by the rule of Blinn and Phong, with an exponent of 16
                    shine *= shine
                light += direct * (surface.albedo[t] * facing + GLOSS * shine)
            picture[line, column] = light
    return picture
