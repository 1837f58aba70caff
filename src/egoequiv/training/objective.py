"""One step's worth of losses: gather the images of all streams, encode them in one pass, sum the terms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoequiv.losses import StreamBatch, StreamName
from egoequiv.methods import Method
from egoequiv.models import EgoNet
from egoequiv.store import FrameStore
from egoequiv.training.data import Stream

Rows = NDArray[np.int64]


def gather(store: FrameStore, frames: Rows, device: torch.device) -> Tensor:
    """Copy frames out of the memory map: (B, H, W, C) uint8."""
    return torch.from_numpy(store.images[frames]).to(device)


def loss_terms(
    net: EgoNet, method: Method, streams: Mapping[StreamName, Stream], rows: Mapping[StreamName, Rows]
) -> Tensor:
    """The unweighted loss of each term on the given rows of its stream; (T,) in the order of the method's terms."""
    batches = _encode(net, streams, rows)
    return torch.stack([term.loss(net, batches[term.stream]) for term in method.terms])


def _encode(
    net: EgoNet, streams: Mapping[StreamName, Stream], rows: Mapping[StreamName, Rows]
) -> dict[StreamName, StreamBatch]:
    """Encode the images of all streams in one concatenated pass."""
    device = net.input_mean.device
    pieces: list[tuple[FrameStore, Rows]] = []
    for name, stream in streams.items():
        pieces.append((stream.store, stream.i[rows[name]]))
        if stream.j is not None:
            pieces.append((stream.store, stream.j[rows[name]]))
    features = net(_gather_all(pieces, device)).split([len(frames) for _, frames in pieces])
    batches: dict[StreamName, StreamBatch] = {}
    place = 0
    for name, stream in streams.items():
        width = 1 if stream.j is None else 2
        target = torch.from_numpy(stream.target[rows[name]]).to(device)
        batches[name] = StreamBatch(features[place], features[place + width - 1], target)
        place += width
    return batches


def _gather_all(pieces: list[tuple[FrameStore, Rows]], device: torch.device) -> Tensor:
    """One gather a store, in the order of the pieces (the pieces of one store stand next to each other)."""
    images: list[Tensor] = []
    while pieces:
        store = pieces[0][0]
        run = 1
        while run < len(pieces) and pieces[run][0] is store:
            run += 1
        images.append(gather(store, np.concatenate([frames for _, frames in pieces[:run]]), device))
        pieces = pieces[run:]
    return images[0] if len(images) == 1 else torch.cat(images)
