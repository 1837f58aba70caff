"""From light to a picture: exposure, contrast, blur, noise and rounding, as a camera does it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render.arrays import Array, Singles
from egoequiv_worlds.render.scene import Finish

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_RED, _GREEN, _BLUE = (np.uint32(share) for share in (19595, 38470, 7471))  # in 65536ths, ITU-R 601 as in Pillow
_ENTRIES = 4096  # of the tone curve's table, a quarter of a gray level or less apart
_BRIGHTEST = 3.5  # above this root of the exposed light everything is white


def develop(light: Singles, finish: Finish, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light (H, W, 3), or gray light (H, W), into levels up to 255, by an exposure or of about the wanted mean."""
    if finish.blur_px > 0.0:
        light = _blurred(light, finish.blur_px)
    curve = (255.0 * _tone_curve(finish.contrast)).astype(np.float32)
    roots = np.sqrt(light * np.array(finish.tint, np.float32) if light.ndim == 3 else light)
    exposure = _exposure(roots, curve, finish.brightness) if finish.exposure is None else finish.exposure
    levels = _toned(roots, exposure, curve)
    noise = np.float32(finish.noise_levels) * generator.standard_normal(levels.shape[:2], np.float32)
    levels += noise[:, :, None] if light.ndim == 3 else noise
    return digital(levels)


def _tone_curve(contrast: float) -> Array:
    """The brightness, 0 to 1, that light of a given root leaves; bright light saturates softly."""
    root = np.linspace(0.0, _BRIGHTEST, _ENTRIES)
    curve: Array = (1.0 - np.exp(-root * root)) ** (0.5 * contrast)
    return curve


def _toned(roots: Singles, exposure: float, curve: Singles) -> Singles:
    """Look up the curve in a table, which costs a tenth of computing its exponentials and powers."""
    entries = roots * np.float32(exposure * (_ENTRIES - 1) / _BRIGHTEST)
    toned: Singles = curve[np.minimum(entries, np.float32(_ENTRIES - 1)).astype(np.int32)]
    return toned


def _exposure(roots: Singles, curve: Singles, brightness: float) -> float:
    """The exposure at which a thinned-out picture has the wanted mean."""
    thin = np.ascontiguousarray(roots[1::4, 1::4])
    low, high = -6.0, 6.0
    for _ in range(14):
        middle = 0.5 * (low + high)
        too_dark = float(_toned(thin, float(np.exp(middle)), curve).mean()) < 255.0 * brightness
        low, high = (middle, high) if too_dark else (low, middle)
    return float(np.exp(0.5 * (low + high)))


def _blurred(light: Singles, blur_px: float) -> Singles:
    """A weighted mean of each pixel with its neighbours."""
    side = min(0.33, 0.25 * blur_px)
    for axis in (0, 1):
        before = np.concatenate([light.take([0], axis), light.take(range(light.shape[axis] - 1), axis)], axis)
        after = np.concatenate([light.take(range(1, light.shape[axis]), axis), light.take([-1], axis)], axis)
        light = np.float32(1.0 - 2.0 * side) * light + np.float32(side) * (before + after)
    return light


def luminance(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The gray of a coloured picture, (H, W) from (H, W, 3), equal to Pillow's."""
    total = picture[:, :, 0] * _RED + picture[:, :, 1] * _GREEN + picture[:, :, 2] * _BLUE
    gray: NDArray[np.uint8] = ((total + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint8)
    return gray


def digital(levels: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Gray levels as a picture holds them."""
    rounded: NDArray[np.uint8] = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    return rounded
