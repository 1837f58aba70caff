"""The frames of a store with their features: which of them are nearest to given features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.motion_model import Features, MotionModel
from egoequiv.pairs.candidates import Indices
from egoequiv.serving.limits import Refusal
from egoequiv.store import FrameStore, fit_image

MOST_FRAMES = 100_000  # searched: more are thinned out evenly
BLOCK = 256  # frames embedded at a time
SAMPLE, MOST = 200, 0.95  # of searched frames: what is usual between them is so of most
Exclude = Literal["none", "frame", "recording"]
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Found:
    """A stored frame and how far its features are from the wanted ones."""

    row: int
    distance: float


class Gallery:
    """Frames of a store, their features, and an exact search among them."""

    def __init__(self, store: FrameStore, rows: Indices, features: Features, model: MotionModel) -> None:
        """Take the rows that are searched, (G,), with their features, (G, D)."""
        if not np.isfinite(features).all():
            raise DataError("some features are not finite; the network has diverged, train it again")
        self.store, self.rows, self.features, self._shape = store, rows, features, model.image_shape
        self._place = np.full(len(store), -1, np.int64)
        self._place[rows] = np.arange(len(rows))
        self._squares = {name: np.square(features[:, part]).sum(axis=1) for name, part in model.parts.items()}
        self._parts = model.parts
        self._within: dict[str, float] = {}  # by part, what is usual between frames

    @classmethod
    def embed(cls, model: MotionModel, store: FrameStore, on_progress: OnProgress, most: int = MOST_FRAMES) -> Gallery:
        """Embed the frames of a store, at most this many, evenly spread."""
        if not store.has_images:
            raise DataError(f"{store.place} holds poses but no images: serve a store with images")
        if model.space is not None and store.space.axes and store.space != model.space:
            raise ConfigError(
                f"{store.place} has another motion space than the model: give a store that was made like its own"
            )
        rows = np.unique(np.linspace(0, len(store) - 1, min(len(store), most)).astype(np.int64))
        features = np.empty((len(rows), model.feature_dim), np.float32)
        for start in range(0, len(rows), BLOCK):
            own = rows[start : start + BLOCK]
            features[start : start + len(own)] = model.embed(fitted(store, own, model))
            on_progress("features", start + len(own), len(rows))
        return cls(store, rows, features, model)

    def image(self, row: int) -> NDArray[np.uint8]:
        """The image of a frame as the network takes it, (H, W, C)."""
        return fit_image(self.store.images[self.check(row)], *self._shape)

    def known(self, row: int) -> Features | None:
        """The features of a frame (D,), if it is one that is searched."""
        place = int(self._place[self.check(row)])
        known: Features | None = None if place < 0 else self.features[place]
        return known

    def place_of(self, rows: Indices) -> Indices:
        """The places of rows among those that are searched, -1 for others."""
        places: Indices = self._place[rows]
        return places

    def check(self, row: int) -> int:
        """A row of the store; 404 for another number."""
        if not 0 <= row < len(self.store):
            raise Refusal(404, f"frame {row}: the store has the frames 0 to {len(self.store) - 1}")
        return row

    def nearest(
        self, wanted: Features, part: str, count: int, exclude: Exclude = "none", row: int | None = None
    ) -> list[Found]:
        """The frames whose features are nearest to the wanted ones (D,), nearest first.

        Args:
            wanted: All features; those of the part are compared.
            part: Its name.
            count: How many frames.
            exclude: Whether the frame `row`, or its whole recording, is left out.
            row: The frame that the wanted features came from, if it is a stored one.
        """
        squared = self._squared(wanted, part)
        squared[self._left_out(exclude, row)] = np.inf
        count = min(count, int(np.isfinite(squared).sum()))
        best = np.argpartition(squared, max(count - 1, 0))[:count]
        best = best[np.argsort(squared[best], kind="stable")]
        return [Found(int(self.rows[k]), float(np.sqrt(max(squared[k], 0.0)))) for k in best]

    def rank(
        self, wanted: Features, part: str, row: int, exclude: Exclude = "none", start: int | None = None
    ) -> tuple[int, float] | None:
        """At which place among the nearest frames a frame is, from 1, and its distance; None if it is not searched.

        `exclude` leaves out the frame `start`, or its recording, as `nearest` does; but never the frame that is ranked.
        """
        place = int(self._place[row])
        if place < 0:
            return None
        squared = self._squared(wanted, part)
        is_nearer = (squared < squared[place]) & ~self._left_out(exclude, start)
        return int(is_nearer.sum()) + 1, float(np.sqrt(max(squared[place], 0.0)))

    def is_unusual(self, wanted: Features, part: str) -> bool:
        """Whether features (D,) are further from all searched frames than these usually are from each other."""
        return bool(self._squared(wanted, part).min() > self._usual(part))

    def _usual(self, part: str) -> float:
        """The squared distance within which most frames have one of another recording, or of the only one."""
        if part not in self._within:
            several = len(self.store.recording_names) > 1
            nearest = []
            for place in np.unique(np.linspace(0, len(self.rows) - 1, SAMPLE).astype(np.int64)):
                squared = self._squared(self.features[place], part)
                squared[self._left_out("recording" if several else "frame", int(self.rows[place]))] = np.inf
                nearest.append(float(squared.min()))
            self._within[part] = float(np.quantile(nearest, MOST))
        return self._within[part]

    def _left_out(self, exclude: Exclude, row: int | None) -> NDArray[np.bool_]:
        """Which of the searched frames are left out, (G,)."""
        is_out: NDArray[np.bool_] = np.zeros(len(self.rows), bool)
        if row is not None and exclude == "frame":
            is_out = self.rows == row
        elif row is not None and exclude == "recording":
            is_out = self.store.recording[self.rows] == self.store.recording[row]
        return is_out

    def _squared(self, wanted: Features, part: str) -> NDArray[np.float32]:
        own = wanted[self._parts[part]]
        squared: NDArray[np.float32] = self._squares[part] - 2 * (self.features[:, self._parts[part]] @ own) + own @ own
        return squared

    def describe(self, row: int) -> dict[str, Any]:
        """What is known of a frame: recording, number, time, pose, label and attributes."""
        store, row = self.store, self.check(row)
        label = int(store.labels[row])
        return {
            "row": row,
            "recording": int(store.recording[row]),
            "recording_name": store.recording_names[int(store.recording[row])],
            "frame": int(store.frame[row]),
            "time_s": None if store.times_s is None else float(store.times_s[row]),
            "label": None if label < 0 else store.class_names[label],
            "pose": dict(zip(store.space.pose_names, store.poses[row].tolist(), strict=True)),
            "attributes": {name: str(values[row]) for name, values in store.attributes.items() if values[row]},
        }

    @cached_property
    def rows_of(self) -> list[Indices]:
        """The rows of each recording, in the order of its frames."""
        order = np.lexsort((self.store.frame, self.store.recording))
        ends = np.cumsum(np.bincount(self.store.recording, minlength=len(self.store.recording_names)))
        return np.split(order, ends[:-1])

    def png(self, row: int) -> bytes:
        """The picture of a frame."""
        return to_png(self.store.images[self.check(row)])


def fitted(store: FrameStore, rows: Indices, model: MotionModel) -> NDArray[np.uint8]:
    """Images of a store as the network takes them, (N, H, W, C)."""
    images = np.asarray(store.images[rows])
    if images.shape[1:] == model.image_shape:
        return images
    return np.stack([fit_image(image, *model.image_shape) for image in images])


def to_png(image: NDArray[np.uint8]) -> bytes:
    """An image (H, W, C) as a PNG file."""
    file = BytesIO()
    PillowImage.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(file, "PNG")
    return file.getvalue()
