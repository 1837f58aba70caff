"""Models opened again: a run or an export, computed by torch or by onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.run_model import RunModel
from egoequiv.exporting.export import open_trained
from egoequiv.files import wrong_place
from egoequiv.models.checkpoint import MODEL, RUN_KIND, Which
from egoequiv.models.checksums import check_file
from egoequiv.models.devices import choose_device
from egoequiv.models.exported import ENCODER, FEATURES, IMAGES, MAP, MAPS, MOTION, ONNX_KEY, read_about
from egoequiv.models.foreign.onnx import open_session
from egoequiv.models.images import wrong_images
from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.models.saved import CONFIG, SAVED_KIND, WEIGHTS, SavedConfig, is_saved, load_config, load_network

Engine = Literal["auto", "onnx", "torch"]
IMAGES_AT_ONCE = 256
MAPS_AT_ONCE = 64  # a map of 64 features takes 33 kB, and its exponential several of them


class OnnxModel(MotionModel):
    """An export, computed by onnxruntime on the CPU."""

    def __init__(self, folder: Path, config: SavedConfig) -> None:
        super().__init__(
            image_shape=config.image_shape,
            parts=config.parts(),
            mapped=config.mapped,
            space=config.space,
            motions=config.motions,
            takes_any=config.takes_any,
        )
        dim, mapped = config.feature_dim, config.mapped.stop - config.mapped.start
        self._encoder = _session(folder, ENCODER, config, (IMAGES, *config.image_shape), (FEATURES, dim))
        self._maps = None
        if config.motions or config.takes_any:
            motion = (MOTION, config.spec.motion_dim) if config.takes_any else (MOTION,)
            self._maps = _session(folder, MAPS, config, motion, (MAP, mapped + 1, mapped))

    def embed(self, images: NDArray[np.uint8]) -> Features:
        if images.ndim == 3 and self.image_shape[2] == 1:
            images = images[..., None]
        if images.dtype != np.uint8 or images.shape[1:] != self.image_shape:
            raise wrong_images(images.dtype, images.shape, self.image_shape)
        found = [np.empty((0, self.feature_dim), np.float32)]
        for start in range(0, len(images), IMAGES_AT_ONCE):
            own = np.ascontiguousarray(images[start : start + IMAGES_AT_ONCE])
            found.append(self._encoder.run([FEATURES], {IMAGES: own})[0])
        return np.concatenate(found)

    def _after_named(self, features: Features, name: str) -> Features:
        if self.takes_any:
            return super()._after_named(features, name)
        number = list(self.motions).index(name)
        return _moved(features, self._affine(np.array([number], np.int64)))

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        # Mostly one motion for all features: its map is made once.
        different, which = np.unique(motions, axis=0, return_inverse=True)
        after = np.empty_like(features, dtype=np.float32)
        for start in range(0, len(different), MAPS_AT_ONCE):
            own = different[start : start + MAPS_AT_ONCE]
            affine = self._affine(own.astype(np.float32))
            if not np.isfinite(affine).all():
                worst = own[np.flatnonzero(~np.isfinite(affine).all(axis=(1, 2)))[0]]
                raise DataError(f"motion {worst.tolist()} is too large for the maps of this model")
            for rows, one in _rows(which.ravel(), start, len(own)):
                after[rows] = _moved(features[rows], affine[one : one + 1])
        return after

    def _affine(self, motion: NDArray[Any]) -> NDArray[np.float64]:
        """Maps (K, E + 1, E) of motions (K, M), or of their numbers (K,)."""
        assert self._maps is not None
        affine: NDArray[np.float64] = self._maps.run([MAP], {MOTION: motion})[0]
        return affine


def _rows(which: NDArray[np.intp], start: int, count: int) -> Iterator[tuple[NDArray[np.intp], int]]:
    """The rows that have each of `count` motions, from the number `start` on."""
    for one in range(count):
        yield np.flatnonzero(which == start + one), one


def _moved(features: Features, affine: NDArray[np.float64]) -> Features:
    """Features (N, E) by one map, (1, E + 1, E)."""
    after: Features = (features.astype(np.float64) @ affine[0, :-1] + affine[0, -1]).astype(np.float32)
    return after


def _session(folder: Path, graph: str, config: SavedConfig, *ends: tuple[str | int, ...]) -> Any:
    """A graph of an export; `ends` are its input and its output: the name, and the sides after the first."""
    path = folder / f"{graph}.onnx"
    check_file(path)
    if not path.is_file():
        raise DataError(f"{path} is missing: export the run again, or open it with engine='torch'")
    session = open_session(path)
    said = session.get_modelmeta().custom_metadata_map.get(ONNX_KEY)
    exported = None if said is None else read_about(said, path)
    if exported is None or exported.graph != graph:
        raise DataError(f"{path} is not the graph {graph!r} of an export: export the run again")
    if not exported.config.is_same(config):
        raise DataError(f"{path} was exported with another {CONFIG} than the one beside it: export the run again")
    found = [(one.name, *one.shape[1:]) for one in (*session.get_inputs(), *session.get_outputs())]
    if found != list(ends):
        raise DataError(f"{path}: expected {list(ends)}, found {found}: export the run again")
    return session


def open_export(folder: str | Path, engine: Literal["onnx", "torch"] = "onnx", device: str = "cpu") -> MotionModel:
    """Open what `egoequiv export` or `save_pretrained` wrote; the files that are read are checked first.

    Args:
        folder: The folder of the export.
        engine: onnx: by onnxruntime, without the network's own code; torch: the network itself.
        device: Where torch computes.

    Returns:
        The model: `embed(images)`, and `after(features, motion)` where it has maps.
    """
    folder, place = Path(folder), choose_device(device)
    check_engine(engine)
    check_file(folder / CONFIG)
    config = load_config(folder)
    if engine == "onnx":
        return OnnxModel(folder, config)
    check_file(folder / WEIGHTS)
    return RunModel(load_network(folder, config).to(place), config.space, config.motions)


def open_model(path: str | Path, engine: Engine = "auto", device: str = "cpu", which: Which = "last") -> MotionModel:
    """Open a run or an export, to embed images and to predict features after motions.

    Args:
        path: The folder of a run, or of an export.
        engine: torch or onnx; auto: onnx for an export with ONNX files if onnxruntime is installed, otherwise torch.
        device: Where torch computes.
        which: The checkpoint of a run.

    Example:
        >>> model = egoequiv.open_model("my-model")  # doctest: +SKIP
        >>> after = model.after(model.embed(images)[:, model.mapped], "up")  # doctest: +SKIP
    """
    path = Path(path)
    check_engine(engine)
    if (path / MODEL).exists():
        if engine == "onnx":
            raise ConfigError(f"{path} is a run, which torch computes: export it first, with egoequiv export")
        return open_trained(path, which, device)
    if not path.is_dir() or not is_saved(path):
        raise DataError(wrong_place(path, f"{RUN_KIND} or {SAVED_KIND}"))
    if which != "last":
        raise ConfigError(f"{path} is an export, with weights of its own: it has no checkpoint {which!r}")
    has_onnx = (path / f"{ENCODER}.onnx").exists() and find_spec("onnxruntime") is not None
    chosen: Literal["onnx", "torch"] = "torch" if engine == "torch" or (engine == "auto" and not has_onnx) else "onnx"
    return open_export(path, chosen, device)


def check_engine(engine: str) -> None:
    """Refuse an engine that is not known."""
    if engine not in get_args(Engine):
        raise ConfigError(f"engine {engine!r} is not known; choose {', '.join(get_args(Engine))}")
