"""Points that can be found again in the next picture, and which point of one picture is which of another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import ConfigError

Rows = NDArray[np.int64]

WIDEST = 640  # pixels of the longer side; larger pictures are made smaller first
POINTS = 800  # of a picture, the strongest first
_CONTRAST = 0.02  # of SIFT; half of OpenCV's default, because small and dim pictures have few points
_RATIO = 0.85  # a match must be so much nearer than the second nearest
_DARK, _BRIGHT, _FLAT = 12.0, 243.0, 3.0  # gray levels: mean of a black and of a white picture, spread of an empty one


@dataclass(frozen=True)
class Features:
    """The points of one picture."""

    size: tuple[int, int]  # height and width of the picture in which points are given
    points: NDArray[np.float32]  # (N, 2) x and y in pixels
    descriptors: NDArray[np.float32]  # (N, 128)
    complaint: str = ""  # why there are none or few: dark, white, empty


def opencv() -> Any:
    """The OpenCV library, on one thread."""
    try:
        import cv2
    except ImportError:
        raise ConfigError(
            "motion from pictures needs OpenCV: pip install 'egoequiv[vision]' (or opencv-python-headless)"
        ) from None
    cv2.setNumThreads(1)
    return cv2


def gray(image: NDArray[np.uint8] | PillowImage.Image) -> NDArray[np.uint8]:
    """A picture (H, W), (H, W, 3) or of Pillow as gray levels, its longer side at most `WIDEST` pixels."""
    picture = PillowImage.fromarray(image) if isinstance(image, np.ndarray) else image
    picture = picture.convert("L")
    if max(picture.size) > WIDEST:
        scale = WIDEST / max(picture.size)
        width, height = (max(round(side * scale), 1) for side in picture.size)
        picture = picture.resize((width, height), PillowImage.Resampling.BILINEAR)
    return np.asarray(picture)


def find_features(image: NDArray[np.uint8]) -> Features:
    """The points of a gray picture (H, W)."""
    mean, spread = float(image.mean()), float(image.std())
    complaint = "dark" if mean < _DARK else "white" if mean > _BRIGHT else "without contrast" if spread < _FLAT else ""
    keypoints, descriptors = _sift().detectAndCompute(image, None)
    if not keypoints:
        return Features(image.shape, np.empty((0, 2), np.float32), np.empty((0, 128), np.float32), complaint)
    points = np.array([point.pt for point in keypoints], np.float32)
    return Features((image.shape[0], image.shape[1]), points, descriptors, complaint)


def match(first: Features, second: Features) -> tuple[Rows, Rows]:
    """Points that are each other's nearest, clearly nearer than the second nearest: rows (M,) of each picture."""
    if min(len(first.points), len(second.points)) < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # Descriptors of SIFT have one length, so the largest product is the smallest distance.
    a, b = _unit(first.descriptors), _unit(second.descriptors)
    likeness = a @ b.T
    best = likeness.argmax(axis=1)
    row = np.arange(len(a))
    distance = 2.0 - 2.0 * np.partition(likeness, -2, axis=1)[:, -2:]  # squared, the second nearest first
    mutual = likeness.argmax(axis=0)[best] == row
    kept = mutual & (np.maximum(distance[:, 1], 0.0) < _RATIO**2 * distance[:, 0])
    one, other = row[kept], best[kept]
    # SIFT gives a point once for each of its directions.
    places = np.round(np.concatenate([first.points[one], second.points[other]], axis=1), 1)
    _, once = np.unique(places, axis=0, return_index=True)
    return one[once], other[once]


@cache
def _sift() -> Any:
    return opencv().SIFT_create(nfeatures=POINTS, contrastThreshold=_CONTRAST)


def _unit(descriptors: NDArray[np.float32]) -> NDArray[np.float32]:
    root = np.sqrt(descriptors / np.maximum(descriptors.sum(axis=1, keepdims=True), 1e-9))  # RootSIFT
    return np.asarray(root, np.float32)
