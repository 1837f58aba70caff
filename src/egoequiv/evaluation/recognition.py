"""Recognition accuracy, of networks and of the nearest labelled image in pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from egoequiv.errors import ConfigError
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore


def top_k_accuracy(scores: NDArray[np.float32], classes: NDArray[np.int64], k: int = 1) -> float:
    """How often the right class is among the k with the highest scores; (N, C), (N,).

    A class that ties with the right one counts as before it, so that equal scores for all classes are no success.
    """
    if not 1 <= k <= scores.shape[1]:
        raise ConfigError(f"top-{k} of {scores.shape[1]} classes cannot be asked for")
    own = scores[np.arange(len(classes)), classes]
    worse = (scores < own[:, None]).sum(axis=1)  # counted this way, a score that is not a number is no success
    return float((worse >= scores.shape[1] - k).mean())


def class_mean_accuracy(scores: NDArray[np.float32], classes: NDArray[np.int64]) -> float:
    """Top-1 accuracy within each class, averaged over the classes that occur: a large class does not drown the rest."""
    return float(
        np.mean([top_k_accuracy(scores[classes == own], classes[classes == own]) for own in np.unique(classes)])
    )


def nearest_pixel_accuracy(
    store: FrameStore, labelled: Indices, frames: Indices, classes: NDArray[np.int64], batch: int = 1_024
) -> float:
    """Accuracy of the class of the nearest labelled image, by the distance of pixels."""
    index = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(_pixels(store, labelled))
    right = 0
    for start in range(0, len(frames), batch):
        rows = frames[start : start + batch]
        nearest = index.kneighbors(_pixels(store, rows), return_distance=False)[:, 0]
        right += int((classes[labelled[nearest]] == classes[rows]).sum())
    return right / len(frames)


def _pixels(store: FrameStore, frames: Indices) -> NDArray[np.float32]:
    return store.images[frames].reshape(len(frames), -1).astype(np.float32)
