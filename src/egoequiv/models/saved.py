"""A network as config.json and model.safetensors, the layout of Hugging Face: it needs neither run nor store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.files import plain, read_json, replacing, write_json
from egoequiv.models.checksums import check_file
from egoequiv.models.encoder import ImageShape
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.head import BackboneHead
from egoequiv.models.network import ALL, EQUIVARIANT, EgoNet, NetSpec
from egoequiv.names import check_recorded, is_code
from egoequiv.pose import MotionSpace
from egoequiv.pose.spaces import space_from_description

KEPT = re.compile(rf"{BACKBONE}(\.\w+)?")  # the files of a backbone, in the folder of a saved model
CONFIG, WEIGHTS = "config.json", "model.safetensors"
MODEL_TYPE = "egoequiv"
VERSION = 1
SAVED_KIND = "a saved model (made by `egoequiv export` or save_pretrained)"


@dataclass(frozen=True, eq=False)
class SavedConfig:
    """What config.json says: the network, its motions, and the frames that it was trained on.

    Args:
        spec: The network.
        feature_dim: How many features it has.
        space: The units of motions; None where poses were unknown.
        motions: The motions with a name, as vectors (M,); where maps are of patterns, each has its map, in this order.
        trained_on: The fingerprint of the store and how it was split; empty where nothing was learned.
        preprocessing: What the network does to images itself, for people.
    """

    spec: NetSpec
    feature_dim: int
    space: MotionSpace | None = None
    motions: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    trained_on: Mapping[str, Any] = field(default_factory=dict)
    preprocessing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def image_shape(self) -> ImageShape:
        return self.spec.image_shape

    @property
    def takes_any(self) -> bool:
        """Whether there is a map of every motion."""
        return bool(self.spec.motion_maps)

    def parts(self) -> dict[str, slice]:
        """Where each part is among the features."""
        found, start = {ALL: slice(0, self.feature_dim)}, 0
        for name, size in self.spec.parts.items():
            found[name] = slice(start, start + size)
            start += size
        return found

    @property
    def mapped(self) -> slice:
        """Where the features are that the maps act on."""
        parts = self.parts()
        return parts.get(EQUIVARIANT, parts[ALL])

    def part(self, name: str) -> slice:
        """Where one part is; an unknown one is an error."""
        parts = self.parts()
        if name not in parts:
            raise ConfigError(f"the features have no part {name!r}: there are {', '.join(parts)}")
        return parts[name]

    def describe(self) -> dict[str, Any]:
        """A JSON object from which `from_description` builds the same."""
        return {
            "model_type": MODEL_TYPE,
            "architectures": ["EgoNet"],
            "version": VERSION,
            "network": self.spec.describe(),
            "feature_dim": self.feature_dim,
            "preprocessing": dict(self.preprocessing),
            "space": None if self.space is None else self.space.describe(),
            "motions": [{"name": name, "vector": vector.tolist()} for name, vector in self.motions.items()],
            "trained_on": dict(self.trained_on),
        }

    @classmethod
    def from_description(cls, described: Mapping[str, Any], where: object) -> SavedConfig:
        """Read what `describe` wrote; `where` names the file in the error."""
        if (described.get("model_type"), described.get("version")) != (MODEL_TYPE, VERSION):
            raise DataError(f"{where}: expected model_type {MODEL_TYPE!r}, version {VERSION}: export it again")
        try:
            space = described["space"]
            motions = {str(one["name"]): np.array(one["vector"], np.float64) for one in described["motions"]}
            dim, trained_on = described["feature_dim"], described["trained_on"]
            if type(dim) is not int or dim < 1 or not isinstance(trained_on, dict):
                raise ValueError(f"feature_dim {dim!r}, trained_on {trained_on!r}")
            config = cls(
                spec=NetSpec.from_description(described["network"]),
                feature_dim=dim,
                space=None if space is None else space_from_description(space),
                motions=motions,
                trained_on=trained_on,
                preprocessing=dict(described["preprocessing"]),
            )
            config._check()
            return config
        except (AttributeError, DataError, KeyError, TypeError, ValueError) as problem:
            raise DataError(f"{where} is damaged ({problem}): export the run again") from problem

    def _check(self) -> None:
        """Raise a ValueError where the parts or the motions do not fit the rest."""
        sizes = self.spec.parts.values()
        if sizes and sum(sizes) != self.feature_dim:
            raise ValueError(f"parts of {' + '.join(map(str, sizes))} features, but feature_dim {self.feature_dim}")
        widths = {self.spec.motion_dim} if self.takes_any else set()
        widths |= set() if self.space is None else {len(self.space.axes)}
        for name, vector in self.motions.items():
            if vector.ndim != 1 or not np.isfinite(vector).all():
                raise ValueError(f"motion {name!r} is not a row of finite numbers")
            widths.add(len(vector))
        if len(widths) > 1:
            raise ValueError(f"motions of {' and '.join(map(str, sorted(widths)))} components")

    def is_same(self, other: SavedConfig) -> bool:
        """Whether both say the same."""
        mine, its = (json.dumps(plain(one.describe()), sort_keys=True) for one in (self, other))
        return mine == its


def _kept_name(net: EgoNet) -> str | None:
    """The name in the folder of a saved model under which the files of the backbone are; None if there are none."""
    files = net.encoder.backbone.files if isinstance(net.encoder, BackboneHead) else None
    return None if files is None else f"{BACKBONE}{'' if files.is_dir() else files.suffix}"


def _with_backbone(spec: NetSpec, place: str) -> NetSpec:
    return replace(spec, encoder_settings={**spec.encoder_settings, "backbone": place})


def config_of(
    net: EgoNet,
    space: MotionSpace | None = None,
    motions: Mapping[str, NDArray[np.float64]] | None = None,
    trained_on: Mapping[str, Any] | None = None,
) -> SavedConfig:
    """What is to be said about a network."""
    height, width, channels = net.spec.image_shape
    how: dict[str, Any] = {"normalisation": "each image by its own mean and std"}
    if isinstance(net.encoder, BackboneHead):
        own = net.encoder.backbone.preprocessing.in_words(net.spec.image_shape)
        how = {"normalisation": f"that of the backbone: {own}", "backbone": net.encoder.backbone.about}
    elif net.spec.normalisation == "dataset":
        how = {
            "normalisation": "mean and std of the training frames",
            "mean": net.input_mean.tolist(),
            "std": net.input_std.tolist(),
        }
    preprocessing = {
        "input": "uint8 images (N, H, W, C), 0 to 255",
        "size": [height, width],
        "channels": "gray" if channels == 1 else "RGB",
        **how,
    }
    kept = _kept_name(net)
    spec = net.spec if kept is None else _with_backbone(net.spec, kept)
    return SavedConfig(spec, net.encoder.feature_dim, space, motions or {}, trained_on or {}, preprocessing)


def is_saved(folder: Path) -> bool:
    """Whether a folder is a saved model; config.json alone is no sign, because other programs write one too."""
    path = folder / CONFIG
    return path.is_file() and read_json(path, SAVED_KIND).get("model_type") == MODEL_TYPE


def load_config(folder: Path) -> SavedConfig:
    """The config.json of a saved model."""
    path = folder / CONFIG
    return SavedConfig.from_description(read_json(path, SAVED_KIND), path)


def save_network(folder: Path, net: EgoNet, config: SavedConfig) -> None:
    """Write config.json and model.safetensors into a folder that exists, and the files of a backbone beside them."""
    tensors = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in net.state_dict().items()
    }
    with replacing(folder / WEIGHTS) as temporary:
        save_file(tensors, temporary, {"format": "pt"})  # as transformers writes it
    kept = _kept_name(net)
    if kept is not None and isinstance(net.encoder, BackboneHead):
        net.encoder.backbone.copy_files(folder / kept)
    write_json(folder / CONFIG, plain(config.describe()))


def load_network(folder: Path, config: SavedConfig) -> EgoNet:
    """The network of a saved model, ready to encode images; code of a user must be trusted, as that of a run."""
    path = folder / WEIGHTS
    spec = config.spec
    place = str(spec.encoder_settings.get("backbone", ""))
    if spec.encoder == BACKBONE and KEPT.fullmatch(place):
        if (folder / place).is_file():
            check_file(folder / place)
        spec = _with_backbone(spec, str((folder / place).absolute()))
    try:
        check_recorded("encoder", spec.code, folder)
        net = EgoNet(spec)
    except ConfigError as problem:
        hint = "; its files .onnx and .pt2 run without that code" if is_code(spec.encoder) else ""
        raise ConfigError(f"{folder}: {problem}{hint}") from problem
    if net.encoder.feature_dim != config.feature_dim:
        found, said = net.encoder.feature_dim, config.feature_dim
        raise DataError(f"{folder / CONFIG}: encoder {spec.encoder} gives {found} features, the file says {said}")
    try:
        with named_in_utf8(path) as named:
            net.load_state_dict(load_file(named))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {folder} is not {SAVED_KIND}") from None
    except SafetensorError as problem:
        raise DataError(f"{path} is damaged ({problem}): export the run again") from problem
    except RuntimeError as problem:
        raise DataError(f"{path} does not fit {folder / CONFIG}: {' '.join(str(problem).split())}") from problem
    return net.eval()
