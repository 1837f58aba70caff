"""Features of many frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.models import EgoNet, load_model
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

BATCH = 512


@torch.no_grad()
def embed(
    model: EgoNet | str | Path, data: FrameStore | str | Path | NDArray[np.uint8], frames: Indices | None = None
) -> NDArray[np.float32]:
    """Features (N, D) of the frames of a store, or of images (N, H, W, C), by a network or the one of a run folder."""
    net = model if isinstance(model, EgoNet) else load_model(model)
    images = (
        data
        if isinstance(data, np.ndarray)
        else (data if isinstance(data, FrameStore) else FrameStore.open(data)).images
    )
    if images.ndim != 4 or images.shape[1:] != net.spec.image_shape:
        wanted, found = (" x ".join(map(str, shape)) for shape in (net.spec.image_shape, images.shape[1:]))
        raise DataError(f"the network takes images of {wanted}, these are {found}: ingest them with the same --size")
    rows = np.arange(len(images)) if frames is None else frames
    features = np.empty((len(rows), net.encoder.feature_dim), np.float32)
    for start in range(0, len(rows), BATCH):
        batch = torch.from_numpy(np.asarray(images[rows[start : start + BATCH]])).to(net.input_mean.device)
        features[start : start + BATCH] = net(batch).float().cpu().numpy()
    return features


@torch.no_grad()
def class_scores(net: EgoNet, features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores (N, C) of the classifier head."""
    if net.head is None:
        raise DataError("this network was trained without labels and has no classifier head")
    scores: NDArray[np.float32] = net.head(torch.from_numpy(features).to(net.input_mean.device)).float().cpu().numpy()
    return scores
