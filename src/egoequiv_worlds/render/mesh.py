"""Triangle meshes: moving them, joining them, and the normals that make them look smooth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoequiv_worlds.render.arrays import Array

Triangles = NDArray[np.int32]

CREASE_DEG = 50.0  # faces that meet at less than this are shaded as one smooth surface


@dataclass(frozen=True, eq=False)
class Mesh:
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


def outward(mesh: Mesh) -> Mesh:
    """The same surface with its triangles facing outwards."""
    if mesh.volume() >= 0.0:
        return mesh
    return Mesh(mesh.vertices, np.ascontiguousarray(mesh.triangles[:, ::-1]))


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one; their vertices are not merged."""
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)]).astype(np.int32),
    )


def corner_normals(mesh: Mesh) -> Array:
    """Unit normals for each corner of each triangle, smooth across gentle edges only; (T, 3, 3)."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)  # weighting by area keeps the large faces of a bevelled box flat
    units = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-12)
    faces = _faces_around(mesh)[mesh.triangles]  # (T, 3, valence), -1 where there are fewer
    agreement = np.einsum("tkvi,ti->tkv", units[faces], units)
    counted = (faces >= 0) & (agreement > np.cos(np.radians(CREASE_DEG)))
    normals = np.einsum("tkv,tkvi->tki", counted.astype(np.float64), areas[faces])
    lengths = np.linalg.norm(normals, axis=2, keepdims=True)
    smooth: Array = np.where(lengths > 1e-12, normals / np.maximum(lengths, 1e-12), units[:, None, :])
    return smooth


def _faces_around(mesh: Mesh) -> NDArray[np.int64]:
    """The triangles that touch each vertex, (V, valence), filled up with -1."""
    corners = mesh.triangles.ravel()
    order = np.argsort(corners, kind="stable")
    counts = np.bincount(corners, minlength=len(mesh.vertices))
    place = np.arange(len(corners)) - np.repeat(np.cumsum(counts) - counts, counts)
    around = np.full((len(mesh.vertices), int(counts.max())), -1, np.int64)
    around[corners[order], place] = order // 3
    return around


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a toy in one paint, whose albedo lies between 0 (black) and 1 (white)."""

    mesh: Mesh
    albedo: float
