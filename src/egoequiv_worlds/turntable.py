"""The turntable world: toys seen from a grid of elevations and azimuths under several lightings, like small NORB."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from egoequiv.errors import ConfigError
from egoequiv.pose import Axis, GridSpace
from egoequiv.sources.recording import Image, Source
from egoequiv_worlds.recordings import DrawnRecording, check_numbers
from egoequiv_worlds.toys import CATEGORIES, Toy, built

LOWEST_DEG, HIGHEST_DEG = 30.0, 70.0
LEAST = {"seed": 0, "toys_per_category": 1, "elevations": 2, "azimuths": 3, "lightings": 1, "size": 8}
SHIFT = 0.015  # how far from the middle the toy may be in a recording's pictures, in shares of their width
EXPOSURE = 0.04  # how far a recording's exposure may differ from 1
NOISE_LEVELS = 1.5  # standard deviation of the sensor's noise, in gray levels


@dataclass(frozen=True, eq=False, kw_only=True)
class TurntableRecording(DrawnRecording):
    """One toy under one lighting, from all views; poses (N, 2) are elevation and azimuth in degrees."""

    toy: Toy
    lighting: int
    size: int

    def image(self, frame: int) -> Image:
        """Draw one frame, (size, size) gray, with the errors of a camera."""
        from egoequiv_worlds.render.pictures import digital  # here, because they import numba, which takes a second
        from egoequiv_worlds.render.studio import draw_surface, lighting

        errors = self.toy.generator(1, self.lighting)
        shift, exposure = errors.uniform(-SHIFT, SHIFT, 2), 1.0 + errors.uniform(-EXPOSURE, EXPOSURE)
        lamps = lighting(self.lighting)
        levels = draw_surface(built(self.toy), lamps, self.poses[frame], self.size, shift, exposure)
        noise = self.toy.generator(2, self.lighting, frame).standard_normal(levels.shape)
        return digital(levels + NOISE_LEVELS * noise)


def turntable(
    *, seed: int = 0, categories: Sequence[str] | None = None, toys_per_category: int = 5, elevations: int = 9,
    azimuths: int = 18, lightings: int = 6, size: int = 96,
) -> Source:  # fmt: skip
    """Procedural toys on a turntable; with the defaults 25 toys in 24,300 pictures, as in half of small NORB.

    Elevations run from 30 to 70 degrees and azimuths once around, both in equal steps. The same seed gives the
    same pictures, byte for byte; another seed gives toys of other proportions and paint.
    """
    chosen = _chosen(categories)
    settings = {"seed": seed, "categories": list(chosen), "toys_per_category": toys_per_category}
    settings |= {"elevations": elevations, "azimuths": azimuths, "lightings": lightings, "size": size}
    check_numbers("turntable", settings, LEAST)
    grid = np.linspace(LOWEST_DEG, HIGHEST_DEG, elevations), np.arange(azimuths) * 360.0 / azimuths
    poses = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2)  # the azimuth changes fastest
    toys = [Toy(category, instance, seed) for category in chosen for instance in range(toys_per_category)]
    elevation = Axis("elevation", "deg", (HIGHEST_DEG - LOWEST_DEG) / (elevations - 1), plus="up", minus="down")
    azimuth = Axis("azimuth", "deg", 360.0 / azimuths, plus="right", minus="left", period=360.0)
    recordings = [
        TurntableRecording(
            name=f"{toy.name}/light-{n}", poses=poses, labels=(toy.name,) * len(poses),
            attributes={"category": toy.category, "instance": str(toy.instance), "toy": toy.name, "lighting": str(n)},
            toy=toy, lighting=n, size=size,
        )
        for toy in toys for n in range(lightings)
    ]  # fmt: skip
    return Source("turntable", GridSpace((elevation, azimuth)), recordings, settings)


def _chosen(categories: Sequence[str] | None) -> tuple[str, ...]:
    known = ", ".join(CATEGORIES)
    if isinstance(categories, str) or categories == [] or categories == ():
        raise ConfigError(f"turntable: categories must be a list of names, found {categories!r}; name some of {known}")
    chosen = tuple(CATEGORIES if categories is None else categories)
    for category in chosen:
        if category not in CATEGORIES:
            raise ConfigError(f"turntable: there is no category {category!r}; choose from {known}")
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"turntable: categories has a name twice, found {', '.join(chosen)}; give each name once")
    return chosen
