"""The places world: labelled pictures of landscapes, towns and rooms, on which features can be tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose import NoMotion
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv_worlds.place import COMPOSITIONS
from egoequiv_worlds.settings import check_number

PLACES = tuple(COMPOSITIONS)
SMALLEST_PX, LARGEST_PX = 16, 2048


@dataclass(frozen=True, eq=False)
class PlaceRecording(Recording):
    """The training or test pictures of one class; it holds how to draw them, not the pictures."""

    place: str
    seed: int
    first: int  # the number of its first picture among those of the class
    width: int
    height: int
    color: bool
    name: str
    poses: NDArray[np.float64]  # (N, 0): pictures without poses
    times_s: NDArray[np.float64] | None
    labels: Sequence[str] | None
    attributes: Mapping[str, str]

    def image(self, frame: int) -> Image:
        """Draw one picture, (height, width) gray or (height, width, 3) colour."""
        from egoequiv_worlds.place.renderer import picture  # here, because it imports numba, which takes a second

        if not 0 <= frame < len(self):
            raise IndexError(f"{self.name} has {len(self)} pictures, so there is no picture {frame}")
        return picture(self.place, (self.seed, self.first + frame), self.width, self.height, self.color)


def places(
    *, seed: int = 0, images_per_class: int = 100, width: int = 310, height: int = 94, color: bool = False
) -> Source:
    """Rendered pictures of 18 kinds of places, half of each kind to train on and half to test on.

    Gray pictures are the luminance of the coloured ones. The same seed gives the same pictures, byte for byte; another
    seed gives other pictures of the same kinds of places.
    """
    check_number("places", "seed", seed, 0)
    check_number("places", "images_per_class", images_per_class, 2)
    check_number("places", "width", width, SMALLEST_PX, LARGEST_PX)
    check_number("places", "height", height, SMALLEST_PX, LARGEST_PX)
    if not isinstance(color, bool | np.bool_):
        raise ConfigError(f"places: color must be true or false, found {color!r}")
    settings = {
        "seed": seed,
        "images_per_class": images_per_class,
        "width": width,
        "height": height,
        "color": bool(color),
    }
    half = (images_per_class + 1) // 2
    recordings = [
        _recording(place, part, seed, first, count, width, height, bool(color))
        for part, first, count in (("train", 0, half), ("test", half, images_per_class - half))
        for place in PLACES
    ]
    return Source("places", NoMotion(), recordings, settings)


def _recording(
    place: str, part: str, seed: int, first: int, count: int, width: int, height: int, color: bool
) -> PlaceRecording:
    return PlaceRecording(
        place=place,
        seed=seed,
        first=first,
        width=width,
        height=height,
        color=color,
        name=f"{part}/{place}",
        poses=np.zeros((count, 0)),
        times_s=None,
        labels=(place,) * count,
        attributes={"part": part},
    )
