"""From a composed place to a picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.place.caster import FACES, NOTHING, SKY, cast
from egoequiv.worlds.place.developing import develop
from egoequiv.worlds.place.fragments import fragments
from egoequiv.worlds.place.lighting import illuminate, light_values
from egoequiv.worlds.place.march import march
from egoequiv.worlds.place.noise import noise
from egoequiv.worlds.place.painting import paint
from egoequiv.worlds.place.scene import Scene
from egoequiv.worlds.place.sky import paint_sky, sky_values
from egoequiv.worlds.place.solids import LAND, Array, Solids
from egoequiv.worlds.place.views import camera_view, sun_view, to_sun

SHADOW_CELLS = 192
NEAREST_LAND_M = 0.8  # below the picture's lower edge in every composition
NO_LAND = np.zeros((4, 4))


def render(scene: Scene, width: int, height: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Draw a place in colour, (height, width, 3)."""
    textures = noise()
    view, _ = camera_view(scene.camera, 2 * width, 2 * height)
    depth = np.full((2 * height, 2 * width), NOTHING)
    code = np.full(depth.shape, SKY, np.int32)
    solids, heights_m, cell_m = _with_land(scene, view, depth, code)
    cast(solids, view, textures.leaves, depth, code, False)
    found = fragments(depth, code, view, solids, heights_m, cell_m)
    colors = paint(found, solids, textures.fine, textures.cloud)
    towards, sun = to_sun(scene.light), np.array(scene.light.sun)
    paint_sky(found, sky_values(scene.sky), towards, sun, textures.cloud, colors)
    shadow_view = sun_view(scene.light, scene.camera, SHADOW_CELLS)
    shadows = np.full((SHADOW_CELLS, SHADOW_CELLS), NOTHING)
    if scene.light.sun[0] > 0.0:
        cast(solids, shadow_view, textures.leaves, shadows, np.empty(shadows.shape, np.int32), True)
    values = light_values(scene.light, scene.sky, towards, view[0])
    picture = illuminate(found, colors, solids, values, shadow_view, shadows, width * height)
    return develop(picture.reshape(height, width, 3), scene.finish, generator)


def _with_land(scene: Scene, view: Array, depth: Array, code: NDArray[np.int32]) -> tuple[Array, Array, float]:
    """Draw the land first, and give its paint a row beside the solids."""
    if scene.land is None:
        return scene.solids.array(), NO_LAND, 1.0
    own = Solids([*scene.solids.rows])
    own.add(LAND, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), scene.land.paint)
    heights_m, cell_m = np.ascontiguousarray(scene.land.heights_m), scene.land.cell_m
    march(heights_m, cell_m, view, NEAREST_LAND_M, depth, code, (len(own.rows) - 1) * FACES + 3)
    return own.array(), heights_m, cell_m
