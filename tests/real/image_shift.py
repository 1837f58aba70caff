"""How far a picture has moved, by phase correlation: a measure that knows nothing of poses."""

import numpy as np
from numpy.typing import NDArray


def shift(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> tuple[float, float]:
    """Pixels to the right and down that the contents have moved, to the nearest quarter or so of a pixel."""
    first, second = (_windowed(image) for image in (before, after))
    cross = np.fft.fft2(second) * np.conj(np.fft.fft2(first))
    surface = np.fft.ifft2(cross / np.maximum(np.abs(cross), 1e-9)).real
    row, column = np.unravel_index(int(surface.argmax()), surface.shape)
    height, width = surface.shape
    patch = np.array([[surface[(row + i) % height, (column + j) % width] for j in (-1, 0, 1)] for i in (-1, 0, 1)])
    weights = np.maximum(patch, 0)
    down = row + (weights.sum(axis=1) @ [-1, 0, 1]) / weights.sum()
    right = column + (weights.sum(axis=0) @ [-1, 0, 1]) / weights.sum()
    return float((right + width / 2) % width - width / 2), float((down + height / 2) % height - height / 2)


def _windowed(image: NDArray[np.uint8]) -> NDArray[np.float64]:
    gray = image.astype(np.float64) if image.ndim == 2 else image.mean(axis=2)
    window: NDArray[np.float64] = np.outer(np.hanning(gray.shape[0]), np.hanning(gray.shape[1]))
    return (gray - gray.mean()) * window
