"""A backbone: a model of others that is read at some layers, with their layout, before something is trained on it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.foreign.calls import FAULTS, described
from egoequiv.models.foreign.cells import STRIDE, Sides, as_map, cells_of, in_words, usual_grid, usual_size
from egoequiv.models.foreign.layers import OUTPUT, check_layer, first_tensor, run_with_layers
from egoequiv.models.foreign.loaders import FOREIGN, kind_of, load_foreign
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.module import TorchForward
from egoequiv.models.foreign.onnx import whole_onnx
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.pretrained import NAME as LITE
from egoequiv.names import is_code, short_name

# The layers that are read where none is named: those whose cells tell most of motion and place.
LAYERS = {LITE: "blocks.10+blocks.13"}
PLUS = "+"  # between layers, and between their grids
USUAL_FEATURES = 16_384  # of all layers, where no grid is given
MOST_FEATURES = 65_536
FILES = (
    "config.json",
    "preprocessor_config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "README.md",
    "LICENSE*",
)


@dataclass(frozen=True)
class Reading:
    """How a backbone is read.

    Args:
        where: What `egoequiv audit` takes: a name, a folder of transformers, an ONNX or torch.export file, code.
        layer: The layers that are read, with + between them; None: those of the name, or the output.
        size: Height and width of the picture that it sees; None: about 20,000 pixels in the shape of the images.
        grid: Rows and columns of cells, of all layers or of each; None: a map as it is, or averaged to so many cells
            that all layers together give about 16,000 numbers.
    """

    where: str
    layer: str | None = None
    size: Sides | None = None
    grid: tuple[Sides, ...] = ()


class Backbone(nn.Module):
    """Cells (B, D) of images (B, 1 or 3, H, W) with values of 0 to 1; it brings its preprocessing.

    Of each layer, D has C * rows * columns numbers.

    Its weights are those of its files: they are not saved again with what is trained on it, unless it is trained too.
    """

    def __init__(self, reading: Reading, image_shape: tuple[int, int, int], is_trained: bool = False) -> None:
        super().__init__()
        model = load_model(reading.where) if is_trained else _shared_model(reading.where)
        self._where = reading.where
        self.kind, self.licence, self.digest = model.kind, model.licence, _digest(model, reading.where)
        self.layer = reading.layer or LAYERS.get(reading.where, OUTPUT)
        self.layers = tuple(self.layer.split(PLUS))
        for layer in self.layers:
            if layer != OUTPUT:
                check_layer(layer, model.layer_names, f"backbone {reading.where}")
        height, width, _ = image_shape
        own = model.preprocessing
        is_open = model.batch is None and (model.patch is not None or own.size is None)
        size = reading.size or (usual_size(height, width, model.patch or STRIDE) if is_open else own.size)
        self.size = size or (height, width)
        self.grids = reading.grid * len(self.layers) if len(reading.grid) == 1 else reading.grid
        if len(self.grids) not in (0, len(self.layers)):
            raise ConfigError(f"encoder.grid has {len(self.grids)} grids, and encoder.layer={self.layer}: one of each")
        self.preprocessing = own.resized(self.size, 3 if own.channels is None else own.channels)
        self.patch, self._forward, self._batch = model.patch, model.forward, model.batch
        self.is_torch = isinstance(model.forward, TorchForward)
        self.module: nn.Module = model.forward.module if isinstance(model.forward, TorchForward) else nn.Module()
        if is_trained and not self.is_torch:
            raise ConfigError(f"backbone {reading.where}: {model.kind} cannot be trained: leave out fine_tune")
        if len(self.layers) > 1 and not self.is_torch:
            raise ConfigError(f"encoder.layer={self.layer}: of {model.kind}, one layer can be read")
        self.requires_grad_(False).eval()
        self.is_saved = is_trained
        self.feature_dim = self._count(image_shape)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What decides the cells of an image: weights, layer, size and grid."""
        return (self.digest, self.layer, self.size, self.grids)

    @property
    def grid(self) -> str:
        """Rows and columns of the cells of each layer, such as 5x16+3x8."""
        return PLUS.join(map(in_words, self.grids))

    @property
    def about(self) -> dict[str, Any]:
        """What it is and how it is read, for people."""
        return {
            "kind": self.kind,
            "layer": self.layer,
            "size": list(self.size),
            "grid": self.grid,
            "weights": self.digest,
            "licence": self.licence,
        }

    @property
    def files(self) -> Path | None:
        """The folder or file that it was read from; None: it is in a package, or what code builds."""
        return Path(self._where) if Path(self._where).exists() else None

    def copy_files(self, to: Path) -> None:
        """Copy its files, so that it can be read from there."""
        assert self.files is not None
        if self.files.suffix == ".onnx":
            to.write_bytes(whole_onnx(self.files))
        elif self.files.is_file():
            shutil.copyfile(self.files, to)
        else:
            to.mkdir()
            for path in sorted({path for pattern in FILES for path in self.files.glob(pattern)}):
                shutil.copyfile(path, to / path.name)

    @property
    def batch(self) -> int | None:
        """The only number of images it takes at a time, if there is one."""
        return self._batch

    def forward(self, images: Tensor) -> Tensor:
        values = self._values(self.preprocessing.prepare(images))
        return torch.cat([self.from_values(value, layer) for layer, value in enumerate(values)], dim=1)

    def values(self, images: Tensor) -> Tensor:
        """What the first layer gives for images, as the model has it."""
        return self._values(self.preprocessing.prepare(images))[0]

    def from_values(self, values: Tensor, layer: int = 0) -> Tensor:
        """The cells of what a layer gave."""
        maps = self._maps(values)
        return cells_of(maps, self.grids[layer]) if maps.dim() == 4 else maps

    def _maps(self, values: Tensor) -> Tensor:
        return as_map(values.float(), *self.size, self.patch) if values.dim() > 2 else values.float()

    def _values(self, prepared: Tensor) -> list[Tensor]:
        """What each layer gives; a model that takes so many images at a time gets as many."""
        if self._batch is None:
            return self._run(prepared)
        values = []
        for start in range(0, len(prepared), self._batch):
            some = prepared[start : start + self._batch]
            again = some[-1:].expand(self._batch - len(some), *some.shape[1:])
            values.append([value[: len(some)] for value in self._run(torch.cat([some, again]))])
        return [torch.cat(pieces) for pieces in zip(*values, strict=True)]

    def _run(self, images: Tensor) -> list[Tensor]:
        if isinstance(self._forward, TorchForward):
            outputs: Mapping[str, Any] = run_with_layers(self.module, self._forward.call, images, self.layers)
        else:
            outputs = self._forward(images.cpu(), self.layers)
        return [torch.as_tensor(first_tensor(outputs[layer])).to(images.device) for layer in self.layers]

    def _choose_grids(self, images: Tensor) -> tuple[Sides, ...]:
        """A map as it is, or averaged to so many cells that all layers together give about as many numbers as usual."""
        grids = []
        for values in self._values(self.preprocessing.prepare(images)):
            maps = self._maps(values)
            most = max(USUAL_FEATURES // len(self.layers) // maps.shape[1], 1)
            grids.append(usual_grid(maps.shape[2], maps.shape[3], most) if maps.dim() == 4 else (1, 1))
        return tuple(grids)

    def means(self, cells: Tensor) -> Tensor:
        """The mean cell of each layer, (B, D) -> (B, C): what is seen, without where it is."""
        layers = torch.split(cells, self._sizes, dim=1)
        means = [
            layer.reshape(len(layer), count, -1).mean(2) for layer, count in zip(layers, self.channels, strict=True)
        ]
        return torch.cat(means, dim=1)

    def spread(self, weights: Tensor) -> Tensor:
        """The weights of cells, (D, K), that are those of their means, (C, K)."""
        cells = [size // count for size, count in zip(self._sizes, self.channels, strict=True)]
        layers = zip(torch.split(weights, self.channels), cells, strict=True)
        return torch.cat([layer.repeat_interleave(count, 0) / count for layer, count in layers])

    @torch.no_grad()
    def _count(self, image_shape: tuple[int, int, int]) -> int:
        height, width, channels = image_shape
        try:
            images = torch.zeros(2, channels, height, width)
            self.grids = self.grids or self._choose_grids(images)
            values = self._values(self.preprocessing.prepare(images))
            layers = [self.from_values(value, number) for number, value in enumerate(values)]
            cells = torch.cat(layers, dim=1)
            self._sizes = [layer.shape[1] for layer in layers]
            grids = [(1, 1) if value.dim() == 2 else grid for value, grid in zip(values, self.grids, strict=True)]
            self.channels = [size // (rows * columns) for size, (rows, columns) in zip(self._sizes, grids, strict=True)]
        except (ConfigError, DataError) as problem:
            raise ConfigError(f"backbone {self.kind}, layer {self.layer}: {problem}") from problem
        except FAULTS as problem:
            raise ConfigError(
                f"backbone {self.kind}, layer {self.layer}, on pictures of {self.size[0]} x {self.size[1]}: "
                f"{described(problem)[:300]}"
            ) from problem
        if cells.dim() != 2 or len(cells) != 2 or cells.shape[1] > MOST_FEATURES:
            raise ConfigError(
                f"backbone {self.kind}, layer {self.layer}: {cells[0].numel():,} numbers of a picture; expected at "
                f"most {MOST_FEATURES:,}: choose a smaller grid"
            )
        return int(cells.shape[1])

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        if self.is_saved:
            return super().state_dict(*args, **kwargs)
        return kwargs.get("destination") or (args[0] if args else {})

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Weights that were not saved are those that the backbone has."""
        if not self.is_saved:
            state_dict.update({f"{prefix}{name}": value for name, value in nn.Module.state_dict(self).items()})
        super()._load_from_state_dict(state_dict, prefix, *args)

    def last_blocks(self, count: int) -> list[nn.Module]:
        """The last so many blocks up to the last layer that is read: of the longest list of modules that it has."""
        lists = [module for module in self.module.modules() if isinstance(module, nn.ModuleList | nn.Sequential)]
        blocks = list(max(lists, key=len, default=[]))
        name, _, number = self.layers[-1].rpartition(".")
        inside = dict(self.module.named_modules()).get(name)
        if number.isdigit() and isinstance(inside, nn.ModuleList | nn.Sequential):
            blocks = list(inside)[: int(number) + 1]
        if count > len(blocks):
            raise ConfigError(f"fine_tune={count}: backbone {self.kind} has {len(blocks)} blocks")
        return blocks[len(blocks) - count :]

    def train(self, mode: bool = True) -> Backbone:
        """Stay in evaluation mode: nothing is dropped out, and BatchNorm keeps its statistics."""
        return super().train(False)


@lru_cache(maxsize=2)
def _shared_model(where: str) -> AuditedModel:
    """The model of a backbone that is not trained, read once by a command."""
    return load_model(where)


def load_model(where: str) -> AuditedModel:
    """The model of a backbone."""
    path = Path(where)
    if path.is_absolute() and not path.exists() and not is_code(where):  # as a run names it
        raise ConfigError(f"backbone {where} does not exist: check its name; a run needs it where it was trained")
    kind = kind_of(where)
    if kind not in FOREIGN:
        raise ConfigError(
            f"backbone {where} is of the kind {kind}, which cannot be one; give efficientnet-lite0, a folder of "
            "transformers, a file .onnx or .pt2, or package.module:factory"
        )
    model = load_foreign(ModelSpec(where, where), kind)
    if model.exported is not None:
        raise ConfigError(f"backbone {where}: it was exported from a run; give a model of others")
    if kind == "import path" and not isinstance(model.forward, TorchForward):
        raise ConfigError(f"backbone {where}: it builds a function, whose weights are not known; build an nn.Module")
    return model


def _digest(model: AuditedModel, where: str) -> str:
    """What identifies the weights of a model: its tensors, or its file with the weights in it."""
    if not isinstance(model.forward, TorchForward):
        return sha256(whole_onnx(Path(where))).hexdigest()[:16]
    digest = sha256(short_name(model.kind).encode())
    for name, tensor in model.forward.module.state_dict().items():
        if isinstance(tensor, Tensor):
            digest.update(name.encode() + tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:16]
