"""Triangle meshes: the solids toys are made of, moving and joining them, and the normals that make them look smooth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoequiv_worlds.render import Array

Triangles = NDArray[np.int32]

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
CREASE_DEG = 50.0  # faces that meet at less than this are shaded as one smooth surface


class Mesh(NamedTuple):
    """A closed surface; vertices (V, 3), triangles (T, 3) counter-clockwise seen from outside."""

    vertices: Array
    triangles: Triangles

    def moved(self, by: ArrayLike) -> Mesh:
        """The mesh shifted by a vector (3,)."""
        return Mesh(self.vertices + np.asarray(by, np.float64), self.triangles)

    def turned(self, axis: str, angle_deg: float) -> Mesh:
        """The mesh turned about the x, y or z axis through the origin, by the right-hand rule."""
        first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        cos, sin = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
        vertices = self.vertices.copy()
        vertices[:, first] = cos * self.vertices[:, first] - sin * self.vertices[:, second]
        vertices[:, second] = sin * self.vertices[:, first] + cos * self.vertices[:, second]
        return Mesh(vertices, self.triangles)

    def narrowed(self, from_z: float, to_z: float, by: float) -> Mesh:
        """The mesh drawn in sideways (along y) towards its top, as the cabin of a car is."""
        share = np.clip((self.vertices[:, 2] - from_z) / (to_z - from_z), 0.0, 1.0)
        vertices = self.vertices.copy()
        vertices[:, 1] *= 1.0 - by * share
        return Mesh(vertices, self.triangles)

    def mirrored(self) -> Mesh:
        """The mesh reflected to the other side of the plane y = 0."""
        return Mesh(self.vertices * (1.0, -1.0, 1.0), np.ascontiguousarray(self.triangles[:, ::-1]))

    def volume(self) -> float:
        """The enclosed volume; negative where the surface is inside out."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


class Part(NamedTuple):
    """A piece of a toy in one paint, whose albedo lies between 0 (black) and 1 (white)."""

    mesh: Mesh
    albedo: float


def outward(mesh: Mesh) -> Mesh:
    """The same surface with its triangles facing outwards."""
    if mesh.volume() >= 0.0:
        return mesh
    return Mesh(mesh.vertices, np.ascontiguousarray(mesh.triangles[:, ::-1]))


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one; their vertices are not merged."""
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    triangles = np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)])
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), triangles.astype(np.int32))


def corner_normals(mesh: Mesh) -> Array:
    """Unit normals for each corner of each triangle, smooth across gentle edges only; (T, 3, 3)."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)  # weighting by area keeps the large faces of a bevelled box flat
    units = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-12)
    corners = mesh.triangles.ravel()
    order, counts = np.argsort(corners, kind="stable"), np.bincount(corners, minlength=len(mesh.vertices))
    around = np.full((len(mesh.vertices), int(counts.max())), -1, np.int64)  # the triangles that touch each vertex
    around[corners[order], np.arange(len(corners)) - np.repeat(np.cumsum(counts) - counts, counts)] = order // 3
    faces = around[mesh.triangles]  # (T, 3, valence), -1 where there are fewer
    agreement = np.einsum("tkvi,ti->tkv", units[faces], units)
    counted = (faces >= 0) & (agreement > np.cos(np.radians(CREASE_DEG)))
    normals = np.einsum("tkv,tkvi->tki", counted.astype(np.float64), areas[faces])
    lengths = np.linalg.norm(normals, axis=2, keepdims=True)
    return np.asarray(np.where(lengths > 1e-12, normals / np.maximum(lengths, 1e-12), units[:, None, :]))


def loft(rings: ArrayLike, first: ArrayLike | None = None, last: ArrayLike | None = None) -> Mesh:
    """A skin over rings of equally many points, (R, n, 3), closed by fans around the points `first` and `last`."""
    stack = np.asarray(rings, np.float64)
    count, n = stack.shape[:2]
    poles = [stack[0].mean(axis=0) if first is None else first, stack[-1].mean(axis=0) if last is None else last]
    here, following = np.arange(n), (np.arange(n) + 1) % n
    below = np.stack([np.full(n, count * n), following, here], axis=1)
    above = np.stack([np.full(n, count * n + 1), (count - 1) * n + here, (count - 1) * n + following], axis=1)
    vertices = np.concatenate([stack.reshape(-1, 3), np.asarray(poles, np.float64)])
    return outward(Mesh(vertices, np.concatenate([_skin(count, n), below, above]).astype(np.int32)))


