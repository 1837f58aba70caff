"""The sky: a gradient, clouds on a high plane, the glow around the sun and a far ridge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.place.fragments import NORMAL_X, NORMAL_Y, NORMAL_Z, SOLID, Fragments
from egoequiv.worlds.place.scene import Sky
from egoequiv.worlds.place.solids import Array


def sky_values(sky: Sky) -> Array:
    """The settings of a sky as one row of numbers."""
    shape = (sky.cover, sky.softness, sky.offset, sky.ridge_height, sky.ridge_roughness)
    return np.array([*sky.zenith, *sky.horizon, *sky.cloud, *sky.ridge, *shape])


@compiled
def paint_sky(
    found: Fragments, values: Array, to_sun: Array, sun: Array, cloud: NDArray[np.float32], colors: Array
) -> None:
    """Set the colours of the fragments that see the sky."""
    cover, softness, offset, ridge, roughness = values[12], values[13], values[14], values[15], values[16]
    mask = cloud.shape[1] - 1
    for k in range(len(found)):
        if found[k, SOLID] >= 0.0:
            continue
        x, y, z = found[k, NORMAL_X], found[k, NORMAL_Y], found[k, NORMAL_Z]
        high = min(max(y, 0.0) * 2.2, 1.0) ** 0.6
        towards = max(0.0, x * to_sun[0] + y * to_sun[1] + z * to_sun[2])
        halo = 0.25 * towards**8 + 1.5 * towards**400
        plane = 160.0 / (max(y, 0.0) + 0.12)  # clouds crowd together towards the horizon
        thick = bilinear(cloud, plane * x * 0.35 + offset, plane * z * 0.35 + 3.0 * offset, mask)
        edge = 0.5 + 0.42 * (1.0 - 2.0 * cover)
        veil = min(max((thick - edge) / softness + 0.5, 0.0), 1.0) if cover > 0.0 else 0.0
        body = 0.55 + 0.45 * min(max(1.0 - (thick - edge) / 0.35, 0.0), 1.0)  # thick clouds are darker below
        veil *= min(1.0, 0.35 + 6.0 * max(y, 0.0))
        bearing = np.arctan2(x, z)
        crest = ridge * (
            0.35
            + 1.1 * bilinear(cloud, 90.0 * bearing + offset, 17.0, mask)
            + 0.35 * roughness * (bilinear(cloud, 500.0 * bearing + offset, 90.0, mask) - 0.5)
        )
        far = 1.0 if ridge > 0.0 and y < crest else 0.0
        for axis in range(3):
            clear = values[3 + axis] + high * (values[axis] - values[3 + axis]) + halo * sun[axis]
            shown = clear + veil * (values[6 + axis] * body * (1.0 + 0.4 * halo) - clear)
            low = values[9 + axis] * (0.8 + 0.4 * bilinear(cloud, 400.0 * bearing, 1600.0 * y + offset, mask))
            colors[k, axis] = shown + far * (low - shown)


@compiled
def bilinear(texture: NDArray[np.float32], u: float, v: float, mask: int) -> float:
    """The second level of a noise texture at a place in texels, smooth between its texels."""
    low_u, low_v = np.floor(u), np.floor(v)
    i, k, fu, fv = int(low_u), int(low_v), u - low_u, v - low_v
    left = texture[1, k & mask, i & mask] * (1.0 - fv) + texture[1, (k + 1) & mask, i & mask] * fv
    right = texture[1, k & mask, (i + 1) & mask] * (1.0 - fv) + texture[1, (k + 1) & mask, (i + 1) & mask] * fv
    return float(left * (1.0 - fu) + right * fu)
