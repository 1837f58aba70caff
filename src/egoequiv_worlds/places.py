"""The places world: labelled pictures of landscapes, towns and rooms, on which features can be tried."""

import zlib
from dataclasses import dataclass

import numpy as np

from egoequiv.errors import ConfigError
from egoequiv.pose import NoMotion
from egoequiv.sources.recording import Image, Source
from egoequiv_worlds.place import COMPOSITIONS
from egoequiv_worlds.recordings import DrawnRecording, check_numbers
from egoequiv_worlds.things import Dice

PLACES = tuple(COMPOSITIONS)
SMALLEST_PX, LARGEST_PX = 16, 2048
ATTEMPTS = 5
LEAST_DEVIATION = 15.0  # gray levels; a camera inside a wall or a bush sees less


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaceRecording(DrawnRecording):
    """The training or test pictures of one class, without poses: (N, 0)."""

    place: str
    seed: int
    first: int  # the number of its first picture among those of the class
    width: int
    height: int
    color: bool

    def image(self, frame: int) -> Image:
        """Draw one picture, (height, width) gray or (height, width, 3) colour, again if it shows almost nothing."""
        # here, because it imports numba, which takes a second
        from egoequiv_worlds.render.pictures import draw_scene, luminance

        if not 0 <= frame < len(self):
            raise IndexError(f"{self.name} has {len(self)} pictures, so there is no picture {frame}")
        for attempt in range(ATTEMPTS):
            number = (zlib.crc32(self.place.encode()), self.seed, self.first + frame, attempt)
            generator = np.random.default_rng(number)
            drawn = draw_scene(COMPOSITIONS[self.place](Dice(generator)), self.width, self.height, generator)
            gray = luminance(drawn)
            if gray.std() >= LEAST_DEVIATION:
                break
        return drawn if self.color else gray


def places(
    *, seed: int = 0, images_per_class: int = 100, width: int = 310, height: int = 94, color: bool = False
) -> Source:
    """Rendered pictures of 18 kinds of places, half of each kind to train on and half to test on.

    Gray pictures are the luminance of the coloured ones. The same seed gives the same pictures, byte for byte; another
    seed gives other pictures of the same kinds of places.
    """
    settings = {"seed": seed, "images_per_class": images_per_class, "width": width, "height": height}
    check_numbers("places", settings, {"seed": 0, "images_per_class": 2})
    check_numbers("places", settings, {"width": SMALLEST_PX, "height": SMALLEST_PX}, LARGEST_PX)
    if not isinstance(color, bool | np.bool_):
        raise ConfigError(f"places: color must be true or false, found {color!r}")
    half, color = (images_per_class + 1) // 2, bool(color)
    recordings = [
        PlaceRecording(
            name=f"{part}/{place}", poses=np.zeros((count, 0)), labels=(place,) * count, attributes={"part": part},
            place=place, seed=seed, first=first, width=width, height=height, color=color,
        )
        for part, first, count in (("train", 0, half), ("test", half, images_per_class - half))
        for place in PLACES
    ]  # fmt: skip
    return Source("places", NoMotion(), recordings, settings | {"color": color})
