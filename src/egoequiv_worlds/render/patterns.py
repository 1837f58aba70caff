"""Noise, stripes, edges and chance: what textures are made of, averaged over a footprint so that nothing flickers."""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render.noise import NOISE_SIZE, Noise, Texture


@inlined
def pulse_sum(x: float, low: float, high: float) -> float:
    """The integral from 0 to x of a train of pulses of period 1 that are on from `low` to `high`."""
    whole = np.floor(x)
    total: float = whole * (high - low) + min(max(x - whole - low, 0.0), high - low)
    return total


@inlined
def pulses(x: float, low: float, high: float, width: float) -> float:
    """The share of a footprint around x that lies on pulses of period 1."""
    width = max(width, 1e-4)
    return (pulse_sum(x + width / 2, low, high) - pulse_sum(x - width / 2, low, high)) / width


@inlined
def band(x: float, width: float, share: float) -> float:
    """The share of a footprint around x that lies on stripes over the first `share` of each period of 1."""
    return pulses(x, 0.0, share, width)


@inlined
def stripe(x: float, middle: float, half: float, width: float) -> float:
    """The share of a footprint around x that lies on one stripe."""
    low, high = max(x - width / 2, middle - half), min(x + width / 2, middle + half)
    return max(0.0, high - low) / max(width, 1e-4)


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
    share: float = mess - np.floor(mess)
    return share


@inlined
def noise_at(noise: Noise, u: float, v: float, footprint: float) -> float:
    """Noise at a place, its finest grain one unit wide, smooth between grains and averaged over its footprint."""
    if footprint > 24.0:  # so many grains are gray
        return 0.0
    level, scale = 0, 1.0
    while footprint * scale > 1.0:
        level, scale = level + 1, 0.5 * scale
    size = NOISE_SIZE >> level
    start = 4 * (NOISE_SIZE * NOISE_SIZE - size * size) // 3  # the finer levels lie before
    u, v = u * scale - 0.5, v * scale - 0.5
    column, row = np.floor(u), np.floor(v)
    a, b = u - column, v - row
    i, j = int(column) & (size - 1), int(row) & (size - 1)
    i2 = (i + 1) & (size - 1)
    upper, lower = start + j * size, start + ((j + 1) & (size - 1)) * size
    above = (1.0 - a) * noise[upper + i] + a * noise[upper + i2]
    below = (1.0 - a) * noise[lower + i] + a * noise[lower + i2]
    value: float = (1.0 - b) * above + b * below
    return value


@inlined
def sample(texture: Texture, u: float, v: float, reach: float) -> float:
    """A noise texture at a place in texels, blurred over `reach` texels and smooth between its texels."""
    level = 0
    while level < len(texture) - 1 and reach > 1.0:
        level, reach = level + 1, 0.5 * reach
    if reach > 0.5:  # a pixel is about as wide as a texel, so that there is nothing to see between texels
        mask = texture.shape[1] - 1
        return float(texture[level, int(np.floor(v)) & mask, int(np.floor(u)) & mask])
    return between(texture, level, u, v)


@inlined
def between(texture: Texture, level: int, u: float, v: float) -> float:
    """A level of a noise texture at a place in texels, smooth between its texels."""
    mask = texture.shape[1] - 1
    low_u, low_v = np.floor(u), np.floor(v)
    i, k, fu, fv = int(low_u), int(low_v), u - low_u, v - low_v
    left = texture[level, k & mask, i & mask] * (1.0 - fv) + texture[level, (k + 1) & mask, i & mask] * fv
    right = texture[level, k & mask, (i + 1) & mask] * (1.0 - fv) + texture[level, (k + 1) & mask, (i + 1) & mask] * fv
    return float(left * (1.0 - fu) + right * fu)
