"""How well places of one walk are found from a little beside, so that settings can be chosen without a second walk.

    python places_on_one_walk.py FOLDER_OF_PICTURES RUN ...

Pictures are cropped on the right for the reference and on the left for the queries. A query must find a frame at most
two frames from its own, which is left out. Without a folder, pixels are tried on an embedded drive.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from egoequiv import embed
from egoequiv.catalog import open_log, open_source
from egoequiv.evaluation.place_search import cosine_distances, mean_differences, patch_normalised, search
from egoequiv.models import load_model
from egoequiv.sources import Source
from egoequiv.store import fit_image

KEPT = 0.85  # of the width of a picture
TOLERANCE = 2  # frames


def crops(source: Source, side: str) -> list[Image.Image]:
    """The left or right part of every picture of the first recording."""
    recording = source.recordings[0]
    found = []
    for frame in range(len(recording)):
        picture = Image.fromarray(recording.image(frame)).convert("L")
        start = 0 if side == "left" else round((1 - KEPT) * picture.width)
        found.append(picture.crop((start, 0, start + round(KEPT * picture.width), picture.height)))
    return found


def recall(source: Source, run: str | None) -> float:
    """Recall at 1 by the features of a run, or by patch-normalised pixels."""
    net = None if run is None else load_model(run)
    height, width, channels = (32, 64, 1) if net is None else net.spec.image_shape
    parts = []
    for side in ("right", "left"):
        images = np.stack([fit_image(picture, height, width, channels) for picture in crops(source, side)])
        parts.append(patch_normalised(images) if net is None else embed(net, images))
    distance = mean_differences(*parts) if net is None else cosine_distances(*parts)
    apart = np.abs(np.arange(len(distance))[:, None] - np.arange(len(distance)))
    return float(search(distance, apart <= TOLERANCE, apart > 0).hits(1).mean())


if __name__ == "__main__":
    folder, *runs = sys.argv[1:] or [""]
    walk = (
        open_log(Path(folder))[0]
        if folder
        else open_source("drive", drives_per_area=1, seconds=4, width=124, height=38)
    )
    print(f"| pixels | {recall(walk, None):.3f} |")
    for name in runs:
        print(f"| {name} | {recall(walk, name):.3f} |")
