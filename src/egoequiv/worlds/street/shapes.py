"""What a street is drawn from: flat faces and leafy blobs, and the camera that sees them.

They are named tuples, because compiled code accepts those. What every pixel needs is made of plain numbers: passing an
array would change its reference count, which costs more than computing the light.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int32]
Noise = NDArray[np.float32]
Vector = tuple[float, float, float]

NOISE_SIZE = 256  # pixels of noise before it repeats

PLAIN, FACADE, ROOF, GLASS, PAINT, LEAVES, GLOW, SHADE, SLATS, PAVING = range(10)


class View(NamedTuple):
    """A pinhole camera with its principal point in the middle."""

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    focal_px: float
    width: int
    height: int


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


def chosen_faces(table: Faces, rows: NDArray[np.int64]) -> Faces:
    """Some rows of a table of faces."""
    return Faces(
        table.corners[rows], table.frames[rows], table.colours[rows], table.materials[rows], table.params[rows]
    )


def chosen_blobs(table: Blobs, rows: NDArray[np.int64]) -> Blobs:
    """Some rows of a table of blobs."""
    return Blobs(table.centres[rows], table.radii[rows], table.colours[rows], table.ragged[rows])


def joined_faces(several: Sequence[Faces]) -> Faces:
    """Many faces as one table."""
    return Faces(*(np.concatenate(column) for column in zip(*several, strict=True)))


def joined_blobs(several: Sequence[Blobs]) -> Blobs:
    """Many blobs as one table."""
    return Blobs(*(np.concatenate(column) for column in zip(*several, strict=True)))


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


def look(eye: Vector, angles_rad: Vector, focal_px: float, width: int, height: int) -> View:
    """The view from a place at angles (roll, pitch, yaw) as in the OXTS convention."""
    roll, pitch, yaw = angles_rad
    cos, sin = np.cos, np.sin
    about_z = np.array([[cos(yaw), -sin(yaw), 0.0], [sin(yaw), cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cos(pitch), 0.0, sin(pitch)], [0.0, 1.0, 0.0], [-sin(pitch), 0.0, cos(pitch)]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cos(roll), -sin(roll)], [0.0, sin(roll), cos(roll)]])
    forward, left, up = (about_z @ about_y @ about_x).T
    return View(eye, vector(-left), vector(up), vector(forward), focal_px, width, height)


def vector(values: Sequence[float] | Array) -> Vector:
    """Three numbers as compiled code takes them."""
    x, y, z = values
    return float(x), float(y), float(z)


def noise_pyramid() -> Noise:
    """The noise that all textures use: white noise around 0, and its means over squares of 2, 4, 8 ... pixels."""
    level = np.random.default_rng(7).uniform(-1.0, 1.0, (NOISE_SIZE, NOISE_SIZE))
    parts = [level.ravel()]
    while len(level) > 1:
        level = (level[0::2, 0::2] + level[1::2, 0::2] + level[0::2, 1::2] + level[1::2, 1::2]) / 4
        parts.append(level.ravel())
    return np.concatenate(parts).astype(np.float32)
