"""The encoder of a run or an export as a module of a user's own network and training loop."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import Tensor, nn

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.exporting.export import open_trained, trained_on
from egoequiv.files import new_folder
from egoequiv.models import EgoNet, load_model
from egoequiv.models.checkpoint import MODEL, RUN_KIND, Which
from egoequiv.models.checksums import check_file
from egoequiv.models.network import ALL
from egoequiv.models.saved import (
    CONFIG,
    SAVED_KIND,
    WEIGHTS,
    SavedConfig,
    config_of,
    is_saved,
    load_config,
    load_network,
    save_network,
)
from egoequiv.training.run_folder import RunFolder

LOWEST, HIGHEST = -0.5, 1.5  # of float images: resizing may overshoot 0 to 1, but 0 to 255 is another scale


class Backbone(nn.Module):
    """Features of images, or a part of them, from a trained network.

    Args:
        net: The network.
        config: What is saved with it.
        part: The part of the features that is given; every feature by default.
        frozen: Whether the encoder stays as it is: no gradients, and always in evaluation mode.
    """

    def __init__(self, net: EgoNet, config: SavedConfig | None = None, part: str = ALL, frozen: bool = True) -> None:
        super().__init__()
        self.net = net
        self.config = config or config_of(net)
        self.part, self.frozen = part, frozen
        self._own = net.part(part)
        net.requires_grad_(False)  # of the maps too, which features do not need
        net.encoder.requires_grad_(not frozen)
        self.train(not frozen)

    @property
    def feature_dim(self) -> int:
        """How many features come out."""
        return int(self._own.stop - self._own.start)

    def features(self, images: Tensor) -> Tensor:
        """Features (N, D) of images of the size that the network was trained on.

        Args:
            images: uint8 (N, H, W, C), values 0 to 255, as stores have them; or float (N, C, H, W), values 0 to 1, as
                loaders of torch have them, not normalised. No gradient flows to the images.
        """
        if not images.is_floating_point():
            features: Tensor = self.net(images)
            return features[:, self._own]
        height, width, channels = self.net.spec.image_shape
        if images.shape[1:] != (channels, height, width):
            found = tuple(images.shape)
            raise DataError(f"expected float images (N, {channels}, {height}, {width}), found {found}: resize them")
        if not torch.compiler.is_compiling() and images.numel():
            low, high = (float(end) for end in images.detach().aminmax())
            if not (low >= LOWEST and high <= HIGHEST):
                raise DataError(
                    f"expected float images with values of 0 to 1, found {low:.4g} to {high:.4g}: do not normalise "
                    "them, or give uint8 images (N, H, W, C)"
                )
        pixels = (255 * images.detach().float()).permute(0, 2, 3, 1).contiguous()
        return self.net.encode(self.net.normalised(pixels).permute(0, 3, 1, 2))[:, self._own]

    def forward(self, images: Tensor) -> Tensor:
        """The same as `features`."""
        return self.features(images)

    def train(self, mode: bool = True) -> Backbone:
        """Training mode of the encoder; frozen, it stays in evaluation mode."""
        return super().train(mode and not self.frozen)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors into a new folder; maps are saved as they were trained."""
        with new_folder(Path(os.path.abspath(folder))) as temporary:
            save_network(temporary, self.net, self.config)

    @classmethod
    def from_pretrained(cls, folder: str | Path, part: str = ALL, frozen: bool = True) -> Backbone:
        """Read what `save_pretrained` or `egoequiv export` wrote; nothing is fetched."""
        folder = Path(folder)
        for name in (CONFIG, WEIGHTS):
            check_file(folder / name)
        config = load_config(folder)
        return cls(load_network(folder, config), config, part, frozen)


def load_backbone(path: str | Path, part: str = ALL, frozen: bool = True, which: Which = "last") -> Backbone:
    """Load the encoder of a run or an export as an `nn.Module` with `features(images)`.

    Args:
        path: The folder of a run, of an export, or one that `save_pretrained` wrote.
        part: The part of the features, such as `invariant`; every feature by default.
        frozen: Keep the weights as they are; False to train them further.
        which: The checkpoint of a run.

    Returns:
        The module. Its `feature_dim` is the number of features.

    Example:
        >>> backbone = egoequiv.load_backbone("my-run", frozen=False)  # doctest: +SKIP
        >>> model = nn.Sequential(backbone, nn.Linear(backbone.feature_dim, 10))  # doctest: +SKIP
    """
    path = Path(path)
    if not (path / MODEL).exists():
        if path.is_dir() and is_saved(path):
            return Backbone.from_pretrained(path, part, frozen)
        raise DataError(f"{path} is neither {RUN_KIND} nor {SAVED_KIND}")
    frames = trained_on(RunFolder(path))
    try:
        model = open_trained(path, which)
    except EgoEquivError:
        if RunFolder(path).space() is not None:
            raise
        net = load_model(path, which)  # of an early version, without its store: features need none
        return Backbone(net, config_of(net, trained_on=frames), part, frozen)
    return Backbone(model.net, config_of(model.net, model.space, model.motions, frames), part, frozen)