def _skin(rings: int, n: int) -> Triangles:
    """The triangles between successive rings of n points."""
    start = np.arange(rings - 1)[:, None] * n
    here, following = start + np.arange(n), start + (np.arange(n) + 1) % n
    lower = np.stack([here, following, following + n], axis=-1)
    upper = np.stack([here, following + n, here + n], axis=-1)
    return np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)]).astype(np.int32)


def ellipsoid(centre: ArrayLike, radii: ArrayLike, segments: int = 14) -> Mesh:
    """An ellipsoid with its axes along x, y and z."""
    polar = np.linspace(0.0, np.pi, segments // 2 + 2)[1:-1, None]
    around = np.linspace(0.0, 2 * np.pi, segments, endpoint=False)[None, :]
    ball = np.stack(np.broadcast_arrays(np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), -np.cos(polar)))
    size, middle = np.asarray(radii, np.float64), np.asarray(centre, np.float64)
    rings = np.moveaxis(ball, 0, -1) * size + middle
    return loft(rings, middle - size * AXES["z"], middle + size * AXES["z"])


def tube(points: ArrayLike, radii: ArrayLike, segments: int = 12) -> Mesh:
    """A rounded tube along a bent line (P, 3), its radius given at each point: (P,), or (P, 2) for across and up."""
    path, size = np.asarray(points, np.float64), np.asarray(radii, np.float64)
    size = np.stack([size, size], axis=1) if size.ndim == 1 else size
    tangents = _unit(np.gradient(path, axis=0))
    first, last = tangents[0], tangents[-1]
    start, end, bend = size[0].min(), size[-1].min(), np.radians([65.0, 35.0])[:, None]  # half a ball at each end
    head, tail = path[0] - first * start * np.sin(bend), path[-1] + last * end * np.sin(bend[::-1])
    radii = np.concatenate([size[0] * np.cos(bend), size, size[-1] * np.cos(bend[::-1])])
    rings = _circles(np.concatenate([head, path, tail]), radii, np.pad(tangents, ((2, 2), (0, 0)), "edge"), segments)
    return loft(rings, path[0] - first * start, path[-1] + last * end)


def capsule(start: ArrayLike, end: ArrayLike, start_radius: float, end_radius: float, segments: int = 10) -> Mesh:
    """A straight rounded tube, tapered if the radii differ."""
    return tube(np.array([start, end], np.float64), [start_radius, end_radius], segments)


def lathe(origin: ArrayLike, axis: str, profile: Sequence[tuple[float, float]], segments: int = 16) -> Mesh:
    """A solid of revolution: pairs (how far along the axis, radius), with flat ends."""
    along, radii = np.array(profile, np.float64).T
    direction = np.array(AXES[axis])
    path = np.asarray(origin, np.float64) + along[:, None] * direction
    tangents = np.broadcast_to(direction, path.shape)
    return loft(_circles(path, np.stack([radii, radii], axis=1), tangents, segments), path[0], path[-1])


def cylinder(origin: ArrayLike, axis: str, length: float, radius: float, segments: int = 16) -> Mesh:
    """A cylinder with softened rims, centred on its origin."""
    half, soft = length / 2, min(0.15 * radius, 0.3 * length)
    profile = [(-half, radius - soft), (-half + soft, radius), (half - soft, radius), (half, radius - soft)]
    return lathe(origin, axis, profile, segments)


