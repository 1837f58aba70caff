"""What a street is drawn from: flat faces and leafy blobs.

They are named tuples, because compiled code accepts those. What every pixel needs is made of plain numbers: passing an
array would change its reference count, which costs more than computing the light.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoequiv_worlds.render.arrays import Array, Numbers, Vector

PLAIN, FACADE, ROOF, GLASS, PAINT, LEAVES, GLOW, SHADE, SLATS, PAVING = range(10)


class Faces(NamedTuple):
    """F convex polygons of four corners (three, where two coincide), counter-clockwise seen from the front."""

    corners: Array  # (F, 4, 3)
    frames: Array  # (F, 3, 3), rows normal and the two directions of the texture, which begins at the first corner
    colours: Array  # (F, 3), the share of light given back in red, green and blue
    materials: Numbers  # (F,)
    params: (
        Array  # (F, 6), depends on the material; for a car, the first is the share of the sun that does not reach it
    )


class Blobs(NamedTuple):
    """B ellipsoids of leaves with ragged edges."""

    centres: Array  # (B, 3)
    radii: Array  # (B, 2), level and upright
    colours: Array  # (B, 3)
    ragged: Array  # (B,), from 0 for smooth to 1


class Sky(NamedTuple):
    """The sky and the light it gives; colours are red, green and blue."""

    sun: Vector  # the direction towards it
    sunlight: Vector
    ambient: Vector
    zenith: Vector
    horizon: Vector
    skyline: Vector
    cover: float  # how cloudy, from 0 to 1
    fog_m: float  # where haze takes half of the light


Table = TypeVar("Table", Faces, Blobs)

NO_PARAMS = (0.0,) * 6


def faces(corners: ArrayLike, colours: ArrayLike, materials: ArrayLike = PLAIN, params: ArrayLike = NO_PARAMS) -> Faces:
    """Faces from their corners (F, 4, 3); the texture runs along the first edge and upright to it."""
    at = np.asarray(corners, np.float64).reshape(-1, 4, 3)
    along = at[:, 1] - at[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    normal = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    frames = np.stack([normal, along, np.cross(normal, along)], axis=1)
    count = len(at)
    return Faces(
        at,
        frames,
        np.broadcast_to(np.asarray(colours, np.float64), (count, 3)).copy(),
        np.broadcast_to(np.asarray(materials, np.int32), (count,)).copy(),
        np.broadcast_to(np.asarray(params, np.float64), (count, 6)).copy(),
    )


def chosen(table: Table, rows: NDArray[np.int64]) -> Table:
    """Some rows of a table of faces or blobs."""
    columns: list[Any] = [column[rows] for column in table]
    return type(table)(*columns)


def joined(several: Sequence[Table]) -> Table:
    """Many tables of faces or blobs as one."""
    columns: list[Any] = [np.concatenate(column) for column in zip(*several, strict=True)]
    return type(several[0])(*columns)


def no_faces() -> Faces:
    """A table without a row."""
    return faces(np.zeros((0, 4, 3)), (0.0, 0.0, 0.0))


def blobs(rows: Sequence[tuple[Sequence[float], float, float, Sequence[float]]], ragged: float) -> Blobs:
    """Blobs from (centre, level radius, upright radius, colour)."""
    count = len(rows)
    return Blobs(
        np.array([row[0] for row in rows], np.float64).reshape(count, 3),
        np.array([row[1:3] for row in rows], np.float64).reshape(count, 2),
        np.array([row[3] for row in rows], np.float64).reshape(count, 3),
        np.full(count, ragged),
    )


def placed(shape: Faces, place: Sequence[float] | Array, heading_rad: float) -> Faces:
    """Faces turned about the vertical and moved to a place in the plane."""
    cos, sin = np.cos(heading_rad), np.sin(heading_rad)
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    corners = shape.corners @ turn
    corners[:, :, :2] += np.asarray(place, np.float64)
    return shape._replace(corners=corners, frames=shape.frames @ turn)
