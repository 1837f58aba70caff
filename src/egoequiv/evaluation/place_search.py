"""Finding places: distances between frames of two traverses, and how often the nearest one is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Of SeqSLAM (Milford and Wyeth 2012): pictures are shrunk, and each patch gets mean 0 and standard deviation 1.
HEIGHT, WIDTH, PATCH = 32, 64, 8
LEAST_STD = 1.0  # gray levels: less is noise of the camera


def patch_normalised(images: NDArray[np.uint8], sides: tuple[int, ...] | None = None) -> NDArray[np.float32]:
    """Images (N, H, W, C) as SeqSLAM compares them, (N, P): gray, at most 32 x 64 pixels, patch by patch normalised.

    Patches have 8 x 8 pixels, and the sides of smaller images are brought to whole patches. `sides`, in place of those
    of the images, are for images that are compared with smaller ones.
    """
    height, width = (
        min(most, max(side // PATCH * PATCH, PATCH))
        for most, side in zip((HEIGHT, WIDTH), sides or images.shape[1:3], strict=True)
    )
    found = np.empty((len(images), height * width), np.float32)
    for row, image in enumerate(images):
        picture = PillowImage.fromarray(image[..., 0] if image.shape[2] == 1 else image).convert("L")
        small = np.asarray(picture.resize((width, height), PillowImage.Resampling.BILINEAR), np.float64)
        patches = small.reshape(height // PATCH, PATCH, width // PATCH, PATCH)
        mean, std = patches.mean(axis=(1, 3), keepdims=True), patches.std(axis=(1, 3), keepdims=True)
        found[row] = ((patches - mean) / np.maximum(std, LEAST_STD)).reshape(-1)
    return found


def mean_differences(query: NDArray[np.float32], reference: NDArray[np.float32]) -> Array:
    """The mean absolute difference of each query and each reference, (Q, P), (R, P) -> (Q, R)."""
    from scipy.spatial.distance import cdist

    found: Array = cdist(query, reference, "cityblock") / query.shape[1]
    return found


def cosine_distances(query: NDArray[np.float32], reference: NDArray[np.float32]) -> Array:
    """1 less the cosine of each query and each reference, (Q, D), (R, D) -> (Q, R); 1 for features that are zero."""
    from sklearn.preprocessing import normalize

    found: Array = 1.0 - normalize(query.astype(np.float64)) @ normalize(reference.astype(np.float64)).T
    return found


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found for those queries whose place is among their references, and how sure it was of all."""

    rank: NDArray[np.int64]  # (M,) references that are at least as near as the nearest true one, and false
    queries: NDArray[np.int64]  # (M,) the queries that have a place
    best: NDArray[np.int64]  # (Q,) the nearest reference of every query; -1 where there is none to compare with
    distance: Array  # (Q,) its distance
    correct: Mask  # (Q,) whether it is a true one

    def hits(self, k: int) -> Mask:
        """Of each query that has a place, whether a true one is among the k nearest, (M,)."""
        found: Mask = self.rank < k
        return found


def search(distance: Array, truth: Mask, allowed: Mask | None = None, accepted_by: Array | None = None) -> Search:
    """Rank references by distance; references that are as near as the true one count as nearer.

    Args:
        distance: (Q, R).
        truth: (Q, R), which references show the place of a query.
        allowed: (Q, R), which references a query is compared with; by default all.
        accepted_by: (Q, R), other distances by which the best match is accepted; by default the same.
    """
    accepted_by = distance if accepted_by is None else accepted_by
    if allowed is not None:
        distance, truth = np.where(allowed, distance, np.inf), truth & allowed
    queries = np.flatnonzero(truth.any(axis=1))
    nearest_true = np.where(truth, distance, np.inf).min(axis=1, initial=np.inf)
    false = (distance <= nearest_true[:, None]) & ~truth & np.isfinite(distance)
    rank = false.sum(axis=1)[queries]
    can = np.isfinite(distance).any(axis=1)
    best = np.where(can, distance.argmin(axis=1), -1)
    correct = np.zeros(len(distance), bool)
    correct[queries] = rank == 0
    sure = np.where(can, accepted_by[np.arange(len(best)), best], np.inf)
    return Search(rank, queries, best, sure, correct)


def precision_recall_area(distance: Array, correct: Mask, places: int) -> float:
    """The area below precision over recall, as the distance up to which a match is accepted grows.

    Precision is the share of accepted matches that are right; recall is the share of queries with a place whose match
    is accepted and right. So the area is at most the recall at 1.

    Args:
        distance: (Q,) of the best match of every query.
        correct: (Q,) whether it is right.
        places: how many of the queries have a place among their references.
    """
    from sklearn.metrics import average_precision_score

    if not correct.any():
        return 0.0
    known = np.isfinite(distance)
    return float(average_precision_score(correct[known], -distance[known]) * correct.sum() / places)
