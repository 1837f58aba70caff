"""Vectors and colours in compiled code."""

from __future__ import annotations

from egoequiv.compiled import inlined
from egoequiv_worlds.render.arrays import Array, Singles, Vector


@inlined
def triple(table: Array, k: int, first: int = 0) -> Vector:
    """Three numbers of a row of a table."""
    return table[k, first], table[k, first + 1], table[k, first + 2]


@inlined
def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def difference(a: Vector, b: Vector) -> Vector:
    """From b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def scaled(a: Vector, by: float) -> Vector:
    """A vector made longer or shorter."""
    return a[0] * by, a[1] * by, a[2] * by


@inlined
def blend(weights: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """What lies between three corners."""
    wa, wb, wc = weights
    return (
        wa * a[0] + wb * b[0] + wc * c[0],
        wa * a[1] + wb * b[1] + wc * c[1],
        wa * a[2] + wb * b[2] + wc * c[2],
    )


@inlined
def mixed(a: Vector, b: Vector, share: float) -> Vector:
    """From one colour to another."""
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


@inlined
def product(a: Vector, b: Vector, share: float) -> Vector:
    """The product of two colours and a share."""
    return share * a[0] * b[0], share * a[1] * b[1], share * a[2] * b[2]


@inlined
def add_light(picture: Singles, row: int, column: int, colour: Vector, share: float) -> None:
    """Add a share of some light to a pixel of a picture (H, W, 3)."""
    picture[row, column, 0] += share * colour[0]
    picture[row, column, 1] += share * colour[1]
    picture[row, column, 2] += share * colour[2]