def extrusion(profile: ArrayLike, width: float, bevel: float = 0.02) -> Mesh:
    """A side view (n, 2) in x and z, given a width along y and bevelled rims; the outline may have dents."""
    outline = np.asarray(profile, np.float64)
    if _area(outline) > 0:
        outline = outline[::-1]  # clockwise in (x, z) is counter-clockwise seen from +y
    before, after = _unit(outline - np.roll(outline, 1, axis=0)), _unit(np.roll(outline, -1, axis=0) - outline)
    inward = np.stack([after[:, 1], -after[:, 0]], axis=1)
    mitre = np.stack([before[:, 1], -before[:, 0]], axis=1) + inward
    inner = outline + bevel * mitre / np.maximum(np.sum(mitre * inward, axis=1, keepdims=True), 0.3)
    layers = [(-width / 2, inner), (-width / 2 + bevel, outline), (width / 2 - bevel, outline), (width / 2, inner)]
    rings = [np.stack([flat[:, 0], np.full(len(flat), y), flat[:, 1]], axis=1) for y, flat in layers]
    n = len(outline)
    cap = (n - 1 - _ears(inner[::-1])).astype(np.int32)
    triangles = np.concatenate([_skin(4, n), cap, 3 * n + cap[:, ::-1]]).astype(np.int32)
    return outward(Mesh(np.concatenate(rings), triangles))


def box(centre: ArrayLike, size: ArrayLike, bevel: float = 0.03) -> Mesh:
    """A box with bevelled edges; size along x, y and z."""
    length, width, height = np.asarray(size, np.float64)
    soft = min(bevel, 0.4 * min(length, width, height))
    x, z = length / 2, height / 2
    outline = [(-x + soft, -z), (x - soft, -z), (x, -z + soft), (x, z - soft)]
    outline += [(x - soft, z), (-x + soft, z), (-x, z - soft), (-x, -z + soft)]
    return extrusion(outline, float(width), soft).moved(centre)


def blade(root: ArrayLike, tip: ArrayLike, chords: tuple[float, float], thickness: float, across: str = "z") -> Mesh:
    """A wing or fin from root to tip, its chords along x, its thickness along another axis."""
    turn = np.linspace(0.0, 2 * np.pi, 10, endpoint=False)
    along, thick = np.cos(turn), np.sin(turn) * (1.2 + 0.5 * np.cos(turn)) / 1.5  # fuller in front than behind
    rings = []
    for middle, chord, depth in ((root, chords[0], thickness), (tip, chords[1], 0.5 * thickness)):
        offset = np.outer(along, AXES["x"]) * chord / 2 + np.outer(thick, AXES[across]) * depth / 2
        rings.append(np.asarray(middle, np.float64) + offset)
    return loft(rings)


def _circles(path: Array, radii: Array, tangents: Array, segments: int) -> Array:
    """Rings around a path, (P, segments, 3), carried along without twist."""
    turn = np.linspace(0.0, 2 * np.pi, segments, endpoint=False)
    side, rings = np.cross(AXES["z"] if abs(tangents[0, 2]) < 0.9 else AXES["x"], tangents[0]), []
    for middle, (across, up), tangent in zip(path, radii, tangents, strict=True):
        side = _unit(side - tangent * np.dot(side, tangent))
        over = np.cross(tangent, side)
        rings.append(middle + across * np.outer(np.cos(turn), side) + up * np.outer(np.sin(turn), over))
    return np.stack(rings)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def _area(outline: Array) -> float:
    x, z = outline.T
    return float(np.sum(x * np.roll(z, -1) - np.roll(x, -1) * z) / 2)


def _ears(outline: Array) -> Triangles:
    """Cut a counter-clockwise polygon (n, 2) into triangles, one ear after another."""
    left, triangles = list(range(len(outline))), []
    while len(left) > 3:
        at = next((k for k in range(len(left)) if _is_ear(outline, left, k)), 0)
        triangles.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    return np.array([*triangles, left], np.int32)


def _is_ear(outline: Array, left: list[int], at: int) -> bool:
    a, b, c = (outline[left[(at + k) % len(left)]] for k in (-1, 0, 1))
    if _area(np.stack([a, b, c])) <= 0:
        return False
    others = outline[[k for k in left if k not in (left[at - 1], left[at], left[(at + 1) % len(left)])]]
    inside = np.ones(len(others), bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (q[0] - p[0]) * (others[:, 1] - p[1]) - (q[1] - p[1]) * (others[:, 0] - p[0]) >= 0
    return not inside.any()
