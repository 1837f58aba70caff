"""The convention for images: uint8 arrays or tensors (N, H, W, C), values 0 to 255, RGB or gray, channels last.

Stores, `embed` and networks take images this way. Only models that are audited get something else: float32 images
(N, C, H, W), prepared as their `Preprocessing` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.errors import DataError
from egoequiv.models.encoder import ImageShape


def wrong_images(dtype: object, shape: Sequence[int], wanted: ImageShape) -> DataError:
    """The error for images that are not uint8 (N, H, W, C) of the wanted size: what was found, and how to convert."""
    height, width, channels = wanted
    sides = tuple(shape)
    kind = str(dtype).removeprefix("torch.")
    advice = []
    if kind != "uint8":
        advice.append("convert values to uint8, 0 to 255: (255 * images).round() if they are 0 to 1")
    if sides == wanted or sides == (height, width):
        advice.append("add a first axis to a single image: images[None]")
    elif len(sides) > 4:
        advice.append("leave out an axis: images[0]")
    elif sides[1:] == (channels, height, width) != wanted:
        advice.append("move the channels last: images.permute(0, 2, 3, 1), or transpose for NumPy")
    elif sides[1:3] == (height, width) and len(sides) == 4:
        advice.append(f"convert them to {'gray' if channels == 1 else 'RGB'}, {channels} channel{'s' * (channels > 1)}")
    elif sides[1:] != wanted:
        advice.append(f"ingest them with --size {height}x{width}{' --color' if channels == 3 else ''}, or resize them")
    return DataError(
        f"the network takes uint8 images (N, H, W, C) of (N, {height}, {width}, {channels}), these are {kind} of "
        f"{sides}: {'; '.join(advice)}"
    )
