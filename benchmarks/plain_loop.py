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


def plain_step(config: TrainConfig, data: RunData) -> Callable[[], None]:
    """A function that does one iteration of `equiv` with labels."""
    height, width, channels = data.store.image_shape
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(height * width * channels, 20), nn.ReLU(), nn.Linear(20, 100))
    classes = len(data.recognition.class_names) if data.recognition else 1
    head, maps = nn.Linear(100, classes), nn.ModuleList(nn.Linear(100, 100) for _ in data.patterns)
    parameters = [*encoder.parameters(), *head.parameters(), *maps.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=config.learning_rate, momentum=0.9, nesterov=True)
    batches = {
        name: _endless(DataLoader(Rows(stream, 128.0, 6400.0), config.batch_size, shuffle=True, drop_last=True))
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
