"""The setting of a drive: its weather, which road is near each place, and where the sun does not reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import cKDTree

from egoequiv_worlds.render.arrays import Array, vector
from egoequiv_worlds.render.faces import GLASS, PAINT, SHADE, Blobs, Faces, Sky
from egoequiv_worlds.render.ground import CELLS, FIELDS, LAWN, LIGHT_CELLS, PLAZA, TILE_M, Ground, Paving
from egoequiv_worlds.render.shadows import cast_blob_shadows, cast_face_shadows
from egoequiv_worlds.street.areas import MEDIAN_M, Drive
from egoequiv_worlds.street.route import EASE_M, Route

SKYLINE_STEPS = 512
FOG_M = {"campus": 330.0, "city": 260.0, "residential": 300.0, "road": 420.0}  # where haze takes half of the light

REACH_M = 48.0  # how far from a road the ground has details of it
KINDS = {"campus": LAWN, "city": PLAZA, "residential": LAWN, "road": FIELDS}


def sky(drive: Drive) -> Sky:
    """Generate the weather of a drive."""
    rng = drive.generator(50)
    azimuth, elevation = rng.uniform(0, 2 * np.pi), np.radians(rng.uniform(28.0, 62.0))
    cover = float(rng.choice([rng.uniform(0.0, 0.3), rng.uniform(0.3, 0.6), rng.uniform(0.8, 1.0)]))
    clear = 1.0 - 0.85 * max(0.0, cover - 0.3) / 0.7
    warm = rng.uniform(0.0, 1.0)
    blue, gray = np.array([0.28, 0.45, 0.78]), np.array([0.62, 0.65, 0.70])
    zenith = blue + (gray - blue) * cover
    horizon = np.array([0.74, 0.79, 0.84]) - 0.10 * cover + 0.05 * warm * np.array([1.0, 0.2, -0.6])
    return Sky(
        sun=vector([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)]),
        sunlight=vector(clear * rng.uniform(1.5, 2.1) * np.array([1.0, 0.96 - 0.05 * warm, 0.88 - 0.12 * warm])),
        ambient=vector(np.array([0.40, 0.44, 0.50]) * (1.0 + 0.9 * cover)),
        zenith=vector(zenith),
        horizon=vector(horizon),
        skyline=vector(0.72 * horizon + 0.28 * np.array([0.16, 0.20, 0.16])),
        cover=cover,
        fog_m=float(FOG_M[drive.area] * rng.uniform(0.8, 1.3)),
    )


def skyline(drive: Drive) -> Array:
    """The slope (512,) of what stands on the horizon, by azimuth: roofs around a city, trees and hills elsewhere."""
    area, rng = drive.area, drive.generator(51)
    if area == "city":
        blocks = np.repeat(rng.uniform(0.02, 0.12, SKYLINE_STEPS // 8), 8)
        return np.asarray(gaussian_filter1d(blocks, 0.6, mode="wrap"))
    hills = gaussian_filter1d(rng.standard_normal(SKYLINE_STEPS), 18.0, mode="wrap") * 5.0
    trees = gaussian_filter1d(rng.standard_normal(SKYLINE_STEPS), 1.2, mode="wrap")
    scale = {"campus": (0.035, 0.008, 0.010), "residential": (0.04, 0.008, 0.014), "road": (0.022, 0.012, 0.003)}[area]
    return np.asarray(np.maximum(scale[0] + scale[1] * hills + scale[2] * trees, 0.004))


def ground(drive: Drive, way: Route, sky: Sky, faces: Faces, blobs: Blobs) -> Ground:
    """Lay out the ground under everything that stands on it, and put cars that stand in a shadow there (in `faces`)."""
    rng = drive.generator(60)
    streets = np.array(
        [[*s.points[0], np.cos(s.headings_rad[0]), np.sin(s.headings_rad[0]), s.lengths_m[-1]] for s in way.streets]
    )
    origin, tile_of, corners = _tiles(way)
    cells = _cells(way, corners)
    sunshine = np.ones((len(corners), LIGHT_CELLS, LIGHT_CELLS), np.float32)
    laid = Ground(origin, tile_of, cells, sunshine, _middle(drive, way), streets.reshape(-1, 5), skyline(drive))
    is_car, is_shade = np.isin(faces.materials, (PAINT, GLASS)), faces.materials == SHADE
    cast_face_shadows(faces.corners[~(is_car | is_shade)], sky.sun, origin, tile_of, sunshine)
    dapple = rng.uniform(0.15, 0.6, (64, 64))
    cast_blob_shadows(blobs.centres, blobs.radii, sky.sun, dapple, origin, tile_of, sunshine)
    faces.params[is_car, 0] = 1.0 - sunshine_under(laid, faces.corners[is_car, :, :2].mean(axis=1))
    cast_face_shadows(faces.corners[is_car], sky.sun, origin, tile_of, sunshine)
    return laid


def sunshine_under(ground: Ground, places: Array) -> Array:
    """The share of the sun that reaches the ground at places (P, 2)."""
    cells = np.floor((places - ground.origin) * (LIGHT_CELLS / TILE_M)).astype(int)
    tiles, within = cells // LIGHT_CELLS, cells % LIGHT_CELLS
    rows, columns = ground.tile_of.shape
    known = (tiles >= 0).all(axis=1) & (tiles < (columns, rows)).all(axis=1)
    share = np.ones(len(places))
    tile = ground.tile_of[tiles[known, 1], tiles[known, 0]]
    found = ground.sunshine[tile, within[known, 1], within[known, 0]]
    share[known] = np.where(tile >= 0, found, 1.0)
    return share


def paving(drive: Drive) -> Paving:
    """What the roads of a drive and the ground between them are made of."""
    style, rng = drive.style, drive.generator(61)
    turn = rng.uniform(0.0, np.pi)
    centre_line = 1.0 if drive.area == "city" else float(rng.choice([0.0, 0.0, 0.8]))
    asphalt = np.array([0.155, 0.155, 0.16]) * rng.uniform(0.75, 1.35)
    pavement = np.array([0.34, 0.33, 0.31]) * rng.uniform(0.8, 1.15)
    lawns = np.array([(0.17, 0.22, 0.07), (0.08, 0.12, 0.03)]) * rng.uniform(0.8, 1.2, (1, 3))
    plaza = np.array([(0.33, 0.32, 0.30), (0.24, 0.23, 0.22)]) * rng.uniform(0.85, 1.1)
    first, second = plaza if drive.area == "city" else lawns
    kerb = second * 1.3 if style.pavement_m == 0.0 else np.array([0.42, 0.41, 0.40])
    return Paving(
        asphalt=vector(asphalt),
        lines=(0.66, 0.66, 0.63),
        kerb=vector(kerb),
        pavement=vector(pavement),
        first=vector(first),
        second=vector(second),
        half_width_m=style.half_width_m,
        pavement_m=style.pavement_m,
        lane_m=style.lane_m,
        lanes=style.lanes_each_way,
        median_m=MEDIAN_M if style.lanes_each_way > 1 else 0.0,
        centre_line=centre_line,
        kind=KINDS[drive.area],
        grain=(float(np.cos(turn)), float(np.sin(turn))),
    )


def _tiles(way: Route) -> tuple[Array, NDArray[np.int32], Array]:
    """The tiles near a road: the corner of all, the number of each or -1, and the corners (T, 2) of those numbered."""
    points = np.concatenate([way.middle.points[::8], *(street.points[::8] for street in way.streets)])
    low, high = points.min(axis=0) - REACH_M, points.max(axis=0) + REACH_M
    columns, rows = (np.ceil((high - low) / TILE_M).astype(int)).tolist()
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    corners = low + TILE_M * np.stack([x, y], axis=-1)
    near = cKDTree(points).query(corners + TILE_M / 2)[0] < REACH_M + TILE_M * 0.71
    tile_of = np.full((rows, columns), -1, np.int32)
    tile_of[near] = np.arange(near.sum())
    return low, tile_of, corners[near]


def _cells(way: Route, corners: Array) -> NDArray[np.int32]:
    """For each cell of each tile the nearest point of the route and the two nearest streets, (T, CELLS, CELLS, 3)."""
    offsets = (np.arange(CELLS) + 0.5) * TILE_M / CELLS
    x, y = np.meshgrid(offsets, offsets)
    middles = corners[:, None, None] + np.stack([x, y], axis=-1)
    cells = np.full((len(corners), CELLS, CELLS, 3), -1, np.int32)
    distance, nearest = cKDTree(way.middle.points).query(middles)
    cells[..., 0] = np.where(distance < REACH_M, nearest, -1)
    if not way.streets:
        return cells
    points = np.concatenate([street.points[::4] for street in way.streets])
    owner = np.repeat(np.arange(len(way.streets)), [len(street.points[::4]) for street in way.streets])
    distance, found = cKDTree(points).query(middles, k=min(len(points), 48))
    first = owner[found[..., 0]]
    cells[..., 1] = np.where(distance[..., 0] < 24.0, first, -1)
    differs = (owner[found] != first[..., None]) & (distance < 24.0)
    second = np.take_along_axis(owner[found], differs.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    cells[..., 2] = np.where(differs.any(axis=-1), second, -1)
    return cells


def _middle(drive: Drive, way: Route) -> Array:
    """The points of the route with their directions, their zebra crossings and where lines are painted; (M, 6)."""
    line, style = way.middle, drive.style
    crossing, painted = np.zeros(len(line.points)), np.ones(len(line.points))
    for junction in way.junctions:
        if not junction.has_streets:
            continue
        margin = 1.0 if junction.turns else 0.0
        begin, end = junction.begin_m + margin, junction.end_m - margin
        painted[(line.lengths_m > begin - EASE_M - 2.0) & (line.lengths_m < end + EASE_M + 2.0)] = 0.0
        if drive.area == "city":
            for zebra_m in (begin - 5.0 - style.pavement_m / 2, end + 1.5 + style.pavement_m / 2):
                crossing[(line.lengths_m >= zebra_m) & (line.lengths_m < zebra_m + 3.2)] = 0.9
    painted[crossing > 0] = 0.0
    cos, sin = np.cos(line.headings_rad), np.sin(line.headings_rad)
    return np.column_stack([line.points, cos, sin, crossing, painted])
