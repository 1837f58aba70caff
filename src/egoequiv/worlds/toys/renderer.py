"""One picture of a toy: from its surface, a lighting and a viewpoint to gray levels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.toys.camera import orbit
from egoequiv.worlds.toys.catalogue import Toy, parts
from egoequiv.worlds.toys.lighting import Lighting, lamps_around
from egoequiv.worlds.toys.mesh import Array
from egoequiv.worlds.toys.rasteriser import project, project_parallel, rasterise
from egoequiv.worlds.toys.shading import shade_ground, shade_toy, soft_mask
from egoequiv.worlds.toys.surface import Surface, surface

SHADOW_SIZE = 128
SUPERSAMPLING = 2
GAMMA = 0.62  # a camera's response; gray levels follow light ** GAMMA


@lru_cache(maxsize=64)
def built(toy: Toy) -> Surface:
    """The surface of a toy, built once in each process."""
    return surface(parts(toy))


def render(
    toy: Surface, lighting: Lighting, pose_deg: Array, size: int, shift: Array, exposure: float
) -> NDArray[np.float64]:
    """The gray levels (size, size), from 0 to 255, seen from an (elevation, azimuth) under a lighting."""
    elevation_deg, azimuth_deg = float(pose_deg[0]), float(pose_deg[1])
    fine = size * SUPERSAMPLING
    camera = orbit(toy.centre, elevation_deg, azimuth_deg, fine, shift)
    lamps = lamps_around(lighting, azimuth_deg, SHADOW_SIZE)
    from_light = project_parallel(toy.vertices, toy.centre, lamps.basis, lamps.scale, SHADOW_SIZE / 2.0)
    shadow, _ = rasterise(from_light, toy.triangles, SHADOW_SIZE)
    seen = project(toy.vertices, camera.eye, camera.basis, camera.focal, camera.middle)
    _, faces = rasterise(seen, toy.triangles, fine)
    toy_light = shade_toy(camera, toy, lamps, seen, shadow, faces)
    light = shade_ground(camera, toy, lamps, soft_mask(shadow), faces, SUPERSAMPLING) + averaged(
        toy_light, SUPERSAMPLING
    )
    levels: NDArray[np.float64] = 255.0 * np.clip(exposure * light, 0.0, 1.0) ** GAMMA
    return levels


def averaged(fine: Array, times: int) -> Array:
    """A picture made smaller by a whole factor; by slices, because a mean over two short axes is slow."""
    total: Array = sum((fine[j::times, i::times] for j in range(times) for i in range(times)), np.zeros(()))
    return total / times**2
