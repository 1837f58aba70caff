"""What compiled code computes with: vectors and colours, and the noise, stripes and chance of which textures are made.

Patterns are averaged over a footprint, so that nothing flickers.
"""

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.render.noise import LEVELS, SIDE, Texture


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
def plus(a: Vector, b: Vector, times: float) -> Vector:
    """A vector and some times another one."""
    return a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]


@inlined
def blend(weights: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """What lies between three corners."""
    return dot(weights, (a[0], b[0], c[0])), dot(weights, (a[1], b[1], c[1])), dot(weights, (a[2], b[2], c[2]))


@inlined
def mixed(a: Vector, b: Vector, share: float) -> Vector:
    """From one colour to another."""
    return plus(a, difference(b, a), share)


@inlined
def product(a: Vector, b: Vector, share: float) -> Vector:
    """The product of two colours and a share."""
    return share * a[0] * b[0], share * a[1] * b[1], share * a[2] * b[2]


@inlined
def pulse_sum(x: float, low: float, high: float) -> float:
    """The integral from 0 to x of a train of pulses of period 1 that are on from `low` to `high`."""
    whole = np.floor(x)
    return float(whole * (high - low) + min(max(x - whole - low, 0.0), high - low))


@inlined
def pulses(x: float, low: float, high: float, width: float) -> float:
    """The share of a footprint around x that lies on pulses of period 1."""
    width = max(width, 1e-4)
    return (pulse_sum(x + width / 2, low, high) - pulse_sum(x - width / 2, low, high)) / width


@inlined
def stripe(x: float, middle: float, half: float, width: float) -> float:
    """The share of a footprint around x that lies on one stripe."""
    width = max(width, 1e-4)
    low, high = max(x - width / 2, middle - half), min(x + width / 2, middle + half)
    return max(0.0, high - low) / width


@inlined
def step(x: float, width: float) -> float:
    """From 0 to 1 where x passes 0, over a width."""
    return min(1.0, max(0.0, x / max(width, 1e-4) + 0.5))


@inlined
def ramp(value: float, low: float, high: float) -> float:
    """From 0 at `low` to 1 at `high`, smoothly."""
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@inlined
def chance(i: float, j: float, seed: float) -> float:
    """A number from 0 to 1 that looks random and depends only on its arguments."""
    mess = np.sin(i * 12.9898 + j * 78.233 + seed * 37.719) * 43758.5453
    return float(mess - np.floor(mess))


@inlined
def sample(texture: Texture, u: float, v: float, reach: float) -> float:
    """A noise texture at a place in texels, blurred over `reach` texels and smooth between its texels."""
    level = 0
    while level < LEVELS - 1 and reach > 1.0:
        level, reach = level + 1, 0.5 * reach
    mask = SIDE - 1  # a constant, so that no index is checked for being negative
    low_u, low_v = np.floor(u), np.floor(v)
    a, b = u - low_u, v - low_v
    i, k = int(low_u) & mask, int(low_v) & mask
    i2, k2 = (i + 1) & mask, (k + 1) & mask
    near = (1.0 - a) * texture[level, k, i] + a * texture[level, k, i2]
    far = (1.0 - a) * texture[level, k2, i] + a * texture[level, k2, i2]
    return float((1.0 - b) * near + b * far)
