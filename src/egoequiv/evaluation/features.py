"""Features of many frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.models import EgoNet, load_model
from egoequiv.models.head import BackboneHead
from egoequiv.models.images import wrong_images
from egoequiv.models.network import ALL
from egoequiv.models.stored import has_cells, stored_cells
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore, fit_image

BATCH = 512
OnProgress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


@torch.no_grad()
def embed(
    model: EgoNet | str | Path,
    data: FrameStore | str | Path | NDArray[np.uint8],
    frames: Indices | None = None,
    *,
    fit: bool = False,
    part: str = ALL,
    on_progress: OnProgress | None = None,
) -> NDArray[np.float32]:
    """Compute the features of images by a trained network.

    Args:
        model: a network, or the folder of a run.
        data: a store, its folder or URL; or uint8 images (N, H, W, C), for a gray network also (N, H, W).
        frames: rows of the store or of the images, (M,), in any order; all of them by default.
        fit: bring images of another size or colour to what the network takes, as `egoequiv ingest` does; otherwise
            they are refused.
        part: the part of the features, for a network that has parts; every feature by default.
        on_progress: called with ("features", frames done, frames in all).

    Returns:
        Features (M, D), float32, in the order of `frames`.

    Example:
        >>> features = egoequiv.embed("my-run", "my-store")  # doctest: +SKIP
        >>> features.shape  # doctest: +SKIP
        (4050, 100)
    """
    net = model if isinstance(model, EgoNet) else load_model(model)
    store = None if isinstance(data, np.ndarray) else _with_images(data)
    if store is not None and has_cells(net, store) and _is_seen_alike(store, net, fit):
        return _of_cells(net, store, frames, part, on_progress)
    images = data if store is None else store.images
    assert isinstance(images, np.ndarray)
    wanted, own = net.spec.image_shape, net.part(part)
    if images.ndim == 3 and wanted[2] == 1 and images.shape[1:] == wanted[:2]:
        images = images[..., None]
    can_fit = fit and images.ndim == 4 and images.shape[3] in (1, 3)
    if images.dtype != np.uint8 or (images.shape[1:] != wanted and not can_fit):
        raise wrong_images(images.dtype, images.shape, wanted)
    rows = np.arange(len(images)) if frames is None else frames
    features = np.empty((len(rows), own.stop - own.start), np.float32)
    for start in range(0, len(rows), BATCH):
        batch = np.asarray(images[rows[start : start + BATCH]])
        if batch.shape[1:] != wanted:
            batch = np.stack([fit_image(image, *wanted) for image in batch])
        z = net(torch.from_numpy(batch).to(net.input_mean.device))
        features[start : start + len(batch)] = z[:, own].float().cpu().numpy()
        if on_progress is not None:
            on_progress("features", start + len(batch), len(rows))
    return features


def _of_cells(
    net: EgoNet, store: FrameStore, frames: Indices | None, part: str, on_progress: OnProgress | None
) -> NDArray[np.float32]:
    """The same from the cells of a backbone, which are computed once for all frames of a store."""
    assert isinstance(net.encoder, BackboneHead)
    cells, own = stored_cells(net.encoder, store, on_progress=on_progress), net.part(part)
    rows = np.arange(len(store)) if frames is None else frames
    features = np.empty((len(rows), own.stop - own.start), np.float32)
    for start in range(0, len(rows), BATCH):
        z = net(torch.from_numpy(cells[rows[start : start + BATCH]]).to(net.input_mean.device))
        features[start : start + len(z)] = z[:, own].float().cpu().numpy()
    return features


@torch.no_grad()
def frozen_features(net: EgoNet, store: FrameStore) -> NDArray[np.float32] | None:
    """What the backbone of a network gives without the head, (N, K): the principal components of its cells.

    They are turned at random, which changes no distance: a probe that scales each number would otherwise raise the
    least component to the size of the first. None for a network without a backbone.
    """
    if not isinstance(net.encoder, BackboneHead) or not has_cells(net, store):
        return None
    cells, encoder = stored_cells(net.encoder, store), net.encoder
    size = encoder.components
    turn = torch.linalg.qr(torch.randn(size, size, generator=torch.Generator().manual_seed(0)))[0]
    chunks = [torch.from_numpy(cells[at : at + BATCH].copy()) for at in range(0, len(cells), BATCH)]
    return torch.cat([encoder.principal(chunk.to(encoder.mean.device)).cpu() @ turn for chunk in chunks]).numpy()


def _is_seen_alike(store: FrameStore, net: EgoNet, fit: bool) -> bool:
    """Whether a backbone sees frames in the colours that the run learned from; it brings them to its size itself."""
    own, wanted = store.image_shape, net.spec.image_shape
    return own == wanted or (fit and own[2] == wanted[2])


def _with_images(data: FrameStore | str | Path) -> FrameStore:
    """A store, or the one in a folder or at a URL, with images."""
    store = data if isinstance(data, FrameStore) else FrameStore.open(data)
    if not store.has_images:
        raise DataError(f"{store.place} holds poses but no images: ingest it with images")
    return store


@torch.no_grad()
def class_scores(net: EgoNet, features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores (N, C) of the classifier head."""
    if net.head is None:
        raise DataError("this network was trained without labels and has no classifier head")
    scores: NDArray[np.float32] = net.head(torch.from_numpy(features).to(net.input_mean.device)).float().cpu().numpy()
    return scores
