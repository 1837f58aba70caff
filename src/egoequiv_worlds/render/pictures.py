"""The three ways in which a picture is drawn: a mesh in a room, faces along a street, and solids met by rays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.backdrop import shade_backdrop
from egoequiv_worlds.render.camera import View, camera_view, orbit
from egoequiv_worlds.render.caster import FACES, FARTHEST, SKY, cast
from egoequiv_worlds.render.face_light import shade_objects
from egoequiv_worlds.render.face_raster import NOTHING, draw_blobs, draw_faces, visible
from egoequiv_worlds.render.faces import Blobs, Faces, Sky, chosen, joined
from egoequiv_worlds.render.fragments import fragments, march
from egoequiv_worlds.render.ground import Ground, Paving
from egoequiv_worlds.render.lamps import Lighting, lamps_around
from egoequiv_worlds.render.mesh_light import shade_ground, shade_toy
from egoequiv_worlds.render.noise import textures, white_noise
from egoequiv_worlds.render.painting import paint
from egoequiv_worlds.render.scene import Scene, sun_view, to_sun
from egoequiv_worlds.render.sensor import develop
from egoequiv_worlds.render.shadows import soft_mask
from egoequiv_worlds.render.solid_light import illuminate, light_values, paint_sky, sky_values
from egoequiv_worlds.render.solids import LAND, Solids
from egoequiv_worlds.render.surface import Surface
from egoequiv_worlds.render.triangles import project, project_parallel, rasterise

FINENESS = 2  # finer pixels to a pixel, each way
GAMMA = 0.62  # of the camera that looks at toys; gray levels follow light ** GAMMA
SHADOW_SIZE = 128  # of the map that the key light of a toy sees
SHADOW_CELLS = 192  # of the map that the sun of a place sees
NEAREST_LAND_M = 0.8  # below the picture's lower edge in every composition
NO_LAND = np.zeros((4, 4))


def draw_surface(
    toy: Surface, lighting: Lighting, pose_deg: Array, size: int, shift: Array, exposure: float
) -> NDArray[np.float64]:
    """The gray levels (size, size), from 0 to 255, seen from an (elevation, azimuth) under a lighting."""
    elevation_deg, azimuth_deg = float(pose_deg[0]), float(pose_deg[1])
    fine = size * FINENESS
    view = orbit(toy.centre, elevation_deg, azimuth_deg, fine, shift)
    lamps = lamps_around(lighting, azimuth_deg, SHADOW_SIZE)
    from_light = project_parallel(toy.vertices, toy.centre, lamps.basis, lamps.scale, SHADOW_SIZE / 2.0)
    shadow, _ = rasterise(from_light, toy.triangles, SHADOW_SIZE)
    seen = project(toy.vertices, view)
    _, faces = rasterise(seen, toy.triangles, fine)
    toy_light = shade_toy(view, toy, lamps, seen, shadow, faces)
    light = shade_ground(view, toy, lamps, soft_mask(shadow), faces, FINENESS) + averaged(toy_light, FINENESS)
    levels: NDArray[np.float64] = 255.0 * np.clip(exposure * light, 0.0, 1.0) ** GAMMA
    return levels


def averaged(fine: Array, times: int) -> Array:
    """A picture made smaller by a whole factor; by slices, because a mean over two short axes is slow."""
    total: Array = sum((fine[j::times, i::times] for j in range(times) for i in range(times)), np.zeros(()))
    return total / times**2


@dataclass(frozen=True, eq=False)
class Street:
    """All of a street that does not move."""

    faces: Faces
    face_centres: Array  # (F, 3)
    face_radii: Array  # (F,)
    blobs: Blobs
    sky: Sky
    ground: Ground
    paving: Paving


def draw_street(view: View, setting: Street, moving: Sequence[Faces]) -> NDArray[np.float32]:
    """The light in each pixel of a street, (H, W, 3); `view` has FINENESS times as many pixels each way."""
    far_m = 2.0 * setting.sky.fog_m
    near = visible(view, setting.face_centres, setting.face_radii, far_m)
    faces = joined([chosen(setting.faces, near), *moving])
    near = visible(view, setting.blobs.centres, setting.blobs.radii.max(axis=1), far_m)
    depths = (setting.blobs.centres[near] - view.eye) @ view.forward
    near = near[np.argsort(depths, kind="stable")]  # objects in front first, so that hidden ones are skipped early
    blobs = chosen(setting.blobs, near)
    nearness = np.zeros((view.height, view.width), np.float32)
    seen = np.full((view.height, view.width), NOTHING, np.int32)
    draw_faces(view, faces, nearness, seen)
    draw_blobs(view, blobs, white_noise(), len(faces.materials), nearness, seen)
    light = np.zeros((view.height // FINENESS, view.width // FINENESS, 3), np.float32)
    shade_backdrop(view, faces, setting.sky, setting.ground, setting.paving, white_noise(), seen, light)
    shade_objects(view, faces, blobs, setting.sky, white_noise(), nearness, seen, light)
    return light


def draw_solids(scene: Scene, width: int, height: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Draw a place in colour, (height, width, 3)."""
    noise = textures()
    view, _ = camera_view(scene.camera, FINENESS * width, FINENESS * height)
    depth = np.full((FINENESS * height, FINENESS * width), FARTHEST)
    code = np.full(depth.shape, SKY, np.int32)
    solids, heights_m, cell_m = _with_land(scene, view, depth, code)
    cast(solids, view, noise.leaves, depth, code, False)
    found = fragments(depth, code, view, solids, heights_m, cell_m)
    colors = paint(found, solids, noise.fine, noise.cloud)
    towards, sun = to_sun(scene.light), np.array(scene.light.sun)
    paint_sky(found, sky_values(scene.sky), towards, sun, noise.cloud, colors)
    shadow_view = sun_view(scene.light, scene.camera, SHADOW_CELLS)
    shadows = np.full((SHADOW_CELLS, SHADOW_CELLS), FARTHEST)
    if scene.light.sun[0] > 0.0:
        cast(solids, shadow_view, noise.leaves, shadows, np.empty(shadows.shape, np.int32), True)
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
