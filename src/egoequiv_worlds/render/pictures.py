"""A picture of a scene: what each pixel sees, the shadows of the sun, the light, and what a camera makes of it."""

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render import Array, Singles
from egoequiv_worlds.render.drawing import draw, draw_land, near_to_far
from egoequiv_worlds.render.noise import textures
from egoequiv_worlds.render.raster import NOTHING, UNSEEN
from egoequiv_worlds.render.scene import Finish, Land, Light, Scene, Sky, View, between, from_light
from egoequiv_worlds.render.shading import FINENESS, shade
from egoequiv_worlds.render.solids import CASTS, COLUMNS, FACES, KIND, LAND, MATERIAL, TOP

SHADOW_CELLS = 192  # of the map that the sun of a place sees
NEAREST_LAND_M, GROWTH, BEARINGS = 0.6, 1.035, 90  # the net over the land: its first ring, their growth, their points
NO_LAND, NO_LAMPS = np.zeros((4, 4)), np.zeros((0, 6))
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
LUMA_WHOLE = np.array([19595, 38470, 7471], np.uint32)  # in 65536ths, ITU-R 601 as in Pillow
ENTRIES = 4096  # of the tone curve's table, a quarter of a gray level or less apart
BRIGHTEST = 3.5  # above this root of the exposed light everything is white
Map = tuple[View, Singles]  # what a light sees, and how near that is


def draw_scene(scene: Scene, width: int, height: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Draw a place in colour, (height, width, 3)."""
    view, rows = scene.camera.view(FINENESS * width, FINENESS * height), scene.solids.array()
    reach, camera = scene.light.shadow_m, scene.camera
    ahead = 0.8 * reach * np.array([-np.sin(camera.yaw_rad), np.cos(camera.yaw_rad), 0.0])
    middle = (camera.x + ahead[0], camera.y + ahead[1], 0.0)
    sun = sun_map(rows, from_light(scene.light.sun, middle, SHADOW_CELLS / (2.0 * reach), SHADOW_CELLS), scene.light)
    lamps = [(lamp.x, lamp.y, lamp.z, *(c * lamp.reach_m**2 for c in lamp.color)) for lamp in scene.lamps]
    light = draw_light(view, rows, scene.sky, scene.light, sun, np.array(lamps).reshape(-1, 6), scene.land)
    return develop(light, scene.finish, generator)


def sun_map(rows: Array, view: View, light: Light) -> Map:
    """What the sun sees of solids."""
    nearness = np.full((view.height, view.width), NOTHING, np.float32)
    if light.sunlight[0] > 0.0:
        order = near_to_far(view, rows)
        casting = order[rows[order, CASTS] > 0.0]
        draw(view, rows, casting, textures().fine, nearness, np.empty(nearness.shape, np.int32))
    return view, nearness


def draw_light(
    view: View, rows: Array, sky: Sky, light: Light, sun: Map, lamps: Array = NO_LAMPS, land: Land | None = None
) -> Singles:
    """The light in each pixel, (H, W, 3); `view` has FINENESS times as many pixels each way."""
    nearness = np.full((view.height, view.width), NOTHING, np.float32)
    codes = np.full(nearness.shape, UNSEEN, np.int32)
    heights_m, cell_m, noise = NO_LAND, 1.0, textures()
    if land is not None:
        heights_m, cell_m = np.ascontiguousarray(land.heights_m), land.cell_m
        own = np.zeros((1, COLUMNS))
        own[0, KIND], own[0, MATERIAL : MATERIAL + 13] = LAND, land.paint.values()
        rows = np.concatenate([rows, own])
        draw_land(view, _net(view, heights_m, cell_m), (len(rows) - 1) * FACES + TOP, nearness, codes)
    draw(view, rows, near_to_far(view, rows), noise.fine, nearness, codes)
    return shade(view, rows, nearness, codes, heights_m, cell_m, noise, sky, light, lamps, *sun)


def _net(view: View, heights_m: Array, cell_m: float) -> Array:
    """Points (R, C, 3) on the land in rings around the camera, from left to right across its view."""
    cells = len(heights_m)
    count = int(np.log((cells / 2 - 2) * cell_m / NEAREST_LAND_M) / np.log(GROWTH)) + 1
    rings = NEAREST_LAND_M * GROWTH ** np.arange(count)
    half = np.arctan(0.52 * view.width / view.focal_px) + 0.06
    bearings = np.arctan2(view.forward[1], view.forward[0]) + np.linspace(half, -half, BEARINGS)
    x, y = rings[:, None] * np.cos(bearings), rings[:, None] * np.sin(bearings)
    heights = between(heights_m, x / cell_m + cells / 2, y / cell_m + cells / 2)
    return np.stack([view.eye[0] + x, view.eye[1] + y, heights], axis=-1)


def develop(light: Singles, finish: Finish, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light (H, W, 3), or gray light (H, W), into levels up to 255, by an exposure or of about the wanted mean."""
    if finish.blur_px > 0.0:
        light = _blurred(light, finish.blur_px)
    root = np.linspace(0.0, BRIGHTEST, ENTRIES)  # of the light; bright light saturates softly
    curve = (255.0 * (1.0 - np.exp(-root * root)) ** (0.5 * finish.contrast)).astype(np.float32)
    roots = np.sqrt(light * np.array(finish.tint, np.float32) if light.ndim == 3 else light)
    exposure = finish.exposure
    if exposure is None:  # the one at which a thinned-out picture has the wanted mean
        thin, low, high = np.ascontiguousarray(roots[1::4, 1::4]), -6.0, 6.0
        for _ in range(14):
            middle = 0.5 * (low + high)
            too_dark = float(_toned(thin, float(np.exp(middle)), curve).mean()) < 255.0 * finish.brightness
            low, high = (middle, high) if too_dark else (low, middle)
        exposure = float(np.exp(0.5 * (low + high)))
    levels = _toned(roots, exposure, curve)
    noise = np.float32(finish.noise_levels) * generator.standard_normal(levels.shape[:2], np.float32)
    levels += noise[:, :, None] if light.ndim == 3 else noise
    return digital(levels)


def _toned(roots: Singles, exposure: float, curve: Singles) -> Singles:
    """Look up the curve in a table, which costs a tenth of computing its exponentials and powers."""
    entries = roots * np.float32(exposure * (ENTRIES - 1) / BRIGHTEST)
    return np.asarray(curve[np.minimum(entries, np.float32(ENTRIES - 1)).astype(np.int32)])


def _blurred(light: Singles, blur_px: float) -> Singles:
    """A weighted mean of each pixel with its neighbours."""
    side = min(0.33, 0.25 * blur_px)
    for axis in (0, 1):
        before = np.concatenate([light.take([0], axis), light.take(range(light.shape[axis] - 1), axis)], axis)
        after = np.concatenate([light.take(range(1, light.shape[axis]), axis), light.take([-1], axis)], axis)
        light = np.float32(1.0 - 2.0 * side) * light + np.float32(side) * (before + after)
    return light


def luminance(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The gray of a coloured picture, (H, W) from (H, W, 3), equal to Pillow's."""
    total = sum(picture[:, :, k] * LUMA_WHOLE[k] for k in range(3))
    return np.asarray((total + np.uint32(0x8000)) >> np.uint32(16), np.uint8)


def digital(levels: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Gray levels as a picture holds them."""
    return np.asarray(np.clip(np.rint(levels), 0, 255), np.uint8)
