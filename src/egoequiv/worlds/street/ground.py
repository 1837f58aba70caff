"""The ground of a drive: which road is near each place, and where the sun does not reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.street.areas import MEDIAN_M, Drive
from egoequiv.worlds.street.backdrop import CELLS, FIELDS, LAWN, LIGHT_CELLS, PLAZA, TILE_M, Ground, Paving
from egoequiv.worlds.street.route import EASE_M, Route
from egoequiv.worlds.street.shapes import GLASS, PAINT, SHADE, Blobs, Faces, Sky, Vector, vector
from egoequiv.worlds.street.sky import skyline

Array = NDArray[np.float64]

REACH_M = 48.0  # how far from a road the ground has details of it
KINDS = {"campus": LAWN, "city": PLAZA, "residential": LAWN, "road": FIELDS}


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


@compiled
def cast_face_shadows(
    corners: Array, sun: Vector, origin: Array, tile_of: NDArray[np.int32], sunshine: NDArray[np.float32]
) -> None:
    """Take the sun from the ground behind each face (F, 4, 3)."""
    cell = TILE_M / LIGHT_CELLS
    xs, ys = np.empty(4), np.empty(4)
    for f in range(len(corners)):
        for k in range(4):
            drop = corners[f, k, 2] / sun[2]
            xs[k] = (corners[f, k, 0] - drop * sun[0] - origin[0]) / cell
            ys[k] = (corners[f, k, 1] - drop * sun[1] - origin[1]) / cell
        area = 0.0
        for k in range(4):
            n = (k + 1) % 4
            area += xs[k] * ys[n] - xs[n] * ys[k]
        turn = 1.0 if area > 0 else -1.0
        for j in range(max(0, int(ys.min())), min(tile_of.shape[0] * LIGHT_CELLS - 1, int(ys.max())) + 1):
            for i in range(max(0, int(xs.min())), min(tile_of.shape[1] * LIGHT_CELLS - 1, int(xs.max())) + 1):
                tile = tile_of[j // LIGHT_CELLS, i // LIGHT_CELLS]
                inside = tile >= 0
                for k in range(4):
                    n = (k + 1) % 4
                    side = (xs[n] - xs[k]) * (j + 0.5 - ys[k]) - (ys[n] - ys[k]) * (i + 0.5 - xs[k])
                    inside = inside and turn * side >= 0.0
                if inside:
                    sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS] = 0.0


@compiled
def cast_blob_shadows(
    centres: Array,
    radii: Array,
    sun: Vector,
    dapple: Array,
    origin: Array,
    tile_of: NDArray[np.int32],
    sunshine: NDArray[np.float32],
) -> None:
    """Take most of the sun from the ground behind each blob of leaves, patchily."""
    cell = TILE_M / LIGHT_CELLS
    flat = np.sqrt(sun[0] * sun[0] + sun[1] * sun[1]) + 1e-9
    for b in range(len(centres)):
        level, upright, drop = radii[b, 0], radii[b, 1], centres[b, 2] / sun[2]
        x, y = centres[b, 0] - drop * sun[0], centres[b, 1] - drop * sun[1]
        long = np.sqrt(level * level + (upright * flat / sun[2]) ** 2)
        left, low = int((x - long - origin[0]) / cell), int((y - long - origin[1]) / cell)
        count = int(2 * long / cell) + 1
        for j in range(max(0, low), min(tile_of.shape[0] * LIGHT_CELLS, low + count)):
            for i in range(max(0, left), min(tile_of.shape[1] * LIGHT_CELLS, left + count)):
                tile = tile_of[j // LIGHT_CELLS, i // LIGHT_CELLS]
                dx, dy = origin[0] + (i + 0.5) * cell - x, origin[1] + (j + 0.5) * cell - y
                along, across = (dx * sun[0] + dy * sun[1]) / flat, (dy * sun[0] - dx * sun[1]) / flat
                if tile >= 0 and (along / long) ** 2 + (across / level) ** 2 < 1.0:
                    light = np.float32(dapple[j % 64, i % 64])
                    here = sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS]
                    sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS] = min(here, light)
