"""Recording and motion contrast as others would write them: a DataLoader in plain PyTorch, and PyTorch Lightning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from egoequiv.losses.light import LightJitter
from egoequiv.models import EgoNet
from egoequiv.training import RunData, TrainConfig
from egoequiv.training.batches import batch_orders

Batch = tuple[Tensor, Tensor, Tensor, Tensor]  # first images, second images, clips, motions


class ClipDataset(Dataset[Batch]):
    """One batch an item, as samplers that keep clips together give them; images one by one, as users write it."""

    def __init__(self, config: TrainConfig, data: RunData) -> None:
        self.stream = data.train["clip"]
        self.order = batch_orders(config, data.train)["clip"]
        self.count = config.iterations
        self.light = LightJitter()

    def __len__(self) -> int:
        return self.count

    def image(self, frame: int) -> Tensor:
        pixels = torch.from_numpy(np.array(self.stream.store.images[frame])).permute(2, 0, 1).float()
        return (pixels - pixels.mean()) / pixels.std(correction=0).clamp_min(2.0)

    def __getitem__(self, iteration: int) -> Batch:
        stream, rows = self.stream, self.order.batch(iteration)
        assert stream.j is not None
        assert stream.motion is not None
        generator = torch.Generator().manual_seed(iteration)
        first = torch.stack([self.image(frame) for frame in stream.i[rows]])
        second = torch.stack([self.image(frame) for frame in stream.j[rows]])
        first, second = (
            self.light(images.permute(0, 2, 3, 1), generator).permute(0, 3, 1, 2) for images in (first, second)
        )
        return first, second, torch.from_numpy(stream.target[rows]), torch.from_numpy(stream.motion[rows])


class ContrastModule(nn.Module):
    """The encoder of a network of ours, generators, and the losses in a few lines of plain PyTorch."""

    def __init__(self, net: EgoNet) -> None:
        super().__init__()
        assert net.motion_maps is not None
        self.encoder = net.encoder
        self.invariant = net.spec.parts["invariant"]
        size = net.spec.parts["equivariant"]
        self.register_buffer("scale", net.motion_maps.scale.clone())
        self.generators = nn.Parameter(0.01 * torch.randn(net.spec.motion_dim, size, size))

    def loss(self, batch: Batch) -> Tensor:
        first, second, clip, motion = batch
        z_i, z_j = self.encoder(first), self.encoder(second)
        return self.recording(z_i, z_j, clip) + self.motion(z_i, z_j, motion)

    def recording(self, z_i: Tensor, z_j: Tensor, clip: Tensor) -> Tensor:
        z = functional.normalize(torch.cat([z_i, z_j])[:, : self.invariant], dim=1)
        clip = torch.cat([clip, clip])
        own = torch.eye(len(z), dtype=torch.bool)
        apart = (clip[:, None] - clip[None]).abs()
        scores = (z @ z.T / 0.1).masked_fill(own | (apart == 1), float("-inf"))
        positive = (apart == 0) & ~own
        log_p = functional.log_softmax(scores, dim=1).masked_fill(~positive, 0.0)
        return -(log_p.sum(1) / positive.sum(1)).mean()

    def motion(self, z_i: Tensor, z_j: Tensor, motion: Tensor) -> Tensor:
        z_i, z_j = (functional.normalize(z[:, self.invariant :], dim=1) for z in (z_i, z_j))
        skew = self.generators - self.generators.transpose(1, 2)
        maps = torch.matrix_exp(torch.einsum("bk,kij->bij", -motion / self.scale, skew))
        predicted = torch.einsum("bij,bj->bi", maps, z_j)
        scores = predicted @ torch.cat([z_i, z_j]).T / 0.1
        error, moved = (torch.linalg.vector_norm(z - z_i, dim=1) for z in (predicted, z_j))
        return functional.cross_entropy(scores, torch.arange(len(z_i))) + 10 * (error / (moved + 0.02)).mean()


class PlainContrast:
    """The loop in plain PyTorch."""

    def __init__(self, config: TrainConfig, data: RunData, net: EgoNet) -> None:
        self.module = ContrastModule(net)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=config.learning_rate)
        self.batches: Iterator[Batch] = iter(DataLoader(ClipDataset(config, data), batch_size=None))

    def step(self) -> None:
        """One iteration."""
        loss = self.module.loss(next(self.batches))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()


def lightning_seconds(config: TrainConfig, data: RunData, net: EgoNet, folder: Path) -> float:
    """The seconds of one iteration of PyTorch Lightning's Trainer, after the first ones."""
    import lightning

    stamps: list[float] = []

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.inner = ContrastModule(net)

        def training_step(self, batch: Batch, _: int) -> Tensor:
            return self.inner.loss(batch)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), lr=config.learning_rate)

        def on_train_batch_end(self, *_: object) -> None:
            stamps.append(perf_counter())

    trainer = lightning.Trainer(
        max_steps=2 * config.log_every,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    with suppress(KeyboardInterrupt):
        trainer.fit(Module(), DataLoader(ClipDataset(config, data), batch_size=None))
    return (stamps[-1] - stamps[config.log_every - 1]) / config.log_every
