"""A head on a backbone: what is trained where a network of others, read with its layout, is the beginning."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import torch
from pydantic import AfterValidator, Field
from torch import Tensor, nn
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import Count, Encoder, ImageShape, equivariant_part
from egoequiv.names import full_name

NAME = "backbone"  # the encoder, in settings
LEAST_SIZE = 0.05  # of the mean size of a channel: smaller ones are not scaled up to the size of the others
SMALLEST_VARIANCE = 1e-3  # of the first component: smaller ones are not scaled up to the size of the others
SHARE = 0.75  # of the features, the equivariant ones
KEPT_LENGTH = 0.7  # of the kept features, beside those of the invariant branch
SPARE = 16  # components that are computed beside those that are read, so that the last of these are right
Share = Annotated[float, Field(ge=0, lt=1)]
Size = Annotated[float, Field(ge=0)]


def full_place(backbone: str) -> str:
    """A name under which the same backbone is found from every folder."""
    return os.path.abspath(backbone) if Path(backbone).exists() else str(full_name(backbone))


Place = Annotated[str, AfterValidator(full_place)]


class BackboneHead(Encoder):
    """Whitened cells of a frozen backbone, and two full layers for each part of the features.

    The backbone may be run once over a store (`models/stored.py`); the head then learns from stored cells alone. Of the
    cells, the principal components over training frames are read, each brought to variance 1: directions in which
    cells hardly vary tell one day from another, and little else.

    Args:
        image_shape: height, width and channels of the images.
        backbone: efficientnet-lite0, a folder of transformers, a file .onnx or .pt2, or package.module:factory.
        layer: the layers that are read, with + between them; None: the best known, or the output.
        size: height and width of the picture that the backbone sees, such as 80x256; None: by the shape of the images.
        grid: rows and columns of the cells of each layer, such as 5x16+3x8; None: by the size of its maps.
        hidden: units of the full layer of each branch.
        feature_dim: number of features, with those that are kept.
        equivariant_share: of the learned features, those of the second branch; by default the setting of the run.
        components: principal components of the cells that are read, at most.
        kept: principal components of the mean cells of each layer, which are invariant features as they are, at most a
            quarter of all: they tell apart what the log does not show, and places from another side.
        dropout: the share of the components that is left out in training, the same ones of all frames of a batch.
        noise: standard deviation of the noise on the components in training; by default a run with few frames has more.
        variants: how often the backbone is also run under changed light, for training.
        fine_tune: so many of the backbone's last blocks are trained too; cells are then not stored.
        digest: of the backbone's weights, so that a run notices another backbone at the same place.

    """

    own_preprocessing = True

    def __init__(
        self,
        image_shape: ImageShape,
        backbone: Place = "efficientnet-lite0",
        layer: str | None = None,
        size: str | None = None,
        grid: str | None = None,
        hidden: Count = 512,
        feature_dim: Count = 288,
        equivariant_share: Annotated[float, Field(gt=0, lt=1)] = SHARE,
        components: Count = 256,
        kept: Annotated[int, Field(ge=0, le=1_024)] = 32,
        dropout: Share = 0.5,
        noise: Size = 0.3,
        variants: Annotated[int, Field(ge=0, le=16)] = 2,
        fine_tune: Annotated[int, Field(ge=0, le=100)] = 0,
        digest: str = "",
    ) -> None:
        super().__init__()
        from egoequiv.models.foreign.backbone import PLUS, Backbone, Reading
        from egoequiv.models.foreign.cells import in_words, sides_in

        if feature_dim < 2:
            raise ConfigError(f"encoder.feature_dim={feature_dim} cannot be divided into two parts: choose 2 or more")
        sides = None if size is None else sides_in(size, "encoder.size")
        grids = tuple(sides_in(text, "encoder.grid") for text in grid.split(PLUS)) if grid else ()
        self.backbone = Backbone(Reading(backbone, layer, sides, grids), image_shape, is_trained=fine_tune > 0)
        if digest and digest != self.backbone.digest and not fine_tune:
            raise ConfigError(
                f"backbone {backbone} has other weights than when the run was trained ({self.backbone.digest}, then "
                f"{digest}): put those back, or train again"
            )
        self.found_settings = {
            "backbone": backbone,
            "layer": self.backbone.layer,
            "size": in_words(self.backbone.size),
            "grid": self.backbone.grid,
            "digest": digest or self.backbone.digest,
            # Not the defaults of a later version.
            "hidden": hidden,
            "feature_dim": feature_dim,
            "components": components,
            "kept": kept,
        }
        self.variants, self.noise, self.fine_tune = 0 if fine_tune else variants, noise, fine_tune
        for block in self.backbone.last_blocks(fine_tune) if fine_tune else []:
            block.requires_grad_(True)
        cells = self.backbone.feature_dim
        self.components, self.kept = min(components, cells), min(kept, sum(self.backbone.channels), feature_dim // 4)
        learned = feature_dim - self.kept
        equivariant = equivariant_part(learned, equivariant_share)
        self.feature_dim, self.part_sizes = feature_dim, (feature_dim - equivariant, equivariant)
        self.register_buffer("mean", torch.zeros(cells))
        self.register_buffer("whitening", torch.eye(cells, self.components + self.kept))
        self.dropout = dropout
        sizes = (learned - equivariant, equivariant)
        self.branches = nn.ModuleList(
            nn.Sequential(nn.Linear(self.components, hidden), nn.LayerNorm(hidden), nn.GELU(), nn.Linear(hidden, size))
            for size in sizes
        )

    mean: Tensor  # (D,) of the cells of training frames
    whitening: Tensor  # (D, K) to their principal components, and to those of their means that are kept

    def forward(self, images: Tensor) -> Tensor:
        """Features of images (B, C, H, W) with values of 0 to 1."""
        return self.from_cells(self.backbone(images))

    def whitened(self, cells: Tensor) -> Tensor:
        """The principal components of what the backbone gave, (B, D) -> (B, K)."""
        return (cells.float() - self.mean) @ self.whitening

    def principal(self, cells: Tensor) -> Tensor:
        """The principal components in the scale that they have in the cells, (B, D) -> (B, K): a frozen baseline."""
        components = self.whitening[:, : self.components]
        scale: Tensor = torch.linalg.vector_norm(components, dim=0)
        return (cells.float() - self.mean) @ components / scale.clamp_min(1e-12)

    def from_cells(self, cells: Tensor) -> Tensor:
        """Features of what the backbone gave, (B, D)."""
        return self.from_components(self.whitened(cells))

    def from_components(self, read: Tensor) -> Tensor:
        """Features of what `whitened` gave, (B, K): invariant ones, those that are kept, and equivariant ones."""
        read, kept = torch.split(read, [self.components, self.kept], dim=1)
        if self.training:
            # One choice of components for all frames: what is left out of one alone would look like motion.
            taken = torch.empty(self.components, device=read.device).bernoulli_(1 - self.dropout)
            read = read * (taken / (1 - self.dropout)) + self.noise * torch.randn_like(read)
        invariant, equivariant = (branch(read) for branch in self.branches)
        if not self.kept:
            return torch.cat([invariant, equivariant], dim=1)
        kept = KEPT_LENGTH * functional.normalize(kept, dim=1)
        return torch.cat([functional.normalize(invariant, dim=1), kept, equivariant], dim=1)

    @torch.no_grad()
    def fit_whitening(self, cells: Tensor) -> None:
        """Fit mean and principal components to the cells of training frames, (N, D)."""
        cells = cells.to(torch.float32, copy=True)
        self.mean.copy_(cells.mean(0))
        cells -= self.mean
        self.whitening.zero_()
        components, kept = torch.split(self.whitening, [self.components, self.kept], dim=1)
        axes, variances = _principal(cells, self.components)
        components[:, : len(variances)] = axes / _spread(variances)
        if self.kept:
            means = self.backbone.means(cells)
            size = means.std(0, correction=0)
            size = (size + LEAST_SIZE * size.mean()).clamp_min(1e-12)
            axes, variances = _principal(means / size, self.kept)
            kept[:, : len(variances)] = self.backbone.spread(axes / size[:, None] / _spread(variances))

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw the weights of the head; the backbone keeps its own."""
        for branch in self.branches:
            Encoder.draw_weights(branch, generator)  # type: ignore[arg-type]


def _spread(variances: Tensor) -> Tensor:
    """By what components of these variances, the largest first, are divided to have variance 1."""
    return (variances + SMALLEST_VARIANCE * variances[0]).clamp_min(1e-12).sqrt()


def _principal(centred: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The axes (D, K) and variances (K,) of the main components of centred rows (N, D)."""
    count = min(most, *centred.shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        _, sizes, axes = torch.svd_lowrank(centred, min(count + SPARE, *centred.shape), niter=4)
    return axes[:, :count], sizes[:count].square() / len(centred)
