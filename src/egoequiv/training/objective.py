"""One step's worth of losses: gather the images of all streams, encode them in one pass, one loss a term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoequiv.losses import StreamBatch, StreamName
from egoequiv.methods import Method
from egoequiv.models import EgoNet, Heads
from egoequiv.store import FrameStore
from egoequiv.training.streams import Stream

Rows = NDArray[np.int64]
Targets = dict[StreamName, Tensor]


@dataclass(frozen=True)
class Batch:
    """The images of one step: of each stream the labelled images, or the first and then the second of each pair."""

    images: Tensor  # (B, H, W, C) uint8
    targets: Targets  # of each stream, in the order of its images


class Objective(nn.Module):
    """The losses of one network; its parameters are those of the network."""

    def __init__(self, net: EgoNet, method: Method) -> None:
        super().__init__()
        self.net = net
        self.method = method

    def forward(self, images: Tensor, targets: Targets) -> list[Tensor]:
        """The unweighted loss of each term, a scalar each."""
        return term_losses(self.net, self.method, split_features(self.net(images), targets))


def gather_batch(streams: Mapping[StreamName, Stream], rows: Mapping[StreamName, Rows], device: torch.device) -> Batch:
    """Copy the images of the given rows of all streams out of their memory maps, with one gather a store."""
    by_store: dict[int, list[StreamName]] = {}
    for name, stream in streams.items():
        by_store.setdefault(id(stream.store), []).append(name)
    images: list[Tensor] = []
    targets: Targets = {}
    for names in by_store.values():
        frames: list[Rows] = []
        for name in names:
            stream, chosen = streams[name], rows[name]
            frames.append(stream.i[chosen])
            if stream.j is not None:
                frames.append(stream.j[chosen])
            targets[name] = torch.from_numpy(stream.target[chosen]).to(device)
        images.append(gather(streams[names[0]].store, np.concatenate(frames), device))
    return Batch(images[0] if len(images) == 1 else torch.cat(images), targets)


def gather(store: FrameStore, frames: Rows, device: torch.device) -> Tensor:
    """Copy frames out of the memory map: (B, H, W, C) uint8."""
    return torch.from_numpy(store.images[frames]).to(device)


def split_features(features: Tensor, targets: Targets) -> dict[StreamName, StreamBatch]:
    """The features (..., B, D) of a batch, stream by stream."""
    sizes = [target.shape[-1] for name, target in targets.items() for _ in range(pieces(name))]
    parts = torch.split(features, sizes, dim=-2)
    batches: dict[StreamName, StreamBatch] = {}
    place = 0
    for name, target in targets.items():
        batches[name] = StreamBatch(parts[place], parts[place + pieces(name) - 1], target)
        place += pieces(name)
    return batches


def pieces(stream: StreamName) -> int:
    """How many images a row of the stream has."""
    return 1 if stream == "labelled" else 2


def term_losses(net: Heads, method: Method, batches: Mapping[StreamName, StreamBatch]) -> list[Tensor]:
    """The unweighted loss of each term, in the order of the method's terms."""
    return [term.loss(net, batches[term.stream]) for term in method.terms]
