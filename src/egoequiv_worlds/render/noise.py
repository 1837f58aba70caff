"""Periodic noise for textures, in several degrees of blur, so that it can be sampled without flicker."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    fine, cloud = _blurred(_spectrum(0, 0.55, SIDE)), _blurred(_spectrum(1, 1.35, SIDE))
    return Textures(fine, cloud, _unit(_from_spectrum(_spectrum(2, 1.95, LAND_SIDE)), 3.0))


def _frequency(side: int) -> NDArray[np.float64]:
    own = np.fft.fftfreq(side) * side
    return np.asarray(np.hypot(own[:, None], own[None, : side // 2 + 1]))


def _spectrum(number: int, falloff: float, side: int) -> NDArray[np.complex128]:
    white = np.fft.rfft2(np.random.default_rng((_SEED, number)).standard_normal((side, side)))
    shaped: NDArray[np.complex128] = white * np.maximum(_frequency(side), 1.0) ** -falloff
    shaped[0, 0] = 0.0
    return shaped


def _from_spectrum(spectrum: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.fft.irfft2(spectrum, (len(spectrum), len(spectrum)))


def _unit(values: NDArray[np.float64], sigmas: float, deviation: float | None = None) -> NDArray[np.float32]:
    """From 0 to 1, with `sigmas` standard deviations to either side of 0.5."""
    spread = values.std() if deviation is None else deviation
    return np.clip(0.5 + values / (2.0 * sigmas * spread), 0.0, 1.0).astype(np.float32)


def _blurred(spectrum: NDArray[np.complex128]) -> Texture:
    sharp, levels = _from_spectrum(spectrum), []
    for level in range(1, LEVELS):
        low_pass = np.exp(-2.0 * (np.pi * 0.45 * 2.0**level * _frequency(SIDE) / SIDE) ** 2)
        levels.append(_from_spectrum(spectrum * low_pass))
    return np.stack([_unit(level, 2.5, float(sharp.std())) for level in (sharp, *levels)])
