"""The objective as a competent user would write it in plain PyTorch: data loaders, three passes, a loop over maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from egoequiv.models import EgoNet
from egoequiv.training import RunData, TrainConfig
from egoequiv.training.streams import Stream

Labelled = tuple[Tensor, Tensor]  # images, classes
Pairs = tuple[Tensor, Tensor, Tensor]  # first images, second images, patterns


class Images:
    """Normalised images of a store, one at a time."""

    def __init__(self, stream: Stream, net: EgoNet) -> None:
        self.stream = stream
        self.mean, self.std = net.input_mean.view(-1, 1, 1), net.input_std.view(-1, 1, 1)

    def __len__(self) -> int:
        return len(self.stream)

    def image(self, frame: int) -> Tensor:
        pixels = torch.from_numpy(np.array(self.stream.store.images[frame])).permute(2, 0, 1).float()
        return (pixels - self.mean) / self.std


class LabelledImages(Images, Dataset[tuple[Tensor, int]]):
    """Images with their classes."""

    def __getitem__(self, row: int) -> tuple[Tensor, int]:
        return self.image(self.stream.i[row]), int(self.stream.target[row])


class MotionPairs(Images, Dataset[tuple[Tensor, Tensor, int]]):
    """Pairs of images with their patterns."""

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor, int]:
        stream = self.stream
        assert stream.j is not None
        return self.image(stream.i[row]), self.image(stream.j[row]), int(stream.target[row])


def plain_mlp(image_shape: tuple[int, int, int]) -> nn.Module:
    """The paper's network for NORB."""
    height, width, channels = image_shape
    return nn.Sequential(nn.Flatten(), nn.Linear(height * width * channels, 20), nn.ReLU(), nn.Linear(20, 100))


def plain_convnet(image_shape: tuple[int, int, int]) -> nn.Module:
    """The paper's network for KITTI on 32 x 32 images."""
    maximum, mean = nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, ceil_mode=True)
    layers = [
        *(nn.Conv2d(image_shape[2], 32, 5, padding=2), maximum, nn.ReLU()),
        *(nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(), mean),
        *(nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), mean),
    ]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 4 * 4, 64))


PLAIN_ENCODERS: dict[str, Callable[[tuple[int, int, int]], nn.Module]] = {"norb": plain_mlp, "kitti": plain_convnet}


class PlainLoop:
    """Training `equiv` with labels; it begins with the weights of a network of ours."""

    def __init__(self, config: TrainConfig, data: RunData, net: EgoNet) -> None:
        assert net.maps is not None
        assert net.head is not None
        self.encoder = PLAIN_ENCODERS[config.encoder](data.store.image_shape)
        dim = net.encoder.feature_dim
        self.head = nn.Linear(dim, net.head.out_features)
        self.maps = nn.ModuleList(nn.Linear(dim, dim) for _ in net.spec.patterns)
        self._copy_weights(net)
        modules = nn.ModuleList([self.encoder, self.head, self.maps])
        rate = config.learning_rate
        self.optimizer = torch.optim.SGD(modules.parameters(), lr=rate, momentum=0.9, nesterov=True)
        labelled, motion = LabelledImages(data.train["labelled"], net), MotionPairs(data.train["motion"], net)
        self.labelled: Iterator[Labelled] = _endless(_loader(labelled, config))
        self.motion: Iterator[Pairs] = _endless(_loader(motion, config))

    @torch.no_grad()
    def _copy_weights(self, net: EgoNet) -> None:
        for own, theirs in zip(self.encoder.parameters(), net.encoder.parameters(), strict=True):
            own.copy_(theirs)
        assert net.maps is not None
        assert net.head is not None
        self.head.load_state_dict(net.head.state_dict())
        for own_map, weight, bias in zip(self.maps, net.maps.weight, net.maps.bias, strict=True):
            own_map.load_state_dict({"weight": weight, "bias": bias})

    def loss(self, labelled: Labelled, pairs: Pairs) -> Tensor:
        images, classes = labelled
        first, second, pattern = pairs
        loss = functional.cross_entropy(self.head(self.encoder(images)), classes)
        return loss + self.motion_loss(self.encoder(first), self.encoder(second), pattern)

    def motion_loss(self, z_i: Tensor, z_j: Tensor, pattern: Tensor) -> Tensor:
        """Eq. 5 with the margin 1: a scalar."""
        loss = torch.zeros(())
        for number, one_map in enumerate(self.maps):
            distance = torch.linalg.vector_norm(one_map(z_j) - z_i, dim=1)
            loss = loss + torch.where(pattern == number, distance, (1 - distance).clamp_min(0)).mean()
        return loss

    def step(self) -> None:
        """One iteration."""
        loss = self.loss(next(self.labelled), next(self.motion))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()


def _loader(rows: Dataset[Any], config: TrainConfig) -> DataLoader[Any]:
    # Without worker processes: at sixteen small images a batch, sending them costs more than making them.
    return DataLoader(rows, config.batch_size, shuffle=True, drop_last=len(rows) > config.batch_size)  # type: ignore[arg-type]


def _endless(loader: DataLoader[Any]) -> Iterator[Any]:
    while True:
        yield from loader
