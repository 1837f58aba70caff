"""The network of a run as it begins: where it computes, its initial weights, and the normalisation of its frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.losses import Equivariance, ImaginedViews
from egoequiv.models import EgoNet, NetSpec, build_encoder, initialise
from egoequiv.models.devices import choose_device
from egoequiv.models.encoder import Encoder, equivariant_part
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.head import BackboneHead
from egoequiv.models.network import ALL, EQUIVARIANT, INVARIANT
from egoequiv.models.stored import has_cells, stored_cells
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import Rows
from egoequiv.training.streams import RunData
from egoequiv.user_code import is_built_in

MAPPED = (Equivariance, ImaginedViews)  # losses with a map for each pattern
FITTED = 4_000  # frames to which a whitening is fitted, at most
LEAST_NOISE, MOST_NOISE, NOISE_FRAMES = 0.3, 0.8, 4_000  # of a head; from so many frames on, the least
SMALL = 0.05  # of the largest component of its unit: smaller ones are not scaled up
Statistics = tuple[list[float], list[float]]  # mean and scale of each channel


class Threads:
    """Use this many threads inside the block."""

    def __init__(self, count: int | None) -> None:
        self._count = count or torch.get_num_threads()

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()
        torch.set_num_threads(self._count)

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._before)


def build_net(config: TrainConfig, data: RunData, statistics: Statistics | None = None) -> EgoNet:
    """The network of a config with its initial weights, and the normalisation of the training frames.

    The statistics are those of `pixel_statistics`; they may be given where many networks share them.
    """
    settings = dict(config.encoder_settings)
    if data.config.encoder == BACKBONE:  # its branches are the parts that the method divides the features into
        settings.setdefault("equivariant_share", config.equivariant_share)
        settings.setdefault("noise", noise_for(len(data.split.train)))
    spec = NetSpec(
        encoder=data.config.encoder,
        image_shape=data.store.image_shape,
        patterns=data.patterns.names if data.patterns else (),
        class_names=data.recognition.class_names if data.recognition else (),
        encoder_settings=settings,
        normalisation=config.normalise,
    )
    encoder = build_encoder(spec.encoder, spec.image_shape, spec.encoder_settings)
    if is_built_in(encoder):
        spec = replace(spec, encoder_settings={**spec.encoder_settings, **encoder.found_settings})
    made = _with_heads(spec, encoder, config, data)
    if made.parts and encoder.part_sizes and encoder.part_sizes != tuple(made.parts.values()):
        raise ConfigError(
            f"encoder {spec.encoder} makes parts of {' and '.join(map(str, encoder.part_sizes))} features, and "
            f"equivariant_share={config.equivariant_share:g} asks for {' and '.join(map(str, made.parts.values()))}: "
            "change one of them"
        )
    if isinstance(encoder, BackboneHead) and not encoder.fine_tune and config.augment not in ("none", "light"):
        raise ConfigError(
            f"augment={config.augment} changes pictures, and a head learns from stored cells: leave it out; "
            "encoder.variants says how often the backbone is run under other light"
        )
    net = EgoNet(made, encoder)
    initialise(net, torch.Generator().manual_seed(config.seed), config.map_init)
    if isinstance(net.encoder, BackboneHead):
        rows = data.split.train[np.unique(np.linspace(0, len(data.split.train) - 1, FITTED).astype(np.int64))]
        net.encoder.fit_whitening(torch.from_numpy(_cells(net, data.store, rows)))
    if not getattr(net.encoder, "own_preprocessing", False):  # perhaps the module of a user
        net.set_normalisation(*(statistics or pixel_statistics(data.store, data.split.train, net.encoder.unit_length)))
    clips = data.train.get("clip")
    if net.motion_scale is not None and clips is not None and clips.motion is not None:
        scale = motion_scale(data.store.space, clips.motion)
        net.set_motion_scale(scale, unit_scale(data.store.space, scale))
    return net


def noise_for(frames: int) -> float:
    """The noise on what a head reads, where it learns from so many frames: few are soon known by heart."""
    return float(np.clip(LEAST_NOISE * NOISE_FRAMES / max(frames, 1), LEAST_NOISE, MOST_NOISE))


def store_cells(config: TrainConfig, on_progress: Callable[[str, int, int], None]) -> None:
    """Compute the cells that a run will read, where it learns a head on a backbone and they are not stored yet."""
    if config.encoder != BACKBONE:
        return
    store = FrameStore.open(config.data)
    encoder = build_encoder(config.encoder, store.image_shape, config.encoder_settings)
    if isinstance(encoder, BackboneHead) and not encoder.fine_tune and store.has_images:
        encoder.to(choose_device(config.device))
        for variant in range(encoder.variants + 1):
            stored_cells(encoder, store, variant, on_progress)


def _cells(net: EgoNet, store: FrameStore, rows: Rows) -> NDArray[np.float16]:
    """What the backbone gives for some frames, (N, D); computed here where its last blocks are trained."""
    assert isinstance(net.encoder, BackboneHead)
    if has_cells(net, store):
        return np.asarray(stored_cells(net.encoder, store)[rows])
    images = store.images
    chunks = [torch.from_numpy(images[rows[at : at + 64]]).permute(0, 3, 1, 2) / 255 for at in range(0, len(rows), 64)]
    with torch.no_grad():
        return torch.cat([net.encoder.backbone(chunk) for chunk in chunks]).half().numpy()


def _with_heads(spec: NetSpec, encoder: Encoder, config: TrainConfig, data: RunData) -> NetSpec:
    """The spec with what the losses ask for: parts of the features, maps of motions, layers of their own."""
    terms = config.objective().terms
    motion = len(data.store.space.axes)
    features, parts = encoder.feature_dim, _parts(encoder, config)
    layers = {term.name: term.layers(parts.get(term.part, features), motion) for term in terms}
    return replace(
        spec,
        parts=parts,
        motion_maps=config.motion_maps if any(term.maps_motion for term in terms) else "",
        motion_dim=motion if any(term.needs_motion for term in terms) else 0,
        layers={name: sizes for name, sizes in layers.items() if sizes},
    )


def _parts(encoder: Encoder, config: TrainConfig) -> dict[str, int]:
    """The sizes of the parts of the features, by name; none where all losses look at all features."""
    features, terms = encoder.feature_dim, config.objective().terms
    if all(term.part == ALL for term in terms):
        return {}
    if features < 2:
        raise ConfigError(
            f"method {config.method_name} divides the features into two parts, and encoder.feature_dim={features} "
            "gives one: choose 2 or more"
        )
    if whole := [term.name for term in terms if isinstance(term, MAPPED)]:
        raise ConfigError(
            f"method {config.method_name}: loss {whole[0]!r} maps all features, and another loss divides them into "
            "parts: leave one of them out"
        )
    if isinstance(encoder, BackboneHead):
        return dict(zip((INVARIANT, EQUIVARIANT), encoder.part_sizes, strict=True))
    equivariant = equivariant_part(features, config.equivariant_share)
    return {INVARIANT: features - equivariant, EQUIVARIANT: equivariant}


def motion_scale(space: MotionSpace, motion: NDArray[np.float32]) -> list[float]:
    """The size of each component of motions (N, M): its root mean square; infinity for one that never varies.

    Components on one scale share it. One that is small beside others of its unit, such as the height of a car, is not
    scaled up to their size: it would be noise.
    """
    square = np.mean(np.asarray(motion, np.float64) ** 2, axis=0)
    for own in space.scales:
        square[own] = square[own].mean()
    units = [axis.unit for axis in space.axes]
    largest = {unit: max(s for s, u in zip(square, units, strict=True) if u == unit) for unit in units}
    sizes = [max(s, SMALL**2 * largest[unit]) ** 0.5 for s, unit in zip(square, units, strict=True)]
    return [size if size > 0 else inf for size in sizes]


def unit_scale(space: MotionSpace, scale: Sequence[float]) -> list[float]:
    """Of each component, the largest size of its unit: an error counts as much in any direction."""
    known: dict[str, float] = {}
    for axis, size in zip(space.axes, scale, strict=True):
        if size < inf:
            known[axis.unit] = max(size, known.get(axis.unit, 0.0))
    return [known[axis.unit] if size < inf else inf for axis, size in zip(space.axes, scale, strict=True)]


def pixel_statistics(store: FrameStore, frames: Rows, unit_length: bool = True) -> Statistics:
    """Mean and scale of each channel over the given frames, at most 4,000 of them, evenly spread.

    The scale is the standard deviation; for unit length it is multiplied by the root of the number of values in an
    image, so that an image has length about 1 and one grid of learning rates serves full layers of every size.
    """
    chosen = np.sort(frames)[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), 4_000)).astype(np.int64))]
    total, squares, count = 0.0, 0.0, 0
    for start in range(0, len(chosen), 256):
        pixels = store.images[chosen[start : start + 256]].astype(np.float64)
        total = total + pixels.sum(axis=(0, 1, 2))
        squares = squares + (pixels**2).sum(axis=(0, 1, 2))
        count += pixels[..., 0].size
    mean = np.asarray(total) / count
    std = np.sqrt(np.maximum(np.asarray(squares) / count - mean**2, 1e-6))
    return mean.tolist(), (std * np.sqrt(np.prod(store.image_shape) if unit_length else 1.0)).tolist()
