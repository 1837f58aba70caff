"""A model that is audited: a name, what it does to images first, and features that were checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.models.foreign.calls import FAULTS, described, fault_of, prints_aside, words_of
from egoequiv.models.foreign.cells import Sides, as_map, cells_of, in_words
from egoequiv.models.foreign.layers import OUTPUT, Pooling, check_pooling, kind_of_value, pooled, to_array
from egoequiv.models.foreign.preprocessing import Preprocessing
from egoequiv.models.saved import SavedConfig
from egoequiv.pairs import Split
from egoequiv.plurals import plural

MOST_FEATURES = 10_000

# From prepared images, float32 (B, C, H, W) unless the preprocessing says otherwise, and names of layers to what each
# of them gave.
Forward = Callable[[Tensor, Sequence[str]], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """Any model, seen as a function from images to feature vectors."""

    name: str
    kind: str
    preprocessing: Preprocessing
    forward: Forward
    layer_names: tuple[str, ...] = ()  # what --layer may name
    batch: int | None = None  # the only number of images it takes at a time, if there is one
    notes: tuple[str, ...] = ()
    split: Split | None = None  # of a run that was trained on the store it is audited on
    exported: SavedConfig | None = None  # what a file says that was exported from a run
    licence: str = ""  # of the weights, where it is known
    patch: int | None = None  # pixels a side of what becomes one token or one place of a map, where it is known
    layer: str = OUTPUT  # that is measured
    grid: Sides | None = None  # rows and columns of cells that maps and tokens are averaged to, in place of a pooling

    def in_cells(self, grid: Sides) -> AuditedModel:
        """The same model, whose maps and tokens are averaged to so many rows and columns of cells."""
        note = f"{self.name}: maps and tokens are averaged to {in_words(grid)} cells"
        return replace(self, kind=f"{self.kind}, grid {in_words(grid)}", grid=grid, notes=(*self.notes, note))

    def in_other_channels(self, images: NDArray[np.uint8]) -> AuditedModel | None:
        """The same model, shown gray images in three channels or colour in one; None if it takes these no better.

        Where channels were declared, or a mean for each, they stay as they are.
        """
        declared = self.preprocessing
        if declared.channels is not None or len(declared.mean) > 1 or len(declared.std) > 1:
            return None
        other = 3 if self._shown(images)[2] == 1 else 1
        words = "gray images are shown to it in three channels" if other == 3 else "it is shown images in gray"
        note = f"{self.name} takes {plural(other, 'channel')}: {words}"
        changed = replace(self, preprocessing=replace(declared, channels=other), notes=(*self.notes, note))
        try:
            changed.features(images)
        except DataError:
            return None
        return changed

    def features(
        self, images: NDArray[np.uint8], layer: str = OUTPUT, pooling: Pooling = "mean"
    ) -> NDArray[np.float32]:
        """Feature vectors (N, D) of images (N, H, W, C)."""
        return self.layer_features(images, (layer,), pooling)[layer]

    @torch.no_grad()
    def layer_features(
        self, images: NDArray[np.uint8], layers: Sequence[str], pooling: Pooling = "mean"
    ) -> dict[str, NDArray[np.float32]]:
        """Feature vectors (N, D) of images (N, H, W, C), for each of some layers."""
        check_pooling(pooling)
        parts: list[dict[str, NDArray[np.float32]]] = []
        for start in range(0, len(images), self.batch or len(images)):
            with prints_aside():
                found = self._run(images[start : start + (self.batch or len(images))], layers, pooling)
            for layer in layers if parts else ():
                self.check_count(layer, parts[0][layer].shape[1], found[layer].shape[1])
            parts.append(found)
        return {layer: np.concatenate([part[layer] for part in parts]) for layer in layers}

    def check_count(self, layer: str, before: int, now: int) -> None:
        """Refuse features whose number is not the same for all images."""
        if before != now:
            raise DataError(
                f"{self._where(layer)}: it returned {before:,} features for some images and {now:,} for others; "
                "expected the same number for all"
            )

    def _where(self, layer: str) -> str:
        return f"model {self.name}" + (f", layer {layer}" if layer != OUTPUT else "")

    def _run(
        self, images: NDArray[np.uint8], layers: Sequence[str], pooling: Pooling
    ) -> dict[str, NDArray[np.float32]]:
        count = len(images)
        prepared = self.preprocessing(images)
        if self.batch is not None and count < self.batch:  # the last image again, until they are as many as it takes
            prepared = torch.cat([prepared, prepared[-1:].expand(self.batch - count, -1, -1, -1)])
        try:
            outputs = self.forward(prepared, layers)
        except EgoEquivError as problem:
            raise DataError(f"model {self.name}: {problem}") from problem
        except FAULTS as problem:
            raise DataError(f"model {self.name}: {self._reason(problem, images)}") from problem
        return {layer: self._checked(outputs[layer], len(prepared), layer, pooling, images)[:count] for layer in layers}

    def _shown(self, images: NDArray[np.uint8]) -> tuple[int, int, int]:
        """Height, width and channels that the model sees of images (N, H, W, C)."""
        return self.preprocessing.shape((images.shape[1], images.shape[2], images.shape[3]))

    def _reason(self, problem: BaseException, images: NDArray[np.uint8]) -> str:
        """Why the model cannot be run; the usual case is one channel where it takes three."""
        shape = self._shown(images)
        other = 3 if shape[2] == 1 else 1
        with suppress(*FAULTS):
            self.forward(replace(self.preprocessing, channels=other, mean=(0.0,), std=(1.0,))(images), (OUTPUT,))
            return f"it takes images of {other} channels and was shown {shape[2]}: declare channels={other}"
        words = words_of(problem)
        seen = " x ".join(map(str, shape))
        return f"it {fault_of(problem)}, on images of {seen}{': ' if words else ''}{words[:300]}"

    def _checked(
        self, value: Any, count: int, layer: str, pooling: Pooling, images: NDArray[np.uint8]
    ) -> NDArray[np.float32]:
        where = self._where(layer)
        try:
            array = to_array(value)
        except FAULTS as problem:  # tensors of classes that forbid it
            raise DataError(f"{where}: its features cannot be read: {described(problem)}") from problem
        if array is None:
            expected = "one tensor of features, real numbers, a row for each image"
            raise DataError(f"{where}: it returned {kind_of_value(value)}; expected {expected}")
        if array.ndim == 0 or len(array) != count:
            found = "a single number" if array.ndim == 0 else f"{len(array)} rows"
            raise DataError(f"{where}: it returned {found} for {count} images; expected a row of features for each")
        vectors = pooled(array, pooling) if self.grid is None else self._cells(array, self.grid, images, where)
        if not vectors.shape[1]:
            raise DataError(f"{where}: it returned no features at all, its rows are empty")
        if vectors.shape[1] > MOST_FEATURES:
            fewer = "pool them with --pool mean" if self.grid is None else "choose a smaller grid"
            advice = f"{fewer}, or look at" if array.ndim > 2 else "look at"
            raise DataError(
                f"{where}: {vectors.shape[1]:,} features are more than {MOST_FEATURES:,}: {advice} a smaller layer"
            )
        if not np.isfinite(vectors).all():
            raise DataError(f"{where}: it returned features that are not finite (NaN or infinite)")
        return vectors

    def _cells(
        self, array: NDArray[np.float32], grid: Sides, images: NDArray[np.uint8], where: str
    ) -> NDArray[np.float32]:
        """Feature vectors from vectors as they are, and from maps or tokens their cells."""
        if array.ndim < 3:
            return array.reshape(len(array), -1)
        height, width, _ = self._shown(images)
        try:
            cells = cells_of(as_map(torch.from_numpy(array), height, width, self.patch), grid)
        except DataError as problem:
            raise DataError(f"{where}: {problem}") from problem
        vectors: NDArray[np.float32] = cells.numpy()
        return vectors
