"""Periodic noise for textures, in several degrees of blur, so that it can be sampled without flicker."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render import Array

Texture = NDArray[np.float32]  # (levels, side, side), from 0 to 1, each level more blurred

SIDE = 256  # texels; a power of two, so that coordinates wrap by a bit mask
LAND_SIDE = 512
LEVELS = 7  # level L is blurred over about 2**L texels
_SEED = 20_240


class Textures(NamedTuple):
    """Noise from 0 to 1 with mean 0.5; the blurred levels have less contrast, as a distant pattern has."""

    fine: Texture  # (LEVELS, SIDE, SIDE), grain
    cloud: Texture  # (LEVELS, SIDE, SIDE), patches of all sizes
    land: NDArray[np.float32]  # (LAND_SIDE, LAND_SIDE), smooth enough for hills


@lru_cache(maxsize=1)
def textures() -> Textures:
    """The textures that all scenes share, made once a process."""
    return Textures(_blurred(0, 0.55), _blurred(1, 1.35), _unit(_filtered(*_spectrum(2, 1.95, LAND_SIDE)), 3.0))


def _spectrum(number: int, falloff: float, side: int) -> tuple[NDArray[np.complex128], Array]:
    """Noise as its spectrum, and the frequencies of that."""
    own = np.fft.fftfreq(side) * side
    frequency = np.hypot(own[:, None], own[None, : side // 2 + 1])
    white = np.fft.rfft2(np.random.default_rng((_SEED, number)).standard_normal((side, side)))
    shaped = white * np.maximum(frequency, 1.0) ** -falloff
    shaped[0, 0] = 0.0
    return shaped, frequency


def _filtered(spectrum: NDArray[np.complex128], frequency: Array, level: int = 0) -> Array:
    """The noise of a spectrum, more blurred at each level from 1 on."""
    side = len(spectrum)
    low_pass = np.exp(-2.0 * (np.pi * 0.45 * 2.0**level * frequency / side) ** 2) if level else 1.0
    return np.fft.irfft2(spectrum * low_pass, (side, side))


def _unit(values: Array, sigmas: float, deviation: float | None = None) -> NDArray[np.float32]:
    """From 0 to 1, with `sigmas` standard deviations to either side of 0.5."""
    spread = values.std() if deviation is None else deviation
    return np.clip(0.5 + values / (2.0 * sigmas * spread), 0.0, 1.0).astype(np.float32)


def _blurred(number: int, falloff: float) -> Texture:
    noise = _spectrum(number, falloff, SIDE)
    deviation = float(_filtered(*noise).std())
    return np.stack([_unit(_filtered(*noise, level), 2.5, deviation) for level in range(LEVELS)])
