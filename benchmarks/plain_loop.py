"""The objective as a competent user would write it in plain PyTorch: data loaders, three passes, a loop over maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from egoequiv.training import RunData, TrainConfig
from egoequiv.training.data import Stream


class Rows(Dataset[tuple[Tensor, Tensor, int]]):
    """The rows of a stream, one at a time."""

    def __init__(self, stream: Stream, mean: float, std: float) -> None:
        self.stream, self.mean, self.std = stream, mean, std

    def __len__(self) -> int:
        return len(self.stream)

    def _image(self, frame: int) -> Tensor:
        pixels = torch.from_numpy(np.array(self.stream.store.images[frame])).permute(2, 0, 1).float()
        return (pixels - self.mean) / self.std

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor, int]:
        stream = self.stream
        second = stream.i if stream.j is None else stream.j
        return self._image(stream.i[row]), self._image(second[row]), int(stream.target[row])


def plain_mlp(image_shape: tuple[int, int, int]) -> tuple[nn.Module, int]:
    """The paper's network for NORB, and how many features it has."""
    height, width, channels = image_shape
    return nn.Sequential(nn.Flatten(), nn.Linear(height * width * channels, 20), nn.ReLU(), nn.Linear(20, 100)), 100


def plain_convnet(image_shape: tuple[int, int, int]) -> tuple[nn.Module, int]:
    """The paper's network for KITTI on 32 x 32 images, and how many features it has."""
    maximum, mean = nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, ceil_mode=True)
    layers = [
        *(nn.Conv2d(image_shape[2], 32, 5, padding=2), maximum, nn.ReLU()),
        *(nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(), mean),
        *(nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), mean),
    ]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 4 * 4, 64)), 64


PLAIN_ENCODERS = {"norb": plain_mlp, "kitti": plain_convnet}


def plain_step(config: TrainConfig, data: RunData) -> Callable[[], None]:
    """A function that does one iteration of `equiv` with labels."""
    encoder, dim = PLAIN_ENCODERS[config.encoder](data.store.image_shape)
    classes = len(data.recognition.class_names) if data.recognition else 1
    patterns = data.patterns.names if data.patterns else ()
    head, maps = nn.Linear(dim, classes), nn.ModuleList(nn.Linear(dim, dim) for _ in patterns)
    parameters = [*encoder.parameters(), *head.parameters(), *maps.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=config.learning_rate, momentum=0.9, nesterov=True)
    scale = 6400.0 if config.encoder == "norb" else 64.0
    batches = {
        name: _endless(DataLoader(Rows(stream, 128.0, scale), config.batch_size, shuffle=True, drop_last=True))
        for name, stream in data.train.items()
    }

    def step() -> None:
        images, _, target = next(batches["labelled"])
        loss = functional.cross_entropy(head(encoder(images)), target)
        first, second, pattern = next(batches["motion"])
        z_i, z_j = encoder(first), encoder(second)
        for number, one_map in enumerate(maps):
            distance = torch.linalg.vector_norm(one_map(z_j) - z_i, dim=1)
            loss = loss + torch.where(pattern == number, distance, (1 - distance).clamp_min(0)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def _endless(loader: DataLoader[tuple[Tensor, Tensor, int]]):  # type: ignore[no-untyped-def]
    while True:
        yield from loader
