"""The scene of a drive: everything that does not move, built once in each process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.street.areas import Drive
from egoequiv.worlds.street.backdrop import Ground, Paving
from egoequiv.worlds.street.ground import ground, paving
from egoequiv.worlds.street.motion import track
from egoequiv.worlds.street.route import AHEAD_M, Route, route
from egoequiv.worlds.street.scenery import furnish
from egoequiv.worlds.street.shapes import Blobs, Faces, Sky, blobs, joined_blobs, joined_faces, no_faces
from egoequiv.worlds.street.site import Site
from egoequiv.worlds.street.sky import sky

Array = NDArray[np.float64]

# A camera adjusts its exposure: the open sky above a road gives more light than a street of facades.
EXPOSURE = {"campus": 0.86, "city": 0.92, "residential": 0.76, "road": 0.56}


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a picture needs except its time."""

    faces: Faces
    face_centres: Array  # (F, 3)
    face_radii: Array  # (F,)
    blobs: Blobs
    sky: Sky
    ground: Ground
    paving: Paving
    exposure: float


@lru_cache(maxsize=8)
def scene(drive: Drive) -> Scene:
    """Build the scene of a drive."""
    way = _seen_route(drive)
    site = Site(drive, way, drive.generator(40))
    furnish(site)
    faces = joined_faces([no_faces(), *site.faces])
    leaves = joined_blobs([blobs([], 0.0), *site.blobs])
    weather = sky(drive)
    centres = faces.corners.mean(axis=1)
    return Scene(
        faces=faces,
        face_centres=centres,
        face_radii=np.linalg.norm(faces.corners - centres[:, None], axis=2).max(axis=1),
        blobs=leaves,
        sky=weather,
        ground=ground(drive, way, weather, faces, leaves),
        paving=paving(drive),
        exposure=EXPOSURE[drive.area] * (1.0 + 0.25 * weather.cover) * float(drive.generator(80).uniform(0.85, 1.15)),
    )


def _seen_route(drive: Drive) -> Route:
    """The part of the route that is visible in the drive."""
    way, driven = route(drive), track(drive)
    own_m = float(driven.lengths_at(np.asarray(drive.seconds)))
    return way.until(float(np.interp(own_m, driven.lane.lengths_m, way.middle.lengths_m)) + AHEAD_M[drive.area])
