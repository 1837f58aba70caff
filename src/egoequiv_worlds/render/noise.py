"""Periodic noise for textures, in several degrees of blur, so that it can be sampled without flicker."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Noise = NDArray[np.float32]  # white noise and its means over squares of 2, 4, 8 ... pixels, one after the other
Texture = NDArray[np.float32]  # (levels, side, side), from 0 to 1, each level more blurred

NOISE_SIZE = 256  # pixels of white noise before it repeats
SIDE = 256  # texels; a power of two, so that coordinates wrap by a bit mask
LAND_SIDE = 512
LEVELS = 7  # level L is blurred over about 2**L texels
_SEED = 20_240


@lru_cache(maxsize=1)
def white_noise() -> Noise:
    """White noise around 0 and its means over squares, made once a process."""
    level = np.random.default_rng(7).uniform(-1.0, 1.0, (NOISE_SIZE, NOISE_SIZE))
    parts = [level.ravel()]
    while len(level) > 1:
        level = (level[0::2, 0::2] + level[1::2, 0::2] + level[0::2, 1::2] + level[1::2, 1::2]) / 4
        parts.append(level.ravel())
    return np.concatenate(parts).astype(np.float32)


class Textures(NamedTuple):
    """Noise from 0 to 1 with mean 0.5; the blurred levels have less contrast, as a distant pattern has."""

    fine: Texture  # (LEVELS, SIDE, SIDE), grain
    cloud: Texture  # (LEVELS, SIDE, SIDE), patches of all sizes
    land: NDArray[np.float32]  # (LAND_SIDE, LAND_SIDE), smooth enough for hills
    leaves: NDArray[np.float32]  # (SIDE, SIDE), every value equally frequent


@lru_cache(maxsize=1)
def textures() -> Textures:
    """The textures that all places share."""
    fine, cloud = _blurred(_spectrum(0, 0.55, SIDE)), _blurred(_spectrum(1, 1.35, SIDE))
    land = _unit(_from_spectrum(_spectrum(2, 1.95, LAND_SIDE)), 3.0)
    rough = _from_spectrum(_spectrum(3, 0.9, SIDE) * _low_pass(1.0, SIDE))
    order = np.empty(SIDE * SIDE, np.float32)
    order[np.argsort(rough, axis=None, kind="stable")] = np.linspace(0.0, 1.0, SIDE * SIDE, dtype=np.float32)
    return Textures(fine, cloud, land, order.reshape(SIDE, SIDE))


def _frequency(side: int) -> NDArray[np.float64]:
    own = np.fft.fftfreq(side) * side
    frequency: NDArray[np.float64] = np.hypot(own[:, None], own[None, : side // 2 + 1])
    return frequency


def _spectrum(number: int, falloff: float, side: int) -> NDArray[np.complex128]:
    white = np.fft.rfft2(np.random.default_rng((_SEED, number)).standard_normal((side, side)))
    frequency = np.maximum(_frequency(side), 1.0)
    shaped: NDArray[np.complex128] = white * frequency**-falloff
    shaped[0, 0] = 0.0
    return shaped


def _low_pass(sigma_texels: float, side: int) -> NDArray[np.float64]:
    low: NDArray[np.float64] = np.exp(-2.0 * (np.pi * sigma_texels * _frequency(side) / side) ** 2)
    return low


def _from_spectrum(spectrum: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.fft.irfft2(spectrum, (len(spectrum), len(spectrum)))


def _unit(values: NDArray[np.float64], sigmas: float, deviation: float | None = None) -> NDArray[np.float32]:
    """From 0 to 1, with `sigmas` standard deviations to either side of 0.5."""
    spread = values.std() if deviation is None else deviation
    return np.clip(0.5 + values / (2.0 * sigmas * spread), 0.0, 1.0).astype(np.float32)


def _blurred(spectrum: NDArray[np.complex128]) -> NDArray[np.float32]:
    sharp = _from_spectrum(spectrum)
    levels = [_from_spectrum(spectrum * _low_pass(0.45 * 2.0**level, SIDE)) for level in range(1, LEVELS)]
    return np.stack([_unit(level, 2.5, float(sharp.std())) for level in (sharp, *levels)])
